// Taking a stage out of the manifests: for random projects, other stages declare what they did, and
// nothing names the stage any more. Then once as a user does it, with state.
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { retire } from "../../src/edit/retire.ts";
import { readProject, resolveProject } from "../../src/manifest/load.ts";
import { hasErrors } from "../../src/manifest/problem.ts";
import { resourcesOf } from "../../src/model/desired.ts";
import { scene } from "../contract/support/cli.ts";
import { seed } from "../contract/support/story.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";
import { STAGES, project as randomProject } from "../rewrite/random-project.ts";

type Files = Readonly<Record<string, string>>;

async function readingOf(files: Files) {
  const reading = await readProject(memoryFolder(files));
  if (reading.project === undefined) throw new Error("there should be a tasc.yaml");
  return { ...reading, project: reading.project };
}

/** What a stage declares, without the places. */
function declaredIn(reading: Awaited<ReturnType<typeof readingOf>>, stage: string) {
  const options = { env: {}, allowMissingSecrets: true, needsApiKey: false };
  const { resolved, problems } = resolveProject(reading, { ...options, stage });
  return hasErrors(problems)
    ? problems.map(({ code }) => code)
    : resolved?.desired.targets
        .flatMap(resourcesOf)
        .map(({ address, fields }) => [address, JSON.stringify(fields)]);
}

async function after(files: Files, stage: string, stages: readonly string[] = STAGES) {
  const reading = await readingOf(files);
  const done = await retire(reading, stage, stages, memoryFolder(files));
  const left = new Map(Object.entries(files));
  for (const { file, after: text } of done.texts) left.set(file, text);
  for (const file of done.emptied) left.delete(file);
  return { ...done, files: Object.fromEntries(left) };
}

test("a retired stage is named nowhere, and other stages declare what they did", async () => {
  await fc.assert(
    fc.asyncProperty(randomProject, fc.constantFrom(...STAGES), async (files, stage) => {
      const before = await readingOf(files);
      fc.pre(!hasErrors(before.problems));
      const done = await after(files, stage);
      const now = await readingOf(done.files);
      expect(now.problems.filter(({ severity }) => severity === "error")).toEqual([]);
      for (const other of STAGES.filter((one) => one !== stage))
        expect(declaredIn(now, other)).toEqual(declaredIn(before, other));
      expect(declaredIn(now, stage)).toEqual(["unknown-stage"]);
      for (const { value } of now.documents) {
        expect(Object.keys(value)).not.toEqual(["target"]);
        expect(JSON.stringify(value.stages ?? {})).not.toContain(`"${stage}":`);
        expect(JSON.stringify(value)).not.toMatch(new RegExp(`"onlyStages":\\[[^\\]]*"${stage}"`));
      }
    }),
    { numRuns: 25 },
  );
});

const TASC = (rest: string): string => `version: 1\nstages: { a: {}, b: {} }\n${rest}`;

describe("what only the stage had", () => {
  test("goes with its document, and what is left of its file stays", async () => {
    const done = await after(
      {
        "tasc.yaml": TASC("defaultStage: a # ours\n"),
        "targets/mixed.yaml":
          "# one\ntarget: gone\nonlyStages: [a]\n---\n# two\ntarget: shop\napp: Shop\n",
        "targets/gone.yaml": "target: gone\napp: Gone\n",
        "targets/more.yaml":
          "target: shop\nstages: { a: { testCases: { x: { description: X } } } }\n",
      },
      "a",
      ["a", "b"],
    );
    expect(done.files).toEqual({
      "tasc.yaml": "version: 1\nstages: { b: {} }\n",
      "targets/mixed.yaml": "---\n# two\ntarget: shop\napp: Shop\n",
    });
    expect(done.gone).toEqual(["target.gone", "testCase.shop.x"]);
  });

  test.each([
    ["another stage needs its results", TASC("policy: { passedIn: { stage: a } }\n"), "Test cases"],
    ["it is the only one", "version: 1\nstages: { a: {} }\n", "a is the only stage"],
  ])("is not taken away if %s", async (_, text, says) => {
    const stages = text.includes("b: {}") ? ["a", "b"] : ["a"];
    const files = { "tasc.yaml": text, "targets/shop.yaml": "target: shop\napp: Shop\n" };
    await expect(after(files, "a", stages)).rejects.toThrow(says);
  });
});

test("the command asks, and takes the stage out of manifests, state and accepted steps", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    await project.write({
      "tasc.yaml": `${await project.read("tasc.yaml")}stages:\n  dev: {}\n  live: {}\n`,
      "tasc-trust.yaml": "stages: { dev: { origins: [] } }\n",
      "targets/shop.yaml":
        "target: shop\napp: Web Shop\ntestCases:\n  login: { description: Log in }\nstages:\n  dev: { testCases: { login: { tags: [dev] } } }\n",
      "steps/dev/shop/login.txt": "# testCase.shop.login\n",
    });
    for (const stage of ["dev", "live"]) {
      // oxlint-disable-next-line no-await-in-loop
      const ran = await project.run(["apply", "--auto-approve", "--stage", stage]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    }
    service.forget();
    const asked = await project.run(["stages", "retire", "dev"]);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain("tasc stages retire dev --auto-approve");
    const state = join(project.dir, ".tasc/state/dev/shop.json");
    const preview = await project.run(["stages", "retire", "dev", "--dry-run"]);
    expect([preview.code, existsSync(state)]).toEqual([0, true]);
    const ran = await project.run(["stages", "retire", "dev", "--auto-approve"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toBe(`~ tasc.yaml
~ targets/shop.yaml
- steps/dev/shop/login.txt
- state of 1 target with 2 addresses; the history of applies is kept
! tasc-trust.yaml still names the stage: remove \`stages.dev\` there

Stage dev is retired. Nothing changed on the service.
Next: review the change with \`git diff\`, and commit it.
`);
    expect(service.log).toEqual([]);
    expect([existsSync(state), existsSync(join(project.dir, "steps/dev"))]).toEqual([false, false]);
    expect(await project.read("targets/shop.yaml")).not.toContain("dev");
    expect((await project.run(["plan", "--stage", "live"])).stdout).toContain("No changes.");
    expect((await project.run(["stages", "retire", "dev"])).code).toBe(3);
  });
});
