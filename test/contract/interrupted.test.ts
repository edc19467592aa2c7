// Two at a time, and one that is stopped.
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { type Project, expectNoStack, scene } from "./support/cli.ts";
import { type Live, expectNothingLeft, seed } from "./support/story.ts";

const BASE = "target: shop\napp: Web Shop\n";
const NAMES = ["One", "Two", "Three", "Four"] as const;

async function prepare(project: Project, live: Live): Promise<void> {
  for (const name of NAMES) live.service.addCase(live.target, { description: name });
  await project.write({
    "tasc.yaml": `${await project.read("tasc.yaml")}  concurrency: 1\n`,
    "targets/shop.yaml": `${BASE}testCases:\n${NAMES.map((name, n) => `  c${n}: { description: ${name}, status: DRAFT }\n`).join("")}  new: { description: New, discovery: { prompt: P } }\n`,
  });
}

describe.concurrent("two applies at one time", () => {
  test("the second exits 5 and says who holds the lock, where, and since when", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      const hold = service.hold({ method: "PATCH" });
      const first = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      const writes = service.writes().length;
      const second = await project.run(["apply", "--auto-approve"]);
      expect(second.code, second.stderr).toBe(5);
      expect(second.stderr).toContain(hostname());
      expect(second.stderr).toContain(`${first.child.pid}`);
      expect(second.stderr).toContain(project.dir);
      expect(second.stderr).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d/u);
      expectNoStack(second);
      expect(service.writes()).toHaveLength(writes);

      // A plan takes no lock.
      expect((await project.run(["plan"])).code).toBe(0);
      hold.release();
      expect((await first.done).code).toBe(0);
      await expectNothingLeft(project);
    });
  });

  test("--lock-timeout waits for the first", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      const hold = service.hold({ method: "PATCH" });
      const first = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      const second = await project.start(["apply", "--auto-approve", "--lock-timeout", "50s"]);
      hold.release();
      expect((await first.done).code).toBe(0);
      const waited = await second.done;
      expect(waited.code, waited.stderr).toBe(0);
      expect(service.writes()).toHaveLength(NAMES.length + 1);
    });
  });

  test("on different targets do not stand in each other's way", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      service.addTarget("Other Shop");
      await project.write({ "targets/other.yaml": "target: other\napp: Other Shop\ntestIdAttribute: x\n" });
      const hold = service.hold({ method: "PATCH" });
      const first = await project.start([
        "apply",
        "--auto-approve",
        "--only",
        "*.shop*",
        "--only",
        "testCase.shop.*",
      ]);
      await hold.arrived;
      const second = await project.run(["apply", "--auto-approve", "--only", "target.other"]);
      expect(second.code, second.stderr).toBe(0);
      hold.release();
      await first.done;
    });
  });

  test("the lock of a killed process is taken over", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      const hold = service.hold({ method: "PATCH" }, "after");
      const first = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      first.child.kill("SIGKILL");
      await first.done;
      hold.release();
      const second = await project.run(["apply", "--auto-approve"]);
      expect(second.code, second.stderr).toBe(0);
      await expectNothingLeft(project);
    });
  });
});

describe.concurrent("an interrupted apply", () => {
  test.each(["PATCH", "POST"])(
    "finishes the %s in flight, saves, exits 130; running again does the rest",
    async (method) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        await prepare(project, live);
        const hold = service.hold({ method });
        const running = await project.start(["apply", "--auto-approve"]);
        await hold.arrived;
        const before = service.writes().length;
        running.child.kill("SIGINT");
        await running.saw(/interrupt|finish|stopping|Ctrl-C/iu);
        hold.release();
        const ran = await running.done;
        expect(ran.code, ran.stderr).toBe(130);
        expectNoStack(ran);
        expect(service.writes(), "nothing new is begun").toHaveLength(before);

        const again = await project.run(["apply", "--auto-approve"]);
        expect(again.code, again.stderr).toBe(0);
        expect(service.writes(), "nothing is done twice").toHaveLength(NAMES.length + 1);
        expect(live.target.cases).toHaveLength(NAMES.length + 2);
        await expectNothingLeft(project);
      });
    },
  );

  test("a second Ctrl-C stops at once, and the next run recovers", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      const hold = service.hold({ method: "POST" }, "after");
      const running = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      running.child.kill("SIGINT");
      await running.saw(/interrupt|finish|stopping|Ctrl-C/iu);
      running.child.kill("SIGINT");
      expect((await running.done).code).toBe(130);
      hold.release();
      const again = await project.run(["apply", "--auto-approve"]);
      expect(again.code, again.stderr).toBe(0);
      expect(live.target.cases.filter((item) => item.description === "New")).toHaveLength(1);
      await expectNothingLeft(project);
    });
  });

  test("what was made is not sent without its elements' ids, whatever it is called by now", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      const hold = service.hold({ method: "POST" }, "after");
      const running = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      running.child.kill("SIGKILL");
      await running.done;
      hold.release();
      const made = live.target.cases.find(({ description }) => description === "New");
      const step = service.element({ interaction: { id: "i", action: "CLICK", calledWith: "a" } });
      made?.elements.push(step);
      const elements = "elements: [{ interaction: { action: CLICK, calledWith: b } }]";
      await project.write({
        "targets/shop.yaml": `${BASE}testCases:\n  new: { description: Newer, discovery: { prompt: P }, ${elements} }\n`,
      });
      const plan = await project.run(["plan", "--json"]);
      expect(plan.stdout).toContain(`"id": "${step.id}"`);
      expect(plan.stdout).toContain('"before": "a"');
    });
  });

  test("SIGTERM does not lose what was done either", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await prepare(project, live);
      const hold = service.hold({ method: "POST" }, "after");
      const running = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      running.child.kill("SIGTERM");
      hold.release();
      await running.done;
      const again = await project.run(["apply", "--auto-approve"]);
      expect(again.code, again.stderr).toBe(0);
      expect(live.target.cases.filter((item) => item.description === "New")).toHaveLength(1);
    });
  });
});
