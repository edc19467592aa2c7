import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import type { Desired, DesiredFields, DesiredTarget } from "../../src/model/desired.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { Secret } from "../../src/model/value.ts";
import { planJson } from "../../src/render/json.ts";
import { type TargetParts, fingerprints, project, target } from "../plan/build.ts";
import {
  Killed,
  type Knobs,
  MemoryService,
  PLAIN_KNOBS,
  type StoredTarget,
  type StoredTestCase,
} from "./memory-service.ts";
import { type Applied, Workbench } from "./workbench.ts";

function benchWith(knobs: Partial<Knobs> = {}): Workbench {
  return new Workbench(new MemoryService({ ...PLAIN_KNOBS, ...knobs }));
}

/** A live target named Shop with its DEFAULT environment, and some test cases. */
function shopOn(bench: Workbench, ...cases: readonly Partial<StoredTestCase>[]): StoredTarget {
  const live = bench.service.addTarget("Shop");
  live.environments.push({
    id: bench.service.newId("env"),
    type: "DEFAULT",
    fields: { discoveryUrl: "https://shop.example.com" },
  });
  for (const fields of cases) bench.service.addTestCase(live, fields);
  return live;
}

function shop(parts: TargetParts): Desired {
  return project(target(parts));
}

function first({ targets: [own] }: Desired): DesiredTarget {
  if (own === undefined) throw new Error("no target");
  return own;
}

/** The writes in short: operation and keys of the body. */
function writesOf({ service }: Workbench): readonly string[] {
  return service.calls.map(({ operation, body }) => `${operation} ${Object.keys(body).join(",")}`);
}

function failedOf({ outcome }: Applied): readonly Address[] {
  return outcome.failed.map(({ address }) => address);
}

const made = (description: string, more: DesiredFields = {}): DesiredFields => ({
  description,
  "discovery.prompt": `Do ${description}`,
  ...more,
});

describe("folders whose ids are not known yet", () => {
  const names = ["a", "b", "c", "d"];
  const filed = shop({
    testCases: Object.fromEntries(names.map((key) => [key, { description: key, folder: "Auth" }])),
  });
  const answers: readonly (readonly [string, Partial<Knobs>])[] = [
    ["the answer to a PATCH shows the id", {}],
    ["only the list shows it", { folderInPatchAnswer: false }],
    ["a PATCH is answered with nothing", { patchAnswer: "nothing" }],
  ];
  test.each(answers)(
    "one PATCH finds the id if all are in the folder already and %s",
    async (_, knobs) => {
      const bench = benchWith(knobs);
      shopOn(bench, ...names.map((description) => ({ description, folder: "Auth" })));
      await bench.apply(filed);
      expect(writesOf(bench)).toEqual(["patchTestCase folderName"]);
    },
  );
  test.each(answers)(
    "the PATCH of the only one outside the folder is enough if %s",
    async (_, knobs) => {
      const bench = benchWith(knobs);
      const live = shopOn(bench, ...names.map((description) => ({ description, folder: "Auth" })));
      const stray = live.testCases.at(-1);
      if (stray !== undefined) stray.folder = null;
      await bench.apply(filed);
      expect(bench.service.calls.map(({ path }) => path.at(-1))).toEqual([stray?.id]);
    },
  );
  test("a creation finds the id", async () => {
    const bench = benchWith();
    shopOn(bench, ...names.map((description) => ({ description, folder: "Auth" })));
    const [{ testCases } = { testCases: [] }] = filed.targets;
    const more = target({ testCases: { new: made("new", { folder: "Auth" }) } });
    await bench.apply(project({ ...more, testCases: [...testCases, ...more.testCases] }));
    expect(writesOf(bench)).toEqual(["createDiscovery name,folderName,prompt"]);
  });
  test("a failed first PATCH does not affect the other test cases", async () => {
    const bench = benchWith();
    shopOn(bench, ...names.map((description) => ({ description, folder: "Auth" })));
    bench.service.faultOf = (_, nth) => (nth === 0 ? { when: "before", acted: "no" } : undefined);
    const applied = await bench.apply(filed);
    expect(failedOf(applied)).toEqual(["testCase.shop.a"]);
    expect(applied.outcome.done).toHaveLength(3);
  });
});

