// A creation happens once, whatever happens to its POST.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyProject } from "../../src/app/apply.ts";
import { withSession } from "../../src/app/session.ts";
import { answer, type Answer, type FakeService } from "./fake-service.ts";
import { hostOf, scene, type Env, type Scene } from "./support/cli.ts";
import { at, list, text } from "./support/json.ts";
import { changed, diagnostics, expectNothingLeft, seed } from "./support/story.ts";

interface Kind {
  readonly kind: string;
  /** The key of its target, and the name of its manifest file. */
  readonly file: string;
  readonly manifest: string;
  readonly path: RegExp;
  readonly made: (service: FakeService) => number;
}

const BASE = "target: shop\napp: Web Shop\n";

const KINDS: readonly Kind[] = [
  {
    kind: "a target",
    file: "new",
    manifest:
      'target: new\napp: New Shop\nenvironments: { default: { discoveryUrl: "https://new.example.com" } }\n',
    path: /\/test-targets$/u,
    made: (service) => service.targets.filter((target) => target.app === "New Shop").length,
  },
  {
    kind: "an environment",
    file: "shop-1",
    manifest:
      'target: shop-1\napp: Shop 1\nenvironments: { beta: { discoveryUrl: "https://beta.example.com" } }\n',
    path: /\/environments$/u,
    made: (service) =>
      service
        .target("Shop 1")
        .environments.filter((item) => item.discoveryUrl === "https://beta.example.com").length,
  },
  {
    kind: "an environment without an address",
    file: "shop-2",
    manifest: "target: shop-2\napp: Shop 2\nenvironments: { beta: { name: Beta } }\n",
    path: /\/environments$/u,
    made: (service) => service.target("Shop 2").environments.length - 2,
  },
  {
    kind: "a discovery",
    file: "shop-3",
    manifest:
      "target: shop-3\napp: Shop 3\ntestCases: { cart: { description: Cart, discovery: { prompt: P } } }\n",
    path: /\/discoveries$/u,
    made: (service) =>
      service.target("Shop 3").cases.filter((item) => item.description === "Cart").length,
  },
  {
    kind: "a discovery with an external id",
    file: "shop-4",
    manifest:
      "target: shop-4\napp: Shop 4\ntestCases: { cart: { description: Cart, externalId: S-1, discovery: { prompt: P } } }\n",
    path: /\/discoveries$/u,
    made: (service) =>
      service.target("Shop 4").cases.filter((item) => item.externalId === "S-1").length,
  },
];

const DISCOVERY = KINDS[3];

interface Trouble {
  readonly trouble: string;
  readonly phase: "before" | "after";
  readonly answer: Answer;
  /** The number of POSTs that are sent for each creation. */
  readonly posts: number;
}

const json = { "content-type": "application/json" };

const TROUBLES: readonly Trouble[] = [
  { trouble: "a reset after acting", phase: "after", answer: { kind: "reset" }, posts: 1 },
  { trouble: "a reset before acting", phase: "before", answer: { kind: "reset" }, posts: 2 },
  { trouble: "500 after acting", phase: "after", answer: answer(500, "oops"), posts: 1 },
  { trouble: "503 before acting", phase: "before", answer: answer(503, "later"), posts: 2 },
  { trouble: "408 after acting", phase: "after", answer: answer(408), posts: 1 },
  { trouble: "a truncated answer", phase: "after", answer: { kind: "truncate" }, posts: 1 },
  {
    trouble: "an answer that is not JSON",
    phase: "after",
    answer: answer(200, "<html>fine</html>"),
    posts: 1,
  },
  {
    trouble: "an answer of another shape",
    phase: "after",
    answer: answer(200, '{"ok":true}', json),
    posts: 1,
  },
  { trouble: "an answer that never comes", phase: "after", answer: { kind: "hang" }, posts: 1 },
  {
    trouble: "429 with Retry-After: 0",
    phase: "before",
    answer: answer(429, "", { "retry-after": "0" }),
    posts: 2,
  },
];

function seedAll(service: FakeService): void {
  for (const n of [1, 2, 3, 4]) seed(service, `Shop ${n}`);
}

/** Matches the path of the creation on the kind's own target. */
function creation(kind: Kind, service: FakeService): RegExp {
  const number = /\d$/u.exec(kind.file)?.[0];
  return number === undefined
    ? kind.path
    : new RegExp(`${service.target(`Shop ${number}`).id}${kind.path.source}`, "u");
}

