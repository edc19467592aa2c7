// `stages`, `plan --all-stages`, commands run in a subfolder, and `--shard` with `show`.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../src/model/json.ts";
import { Project, scene } from "./support/cli.ts";
import { at, text } from "./support/json.ts";
import { seed } from "./support/story.ts";

const MANIFEST =
  "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, status: DRAFT } }\n";

async function withStages(project: Project, other: string): Promise<void> {
  const settings = await project.read("tasc.yaml");
  await project.write({
    "tasc.yaml": `${settings}defaultStage: a\nstages: { a: {}, b: ${other} }\n`,
    "targets/shop.yaml": MANIFEST,
  });
}

describe.concurrent("a project with stages", () => {
  test("lists its stages without any request", async () => {
    await scene({}, async ({ project, service }) => {
      await withStages(project, "{}");
      const ran = await project.run(["stages", "--json"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(parseJson(ran.stdout)).toMatchObject({
        stages: [
          { stage: "a", chosen: true, targets: 1, testCases: 1 },
          { stage: "b", chosen: false },
        ],
      });
      expect(service.log).toEqual([]);
    });
  });

  test("refuses to mark a stage that does not exist", async () => {
    await scene({}, async ({ project }) => {
      await withStages(project, "{}");
      const ran = await project.run(["stages", "--stage", "c", "--json"]);
      expect(ran.code, ran.stderr).toBe(3);
      expect(parseJson(ran.stdout)).toMatchObject({ error: { code: "unknown-stage" } });
    });
  });

  test("can be planned in all stages at once, with the worst exit code", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await withStages(project, '{ service: { baseUrl: "http://127.0.0.1:1", retries: 0 } }');
      const ran = await project.run(["plan", "--all-stages", "--json"]);
      expect(ran.code).toBe(6);
      expect(parseJson(ran.stdout)).toMatchObject({
        stages: [
          { stage: "a", exitCode: 0, plan: { stage: "a", summary: { update: 1 } } },
          { stage: "b", exitCode: 6, error: { code: "unreachable" } },
        ],
      });
      const text = await project.run(["plan", "--all-stages"]);
      expect(text.stdout).toMatch(/^stage +plan\na +Plan: 0 to create, 1 to update/u);
      expect((await project.run(["plan", "--all-stages", "--out", "plan.json"])).code).toBe(3);

      const checked = await project.run(["validate", "--all-stages"]);
      expect([checked.code, checked.stdout.match(/stage \w+/g)]).toEqual([
        0,
        ["stage a", "stage b"],
      ]);
      expect((await project.run(["validate", "--all-stages", "--stage", "staging"])).code).toBe(3);
    });
  });

  test("has one line for a stage without changes, and each heading once", async () => {
    await scene({}, async ({ project, service }) => {
      const { login } = seed(service);
      login.elements.push(service.element({ interaction: { id: "I", action: "CLICK" } }));
      await withStages(project, "{}");
      const settings = await project.read("tasc.yaml");
      const more = `b: {}, c: { vars: { status: "\${env:NONE:-ENABLED}" } } }`;
      await project.write({
        "tasc.yaml": settings.replace("b: {} }", more),
        "targets/shop.yaml": `${MANIFEST}stages: { c: { testCases: { login: { status: "\${var:status}" } } } }\n`,
      });
      const { code, stdout, stderr } = await project.run(["plan", "--all-stages"]);
      expect(code, stderr).toBe(0);
      const headings = stdout.match(
        /^(?:stage +plan|Stage \w+ at|Needs attention|No changes|[abc] {2}.*)/gm,
      );
      expect(headings?.map((line) => line.replace(/ {2,}/g, "  "))).toEqual([
        "stage  plan",
        expect.stringMatching(/^a {2}Plan: .* 1 to update/),
        expect.stringMatching(/^b {2}Plan: .* 1 to update/),
        "c  No changes. The service matches your manifests.",
        "Stage a at",
        "Needs attention",
        "Stage b at",
        "Needs attention",
      ]);
    });
  });

  test("gets --stage in suggested commands that would otherwise use another stage", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await withStages(project, "{ service: { retries: 0 } }");
      const spring = "batchGeneration.shop.spring";
      await project.write({
        "targets/shop.yaml": `${MANIFEST}batchGenerations: { spring: { prompt: Cover it } }\n`,
      });
      const commands = [`tasc state mark ${spring} done`, `tasc apply --run ${spring}`];
      const inB = commands.map((command) => `${command} --stage b`);
      const held = async (args: readonly string[], env = {}) => {
        const { value } = await project.json(["plan", ...args], env);
        return text(at(value, "diagnostics", 0, "detail")).match(/tasc (?:apply|state) .*/gu);
      };
      expect(await held(["--stage", "b"])).toEqual(inB);
      expect(await held([], { TASC_STAGE: "b" })).toEqual(commands);
      expect(await held(["--stage", "a"])).toEqual(commands);

      // A saved plan also sets the stage.
      const saved = ["plan", "--stage", "b", "--run", spring, "--out", "plan.json"];
      expect((await project.run(saved)).code).toBe(0);
      service.fail({ on: { method: "POST" }, phase: "after", answer: { kind: "reset" } });
      const applied = await project.run(["apply", "plan.json"]);
      expect(applied.code).toBe(1);
      expect(applied.stdout.match(/(?<=run `)tasc [^`]*/gu)).toEqual(inB);

      const nowhere = { TASC_BASE_URL: "http://127.0.0.1:1" };
      const { value } = await project.json(["plan", "--stage", "b"], nowhere);
      expect(value["next"]).toEqual(["tasc doctor --stage b"]);
    });
  });

  test("is found from a subfolder", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await withStages(project, "{}");
      await mkdir(join(project.dir, "docs/deep"), { recursive: true });
      const inside = new Project(join(project.dir, "docs/deep"), project.env);
      const ran = await inside.run(["plan", "--log-level", "debug"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stderr).toContain(`The project is in ${project.dir}.`);
      const init = await inside.run(["stages", "--chdir", "."]);
      expect(init.code).toBe(3);
    });
  });

  test("can be planned in shards that merge into the whole plan", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await withStages(project, "{}");
      const parts = await Promise.all(
        ["1/2", "2/2"].map(async (shard) => (await project.json(["plan", "--shard", shard])).value),
      );
      expect(
        parts.filter(({ summary }) => JSON.stringify(summary).includes('"update":1')),
      ).toHaveLength(1);
      expect((await project.run(["plan", "--shard", "3/2"])).code).toBe(3);
      for (const part of ["1", "2"])
        // oxlint-disable-next-line no-await-in-loop
        await project.run(["plan", "--shard", `${part}/2`, "--out", `part-${part}.json`]);
      const merged = await project.json(["show", "part-1.json", "part-2.json"]);
      const { value: whole } = await project.json(["plan"]);
      expect({ ...merged.value, createdAt: "" }).toEqual({ ...whole, createdAt: "" });
      expect(
        (await project.run(["show", ...["1", "2", "1", "2"].map((part) => `part-${part}.json`)]))
          .code,
      ).toBe(3);
    });
  });
});
