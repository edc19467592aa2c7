// Two applies at a time, and an apply that is interrupted.
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

/**
 * Starts an apply of four changes and a creation. The service holds the first call of a method, or
 * its answer.
 */
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

/** Another apply makes the remaining changes and repeats nothing. */
async function expectRecovery({ project, service, target }: Held): Promise<void> {
  const again = await project.run(APPLY);
  expect(again.code, again.stderr).toBe(0);
  expect(service.writes(), "nothing is done twice").toHaveLength(NAMES.length + 1);
  expect(target.cases.filter(({ description }) => description === "New")).toHaveLength(1);
  await expectNothingLeft(project);
}

describe.concurrent("two concurrent applies", () => {
  test("the second exits 5 and reports who holds the lock, where, and since when", async () => {
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

  test("the second waits for the first with --lock-timeout", async () => {
    await held("PATCH", "before", async ({ project, service, running, release }) => {
      const second = await project.start([...APPLY, "--lock-timeout", "50s"]);
      release();
      expect((await running.done).code).toBe(0);
      const waited = await second.done;
      expect(waited.code, waited.stderr).toBe(0);
      expect(service.writes()).toHaveLength(NAMES.length + 1);
    });
  });

  test("do not block each other on different targets", async () => {
    await held("PATCH", "before", async ({ project, service, running, release }) => {
      service.addTarget("Other Shop");
      await project.write({
        "targets/other.yaml": "target: other\napp: Other Shop\ntestIdAttribute: x\n",
      });
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
    "finishes the %s in flight, saves and exits 130; the next apply makes the remaining changes",
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

  test("stops immediately on a second Ctrl-C, and the next run recovers", async () => {
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

  test("a test case created before a kill keeps its element ids in the next plan, even if renamed", async () => {
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

  test("an import works after an apply was killed", async () => {
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

  test("SIGTERM does not lose or repeat completed changes", async () => {
    await held("POST", "after", async (one) => {
      one.running.child.kill("SIGTERM");
      one.release();
      await one.running.done;
      await expectRecovery(one);
    });
  });
});