const line = (prompt: string): Desired =>
  shop({
    testCases: {
      login: {
        description: "L",
        "discovery.prompt": prompt,
        elements: [{ locatorLine: "getByText('x')" }],
      },
    },
  });

describe("generation", () => {
  test("a prompt that the service shows differently is sent once per run, and reported as not taken", async () => {
    const bench = benchWith({ discovery: "with altered prompt" });
    shopOn(bench, { description: "Log in", prompt: "Old" });
    const applied = await bench.apply(
      shop({ testCases: { login: made("Log in", { status: "ENABLED" }) } }),
    );
    expect(writesOf(bench)).toEqual([
      "patchTestCase createBackendDiscoveryPrompt",
      "patchTestCase status",
    ]);
    expect(applied.outcome.notTaken).toEqual([
      { address: "testCase.shop.login", paths: [["discovery", "prompt"]] },
    ]);
  });
  test("a sent prompt is recorded safely, while the record of a sent field may be lost in a power cut", async () => {
    const bench = benchWith();
    shopOn(bench, { description: "Log in", prompt: "Old" });
    const { noted, recorded } = await bench.apply(
      shop({ testCases: { login: made("Log in", { status: "ENABLED" }) } }),
    );
    const fieldsIn = (events: readonly StateEvent[]): readonly string[] =>
      events.flatMap((event) => (event.type === "wrote" ? Object.keys(event.fields) : []));
    expect(fieldsIn(recorded)).toEqual(expect.arrayContaining(["discovery.prompt", "status"]));
    expect(fieldsIn(noted)).toEqual(["status"]);
  });
  test("--rediscover takes effect even if another test case is created in the same run", async () => {
    const bench = benchWith({ discovery: "null" });
    shopOn(bench, { description: "Log in" });
    const wanted = shop({ testCases: { login: made("Log in"), other: made("Other") } });
    await bench.apply(wanted, { rediscover: ["testCase.shop.login"] });
    expect(writesOf(bench).toSorted()).toEqual([
      "createDiscovery name,prompt",
      "patchTestCase createBackendDiscoveryPrompt",
    ]);
  });
  test("a prompt that has changed since a killed run sent it is sent again", async () => {
    const bench = benchWith({ discovery: "null" });
    shopOn(bench);
    bench.service.faultOf = () => "kill after";
    await bench.apply(shop({ testCases: { login: made("Log in") } })).catch(() => undefined);
    bench.service.killed = false;
    bench.service.faultOf = () => undefined;
    await bench.apply(
      shop({ testCases: { login: made("Log in", { "discovery.prompt": "New" }) } }),
    );
    expect(writesOf(bench)).toEqual([
      "createDiscovery name,prompt",
      "patchTestCase createBackendDiscoveryPrompt",
    ]);
  });
  test("a call that a killed run sent is not sent again", async () => {
    const bench = benchWith();
    const wanted = shop({
      environments: {
        preview: { discoveryUrl: "https://p.example.com", basicAuth: { username: "u" } },
      },
    });
    shopOn(bench);
    bench.service.faultOf = () => "kill after";
    await bench.apply(wanted).catch(() => undefined);
    bench.service.killed = false;
    bench.service.faultOf = () => undefined;
    await bench.apply(wanted);
    expect(writesOf(bench)).toEqual(["createEnvironment name,discoveryUrl,basicAuth"]);
  });
  test("locator lines are written to the elements that a rediscovery creates", async () => {
    const bench = benchWith({ made: { status: "DRAFT", runStatus: "ON", elements: 1 } });
    shopOn(bench);
    await bench.apply(line("one"));
    await bench.apply(line("two"));
    expect(writesOf(bench)).toEqual([
      "createDiscovery name,prompt",
      "patchElement locatorLine",
      "patchTestCase createBackendDiscoveryPrompt",
      "patchElement locatorLine",
    ]);
  });
});

