// A promotion makes the smallest edit that does not affect other stages.
import { expect, test } from "vitest";
import { makeTexts } from "../../src/edit/edit-files.ts";
import { Manifests } from "../../src/edit/manifests.ts";
import { placeValues, removals } from "../../src/edit/place-values.ts";
import { promote } from "../../src/edit/promote.ts";
import { StageView } from "../../src/inspect/stages.ts";
import { readProject, resolveProject } from "../../src/manifest/load.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";

const CASES = `testCases:
  one: { description: One }
  two: { description: Two }
`;

async function promoted(
  stages: readonly string[],
  shop: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const files = {
    "tasc.yaml": `version: 1\nservice: { baseUrl: "http://127.0.0.1:9", apiKey: "\${secret:KEY}" }\nstages: { ${stages.map((stage) => `${stage}: ${settings[stage] ?? "{}"}`).join(", ")} }\n`,
    "targets/shop.yaml": `target: shop\napp: Shop\n${shop}`,
  };
  const reading = await readProject(memoryFolder(files));
  const view = (stage: string): StageView => {
    const options = { env: {}, stage, allowMissingSecrets: true, needsApiKey: false };
    const { resolved } = resolveProject(reading, options);
    if (resolved === undefined || reading.project === undefined)
      throw new Error("it should resolve");
    return new StageView(resolved.desired, reading.project, reading, {});
  };
  const { documents } = reading;
  if (reading.project === undefined) throw new Error("it should be read");
  const request = {
    from: view("a"),
    to: view("b"),
    stages,
    inScope: () => true,
    documents,
    project: reading.project,
    reading,
    env: {},
  };
  const { texts } = await makeTexts(
    documents,
    () => promote(request),
    () => Promise.resolve(undefined),
  );
  const [text] = texts;
  return (text?.after ?? "unchanged").replace("target: shop\napp: Shop\n", "");
}

