// A sealed plan is rejected if it was altered, has expired, or belongs to another stage or commit.
// Nothing is sent.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type PlanFile, contentOf, readPlanFile } from "../../src/app/plan-file.ts";
import { openSaved } from "../../src/app/saved-plan.ts";
import { withSession } from "../../src/app/session.ts";
import { TascError } from "../../src/model/error.ts";
import { type Json, isArray, isObject, parseJson } from "../../src/model/json.ts";
import { PLAN_FORMATS } from "../../src/render/formats.ts";
import { planView } from "../../src/render/json.ts";
import { renderPlanGithub } from "../../src/render/reports.ts";
import { hostOf, scene, type Project } from "./support/cli.ts";
import { seed } from "./support/story.ts";

const MANIFEST = `target: shop
app: Web Shop
testIdAttribute: data-testid
environments:
  default: { testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" } }
testCases:
  login: { description: Log in, status: DISABLED }
  cart: { description: Cart, discovery: { prompt: Fill it. } }
`;

/** Yields every variant of a JSON value with a single node changed, removed or added. */
function* mutations(
  value: Json,
  put: (other: Json) => Json,
  where: string,
  text = "x",
): Generator<[string, Json]> {
  yield [`${where} changed`, put(isArray(value) || isObject(value) ? text : [text])];
  if (isArray(value)) {
    yield [`${where} added`, put([...value, text])];
    for (const [at, item] of value.entries()) {
      yield [`${where}.${at} removed`, put(value.toSpliced(at, 1))];
      yield* mutations(item, (other) => put(value.with(at, other)), `${where}.${at}`, text);
    }
  } else if (isObject(value)) {
    yield [`${where} added`, put({ ...value, [text]: text })];
    for (const [key, item] of Object.entries(value)) {
      const { [key]: _, ...rest } = value;
      yield [`${where}.${key} removed`, put(rest)];
      yield* mutations(item, (other) => put({ ...value, [key]: other }), `${where}.${key}`, text);
    }
  } else yield [`${where} lengthened`, put(`${String(value)}${text}`)];
}

/** Workflow commands that GitHub's runner would execute. */
const ORDER = "\n::error title=forged::y\n##[error]z";

async function save(project: Project, args: readonly string[] = []): Promise<void> {
  await project.write({ "targets/shop.yaml": MANIFEST });
  const ran = await project.run(["plan", "--out", "plan.json", ...args]);
  expect(ran.code, ran.stderr).toBe(0);
}

test("policy.maxGenerations counts each creation, rediscovery and batch generation", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const prompt = "discovery: { prompt: Do it. }";
    await project.write({
      "targets/shop.yaml": `target: shop
app: Web Shop
testCases: { login: { description: Log in, ${prompt} }, cart: { description: Cart, ${prompt} } }
batchGenerations: { spring: { prompt: Cover it. } }
`,
    });
    const settings = await project.read("tasc.yaml");
    const planned = async (most: number, ...only: readonly string[]) => {
      await project.write({ "tasc.yaml": `${settings}policy: { maxGenerations: ${most} }\n` });
      const forced = [
        "--rediscover",
        "testCase.shop.login",
        "--run",
        "batchGeneration.shop.spring",
      ];
      const ran = await project.run(["plan", ...forced, ...only.flatMap((one) => ["--only", one])]);
      return [ran.code, /\d+ planned, at most \d+ allowed/.exec(ran.stdout)?.[0]];
    };
    for (const one of [
      "testCase.shop.login",
      "testCase.shop.cart",
      "batchGeneration.shop.spring",
    ]) {
      expect(await planned(0, one)).toEqual([1, "1 planned, at most 0 allowed"]);
      expect(await planned(1, one)).toEqual([0, undefined]);
    }
    expect(await planned(2)).toEqual([1, "3 planned, at most 2 allowed"]);
    expect(await planned(3)).toEqual([0, undefined]);
  });
});

