// How the environment and the command line affect the look of a plan, as a process.
import { stripVTControlCharacters } from "node:util";
import { describe, test } from "vitest";
import { MANIFEST, type Scene, appliedScene } from "../look/scene.ts";

const COLOUR = "\u001b[";

describe.concurrent("tasc plan", () => {
  const applied = appliedScene();

  function plan(stage: Scene, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    stage.write("targets/shop.yaml", MANIFEST.replaceAll("[smoke]", "[smoke, new]"));
    return stage.run(["plan", ...args], { NO_COLOR: "", ...env });
  }

  test("prints colours with FORCE_COLOR, and no other terminal controls", async ({ expect }) => {
    await applied(async (stage) => {
      const forced = await plan(stage, [], { FORCE_COLOR: "1", CI: "true" });
      expect(forced.stdout).toContain(`${COLOUR}33m~`);
      for (const part of (forced.stdout + forced.stderr).split(COLOUR).slice(1))
        expect(part).toMatch(/^[\d;]*m/);
      const none = await plan(stage, []);
      expect(none.stdout).not.toContain(COLOUR);
      expect(stripVTControlCharacters(forced.stdout)).toBe(none.stdout);
    });
  });

  test("prints no colours with NO_COLOR, --no-color or JSON, even with FORCE_COLOR", async ({
    expect,
  }) => {
    await applied(async (stage) => {
      const force = { FORCE_COLOR: "1" };
      for (const ran of await Promise.all([
        plan(stage, [], { ...force, NO_COLOR: "1" }),
        plan(stage, ["--no-color"], force),
        plan(stage, ["--format", "json"], force),
      ]))
        expect(ran.stdout).not.toContain(COLOUR);
    });
  });

  test("shows ids and calls with --verbose", async ({ expect }) => {
    await applied(async (stage) => {
      const [brief, verbose] = await Promise.all([plan(stage, []), plan(stage, ["--verbose"])]);
      expect(brief.stdout).not.toContain("PATCH /");
      expect(verbose.stdout).toContain("PATCH /apiKey/v3/test-targets/");
    });
  });
});