describe.concurrent("a creation happens once", () => {
  test.each(TROUBLES)("despite this fault: $trouble", async ({ phase, answer: how, posts }) => {
    await scene({}, async ({ project, service }) => {
      seedAll(service);
      for (const kind of KINDS) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ [`targets/${kind.file}.yaml`]: kind.manifest });
        service.fail({ on: { method: "POST", path: creation(kind, service) }, phase, answer: how });
      }
      const ran = await project.run(["apply", "--auto-approve", "--request-timeout", "2s"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      for (const kind of KINDS) {
        expect(kind.made(service), kind.kind).toBe(1);
        const path = creation(kind, service);
        const sent = service.log.filter((call) => call.method === "POST" && path.test(call.path));
        expect(sent, `POSTs for ${kind.kind}`).toHaveLength(posts);
      }
      // The same run finds it by reading the service again.
      if (phase === "after") {
        const post = service.log.findLastIndex((call) => call.method === "POST");
        expect(service.log.slice(post + 1).some((call) => call.method === "GET")).toBe(true);
      }
      await expectNothingLeft(project);
      expect(service.violations).toEqual([]);
    });
  });

  test.each(KINDS)(
    "$kind is created once if the process is killed after the service acted",
    async (kind) => {
      await scene({}, async ({ project, service }) => {
        seedAll(service);
        await project.write({ [`targets/${kind.file}.yaml`]: kind.manifest });
        const hold = service.hold({ method: "POST", path: kind.path }, "after");
        const running = await project.start(["apply", "--auto-approve"]);
        await hold.arrived;
        running.child.kill("SIGKILL");
        await running.done;
        hold.release();
        expect(kind.made(service)).toBe(1);
        const again = await project.run(["apply", "--auto-approve"]);
        expect(again.code, again.stdout + again.stderr).toBe(0);
        expect(kind.made(service)).toBe(1);
        await expectNothingLeft(project);
      });
    },
  );

  test.each([
    { clock: "the same clock", ahead: 0 },
    { clock: "a clock an hour ahead", ahead: 3_600_000 },
  ])(
    "the next apply waits for the unfinished POST of a killed apply with $clock",
    async ({ ahead }) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        await project.write({
          "targets/t.yaml": `${BASE}testCases: { a: { description: A, discovery: { prompt: P } } }\n`,
        });
        const work = service.hold({ method: "POST" });
        // Both clocks stand still, so that a slow machine cannot end the wait before the look below.
        const now = Date.now();
        await project.write({
          "killed.cjs": `Date.now = () => ${now + ahead};\n`,
          "next.cjs": `Date.now = () => ${now};\n`,
        });
        const clock = (name: string): Env => ({
          NODE_OPTIONS: `--require ${join(project.dir, name)}`,
        });
        const running = await project.start(["apply", "--auto-approve"], clock("killed.cjs"));
        await work.arrived;
        running.child.kill("SIGKILL");
        await running.done;
        const look = service.hold({ method: "GET", path: /\/test-cases$/u }, "after");
        const again = await project.start(["apply", "--auto-approve"], clock("next.cjs"));
        await look.arrived;
        work.release();
        look.release();
        const ended = await again.done;
        expect(ended.code, ended.stdout + ended.stderr).toBe(0);
        expect(ended.stderr).toContain("may not be listed yet");
        expect(live.target.cases.map((item) => item.description).toSorted()).toEqual([
          "A",
          "Log in",
        ]);
        await expectNothingLeft(project);
      });
    },
  );

  test("if two concurrent discoveries are reset, only the one that was not created is sent again", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/t.yaml": `${BASE}testCases: { a: { description: A, discovery: { prompt: P } }, b: { description: B, discovery: { prompt: P } } }\n`,
      });
      service.fail({ on: { method: "POST" }, nth: 1, phase: "after", answer: { kind: "reset" } });
      service.fail({ on: { method: "POST" }, nth: 2, phase: "before", answer: { kind: "reset" } });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(live.target.cases.map((item) => item.description).toSorted()).toEqual([
        "A",
        "B",
        "Log in",
      ]);
      expect(service.writes().filter((call) => call["method"] === "POST")).toHaveLength(3);
    });
  });

  test("a POST is not sent again after a 504 if the service lists the new test case late", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/t.yaml": `${BASE}testCases: { a: { description: A, discovery: { prompt: P } } }\n`,
      });
      service.fail({ on: { method: "POST" }, phase: "after", answer: answer(504) });
      // The first read after the POST does not list it yet.
      const on = { method: "GET", path: /\/test-cases$/u };
      service.fail({ on, nth: 2, phase: "before", answer: answer(200, "[]", json) });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(service.writes().filter((call) => call["method"] === "POST")).toHaveLength(1);
      expect(live.target.cases.map((item) => item.description).toSorted()).toEqual(["A", "Log in"]);
      await expectNothingLeft(project);
    });
  });

  test("a response with the id of another address's resource is not accepted as the new resource", async () => {
    await scene({}, async ({ project, service }) => {
      const { target, login, paths } = seed(service);
      const shop = `${BASE}testCases: { login: { description: Log in } }\n`;
      await project.write({ "targets/shop.yaml": shop });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({
        "targets/shop.yaml": `${shop.slice(0, -3)}, a: { description: A, discovery: { prompt: P } } }\n`,
        "targets/new.yaml":
          'target: new\napp: New\nenvironments: { default: { discoveryUrl: "https://new.example.com" } }\ntestCases: { b: { description: B, discovery: { prompt: P } } }\n',
      });
      const answers = [
        { path: /\/test-targets$/u, body: { id: target.id, app: target.app } },
        { path: /\/discoveries$/u, body: { discoveryId: login.id, testCaseId: login.id } },
      ];
      for (const { path, body } of answers)
        service.fail({
          on: { method: "POST", path },
          times: 9,
          phase: "before",
          answer: answer(200, JSON.stringify(body), json),
        });
      service.forget();
      const ran = await project.run(["apply", "--auto-approve", "--retries", "0"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(1);
      expect(service.writes().map((call) => call["path"])).toEqual([
        expect.stringMatching(/test-targets$/u),
        paths.discoveries,
      ]);
      expect((await project.run(["plan"])).stdout).toContain("Plan: 4 to create, 0 to update");
    });
  });

  test("a response whose id is not valid in a path is reported as a response without an id", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write({
        "targets/new.yaml":
          'target: new\napp: New\ntimeoutPerStep: 1\nenvironments: { default: { discoveryUrl: "https://new.example.com" } }\n',
      });
      service.fail({
        on: { method: "POST" },
        times: 9,
        phase: "before",
        answer: answer(200, JSON.stringify({ id: "..", app: "New" }), json),
      });
      const ran = await project.run(["apply", "--auto-approve", "--retries", "0"]);
      expect(ran.code).toBe(1);
      expect(ran.stdout).toContain("does not contain the id of the new resource");
    });
  });

  test("an outdated list does not cause a second creation or turn an update into a creation", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/t.yaml": `${BASE}testCases: { login: { description: Log in } }\n`,
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({
        "targets/t.yaml": `${BASE}testCases: { login: { description: Log in, folder: F }, a: { description: A, status: ENABLED, discovery: { prompt: P } } }\nenvironments: { default: { discoveryUrl: "https://shop.example.com" } }\n`,
      });
      service.forget();
      const on = { method: "GET", path: /\/test-cases$/u };
      service.fail({ on, nth: 2, phase: "before", answer: answer(200, "[]", json) });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(1);
      expect(service.writes().filter((call) => call["method"] === "POST")).toHaveLength(1);
      expect(live.target.cases.map((item) => item.description).toSorted()).toEqual(["A", "Log in"]);
      expect(service.violations).toEqual([]);
      for (const path of [/\/test-cases$/u, /\/test-targets$/u]) {
        service.fail({
          on: { method: "GET", path },
          phase: "before",
          answer: answer(200, "[]", json),
        });
        const time = Date.now();
        project.now = () => time;
        const again = await project.run(["apply", "--auto-approve"]);
        expect(again.code, again.stdout + again.stderr).toBe(0);
        expect(again.stderr).toContain("may not be listed yet");
      }
      project.now = Date.now;
      await expectNothingLeft(project);
      expect([service.targets, live.target.cases].map(({ length }) => length)).toEqual([1, 2]);
    });
  });

  test("a bound test case missing from a list is not replaced by another of the same name", async () => {
    await scene({}, async ({ project, service }) => {
      const { target, login } = seed(service);
      const manifest = `${BASE}testCases: { login: { description: Log in } }\n`;
      await project.write({ "targets/t.yaml": manifest });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      const twin = service.addCase(target, { description: "Log in" });
      await project.write({ "targets/t.yaml": manifest.replace(" }", ", status: DRAFT }") });
      const listed = JSON.stringify([
        { id: twin.id, testTargetId: target.id, description: "Log in" },
      ]);
      const on = { method: "GET", path: /\/test-cases$/u };
      service.fail({ on, phase: "before", answer: answer(200, listed, json) });
      const time = Date.now();
      project.now = () => time;
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect([login.status, twin.status]).toEqual(["DRAFT", "ENABLED"]);
    });
  });

  test("a POST is not sent again in the same run after a 400; the next run sends it", async () => {
    await scene({}, async ({ project, service }) => {
      seedAll(service);
      await project.write({ "targets/t.yaml": DISCOVERY?.manifest ?? "" });
      service.fail({ on: { method: "POST" }, phase: "before", answer: answer(400, "no") });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
      expect(service.writes()).toHaveLength(1);
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      expect(DISCOVERY?.made(service)).toBe(1);
    });
  });
});

