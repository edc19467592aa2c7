// A plan sends one GET /test-targets and, in parallel, one GET …/test-cases per managed target. It
// reads nothing else.
import { describe, expect, test } from "vitest";
import { PROJECT, scene } from "./support/cli.ts";
import { at, list } from "./support/json.ts";
import { changed } from "./support/story.ts";

const manifest = (n: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: n }, (_, i) => [
      `targets/t${i}.yaml`,
      `target: t${i}\napp: App ${i}\ntestCases: { login: { description: Log in, status: DRAFT } }\n`,
    ]),
  );

describe.concurrent("reads of a plan", () => {
  test.each([1, 2, 12])(
    "are one for the list of targets and one per managed target (%i)",
    async (n) => {
      await scene({}, async ({ project, service }) => {
        for (let i = 0; i < n + 3; i += 1)
          service.addCase(service.addTarget(`App ${i}`), { description: "Log in" });
        await project.write(manifest(n));
        const { value: plan } = await project.json(["plan"]);
        expect(list(plan["changes"])).toHaveLength(n);
        const wanted = service.targets
          .slice(0, n)
          .map((item) => `/apiKey/v3/test-targets/${item.id}/test-cases`);
        expect(service.reads()[0]).toBe("/apiKey/v3/test-targets");
        expect(service.reads().slice(1).toSorted()).toEqual(wanted.toSorted());
        expect(service.log.every((call) => call.query === "")).toBe(true);
        expect(service.violations).toEqual([]);
      });
    },
  );

  test("run in parallel, up to `concurrency`", async () => {
    await scene({}, async ({ project, service }) => {
      for (let i = 0; i < 6; i += 1)
        service.addCase(service.addTarget(`App ${i}`), { description: "Log in" });
      await project.write(manifest(6));
      await project.write({ "tasc.yaml": `${PROJECT}  concurrency: 3\n` });
      const holds = [1, 2, 3].map(() => service.hold({ path: /test-cases$/u }));
      const running = await project.start(["plan"]);
      await Promise.all(holds.map((hold) => hold.arrived));
      expect(service.mostAtOnce).toBe(3);
      for (const hold of holds) hold.release();
      expect((await running.done).code).toBe(0);
      expect(service.mostAtOnce).toBeLessThanOrEqual(3);
    });
  });

  test("are not sent if there are no manifests: exit 3", async () => {
    await scene({}, async ({ project, service }) => {
      const ran = await project.run(["plan"]);
      expect(ran.code, ran.stdout).toBe(3);
      expect(service.log).toEqual([]);
    });
  });

  test("are not sent if a pattern of --only is too long or invalid: exit 3", async () => {
    await scene({}, async ({ project, service }) => {
      service.addCase(service.addTarget("App 0"), { description: "Log in" });
      await project.write(manifest(1));
      for (const glob of ["*a".repeat(501), "{a,b", "[z-a]"]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(["plan", "--only", glob]);
        expect([ran.code, ran.stderr.includes("cannot be used")], ran.stderr).toEqual([3, true]);
      }
      expect(service.log).toEqual([]);
    });
  });

  test("--only and --exclude accept addresses and globs, and can be repeated", async () => {
    await scene({}, async ({ project, service }) => {
      for (let i = 0; i < 4; i += 1)
        service.addCase(service.addTarget(`App ${i}`), { description: "Log in" });
      await project.write(manifest(4));
      const only = await project.json([
        "plan",
        "--only",
        "testCase.t0.*",
        "--only",
        "testCase.t2.login",
      ]);
      expect(changed(only.value)).toEqual(["update testCase.t0.login", "update testCase.t2.login"]);
      const without = await project.json([
        "plan",
        "--exclude",
        "testCase.t0.*",
        "--exclude",
        "*.t3.*",
      ]);
      expect(changed(without.value)).toEqual([
        "update testCase.t1.login",
        "update testCase.t2.login",
      ]);
      const both = await project.json([
        "plan",
        "--only",
        "testCase.*.login",
        "--exclude",
        "testCase.t1.login",
      ]);
      expect(changed(both.value)).toHaveLength(3);
      expect(at(both.value, "summary", "update")).toBe(3);
    });
  });

  test("say once that the clocks differ, where times of both are compared", async () => {
    await scene({}, async ({ project, service }) => {
      service.addCase(service.addTarget("App 0"), { description: "Log in" });
      await project.write(manifest(1));
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      const flakyAt = async (minutes: number): Promise<string> => {
        const headersNow = () => ({ date: new Date(Date.now() + minutes * 60_000).toUTCString() });
        const body = JSON.stringify({ data: [], key: {}, hasNextPage: false });
        service.fail({
          on: { method: "GET", path: /test-reports/u },
          phase: "before",
          answer: { kind: "answer", status: 200, headersNow, body },
        });
        const ran = await project.run(["reports", "flaky"]);
        expect(ran.code, ran.stderr).toBe(0);
        return ran.stderr;
      };
      expect(await flakyAt(4)).toBe("");
      for (const [minutes, words] of [
        [7, "clock is 7 minutes ahead of this machine's"],
        [-7, "clock is 7 minutes behind this machine's"],
      ] as const)
        // oxlint-disable-next-line no-await-in-loop
        expect((await flakyAt(minutes)).split(words)).toHaveLength(2);
    });
  });
});
