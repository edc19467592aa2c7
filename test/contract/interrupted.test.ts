// Two at a time, and one that is stopped.
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { type Project, type Running, expectNoStack, scene } from "./support/cli.ts";
import { type Live, expectNothingLeft, seed } from "./support/story.ts";

const BASE = "target: shop\napp: Web Shop\n";
const NAMES = ["One", "Two", "Three", "Four"] as const;
const APPLY = ["apply", "--auto-approve"];

interface Held extends Live {
  readonly project: Project;
  readonly running: Running;
  readonly release: () => void;
}

/** An apply of four changes and a creation. The service keeps the first call of a method, or the answer to it. */
async function held(
  method: string,
  phase: "before" | "after",
  play: (held: Held) => Promise<void>,
): Promise<void> {
  await scene({}, async ({ project, service }) => {
    const live = seed(service);
    for (const name of NAMES) service.addCase(live.target, { description: name });
    await project.write({
      "tasc.yaml": `${await project.read("tasc.yaml")}  concurrency: 1\n`,
      "targets/shop.yaml": `${BASE}testCases:\n${NAMES.map((name, n) => `  c${n}: { description: ${name}, status: DRAFT }\n`).join("")}  new: { description: New, discovery: { prompt: P } }\n`,
    });
    const held = service.hold({ method }, phase);
    const running = await project.start(APPLY);
    await held.arrived;
    await play({ ...live, project, running, release: () => held.release() });
  });
}

/** A further apply does what is left, and nothing a second time. */
async function expectRecovery({ project, service, target }: Held): Promise<void> {
  const again = await project.run(APPLY);
  expect(again.code, again.stderr).toBe(0);
  expect(service.writes(), "nothing is done twice").toHaveLength(NAMES.length + 1);
  expect(target.cases.filter(({ description }) => description === "New")).toHaveLength(1);
  await expectNothingLeft(project);
}

describe.concurrent("two applies at one time", () => {
  test("the second exits 5 and says who holds the lock, where, and since when", async () => {
    await held("PATCH", "before", async ({ project, service, running, release }) => {
      const writes = service.writes().length;
      const second = await project.run(APPLY);
      expect(second.code, second.stderr).toBe(5);
      expect(second.stderr).toContain(hostname());
      expect(second.stderr).toContain(`${running.child.pid}`);
      expect(second.stderr).toContain(project.dir);
      expect(second.stderr).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d/u);
      expectNoStack(second);
      expect(service.writes()).toHaveLength(writes);

      // A plan takes no lock.
      expect((await project.run(["plan"])).code).toBe(0);
      release();
      expect((await running.done).code).toBe(0);
      await expectNothingLeft(project);
    });
  });

  test("--lock-timeout waits for the first", async () => {
    await held("PATCH", "before", async ({ project, service, running, release }) => {
      const second = await project.start([...APPLY, "--lock-timeout", "50s"]);
      release();
      expect((await running.done).code).toBe(0);
      const waited = await second.done;
      expect(waited.code, waited.stderr).toBe(0);
      expect(service.writes()).toHaveLength(NAMES.length + 1);
    });
  });

  test("on different targets do not stand in each other's way", async () => {
    await held("PATCH", "before", async ({ project, service, running, release }) => {
      service.addTarget("Other Shop");
      await project.write({ "targets/other.yaml": "target: other\napp: Other Shop\ntestIdAttribute: x\n" });
      const second = await project.run([...APPLY, "--only", "target.other"]);
      expect(second.code, second.stderr).toBe(0);
      release();
      await running.done;
    });
  });

  test("the lock of a killed process is taken over", async () => {
    await held("PATCH", "after", async ({ project, running, release }) => {
      running.child.kill("SIGKILL");
      await running.done;
      release();
      const second = await project.run(APPLY);
      expect(second.code, second.stderr).toBe(0);
      await expectNothingLeft(project);
    });
  });
});

describe.concurrent("an interrupted apply", () => {
  test.each(["PATCH", "POST"])(
    "finishes the %s in flight, saves, exits 130; running again does the rest",
    async (method) => {
      await held(method, "before", async (one) => {
        const { service, running, release } = one;
        const before = service.writes().length;
        running.child.kill("SIGINT");
        await running.saw(/interrupt|finish|stopping|Ctrl-C/iu);
        release();
        const ran = await running.done;
        expect(ran.code, ran.stderr).toBe(130);
        expectNoStack(ran);
        expect(service.writes(), "nothing new is begun").toHaveLength(before);
        await expectRecovery(one);
      });
    },
  );

  test("a second Ctrl-C stops at once, and the next run recovers", async () => {
    await held("POST", "after", async (one) => {
      const { running, release } = one;
      running.child.kill("SIGINT");
      await running.saw(/interrupt|finish|stopping|Ctrl-C/iu);
      running.child.kill("SIGINT");
      expect((await running.done).code).toBe(130);
      release();
      await expectRecovery(one);
    });
  });

  test("what was made is not sent without its elements' ids, whatever it is called by now", async () => {
    await held("POST", "after", async ({ project, service, target, running, release }) => {
      running.child.kill("SIGKILL");
      await running.done;
      release();
      const step = service.element({ interaction: { id: "i", action: "CLICK", calledWith: "a" } });
      service.case(target, "New").elements.push(step);
      const elements = "elements: [{ interaction: { action: CLICK, calledWith: b } }]";
      await project.write({
        "targets/shop.yaml": `${BASE}testCases:\n  new: { description: Newer, discovery: { prompt: P }, ${elements} }\n`,
      });
      const plan = await project.run(["plan", "--json"]);
      expect(plan.stdout).toContain(`"id": "${step.id}"`);
      expect(plan.stdout).toContain('"before": "a"');
    });
  });

  test("an import may follow one that was killed", async () => {
    await held("PATCH", "after", async ({ project, service, running, release }) => {
      running.child.kill("SIGKILL");
      await running.done;
      release();
      service.addTarget("Other Shop");
      const imported = await project.run(["import"]);
      expect(imported.code, imported.stderr).toBe(0);
      expect(imported.stdout).toContain("wrote  targets/other-shop.yaml");
    });
  });

  test("SIGTERM does not lose what was done either", async () => {
    await held("POST", "after", async (one) => {
      one.running.child.kill("SIGTERM");
      one.release();
      await one.running.done;
      await expectRecovery(one);
    });
  });
});
