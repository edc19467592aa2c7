// `tasc validate --format`, as a process.
import { describe, test } from "vitest";
import { MANIFEST, type Scene, at, json, listAt, scene, steady } from "../look/scene.ts";

/** Two mistakes, in places that are known. */
const WRONG = MANIFEST.replace("status: ENABLED", "status: ENABLD").replace("app: Web", "ap: Web");

/** Plays in a project whose service nobody calls. */
function bad(play: (stage: Scene) => Promise<void>): Promise<void> {
  return scene(async (stage) => {
    stage.write("targets/shop.yaml", WRONG);
    await play(stage);
  });
}

describe.concurrent("tasc validate", () => {
  test.for(["github", "sarif", "junit"])(
    "prints mistakes as %s, and nothing else",
    async (format, { expect }) => {
      await bad(async (stage) => {
        const ran = await stage.run(["validate", "--format", format]);
        expect(ran.code).toBe(3);
        expect(ran.stderr).toBe("");
        const text = steady(ran.stdout, stage).replace(/"version": "(?!2\.1\.0)[^"]*"/, '"version": "V"');
        await expect(text).toMatchFileSnapshot(`golden/mistakes.${format}`);
      });
    },
  );

  test("has the same mistakes in JSON", async ({ expect }) => {
    await bad(async (stage) => {
      const ran = await stage.run(["validate", "--format", "json"]);
      const sarif = await stage.run(["validate", "--format", "sarif"]);
      const codes = listAt(json(ran), "diagnostics").map((one) => at(one, "code"));
      expect(at(json(ran), "valid")).toBe(false);
      expect(listAt(json(sarif), "runs", 0, "results").map((one) => at(one, "ruleId"))).toEqual(codes);
    });
  });

  test("also says there what is wrong before any manifest is read, and that nothing is", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      const args = ["validate", "--format", "github"];
      const ran = await stage.run([...args, "--dotenv", "none.env"]);
      expect(ran.code).toBe(3);
      expect(ran.stdout).toMatch(/^::error title=Cannot read none\.env/);
      expect(await stage.run(args)).toEqual({ code: 0, stdout: "", stderr: "" });
      const junit = await stage.run(["validate", "--format", "junit"]);
      expect(junit.stdout).toContain('tests="1" failures="0"');
    });
  });
});
