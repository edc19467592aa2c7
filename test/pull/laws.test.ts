// For random changes on the service: after a pull the plan is empty except for the values that it
// reports as left, only the lines of pulled values differ, and every comment is kept.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { editTexts, makeTexts } from "../../src/edit/edit-files.ts";
import { patchOf } from "../../src/edit/patch.ts";
import { provePull, pull } from "../../src/edit/pull.ts";
import {
  type LoadedProject,
  loadProject,
  readProject,
  resolveProject,
} from "../../src/manifest/load.ts";
import { type Address, addressOf } from "../../src/model/address.ts";
import { resourcesOf } from "../../src/model/desired.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { LiveElement, LiveTestCase } from "../../src/model/live.ts";
import { type Binding, type State, emptyState } from "../../src/model/state.ts";
import { Secret, reveal } from "../../src/model/value.ts";
import type { PlanInput } from "../../src/plan/input.ts";
import { EVERYTHING } from "../../src/plan/scope.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { element as readElement } from "../../src/service/answers.ts";
import { createFingerprinter } from "../../src/state/fingerprint.ts";
import { driftOf } from "../../src/inspect/drift.ts";
import { TEST_CASE_FIELDS } from "../../src/model/fields.ts";
import { recordField } from "../../src/plan/memory.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";
import { CASES, FILES, TEXTS, comments } from "../rewrite/rich.ts";
import { STAGES, project as randomProject } from "../rewrite/random-project.ts";
import { strayLines } from "../rewrite/touched.ts";

const URL = "http://127.0.0.1:4010";
const FOLDERS = new Map([
  ["Carts", "f-1"],
  ["A: new # one", "f-2"],
]);
const fingerprints = createFingerprinter(new Secret("the-api-key"), "staging");

const text = fc.constantFrom(...TEXTS);
const path = fc.option(text);
const element = fc
  .record({
    id: fc.uuid(),
    interaction: fc.option(
      fc.record({ action: fc.constantFrom("CLICK", "FILL"), calledWith: path }),
    ),
    assertion: fc.option(fc.record({ expectation: fc.constant("VISIBLE"), calledWith: path })),
    selectors: fc.array(
      fc.record({
        selectorType: fc.constant("TEXT"),
        selector: text,
        options: fc.constantFrom<JsonObject>({}, { name: "n" }),
      }),
      { maxLength: 2 },
    ),
    ignoreFailure: fc.boolean(),
  })
  .map((raw) => readElement(raw));
const elements: fc.Arbitrary<readonly LiveElement[]> = fc.array(element, { maxLength: 4 });

/** A change that a colleague could make to a test case in the web application. */
const change: fc.Arbitrary<Partial<LiveTestCase>> = fc.oneof(
  fc.record({ status: fc.constantFrom("ENABLED", "DISABLED", "OUTDATED", "UNHEARD_OF") }),
  fc.record({ runStatus: fc.constantFrom("ON", "OFF") }),
  fc.record({
    tags: fc.uniqueArray(fc.oneof(text, fc.constantFrom("web", "auth")), { maxLength: 4 }),
  }),
  fc.record({ entryPointUrlPath: path }),
  fc.record({ folderId: fc.constantFrom("f-1", "f-2", "f-unknown", null) }),
  fc.record({ description: text }),
  fc.record({ externalId: path }),
  fc.record({ elements }),
  text.map((freePrompt) => ({
    discovery: { status: "FINISHED", freePrompt, abortCause: undefined, message: undefined },
  })),
);
const edits = fc.array(fc.tuple(fc.constantFrom(...CASES), change), {
  minLength: 1,
  maxLength: 50,
});

