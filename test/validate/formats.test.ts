// `tasc validate --format`, as a process.
import { describe, test } from "vitest";
import { MANIFEST, type Scene, at, json, listAt, scene, steady } from "../look/scene.ts";

/** A manifest with two mistakes at known positions. */
const WRONG = MANIFEST.replace("status: ENABLED", "status: ENABLD").replace("app: Web", "ap: Web");

/** Runs `play` in a project with these mistakes. */
function bad(play: (stage: Scene) => Promise<void>): Promise<void> {
  return scene(async (stage) => {
    stage.write("targets/shop.yaml", WRONG);
    await play(stage);
  });
}

describe.concurrent("tasc validate", () => {
  test.for(["github", "sarif", "junit"])(
    "prints the mistakes as %s, and nothing else",
    async (format, { expect }) => {
      await bad(async (stage) => {
        const ran = await stage.run(["validate", "--format", format]);
        expect(ran.code).toBe(3);
        expect(ran.stderr).toBe("");
        const text = steady(ran.stdout, stage).replace(
          /"version": "(?!2\.1\.0)[^"]*"/,
          '"version": "V"',
        );
        await expect(text).toMatchFileSnapshot(`golden/mistakes.${format}`);
      });
    },
  );

  test("and plan print them as Markdown and as a page, and plan says what else stops it", async ({
    expect,
  }) => {
    await bad(async (stage) => {
      for (const command of ["validate", "plan"]) {
        // oxlint-disable-next-line no-await-in-loop -- both share the folder
        const ran = await stage.run([command, "--format", "markdown"]);
        expect(ran.code).toBe(3);
        // oxlint-disable-next-line no-await-in-loop
        await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/mistakes.md");
        // oxlint-disable-next-line no-await-in-loop
        const page = await stage.run([command, "--format", "html"]);
        expect(page.code).toBe(3);
        expect(page.stdout).toContain('<h1 id="verdict">Blocked by errors</h1>');
        for (const words of ["Unknown key ", "ENABLED", "targets/shop.yaml:2:1"])
          expect(page.stdout).toContain(words);
      }
    });
    await scene(async (stage) => {
      const ran = await stage.run(["plan", "--format", "markdown", "--dotenv", "none.env"]);
      expect([ran.code, ran.stdout]).toEqual([3, expect.stringContaining("Cannot read none")]);
      expect(ran.stdout).toContain("Blocked by errors");
      expect(ran.stdout).not.toContain("manifests");
    });
  });

  test("reports the same mistakes in JSON and SARIF", async ({ expect }) => {
    await bad(async (stage) => {
      const ran = await stage.run(["validate", "--format", "json"]);
      const sarif = await stage.run(["validate", "--format", "sarif"]);
      const codes = listAt(json(ran), "diagnostics").map((one) => at(one, "code"));
      expect(at(json(ran), "valid")).toBe(false);
      expect(listAt(json(sarif), "runs", 0, "results").map((one) => at(one, "ruleId"))).toEqual(
        codes,
      );
    });
  });

  test("uses the format for errors before manifests are read, and for success", async ({
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
