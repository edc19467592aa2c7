import { describe, expect, test } from "vitest";
import { scene } from "./support/cli.ts";

describe("tasc fmt", () => {
  test("sorts the keys of manifests; --check only lists the files that would change", async () => {
    await scene({}, async ({ project }) => {
      await project.write({
        "targets/a.yaml": "app: A # name\ntarget: a\n",
        "targets/b.yaml": "target: b\n",
      });
      const checked = await project.run(["fmt", "--check"]);
      expect([checked.code, checked.stdout]).toEqual([
        1,
        expect.stringContaining("targets/a.yaml\n"),
      ]);
      expect(checked.stdout).not.toContain("targets/b.yaml");
      expect(await project.read("targets/a.yaml")).toBe("app: A # name\ntarget: a\n");
      expect((await project.run(["fmt"])).code).toBe(0);
      expect(await project.read("targets/a.yaml")).toBe("target: a\napp: A # name\n");
      const again = await project.run(["fmt", "--check", "--format", "json"]);
      expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { check: true, changed: [] }]);
      // What cannot be parsed is told, and the other files are formatted.
      await project.write({
        "targets/a.yaml": "app: A\ntarget: a\n",
        "targets/b.yaml": "target: b\n<<<<<<< HEAD\napp: B\n=======\n>>>>>>> other\n",
      });
      const broken = await project.run(["fmt"]);
      expect([broken.code, broken.stdout]).toEqual([3, "targets/a.yaml\n"]);
      expect(broken.stderr).toContain("targets/b.yaml:2:1");
      expect(broken.stderr).toContain("merge conflict begins here");
    });
  });
});

describe("tasc new", () => {
  test("adds valid skeletons to the right file; rejects duplicate, unknown and invalid addresses", async () => {
    await scene({}, async ({ project }) => {
      const add = async (...args: string[]): Promise<void> => {
        const ran = await project.run(["new", ...args]);
        expect(ran.code, ran.stderr).toBe(0);
      };
      await add("target", "desk");
      await add("testCase", "desk.check-out");
      await add("testCase", "testCase.desk.pay");
      await add("environment", "desk.preview");
      await add("batchGeneration", "desk.spring");
      const text = await project.read("targets/desk.yaml");
      expect(text).toContain(
        "  check-out:\n    description: Check out\n    discovery:\n      prompt: ",
      );
      expect(text).toContain("    # tags:  # ");
      const valid = await project.run(["validate", "--format", "json"]);
      expect(valid.code, valid.stderr).toBe(0);
      const twice = await project.run(["new", "testCase", "desk.pay"]);
      expect([twice.code, twice.stderr]).toEqual([
        3,
        expect.stringContaining("already declared in targets/desk.yaml"),
      ]);
      const unknown = await project.run(["new", "testCase", "nope.pay"]);
      expect([unknown.code, unknown.stderr]).toEqual([
        3,
        expect.stringContaining("tasc new target nope"),
      ]);
      expect((await project.run(["new", "testCase", "a b"])).code).toBe(3);
    });
  });
});