test.for<[sentence: string, stages: string[], before: string, after: string]>([
  [
    "the override that counts",
    ["a", "b"],
    `${CASES}stages: { a: { testCases: { one: { status: DRAFT } } }, b: { testCases: { one: { status: ENABLED } } } }\n`,
    `${CASES}stages: { a: { testCases: { one: { status: DRAFT } } }, b: { testCases: { one: { status: DRAFT } } } }\n`,
  ],
  [
    "the base, where no other stage takes its value from there",
    ["a", "b"],
    "testCases:\n  one: { description: One, status: ENABLED } # base\nstages: { a: { testCases: { one: { status: DRAFT } } } }\n",
    "testCases:\n  one: { description: One, status: DRAFT } # base\n",
  ],
  [
    "nothing where the base says it, and takes the override away",
    ["a", "b", "c"],
    "testCases:\n  one: { description: One, status: ENABLED, runStatus: X }\nstages:\n  b: { testCases: { one: { status: DRAFT } } }\n  c: { testCases: { one: { status: DRAFT, runStatus: X } } }\n",
    "testCases:\n  one: { description: One, status: ENABLED, runStatus: X }\nstages:\n  c: { testCases: { one: { status: DRAFT, runStatus: X } } }\n",
  ],
  [
    "an override of its own, where a third stage takes its value from the base",
    ["a", "b", "c"],
    "testCases:\n  one: { description: One, status: ENABLED }\nstages: { a: { testCases: { one: { status: DRAFT } } } }\n",
    "testCases:\n  one: { description: One, status: ENABLED }\nstages: { a: { testCases: { one: { status: DRAFT } } }, b: { testCases: { one: { status: DRAFT } } } }\n",
  ],
  [
    "overrides, and not the defaults, also where all who share them want it",
    ["a", "b"],
    `defaults: { testCases: { tags: [new] } }\n${CASES}stages: { b: { defaults: { testCases: { tags: [old] } } } }\n`,
    `defaults: { testCases: { tags: [new] } }\n${CASES}stages: { b: { defaults: { testCases: { tags: [old] } }, testCases: { one: { tags: [new] }, two: { tags: [new] } } } }\n`,
  ],
  [
    "an override each, where they want different values",
    ["a", "b"],
    `${CASES}stages:\n  a: { testCases: { one: { tags: [p] }, two: { tags: [q] } } }\n  b: { defaults: { testCases: { tags: [old] } }, testCases: { one: { folder: F } } }\n`,
    `${CASES}stages:\n  a: { testCases: { one: { tags: [p] }, two: { tags: [q] } } }\n  b: { defaults: { testCases: { tags: [old] } }, testCases: { one: { tags: [p] }, two: { tags: [q] } } }\n`,
  ],
  [
    "nothing where only the stage's defaults have a value",
    ["a", "b"],
    `${CASES}stages: { b: { defaults: { testCases: { folder: Old } } }, a: {} }\n`,
    "unchanged",
  ],
  [
    "the stage into `onlyStages` of a test case that it lacks, and the values that differ then",
    ["a", "b", "c"],
    "testCases:\n  one: { description: One, status: ENABLED, onlyStages: [a] } # new\n  two: { description: Two, onlyStages: [c] }\nstages: { a: { testCases: { one: { status: DRAFT } } } }\n",
    "testCases:\n  one: { description: One, status: DRAFT, onlyStages: [a, b] } # new\n  two: { description: Two, onlyStages: [c] }\n",
  ],
  [
    "the stage into `onlyStages` of a target that it lacks",
    ["a", "b"],
    `onlyStages: [a]\n${CASES}`,
    `onlyStages: [a, b]\n${CASES}`,
  ],
  [
    "no stage for a test case with which that could not be read",
    ["a", "b"],
    "testCases:\n  one: { description: One, onlyStages: [a], discovery: { prompt: One, prerequisite: two } }\nstages: { a: { testCases: { two: { description: Two } } } }\n",
    "unchanged",
  ],
  [
    "an override into the document that has the test case",
    ["a", "b", "c"],
    `x-first: 1\n---\ntarget: shop\ntestCases:\n  one: { description: One, status: ENABLED }\nstages:\n  a: { testCases: { one: { status: DRAFT } } }\n`,
    `x-first: 1\n---\ntarget: shop\ntestCases:\n  one: { description: One, status: ENABLED }\nstages:\n  a: { testCases: { one: { status: DRAFT } } }\n  b:\n    testCases:\n      one:\n        status: DRAFT\n`,
  ],
])("a promotion writes %s", async ([, stages, before, after]) => {
  expect(await promoted(stages, before)).toBe(after);
});

test("a promotion writes overrides if the value comes from tasc.yaml, which it does not edit", async () => {
  const settings = {
    a: "{ defaults: { testCases: { status: DRAFT } } }",
    b: "{ defaults: { testCases: { status: ENABLED } } }",
  };
  const status = (key: string): string => `      ${key}:\n        status: DRAFT\n`;
  const overrides = `stages:\n  b:\n    testCases:\n${status("one")}${status("two")}`;
  expect(await promoted(["a", "b"], CASES, settings)).toBe(CASES + overrides);
});

test("a value that is removed for one stage is kept in the other, even if it comes from the base", async () => {
  const reading = await readProject(
    memoryFolder({
      "tasc.yaml":
        'version: 1\nservice: { baseUrl: "http://127.0.0.1:9", apiKey: k }\nstages: { a: {}, b: {} }\n',
      "targets/shop.yaml":
        "target: shop\napp: Shop\ntestCases: { one: { description: One, folder: Kept } }\nstages: { b: { defaults: { testCases: { folder: Old } } } }\n",
    }),
  );
  if (reading.project === undefined) throw new Error("it should be read");
  const ref = (stage: string) => {
    return {
      stage,
      address: "testCase.shop.one",
      field: { name: "folder", path: ["folder"] },
    } as const;
  };
  const goal = {
    ref: ref("b"),
    isMet: (written: unknown) => written === undefined,
    candidates: (now: Manifests) => removals(now, ref("b"), ["a", "b"]),
  };
  const { project, documents } = reading;
  const { manifests } = placeValues(new Manifests({ project, documents }), [goal], ["a", "b"]);
  expect(["a", "b"].map((stage) => manifests.written(ref(stage)))).toEqual(["Kept", undefined]);
});
