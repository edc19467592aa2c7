// A program that uses the library plans and applies many times in one process.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { scene } from "./support/cli.ts";
import { seed } from "./support/story.ts";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

test.each([["plan"], ["apply", "--auto-approve"], ["drift"]])(
  "nothing that %s used is kept after it has ended",
  async (...args) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "targets/shop.yaml":
          "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, status: DRAFT } }\n",
      });
      const own = (): WeakRef<() => number> => {
        project.now = () => Date.now();
        return new WeakRef(project.now);
      };
      const clock = own();
      const { code, stderr } = await project.run(args);
      expect(code, stderr).toBe(0);
      project.now = Date.now;
      const isFreed = (): boolean => {
        if (typeof collect === "function") collect();
        return clock.deref() === undefined;
      };
      await expect.poll(isFreed).toBe(true);
    });
  },
);