describe("who changed the elements", () => {
  const step = (calledWith: string) => ({
    interaction: { action: "CLICK", calledWith },
    selectors: [],
  });
  const stepLive = (calledWith: string) => ({
    id: `step-${calledWith}`,
    interaction: { action: "CLICK", calledWith },
    assertion: null,
    selectors: [],
    ignoreFailure: false,
    line: undefined,
    madeOfLine: undefined,
  });
  const steps = (...names: readonly string[]): Desired =>
    shop({ testCases: { login: { description: "Log in", elements: names.map(step) } } });
  async function changersOf(wanted: Desired, live: readonly string[]): Promise<readonly unknown[]> {
    const bench = benchWith();
    const target = shopOn(bench, {
      description: "Log in",
      elements: ["a", "b", "c"].map(stepLive),
    });
    await bench.apply(steps("a", "b", "c"));
    expect(bench.service.calls).toEqual([]);
    const [login] = target.testCases;
    if (login !== undefined) login.elements = live.map(stepLive);
    const { planned } = await bench.look(wanted);
    return [
      ...new Set(
        planned.plan.changes.flatMap(({ fields }) => fields.map(({ changedBy }) => changedBy)),
      ),
    ];
  }
  test.each([
    { says: "one left the manifest", wanted: ["a", "c"], live: ["a", "b", "c"], by: ["manifest"] },
    {
      says: "one came into the manifest",
      wanted: ["a", "x", "b", "c"],
      live: ["a", "b", "c"],
      by: ["manifest"],
    },
    { says: "one left the service", wanted: ["a", "b", "c"], live: ["a", "c"], by: ["service"] },
    {
      says: "each side changed a step of its own",
      wanted: ["a", "b", "c", "x"],
      live: ["a", "c"],
      by: ["service", "manifest"],
    },
  ])("$says: $by", async ({ wanted, live, by }) => {
    expect(await changersOf(steps(...wanted), live)).toEqual(by);
  });
});

describe("elements", () => {
  const lines = (...all: readonly string[]): Desired =>
    shop({
      testCases: {
        login: {
          description: "Log in",
          elements: all.map((text) => ({ interaction: { action: "CLICK" }, locatorLine: text })),
        },
      },
    });
  test("are all written even if the first call fails", async () => {
    const bench = benchWith({ made: { status: "DRAFT", runStatus: "ON", elements: 0 } });
    shopOn(bench, { description: "Log in", elements: [] });
    await bench.apply(lines("a", "b", "c"));
    const before = bench.service.calls.length;
    let calls = 0;
    bench.service.faultOf = () => (calls++ === 0 ? { when: "before", acted: "no" } : undefined);
    const applied = await bench.apply(lines("x", "y", "z"));
    expect(failedOf(applied)).toEqual(["testCase.shop.login"]);
    expect(bench.service.calls.slice(before)).toHaveLength(3);
    bench.service.faultOf = () => undefined;
    const again = await bench.apply(lines("x", "y", "z"));
    expect([again.writes, again.outcome.failed]).toEqual([1, []]);
  });
});