describe.concurrent("a sealed plan", () => {
  test("is rejected if any single node is changed, removed or added", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await save(project);
      const host = hostOf(project);
      const open = (file: PlanFile): Promise<unknown> =>
        withSession({}, host, async (session) => openSaved(file, {}, session));
      const file = readPlanFile("plan.json", host);
      await open(file);
      await withSession({}, host, async (session) => {
        const tried: string[] = [];
        for (const [where, content] of mutations(file.content, (other) => other, "plan")) {
          if (!isObject(content)) continue;
          tried.push(where);
          try {
            openSaved({ ...file, content }, {}, session);
            expect.fail(`${where}: accepted`);
          } catch (error) {
            if (!(error instanceof TascError)) throw error;
            expect([where, error.reason]).toEqual([where, "stale"]);
          }
        }
        expect(tried.length).toBeGreaterThan(200);
        for (const seal of [undefined, "", JSON.stringify(file.seal), 1, null])
          expect(() => openSaved({ ...file, seal }, {}, session)).toThrow(TascError);
      });
    });
  });

  test("that is nested too deeply is rejected", async () => {
    await scene({}, async ({ project }) => {
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
      await project.write({
        "plan.json": `{"formatVersion":"1.1","x":${deep},"apply":{},"seal":"a"}`,
      });
      for (const command of [["show"], ["apply", "--auto-approve"], ["rehearse"]]) {
        const ran = await project.run([...command, "plan.json"]);
        expect([ran.code, ran.stderr.includes("it is nested too deeply")], ran.stderr).toEqual([
          3,
          true,
        ]);
      }
    });
  });

  test("can be read again if it was made from a deeply nested manifest", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const options = `${"{ a: ".repeat(92)}1${" }".repeat(92)}`;
      const step = `{ interaction: { action: EXTRACT }, selectors: [{ selectorType: TEXT, selector: a, options: ${options} }] }`;
      const cart = `cart: { description: Cart, discovery: { prompt: Fill it. }, elements: [${step}] }`;
      await project.write({
        "targets/shop.yaml": MANIFEST.replace(/cart: .*/, cart),
      });
      const planned = await project.run(["plan", "--out", "plan.json"]);
      expect(planned.code, planned.stderr).toBe(0);
      expect((await project.run(["show", "plan.json"])).code).toBe(0);
    });
  });

  test("that was edited is rejected with exit 4 before any request, and shown as changed", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await save(project);
      const text = await project.read("plan.json");
      await project.write({
        "plan.json": text.replace('"after": "DISABLED"', '"after": "ENABLED"'),
      });
      service.forget();
      const ran = await project.run(["apply", "plan.json"]);
      expect(ran.code, ran.stderr).toBe(4);
      expect(ran.stderr).toContain("was changed after it was saved");
      expect(service.log).toEqual([]);
      expect(live.login.status).not.toBe("DISABLED");
      for (const format of PLAN_FORMATS) {
        const shown = await project.run(["show", "plan.json", "--format", format]);
        expect(shown.stdout, format).toContain("changed after it was saved");
        // GitLab's widget must not show the counts of a forged plan.
        if (format === "gitlab") expect(shown.stdout).not.toMatch(/create|update|delete/);
      }
      await project.write({ "plan.json": text });
      const without = await project.run(["show", "plan.json"], { TASC_API_KEY: "" });
      expect(without.stdout).toContain("This plan is not verified");
      for (const format of PLAN_FORMATS) {
        const shown = await project.run(["show", "plan.json", "--format", format], {
          TASC_API_KEY: "",
        });
        expect(shown.stdout, format).toContain("is not verified");
      }
      // The key can be read even if the manifests are invalid.
      await project.write({ "targets/shop.yaml": "target: [" });
      expect((await project.run(["show", "plan.json"])).stdout).not.toMatch(
        /changed after|not verified/u,
      );
    });
  });

  test("that a reader could read differently is rejected with exit 4, and shown as changed", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await save(project);
      const text = await project.read("plan.json");
      const rows = {
        "a repeated key": text.replace('"stage"', '"stage": "production", "stage"'),
        "a repeated key inside": text.replace('"after": ', '"after": "ENABLED", "after": '),
        "a repeated seal": text.replace('"seal"', '"seal": "x", "seal"'),
        "an escaped letter": text.replace('"stage"', String.raw`"st\u0061ge"`),
        "another form of a number": text.replace('"create": 1', '"create": 1.0'),
        "another order of keys": text.replace(/("create": \d+),\s+("update": \d+),/, "$2, $1,"),
      };
      for (const [name, altered] of Object.entries(rows)) {
        expect(altered, name).not.toBe(text);
        await project.write({ "plan.json": altered });
        service.forget();
        const ran = await project.run(["apply", "plan.json"]);
        expect(ran.code, `${name}: ${ran.stderr}`).toBe(4);
        expect(ran.stderr, name).toContain("was changed after it was saved");
        expect(service.log, name).toEqual([]);
      }
      const shown = await project.run(["show", "plan.json"]);
      expect(shown.stdout).toContain("changed after it was saved");
      await project.write({
        "plan.json": JSON.stringify(JSON.parse(text)).replace("{", "{\r\n\t"),
      });
      const reformatted = await project.run(["apply", "plan.json"]);
      expect(reformatted.code, reformatted.stderr).toBe(0);
    });
  });

  test("that was forged cannot inject workflow commands through any of its values", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await save(project);
      const content = parseJson(await project.read("plan.json"));
      let shown = 0;
      for (const [where, forged] of mutations(content, (other) => other, "plan", ORDER)) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ "plan.json": JSON.stringify(forged) });
        try {
          const { plan, extras } = contentOf(readPlanFile("plan.json", { cwd: project.dir }));
          expect(renderPlanGithub(planView(plan, extras)), where).not.toMatch(
            /^\s*::error title=forged|##\[/m,
          );
          shown++;
        } catch (error) {
          if (!(error instanceof TascError)) throw error;
        }
      }
      expect(shown).toBeGreaterThan(50);
    });
  });

  test("is not applied on another stage or after its expiry", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const settings = await project.read("tasc.yaml");
      await project.write({
        "tasc.yaml": `${settings}stages: { a: {}, b: {} }\ndefaultStage: a\n`,
      });
      await save(project, ["--expires", "1ms"]);
      service.forget();
      const expired = await project.run(["apply", "plan.json"]);
      expect([expired.code, expired.stderr.includes("expired at")]).toEqual([4, true]);
      await save(project);
      service.forget();
      const other = await project.run(["apply", "plan.json", "--stage", "b"]);
      expect([other.code, other.stderr.includes("for stage a")]).toEqual([4, true]);
      const stage = (await project.read("plan.json")).replace('"stage": "a"', '"stage": "nowhere"');
      await project.write({ "plan.json": stage });
      const altered = await project.run(["apply", "plan.json"]);
      expect([altered.code, altered.stderr.includes("was changed after")]).toEqual([4, true]);
      expect(service.log).toEqual([]);
      expect(stage).toMatch(/"targets": \{\s+"shop": "/u);
      expect(stage).toMatch(/"by": "[^"]+@/u);
    });
  });

  test("is applied only once, even if the service does not show that it was applied", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      const manifest =
        "target: shop\napp: Web Shop\nbatchGenerations: { spring: { prompt: Cover it. } }\n";
      await project.write({ "targets/shop.yaml": manifest });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      const run = ["--run", "batchGeneration.shop.spring"];
      expect((await project.run(["plan", "--out", "plan.json", ...run])).code).toBe(0);
      expect((await project.run(["apply", "plan.json"])).code).toBe(0);
      const generations = target.batches.length;
      service.forget();
      const again = await project.run(["apply", "plan.json"]);
      expect(again.code, again.stderr).toBe(4);
      expect(again.stderr).toContain("was applied before");
      expect(service.log).toEqual([]);
      expect(target.batches).toHaveLength(generations);
    });
  });

  test("does not run a batch generation that another plan has run since", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      const manifest =
        "target: shop\napp: Web Shop\nbatchGenerations: { spring: { prompt: Cover it. } }\n";
      await project.write({ "targets/shop.yaml": manifest });
      const plan = ["plan", "--run", "batchGeneration.shop.spring", "--out"];
      for (const file of ["a.json", "b.json"])
        // oxlint-disable-next-line no-await-in-loop
        expect((await project.run([...plan, file])).code).toBe(0);
      expect((await project.run(["apply", "a.json"])).code).toBe(0);
      const late = await project.run(["apply", "b.json"]);
      expect(late.code, late.stdout + late.stderr).toBe(4);
      expect(late.stderr).toContain("has run (done)");
      expect(target.batches).toHaveLength(1);
    });
  });

  test("is applied only from the commit it was made from if policy.sameCommit is set", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const settings = await project.read("tasc.yaml");
      await project.write({
        "tasc.yaml": `${settings}policy: { sameCommit: true, planExpiry: 1h }\n`,
      });
      const git = (...args: readonly string[]): string =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
          cwd: project.dir,
          encoding: "utf8",
        });
      git("init", "-q");
      git("add", "tasc.yaml");
      git("commit", "-q", "-m", "one");
      await save(project);
      const saved = await project.read("plan.json");
      expect(saved).toContain(git("rev-parse", "HEAD").trim());
      expect(saved).toMatch(/"clean": false/u);
      expect(saved).toMatch(/"expires": "/u);
      git("commit", "-q", "--allow-empty", "-m", "two");
      service.forget();
      const other = await project.run(["apply", "plan.json"]);
      expect([other.code, other.stderr.includes("from another commit")]).toEqual([4, true]);
      expect(service.log).toEqual([]);
      git("reset", "-q", "--soft", "HEAD~1");
      expect((await project.run(["apply", "plan.json"])).code).toBe(0);
    });
  });
});