/**
 * Not 429, which is never uncertain; not 200 without a batchGenerationId, which may be a readable
 * success.
 */
const UNCERTAIN = TROUBLES.filter(
  ({ answer: how, trouble }) =>
    (how.kind !== "answer" || how.status !== 429) && trouble !== "an answer of another shape",
);

describe.concurrent("a batch generation with an unknown outcome", () => {
  const FIRST = `${BASE}testIdAttribute: x\n`;
  const WITH = `${FIRST}testCases: { login: { description: Log in, status: DRAFT } }\nbatchGenerations: { spring: { prompt: Cover it }, summer: { prompt: Swim } }\n`;

  /** Runs a test with batch generations that are declared after the first apply. */
  const declaredLater = (
    run: (world: Scene & { readonly live: ReturnType<typeof seed> }) => Promise<void>,
  ): Promise<void> =>
    scene({}, async (world) => {
      const live = seed(world.service);
      await world.project.write({ "targets/t.yaml": FIRST });
      expect((await world.project.run(["apply", "--auto-approve"])).code).toBe(0);
      await world.project.write({ "targets/t.yaml": WITH });
      await run({ ...world, live });
    });
  const ALL = `${FIRST}testCases: { login: { description: Log in, status: DRAFT } }\nbatchGenerations:\n${UNCERTAIN.map(
    ({ trouble }, n) => `  b${n}: { prompt: ${trouble} }\n`,
  ).join("")}  fine: { prompt: fine }\n`;

  test("makes apply exit 1 and suggest two next steps; the rest is applied, and later runs only warn", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}  concurrency: 1\n`,
        "targets/t.yaml": FIRST,
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({ "targets/t.yaml": ALL });
      service.forget();
      for (const [n, row] of UNCERTAIN.entries())
        service.fail({ on: { method: "POST" }, nth: n + 1, phase: row.phase, answer: row.answer });
      const ran = await project.run(["apply", "--auto-approve", "--request-timeout", "2s"]);
      expect(ran.code, ran.stderr).toBe(1);
      const sent = (): readonly string[] =>
        service.log
          .filter((call) => call.method === "POST")
          .map((call) => text(at(call.body, "prompt")));
      expect(sent().toSorted()).toEqual(
        ["fine", ...UNCERTAIN.map(({ trouble }) => trouble)].toSorted(),
      );
      expect(live.login.status).toBe("DRAFT");
      const said = ran.stdout + ran.stderr;
      const addresses = sent()
        .slice(0, UNCERTAIN.length)
        .map((prompt) => UNCERTAIN.findIndex(({ trouble }) => trouble === prompt))
        .map((n) => `batchGeneration.shop.${n < 0 ? "fine" : `b${n}`}`);
      for (const address of addresses) {
        expect(said).toContain(`state mark ${address} done`);
        expect(said).toContain(`apply --run ${address}`);
      }

      const later = await project.json(["plan", "--detailed-exitcode"]);
      expect(later.ran.code, later.ran.stdout).toBe(0);
      expect(changed(later.value)).toEqual([]);
      for (const address of addresses) expect(diagnostics(later.value).join("")).toContain(address);
      const again = await project.run(["apply", "--auto-approve"]);
      expect(again.code, again.stderr).toBe(0);
      expect(sent()).toHaveLength(UNCERTAIN.length + 1);
    });
  });

  test("is resolved by `apply --run` as well as by `state mark … done`", async () => {
    await declaredLater(async ({ project, service, live }) => {
      service.fail({
        on: { method: "POST" },
        times: 2,
        phase: "before",
        answer: { kind: "reset" },
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
      expect(live.target.batches).toEqual([]);
      const run = await project.run([
        "apply",
        "--auto-approve",
        "--run",
        "batchGeneration.shop.spring",
      ]);
      expect(run.code, run.stderr).toBe(0);
      expect(live.target.batches).toEqual([{ prompt: "Cover it" }]);
      const marked = await project.run(["state", "mark", "batchGeneration.shop.summer", "done"]);
      expect(marked.code, marked.stderr).toBe(0);
      expect(list((await project.json(["plan"])).value["diagnostics"])).toEqual([]);
      expect(live.target.batches).toHaveLength(1);
    });
  });

  test("is reported and not run again after the process was killed", async () => {
    await declaredLater(async ({ project, service, live }) => {
      const hold = service.hold({ method: "POST" }, "after");
      const running = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      running.child.kill("SIGKILL");
      await running.done;
      hold.release();
      const before = live.target.batches.filter((item) => item["prompt"] === "Cover it").length;
      const { value: plan } = await project.json(["plan"]);
      expect(diagnostics(plan).join("")).toContain("state mark batchGeneration.shop.spring done");
      await project.run(["apply", "--auto-approve"]);
      expect(live.target.batches.filter((item) => item["prompt"] === "Cover it")).toHaveLength(
        before,
      );
      expect((await project.run(["plan", "--detailed-exitcode"])).code).toBe(0);
    });
  });

  test("a 429 is not an unknown outcome: the POST is retried automatically", async () => {
    await declaredLater(async ({ project, service, live }) => {
      service.fail({
        on: { method: "POST" },
        phase: "before",
        answer: answer(429, "", { "retry-after": "0" }),
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      expect(live.target.batches.map((item) => text(item["prompt"])).toSorted()).toEqual([
        "Cover it",
        "Swim",
      ]);
    });
  });
});

test("a batch generation is planned again if its target is missing and a new one was created", async () => {
  await scene({}, async ({ project, service }) => {
    const url = 'environments: { default: { discoveryUrl: "https://shop.example.com" } }\n';
    await project.write({
      "targets/t.yaml": `${BASE}${url}batchGenerations: { spring: { prompt: Cover it } }\n`,
    });
    const apply = ["apply", "--auto-approve"];
    expect((await project.run(apply)).code).toBe(0);
    service.targets.length = 0;
    expect((await project.run([...apply, "--exclude", "batchGeneration.*"])).code).toBe(0);
    const { value } = await project.json(["plan"]);
    expect(changed(value)).toEqual(["create batchGeneration.shop.spring"]);
  });
});

test("a batch generation is held if its target's address is bound to another live target", async () => {
  await scene({}, async ({ project, service }) => {
    const url = 'environments: { default: { discoveryUrl: "https://shop.example.com" } }\n';
    await project.write({
      "targets/t.yaml": `${BASE}${url}batchGenerations: { spring: { prompt: Cover it } }\n`,
    });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    const { target } = seed(service);
    expect((await project.run(["state", "bind", "target.shop", target.id])).code).toBe(0);
    const { value } = await project.json(["plan"]);
    expect(diagnostics(value).join("")).toContain("tasc apply --run batchGeneration.shop.spring");
  });
});

test("a batch generation does not run again if git checks out its prompt with CRLF", async () => {
  await scene({}, async ({ project, service }) => {
    const url = 'environments: { default: { discoveryUrl: "https://shop.example.com" } }\n';
    const spring = 'batchGenerations: { spring: { prompt: "${file:spring.md}" } }\n';
    await project.write({
      "targets/t.yaml": `${BASE}${url}${spring}`,
      "spring.md": "Cover it.\nAll.\n",
    });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    await project.write({ "spring.md": "Cover it.\r\nAll.\r\n" });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    expect(service.target("Web Shop").batches).toEqual([{ prompt: "Cover it.\nAll." }]);
  });
});

test("an apply is refused as stale if somebody creates its test case during the prompt", async () => {
  await scene({}, async ({ project, service }) => {
    const { target } = seed(service);
    const manifest = `${BASE}testCases: { pay: { description: Pay, discovery: { prompt: Pay } } }\n`;
    await project.write({ "targets/t.yaml": manifest });
    const apply = async (others: () => void): Promise<unknown> =>
      withSession({}, hostOf(project), async (session) =>
        applyProject(
          session,
          { overridePolicy: [] },
          { approve: async () => others(), emit: () => {} },
        ),
      );
    const refused = apply(() => service.addCase(target, { description: "Pay" }));
    await expect(refused).rejects.toMatchObject({
      reason: "stale",
      diagnostics: [{ code: "plan-stale" }],
    });
    await expect(refused).rejects.toThrow("The plan that was shown is stale: the service has");
    expect(service.writes()).toEqual([]);
    target.cases.pop();
    await expect(apply(() => undefined)).resolves.toMatchObject({ exitCode: 0 });
    expect(service.writes()).toHaveLength(1);
  });
});