describe("--wait", () => {
  const wanted = shop({
    testCases: { login: made("Log in", { status: "ENABLED", runStatus: "ON" }) },
  });
  const knobs = {
    generation: "later",
    made: { status: "DRAFT", runStatus: "OFF", elements: 1 },
  } as const;

  test("waits for the end of the generation, and patches the fields that it changed", async () => {
    const bench = benchWith(knobs);
    shopOn(bench);
    let looks = 0;
    const applied = await bench.apply(wanted, {
      wait: 60_000,
      sleep: () => void (++looks === 3 && bench.service.finishGenerations()),
    });
    expect(looks).toBe(3);
    expect(applied.outcome).toMatchObject({
      unfinished: [],
      notTaken: [],
      done: ["testCase.shop.login"],
    });
    expect(writesOf(bench)).toEqual([
      "createDiscovery name,prompt",
      "patchTestCase status,runStatus",
    ]);
    expect((await bench.look(wanted)).planned.plan.changes).toEqual([]);
  });
  test("reports a sent creation as done and its discovery as unfinished after an interrupt", async () => {
    const bench = benchWith({ ...knobs, made: { ...knobs.made, elements: 1 } });
    shopOn(bench);
    let waits = false;
    const applied = await bench.apply(line("one"), {
      wait: 60_000,
      sleep: () => void (waits = true),
      stopping: () => waits,
    });
    expect(applied.outcome).toMatchObject({
      interrupted: true,
      done: ["testCase.shop.login"],
      skipped: [],
      unfinished: ["testCase.shop.login"],
    });
  });
  test("reports a rediscovery sent before an interrupt as done, and sends nothing more", async () => {
    const bench = benchWith({ discovery: "with prompt" });
    shopOn(bench, { description: "A", prompt: "Old" }, { description: "B", prompt: "Old" });
    const wanted = shop({
      testCases: {
        a: { description: "A", "discovery.prompt": "New" },
        b: { description: "B", "discovery.prompt": "New" },
      },
    });
    const applied = await bench.apply(wanted, {
      concurrency: 1,
      stopping: (writes) => writes >= 1,
    });
    expect(applied.outcome).toMatchObject({
      interrupted: true,
      calls: { POST: 0, PATCH: 1 },
      done: ["testCase.shop.a"],
      skipped: [{ address: "testCase.shop.b", reason: { kind: "interrupted" } }],
    });
  });
  test("ends at its limit, and reports the unfinished discovery", async () => {
    const bench = benchWith(knobs);
    shopOn(bench);
    const start = bench.now;
    const applied = await bench.apply(wanted, { wait: 5000 });
    expect(applied.outcome.unfinished).toEqual(["testCase.shop.login"]);
    expect(bench.now - start).toBe(5000);
  });
  test("waits again for a discovery that an earlier run with --wait started", async () => {
    const bench = benchWith(knobs);
    shopOn(bench);
    await bench.apply(wanted, { wait: 5000 });
    const start = bench.now;
    const again = await bench.apply(wanted, { wait: 3000 });
    expect(again.outcome.unfinished).toEqual(["testCase.shop.login"]);
    expect(bench.now - start).toBe(3000);
    bench.service.finishGenerations();
    expect((await bench.apply(wanted, { wait: 3000 })).outcome.unfinished).toEqual([]);
    const later = bench.now;
    await bench.apply(wanted, { wait: 3000 });
    expect(bench.now).toBe(later);
  });
  test("waits for a discovery that an earlier run without --wait started", async () => {
    const bench = benchWith(knobs);
    shopOn(bench);
    await bench.apply(wanted);
    expect((await bench.apply(wanted, { wait: 3000 })).outcome.unfinished).toEqual([
      "testCase.shop.login",
    ]);
  });
  test("ignores notifications of earlier discoveries", async () => {
    const bench = benchWith({ ...knobs, discovery: "null" });
    const live = shopOn(bench, { description: "Log in" });
    live.notifications.push({ id: "old", testCaseId: live.testCases[0]?.id ?? "" });
    const options = { wait: 5000, rediscover: ["testCase.shop.login"] } as const;
    expect((await bench.apply(wanted, options)).outcome.unfinished).toEqual([
      "testCase.shop.login",
    ]);
  });
  test("ignores the end of an earlier generation", async () => {
    const bench = benchWith({ ...knobs, discovery: "slow to begin" });
    shopOn(bench, { description: "Log in" });
    let looks = 0;
    const sleep = (): void => void (++looks === 2 && bench.service.finishGenerations());
    const options = { wait: 60_000, rediscover: ["testCase.shop.login"], sleep } as const;
    expect((await bench.apply(wanted, options)).outcome.unfinished).toEqual([]);
    expect(looks).toBe(2);
  });
  test("reads no notifications if nothing is generated", async () => {
    const bench = benchWith();
    shopOn(bench, { description: "Log in", prompt: "Do Log in", status: "DRAFT" });
    const reads = bench.service.reads;
    await bench.apply(wanted, { wait: 5000 });
    expect(bench.service.reads - reads).toBe(4);
  });
});