function liveOf(
  project: LoadedProject,
  made: Iterable<readonly [string, Partial<LiveTestCase>]>,
): PlanInput {
  const cases = new Map<string, LiveTestCase>(
    CASES.map((key) => [key, { ...NOBODY, id: key, description: key }] as const),
  );
  for (const [key, one] of made) {
    const before = cases.get(key);
    if (before !== undefined) cases.set(key, { ...before, ...one });
  }
  const bindings = new Map<Address, { id: string; fields: Record<string, never> }>([
    ["target.shop", { id: "shop", fields: {} }],
    ["environment.shop.default", { id: "default", fields: {} }],
    ...CASES.map((key) => [addressOf("testCase", "shop", key), { id: key, fields: {} }] as const),
  ]);
  const { stage } = project.settings;
  const state: State = { ...emptyState(stage, "shop", URL), bindings, folders: FOLDERS };
  const environment = { id: "default", type: "DEFAULT", discoveryUrl: "https://shop.example.com" };
  return {
    desired: project.desired,
    live: {
      targets: [{ id: "shop", app: "Web Shop", environments: [environment] }],
      testCases: new Map([["shop", [...cases.values()]]]),
    },
    states: new Map([["shop", state]]),
    strays: [],
    fingerprints,
    scope: EVERYTHING,
    run: new Set(),
    rediscover: new Set(),
    baseUrl: URL,
    disableRemoved: false,
  };
}

const NOBODY: LiveTestCase = {
  id: "",
  description: "",
  status: "DRAFT",
  runStatus: "OFF",
  type: null,
  entryPointUrlPath: null,
  folderId: null,
  externalId: null,
  tags: [],
  prerequisiteId: null,
  elements: [],
  discovery: {
    status: "FINISHED",
    freePrompt: "of the service",
    abortCause: undefined,
    message: undefined,
  },
};

async function project(
  files: Readonly<Record<string, string>>,
  stage: string,
): Promise<LoadedProject> {
  const loaded = await loadProject(
    { root: "", env: { KEY: "the-api-key" }, stage },
    memoryFolder(files),
  );
  if (!loaded.ok)
    throw new Error(`the project should load: ${JSON.stringify(loaded.diagnostics, null, 1)}`);
  return loaded;
}

/** A request to pull all that is live in a stage. */
function requestOf(
  loaded: LoadedProject,
  files: Readonly<Record<string, string>>,
  stage: string,
  input: PlanInput,
) {
  return {
    input,
    options: { root: "", env: { KEY: "the-api-key" }, stage },
    folder: memoryFolder(files),
    stages: loaded.settings.stages,
    documents: loaded.documents,
    project: loaded.project,
    planned: makePlan(input),
    inScope: () => true,
    fields: new Set<string>(),
    all: true,
    theirs: () => false,
    into: undefined,
    holdsSecret: () => false,
  };
}

const keyOf = (address: string, at: readonly (string | number)[] = []): string =>
  `${address} ${at.join(".")}`;

