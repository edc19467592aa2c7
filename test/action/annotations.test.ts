import { describe, test } from "vitest";
import { appliedScene, MANIFEST, SECRETS } from "../look/scene.ts";

const WRONG = MANIFEST.replace("status: ENABLED", `status: ${SECRETS.QA_PASSWORD}`);

describe.concurrent("mistakes in manifests", () => {
  const play = appliedScene();

  test.for([["validate"], ["plan"]])(
    "are annotated at their lines by `%s --format github`",
    ([command], { expect }) =>
      play(async (scene) => {
        scene.write("targets/shop.yaml", WRONG);
        const ran = await scene.run([String(command), "--format", "github"]);
        expect(ran.code).toBe(3);
        expect(ran.stdout).toMatch(
          /^::error file=targets\/shop\.yaml,line=15,col=13,title=[^\n]*\n$/,
        );
        expect(ran.stdout).not.toContain(SECRETS.QA_PASSWORD);
      }),
  );

  test("produce no annotations if there are none", ({ expect }) =>
    play(async (scene) => {
      const ran = await scene.run(["validate", "--format", "github"]);
      expect(ran.stdout).toBe("");
    }));
});