describe("new targets", () => {
  const whole = shop({
    fields: { app: "Shop", timeoutPerStep: 1 },
    environments: {
      default: { discoveryUrl: "https://shop.example.com", privateLocationName: "berlin" },
      preview: { discoveryUrl: "https://preview.example.com" },
    },
    testCases: { login: made("Log in") },
    batchGenerations: { spring: { prompt: "Spring", environment: "default" } },
  });

  test("get their resources even if their settings cannot be written", async () => {
    const bench = benchWith();
    bench.service.faultOf = ({ operation }) =>
      operation === "patchTarget" ? { when: "before", acted: "no" } : undefined;
    const applied = await bench.apply(whole);
    expect(failedOf(applied)).toEqual(["target.shop"]);
    expect(applied.outcome.done).toHaveLength(4);
  });
  test("fail only for the default environment and its dependents if the service shows no DEFAULT environment", async () => {
    const bench = benchWith({ environmentsInTargetAnswer: false });
    const list = bench.service.listTargets.bind(bench.service);
    bench.service.listTargets = async () =>
      (await list()).map((one) => ({ ...one, environments: [] }));
    const { outcome, ...applied } = await bench.apply(whole);
    expect(failedOf({ outcome, ...applied })).toEqual(["environment.shop.default"]);
    expect(outcome.skipped).toEqual([
      {
        address: "batchGeneration.shop.spring",
        reason: { kind: "needs", address: "environment.shop.default" },
      },
    ]);
    expect(outcome.done).toContain("testCase.shop.login");
  });
  test("are created again, reusing nothing of the old one, if they were removed outside tasc", async () => {
    const bench = benchWith({ environmentsInTargetAnswer: false });
    await bench.apply(whole);
    const [old] = bench.service.targets.splice(0, 1);
    const again = await bench.apply(whole);
    expect(again.outcome).toMatchObject({ failed: [], notTaken: [] });
    const [live] = bench.service.targets;
    expect(live?.environments[0]?.fields).toMatchObject({ privateLocationName: "berlin" });
    expect(live?.batchGenerations).toHaveLength(1);
    const ids = [...bench.state().bindings.values()].map(({ id }) => id);
    expect(ids).not.toContain(old?.environments[0]?.id);
  });
  test("removed outside tasc are reported as failed, without reading the old one, if the creation fails", async () => {
    const bench = benchWith();
    await bench.apply(whole);
    bench.service.targets.splice(0, 1);
    bench.service.faultOf = () => ({ when: "before", acted: "no" });
    const applied = await bench.apply(whole);
    expect(failedOf(applied)).toEqual(["target.shop"]);
    expect(applied.outcome.fatal).toBeUndefined();
  });
  test("do not show secrets from their fields in the plan", async () => {
    const bench = benchWith();
    const { planned } = await bench.look(
      shop({
        fields: { app: new Secret("s3cret app") },
        environments: { default: { discoveryUrl: new Secret("https://s3cret.example.com") } },
      }),
    );
    expect(JSON.stringify(planJson(planned.plan, { tool: "", createdAt: "" }))).not.toContain(
      "s3cret",
    );
  });
});

const spring = (parts: TargetParts = {}): Desired =>
  shop({ ...parts, batchGenerations: { spring: { prompt: "Spring" } } });

async function managed(bench: Workbench): Promise<void> {
  shopOn(bench);
  await bench.apply(shop({}));
}