test("after a pull the plan contains only the values that the pull reports as left", async () => {
  await fc.assert(
    fc.asyncProperty(
      edits,
      fc.constantFrom("a", "b", "c"),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      async (made, stage, end, bom) => {
        const files = Object.fromEntries(
          Object.entries(FILES).map(([file, own]) => [
            file,
            (bom ? "\ufeff" : "") + own.replaceAll("\n", end),
          ]),
        );
        const loaded = await project(files, stage);
        const input = liveOf(loaded, made);
        const request = requestOf(loaded, files, stage, input);
        const result = pull(request);
        const texts = await editTexts(loaded.documents, result.edits);
        if ("reason" in texts) throw new Error(`${texts.file}: ${texts.reason}`);
        const after = { ...files };
        for (const one of texts) {
          after[one.file] = one.bom ? `\ufeff${one.after}` : one.after;
          expect(strayLines(one, result.edits), patchOf(one)).toEqual([]);
          expect(one.after.replaceAll("\r\n", "").includes("\r")).toBe(false);
          if (end === "\r\n") expect(/[^\r]\n/.test(one.after)).toBe(false);
        }
        const now = await project(after, stage);
        const left = new Set(result.left.map(({ address, path: at }) => keyOf(address, at)));
        const { changes } = makePlan({ ...input, desired: now.desired }).plan;
        const open = changes.flatMap(({ address, fields }) =>
          fields.map(({ path: at }) => keyOf(address, at.slice(0, at[0] === "discovery" ? 2 : 1))),
        );
        expect(open.filter((one) => !left.has(one))).toEqual([]);
        expect(await provePull(texts, result, request)).toBeUndefined();
        // The comments in a list are removed with its items, or if the list becomes another kind of
        // value.
        const gone = comments(Object.values(files).join("")).filter(
          (one) => !comments(Object.values(after).join("")).includes(one),
        );
        expect(gone.filter((one) => !IN_LISTS.has(one))).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
});

const IN_LISTS = new Set(["c14", "c15", "c16", "c17", "c20", "c21", "c22", "c23", "c24", "c25"]);

/** The resolved values of some stages of a project, each by stage, address and field. */
async function resolvedIn(files: Readonly<Record<string, string>>, stages: readonly string[]) {
  const read = await readProject(memoryFolder(files));
  const all = stages.flatMap((stage) => {
    const { resolved, problems } = resolveProject(read, { env: { KEY: "the-api-key" }, stage });
    if (resolved === undefined) throw new Error(JSON.stringify(problems));
    return resolved.desired.targets
      .flatMap(resourcesOf)
      .flatMap(({ address, fields }) =>
        Object.entries(fields).map(
          ([name, value]) =>
            [`${stage} ${address} ${name}`, JSON.stringify(reveal(value))] as const,
        ),
      );
  });
  return new Map(all);
}

const RUNS = Number(process.env["TASC_LAW_RUNS"] ?? 40);

test("a pull changes only the values that it reports, in all stages of any project", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomProject,
      edits,
      fc.option(change),
      fc.constantFrom(...STAGES),
      async (files, few, same, stage) => {
        // A value that all test cases share may be written to the defaults.
        const made = same === null ? few : CASES.map((key) => [key, same] as const);
        const loaded = await project(files, stage);
        const input = liveOf(loaded, made);
        const request = requestOf(loaded, files, stage, input);
        const { rewrite, texts } = await makeTexts(
          loaded.documents,
          (excluded) => pull(request, excluded),
          (now, result) => provePull(now, result, request),
        );
        const after = {
          ...files,
          ...Object.fromEntries(texts.map((one) => [one.file, one.after])),
        };
        const said = new Set(
          rewrite.changes.flatMap((one) =>
            [stage, ...(one.alsoStages ?? [])].map(
              (own) => `${own} ${keyOf(one.address, one.path)}`,
            ),
          ),
        );
        const [was, now] = [await resolvedIn(files, STAGES), await resolvedIn(after, STAGES)];
        const changed = [...new Set([...was.keys(), ...now.keys()])].filter(
          (key) => was.get(key) !== now.get(key),
        );
        expect(changed.filter((key) => !said.has(key))).toEqual([]);
        const left = new Set(rewrite.left.map(({ address, path: at }) => keyOf(address, at)));
        const { changes } = makePlan({
          ...input,
          desired: (await project(after, stage)).desired,
        }).plan;
        const updates = changes.filter(({ action }) => action !== "create");
        const open = updates.flatMap(({ address, fields }) =>
          fields.map(({ path: at }) => keyOf(address, at.slice(0, at[0] === "discovery" ? 2 : 1))),
        );
        expect(open.filter((one) => !left.has(one))).toEqual([]);
      },
    ),
    { numRuns: RUNS },
  );
}, 600_000);

/** A field of a test case: as it was applied, as the manifests have it, and as it is live. */
const sides = fc.record({
  field: fc.constantFrom("status", "runStatus", "entryPointUrlPath"),
  layer: fc.constantFrom("base", "stage"),
  applied: fc.constantFrom(0, 1),
  manifest: fc.constantFrom(0, 1, 2),
  live: fc.constantFrom(0, 1, 2),
});
const VALUES: Readonly<Record<string, readonly string[]>> = {
  status: ["ENABLED", "DISABLED", "DRAFT"],
  runStatus: ["ON", "OFF", "ON"],
  entryPointUrlPath: ["/a", "/b", "/c"],
};

