// What a pull request brings along, beside manifests, changes neither state nor what is protected.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scene } from "./support/cli.ts";
import { expectNothingLeft, seed } from "./support/story.ts";

const SHOP =
  "target: shop\napp: Web Shop\ntestCases: { pay: { description: Pay, discovery: { prompt: P } } }\n";
const ERRORED = ".tasc/errored/default/shop.json";

describe.concurrent("what an apply could not save", () => {
  test("is taken in with its seal alone, and with a word", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": SHOP });
      const hold = service.hold({ method: "POST" });
      const apply = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      await rm(join(project.dir, ".tasc/state/default/shop.lock"));
      hold.release();
      const lost = await apply.done;
      expect(lost.stderr).toContain(ERRORED);
      expect(lost.code, lost.stderr).toBe(1);
      const errored = await project.read(ERRORED);
      const writes = service.writes().length;

      const { seal: _, ...unsealed } = JSON.parse(errored);
      const forgeries = [errored.replaceAll("shop.pay", "shop.log"), JSON.stringify(unsealed)];
      for (const forged of forgeries) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ [ERRORED]: forged });
        // oxlint-disable-next-line no-await-in-loop
        const refused = await project.run(["apply", "--auto-approve"]);
        expect(refused.code).toBe(1);
        expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain("not written with this stage's key");
        expect(service.writes()).toHaveLength(writes);
        // oxlint-disable-next-line no-await-in-loop
        expect((await project.run(["state", "list"])).stdout).not.toContain("shop.log");
      }

      await project.write({ [ERRORED]: errored });
      const next = await project.run(["apply", "--auto-approve"]);
      expect(next.code, next.stderr).toBe(0);
      expect(next.stderr).toContain("now includes what an earlier run could not save");
      await expectNothingLeft(project);
    });
  });
});