describe("batch generations", () => {
  const address: Address = "batchGeneration.shop.spring";

  test("are done if the answer is empty", async () => {
    const bench = benchWith({ postAnswer: "nothing" });
    await managed(bench);
    expect((await bench.apply(spring())).outcome).toMatchObject({ done: [address], failed: [] });
    expect((await bench.apply(spring())).writes).toBe(0);
  });
  test("without a readable answer are left to the user, and run again with --run", async () => {
    const bench = benchWith();
    await managed(bench);
    bench.service.faultOf = () => ({ when: "before", acted: "maybe" });
    expect(failedOf(await bench.apply(spring()))).toEqual([address]);
    bench.service.faultOf = () => undefined;
    const later = await bench.apply(spring());
    expect(later.look.planned.plan).toMatchObject({
      changes: [],
      diagnostics: [{ code: "batch-uncertain" }],
    });
    await bench.apply(spring(), { run: [address] });
    expect(bench.service.targets[0]?.batchGenerations).toEqual([{ prompt: "Spring" }]);
    expect((await bench.look(spring())).planned.plan.diagnostics).toEqual([]);
  });
  test("with an interrupted POST fail the run that finds them, and later runs only warn", async () => {
    const bench = benchWith();
    await managed(bench);
    bench.service.faultOf = () => "kill after";
    await expect(bench.apply(spring())).rejects.toThrow(Killed);
    bench.service.faultOf = () => undefined;
    bench.service.killed = false;
    const found = await bench.apply(spring());
    expect(failedOf(found)).toEqual([address]);
    expect(found.outcome.failed[0]?.failure.detail).toContain(
      "`tasc state mark` records that it ran",
    );
    const later = await bench.apply(spring());
    expect(later.outcome.failed).toEqual([]);
    expect(later.look.planned.plan.diagnostics).toMatchObject([{ code: "batch-uncertain" }]);
    expect(bench.service.targets[0]?.batchGenerations).toHaveLength(1);
  });
  test("of an adopted target stay held, whatever the scope of the first apply", async () => {
    const bench = benchWith();
    shopOn(bench, { description: "Log in" });
    const wanted = spring({ testCases: { login: { description: "Log in" } } });
    await bench.apply(wanted, { scope: { only: ["testCase.shop.login"], exclude: [] } });
    const later = await bench.apply(wanted);
    expect(later.look.planned.plan).toMatchObject({
      changes: [],
      diagnostics: [{ code: "batch-held" }],
    });
  });
  test("do not run again if they are moved", async () => {
    const bench = benchWith();
    await managed(bench);
    await bench.apply(spring());
    const moved = shop({
      batchGenerations: { may: { prompt: "Spring" } },
      moved: [[address, "batchGeneration.shop.may"]],
    });
    expect((await bench.apply(moved)).writes).toBe(0);
  });
  test("do not run again if what they refer to is moved, also from records by key", async () => {
    const referring = (environment: string, prerequisite: string, moved: TargetParts["moved"]) =>
      shop({
        environments: { default: {}, [environment]: { discoveryUrl: "https://p.example.com" } },
        testCases: { [prerequisite]: made("Log in") },
        batchGenerations: { spring: { prompt: "Spring", environment, prerequisite } },
        ...(moved === undefined ? {} : { moved }),
      });
    const moved = referring("canary", "sign-in", [
      ["environment.shop.preview", "environment.shop.canary"],
      ["testCase.shop.login", "testCase.shop.sign-in"],
    ]);
    for (const isOlder of [false, true]) {
      const bench = benchWith();
      await managed(bench);
      const before = referring("preview", "login", undefined);
      await bench.apply(before);
      const state = bench.state();
      if (isOlder) {
        const content = fingerprints.of("batchGeneration", {
          prompt: "Spring",
          environment: "preview",
          prerequisite: "login",
        });
        const record = { status: "done", content } as const;
        bench.setState("shop", { ...state, batchGenerations: new Map([[address, record]]) });
        expect((await bench.apply(before)).writes).toBe(0);
        expect(bench.state().batchGenerations).toEqual(state.batchGenerations);
      }
      expect((await bench.apply(moved)).writes).toBe(0);
      const other = referring("canary", "sign-in", undefined);
      const changed = project({
        ...first(other),
        batchGenerations: first(moved).batchGenerations.map((one) => ({
          ...one,
          fields: { ...one.fields, environment: "default" },
        })),
      });
      expect((await bench.apply(changed)).writes).toBe(1);
    }
  });
  test.each([
    "by hand",
    "by hand, and --only leaves it out",
    "by tasc",
    "by tasc, which was interrupted",
  ])("do not run again if their prerequisite was deleted, and made again %s", async (how) => {
    const bench = benchWith();
    await managed(bench);
    const testCases = { login: made("Log in") };
    const prerequisite = { prompt: "Spring", prerequisite: "login" };
    const wanted = shop({ testCases, batchGenerations: { spring: prerequisite } });
    const isLeftOut = how.endsWith("leaves it out");
    await bench.apply(isLeftOut ? shop({ testCases }) : wanted);
    const [live] = bench.service.targets;
    const [old] = live?.testCases.splice(0) ?? [];
    if (live === undefined || old === undefined) throw new Error("nothing was created");
    if (how.startsWith("by hand")) live.testCases.push({ ...old, id: bench.service.newId("case") });
    if (isLeftOut) await bench.apply(wanted, { scope: { only: [address], exclude: [] } });
    if (how.endsWith("interrupted")) await bench.apply(wanted, { stopping: () => true });
    const later = await bench.apply(wanted);
    expect(later.outcome.done).toEqual(how.startsWith("by tasc") ? ["testCase.shop.login"] : []);
    expect((await bench.apply(wanted)).writes).toBe(0);
    expect(live.batchGenerations).toHaveLength(1);
  });
  test("treat a declared null like a missing field", async () => {
    const bench = benchWith();
    await managed(bench);
    await bench.apply(spring());
    const nothing = shop({ batchGenerations: { spring: { prompt: "Spring", environment: null } } });
    expect((await bench.apply(nothing)).writes).toBe(0);
  });
  test("name their environment and their prerequisite by id", async () => {
    const bench = benchWith();
    const live = shopOn(bench, { description: "Outside" });
    await bench.apply(shop({ environments: { default: {} } }));
    const fields = {
      prompt: "Spring",
      environment: "default",
      prerequisite: { description: "Outside" },
    };
    await bench.apply(
      shop({ environments: { default: {} }, batchGenerations: { spring: fields } }),
    );
    expect(live.batchGenerations).toEqual([
      {
        prompt: "Spring",
        environmentId: live.environments[0]?.id,
        prerequisiteId: live.testCases[0]?.id,
      },
    ]);
  });
});