test("a pull makes drift empty, leaves conflicts, and touches nothing that only a manifest changed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sides, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(undefined, "base", "stage"),
      fc.boolean(),
      async (all, into, theirs) => {
        const cases = all.map(({ field, layer, applied, manifest, live }, at) => {
          const [A = "", M = "", L = ""] = [applied, manifest, live].map((n) => VALUES[field]?.[n]);
          return { key: `t${at}`, field, layer, applied: A, manifest: M, live: L };
        });
        const line = ({ key, field, manifest }: (typeof cases)[number], more = ""): string =>
          `      ${key}: { ${more}${field}: "${manifest}" }\n`;
        const files = {
          "tasc.yaml": `version: 1\nservice: { baseUrl: "${URL}", apiKey: "\${secret:KEY}" }\nstages: { a: {}, b: {} }\n`,
          "targets/shop.yaml": `target: shop
app: Web Shop
testCases:
${cases.map((one) => (one.layer === "base" ? line(one, `description: ${one.key}, `) : `      ${one.key}: { description: ${one.key} }\n`)).join("")}stages:
  a:
    testCases:
      x-none: {}
${cases.map((one) => (one.layer === "stage" ? line(one) : "")).join("")}`,
        };
        const loaded = await project(files, "a");
        const bindings = new Map<Address, Binding>([["target.shop", { id: "shop", fields: {} }]]);
        for (const { key, field: name, applied } of cases) {
          const field = TEST_CASE_FIELDS.find((one) => one.name === name);
          if (field === undefined) throw new Error(name);
          const record = recordField(fingerprints, key, field, applied);
          bindings.set(addressOf("testCase", "shop", key), { id: key, fields: { [name]: record } });
        }
        const input: PlanInput = {
          ...liveOf(loaded, []),
          live: {
            targets: [{ id: "shop", app: "Web Shop", environments: [] }],
            testCases: new Map([
              [
                "shop",
                cases.map(({ key, field, live }) => ({
                  ...NOBODY,
                  id: key,
                  description: key,
                  [field]: live,
                })),
              ],
            ]),
          },
          states: new Map([["shop", { ...emptyState("a", "shop", URL), bindings }]]),
        };
        const request = {
          ...requestOf(loaded, files, "a", input),
          all: false,
          theirs: () => theirs,
          into,
        } as const;
        const { rewrite, texts } = await makeTexts(
          loaded.documents,
          (excluded) => pull(request, excluded),
          (now, result) => provePull(now, result, request),
        );
        const after = {
          ...files,
          "targets/shop.yaml": texts[0]?.after ?? files["targets/shop.yaml"],
        };
        const now = await project(after, "a");
        const valueOf = (key: string, name: string) =>
          now.desired.targets[0]?.testCases.find((one) => one.key === key)?.fields[name];
        const conflicts = cases.filter(
          (one) => new Set([one.applied, one.manifest, one.live]).size === 3,
        );
        for (const { key, field, applied, manifest, live } of cases) {
          const isConflict = conflicts.some((one) => one.key === key);
          const takes = isConflict ? theirs : manifest === applied;
          expect(valueOf(key, field)).toBe(takes ? live : manifest);
        }
        expect(rewrite.left.map(({ address }) => address)).toEqual(
          theirs ? [] : conflicts.map(({ key }) => addressOf("testCase", "shop", key)),
        );
        const { changes } = driftOf(makePlan({ ...input, desired: now.desired }), EVERYTHING);
        expect(changes.map(({ address }) => address)).toEqual(
          rewrite.left.map(({ address }) => address),
        );
        const [was, is] = [await resolvedIn(files, ["b"]), await resolvedIn(after, ["b"])];
        const moved = rewrite.changes.flatMap(({ address, path: at, alsoStages = [] }) =>
          alsoStages.length === 0 ? [] : `b ${address} ${at.join(".")}`,
        );
        if (into !== "base") expect(moved).toEqual([]);
        expect(
          [...is].filter(([key, value]) => was.get(key) !== value).map(([key]) => key),
        ).toEqual(moved);
      },
    ),
    { numRuns: RUNS * 3 },
  );
}, 600_000);