describe("creations whose answers are lost", () => {
  test("are looked up even if --only leaves out the target", async () => {
    const bench = benchWith({ postAnswer: "nothing" });
    shopOn(bench);
    const scope = { only: ["testCase.shop.login"], exclude: [] };
    const applied = await bench.apply(shop({ testCases: { login: made("Log in") } }), { scope });
    expect(applied.outcome).toMatchObject({ done: ["testCase.shop.login"], failed: [] });
    expect(writesOf(bench)).toEqual(["createDiscovery name,prompt"]);
  });
  test("are not mistaken for an older test case of the same name, even without state", async () => {
    const bench = benchWith();
    const live = shopOn(bench, { description: "Log in" });
    const id = live.testCases[0]?.id ?? "";
    const testCases = { login: made("Log in"), other: { description: "Other" } };
    bench.service.faultOf = (_, nth) =>
      nth === 0 ? { when: "before", acted: "maybe" } : undefined;
    const scope = { only: ["testCase.shop.login"], exclude: [] };
    const applied = await bench.apply(shop({ testCases, ids: { other: id } }), { scope });
    expect(applied.outcome).toMatchObject({ done: ["testCase.shop.login"], failed: [] });
    expect(live.testCases).toHaveLength(2);
    expect(bench.state().bindings.get("testCase.shop.login")?.id).toBe(live.testCases[1]?.id);
  });
  test("block other creations of the same name while their outcome is unknown", async () => {
    const bench = benchWith();
    shopOn(bench);
    const wanted = shop({
      testCases: {
        a: made("Twin", { "discovery.prompt": "A" }),
        b: made("Twin", { "discovery.prompt": "B" }),
      },
    });
    const applied = await bench.apply(wanted, {
      meanwhile: () => {
        bench.service.faultOf = () => ({ when: "after", acted: "maybe" });
        bench.service.failReads = () => true;
      },
    });
    expect(applied.outcome.skipped).toEqual([
      { address: "testCase.shop.b", reason: { kind: "needs", address: "testCase.shop.a" } },
    ]);
    bench.service.faultOf = () => undefined;
    bench.service.failReads = () => false;
    await bench.apply(wanted);
    expect(bench.service.calls.map(({ body }) => body["prompt"])).toEqual(["A", "B"]);
  });
});

describe("a test case that is no longer declared", () => {
  test("is disabled once if onRemove is disable", async () => {
    const bench = benchWith();
    const live = shopOn(bench, { description: "Old" });
    await bench.apply(shop({ testCases: { old: { description: "Old" } } }));
    const wanted = shop({ onRemove: "disable" });
    expect((await bench.apply(wanted)).outcome).toMatchObject({
      done: ["testCase.shop.old"],
      notTaken: [],
    });
    expect(live.testCases[0]?.status).toBe("DISABLED");
    const later = await bench.apply(wanted);
    expect(later.look.planned.plan).toMatchObject({
      changes: [],
      orphaned: [{ address: "testCase.shop.old" }],
    });
  });
  test("is unbound if the service no longer has it", async () => {
    const bench = benchWith();
    const live = shopOn(bench, { description: "Old" });
    await bench.apply(shop({ testCases: { old: { description: "Old" } } }));
    live.testCases.length = 0;
    await bench.apply(shop({}));
    expect([...bench.state().bindings.keys()]).toEqual(["target.shop"]);
  });
  test("is unbound if another key matches its live test case", async () => {
    const bench = benchWith();
    shopOn(bench, { description: "Log in" });
    await bench.apply(shop({ testCases: { old: { description: "Log in" } } }));
    const renamed = await bench.apply(shop({ testCases: { new: { description: "Log in" } } }));
    expect(renamed.look.planned.plan.orphaned).toEqual([]);
    expect([...bench.state().bindings.keys()].toSorted()).toEqual([
      "target.shop",
      "testCase.shop.new",
    ]);
  });
});

describe("a reviewed plan", () => {
  test("leaves a difference that appears after the review to the next apply", async () => {
    const bench = benchWith();
    const live = shopOn(bench, { description: "Log in", status: "DRAFT" });
    const wanted = shop({
      testCases: {
        login: { description: "Log in", status: "ENABLED", runStatus: "ON" },
        other: made("Other"),
      },
    });
    const applied = await bench.apply(wanted, {
      meanwhile: () => void (live.testCases[0] && (live.testCases[0].runStatus = "OFF")),
    });
    expect(writesOf(bench)).toContain("patchTestCase status");
    expect(applied.outcome.notTaken).toEqual([]);
  });
  test("sends renames after creations, because a POST names a prerequisite by its current name", async () => {
    const bench = benchWith();
    const live = shopOn(bench, { description: "Banner" });
    await bench.apply(shop({ testCases: { banner: { description: "Banner" } } }));
    await bench.apply(
      shop({
        testCases: {
          banner: { description: "Cookie banner" },
          login: made("Log in", { "discovery.prerequisite": "banner" }),
        },
      }),
    );
    expect(
      live.testCases.map(({ description, prerequisiteId }) => [description, prerequisiteId]),
    ).toEqual([
      ["Cookie banner", null],
      ["Log in", live.testCases[0]?.id],
    ]);
  });
  test("creates prerequisites first, whatever their order in the manifest", async () => {
    const bench = benchWith();
    shopOn(bench);
    const chain = { a: "c", b: "a", c: undefined } as const;
    const testCases = Object.fromEntries(
      Object.entries(chain).map(([key, before]) => [
        key,
        made(key, before === undefined ? {} : { "discovery.prerequisite": before }),
      ]),
    );
    await bench.apply(shop({ testCases }));
    expect(bench.service.calls.map(({ body }) => body["name"])).toEqual(["c", "a", "b"]);
  });
});

describe("the final check", () => {
  test("reads a target while others are still written, and each of them once", async () => {
    const bench = benchWith();
    const keys = ["blog", "shop"];
    const live = keys.map((key) => {
      const own = bench.service.addTarget(key);
      bench.service.addTestCase(own, { description: "Old" });
      return own;
    });
    const order: string[] = [];
    const { service } = bench;
    const list = service.listTestCases.bind(service);
    service.listTestCases = (id, keep) => {
      order.push(`read ${live.find((own) => own.id === id)?.app}`);
      return list(id, keep);
    };
    service.faultOf = ({ path }) => {
      const app = live.find(({ id }) => path.includes(id))?.app;
      order.push(`patch ${app}`);
      return undefined;
    };
    const declared = (description: string): Desired =>
      project(
        ...keys.map((key) =>
          target({ fields: { app: key }, testCases: { one: { description } } }, key),
        ),
      );
    await bench.apply(declared("Old"));
    order.length = 0;
    const { outcome } = await bench.apply(declared("New"), { concurrency: 1 });
    expect(outcome).toMatchObject({ failed: [], notTaken: [] });
    const plan = ["read blog", "read shop"];
    expect(order).toEqual([...plan, "patch blog", "read blog", "patch shop", "read shop"]);
  });
});
