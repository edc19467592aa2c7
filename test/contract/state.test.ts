// Section 4: state and its loss, folders, batch generations, prompts, and the confirmation of an
// apply.
import { describe, expect, test } from "vitest";
import { expectNoStack, scene, type Project } from "./support/cli.ts";
import { at, list, object, parseJson, text, type JsonObject } from "./support/json.ts";
import { change, changed, diagnostics, expectNothingLeft, seed } from "./support/story.ts";

const FILE = ".tasc/state/default/shop.json";
const BASE = "target: shop\napp: Web Shop\n";
const MANIFEST = `${BASE}testIdAttribute: data-testid
environments:
  preview: { discoveryUrl: "https://preview.example.com", basicAuth: { username: gate, password: "\${secret:GATE_PASSWORD}" } }
  default: { discoveryUrl: "https://shop.example.com" }
testCases:
  zebra: { description: Zebra, folder: Zoo, discovery: { prompt: Z } }
  login: { description: Log in, status: DRAFT, folder: Auth }
  ant: { description: Ant, discovery: { prompt: A } }
`;
const BATCH = `${MANIFEST}batchGenerations: { spring: { prompt: Cover it } }\n`;

async function apply(project: Project, ...more: readonly string[]): Promise<void> {
  const ran = await project.run(["apply", "--auto-approve", ...more]);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
}

const sorted = (value: JsonObject): void => {
  expect(Object.keys(value)).toEqual(Object.keys(value).toSorted());
};

describe.concurrent("the state file", () => {
  test("survives pull and push if header values equal the stage and target, as does a snapshot", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const headers = "additionalHeaderFields: { X-Environment: staging, X-App: shop }";
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}stages: { staging: {} }\n`,
        "targets/shop.yaml": `${BASE}environments: { default: { ${headers} } }\n`,
      });
      await apply(project);
      const pulled = await project.run(["state", "pull"]);
      await project.write({ "backup.json": pulled.stdout });
      const pushed = await project.run(["state", "push", "backup.json"]);
      expect(pushed.code, pushed.stderr).toBe(0);
      expect((await project.run(["state", "pull", "--json"])).stdout).toBe(pulled.stdout);
      expect((await project.run(["snapshot", "--out", "snapshot.json"])).code).toBe(0);
      const plan = await project.run([
        "plan",
        "--snapshot",
        "snapshot.json",
        "--detailed-exitcode",
      ]);
      expect(plan.code, plan.stdout + plan.stderr).toBe(0);
    });
  });

  test("is one file per stage and target, mode 0600, one sorted binding per line, without values", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      service.addTarget("Other Shop");
      await project.write({
        "targets/shop.yaml": MANIFEST,
        "targets/other.yaml": "target: other\napp: Other Shop\ntestIdAttribute: x\n",
      });
      await apply(project);
      expect((await project.files()).filter((file) => file.startsWith(".tasc/state"))).toEqual([
        ".tasc/state/default/other.json",
        FILE,
      ]);
      expect(await project.mode(FILE)).toBe(0o600);
      const content = await project.read(FILE);
      const bindings = object(at(parseJson(content), "bindings"));
      sorted(bindings);
      expect(Object.keys(bindings)).toEqual([
        "environment.shop.default",
        "environment.shop.preview",
        "target.shop",
        "testCase.shop.ant",
        "testCase.shop.login",
        "testCase.shop.zebra",
      ]);
      for (const [address, binding] of Object.entries(bindings)) {
        const lines = content.split("\n").filter((line) => line.includes(`"${address}"`));
        expect(lines).toHaveLength(1);
        expect(lines[0]).toContain(text(at(binding, "id")));
        expect(lines[0]).toContain(JSON.stringify(binding));
      }
      for (const value of ["data-testid", "gate", "Log in", "DRAFT", "https://preview"])
        expect(content).not.toContain(value);
    });
  });

  test("has all keys sorted", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      await apply(project);
      const whole = object(parseJson(await project.read(FILE)));
      sorted(whole);
      for (const map of ["bindings", "folders", "batchGenerations", "intents"])
        sorted(object(whole[map]));
      for (const binding of Object.values(object(whole["bindings"]))) sorted(object(binding));
    });
  });

  test("stays identical byte for byte after an apply that changes nothing", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      await apply(project);
      const before = await project.read(FILE);
      await apply(project);
      expect(await project.read(FILE)).toBe(before);
    });
  });

  test("is separate for each stage", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}stages: { a: {}, b: {} }\n`,
        "targets/shop.yaml": `${BASE}testIdAttribute: x\n`,
      });
      await apply(project, "--stage", "a");
      expect((await project.files()).filter((file) => file.startsWith(".tasc/state"))).toEqual([
        ".tasc/state/a/shop.json",
      ]);
      expect(changed((await project.json(["plan", "--stage", "b"])).value)).toEqual([
        "update target.shop",
      ]);
    });
  });

  test.each([
    { says: "truncated", content: '{"format":"tasc-st' },
    { says: "of a newer version", content: '{"format":"tasc-state","version":99}' },
    { says: "not a JSON object", content: "[]" },
  ])(
    "that is $says is rejected: exit 1, nothing is sent, the file is kept",
    async ({ content }) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        await project.write({ "targets/shop.yaml": MANIFEST, [FILE]: content });
        const ran = await project.run(["apply", "--auto-approve"]);
        expect(ran.code, ran.stderr).toBe(1);
        expectNoStack(ran);
        expect(ran.stderr).toContain("shop");
        expect(service.writes()).toEqual([]);
        expect(await project.read(FILE)).toBe(content);
      });
    },
  );

  test("is rebuilt by matching if lost: write-only fields are sent again, and nothing is created again", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": BATCH });
      // The batch generation is held, since the target is new to state.
      await apply(project);
      const cases = live.target.cases.length;
      await project.remove(".tasc");
      service.forget();
      const { value: plan } = await project.json(["plan"]);
      expect(at(plan, "summary", "create")).toBe(0);
      await apply(project);
      const sent = service.writes().map(({ method, body }) => ({ method, body }));
      expect(sent.every(({ method }) => method === "PATCH")).toBe(true);
      expect(sent.slice(0, 2).map(({ body }) => body)).toEqual([
        { testIdAttribute: "data-testid" },
        { basicAuth: { username: "gate", password: "open-sesame-gate" } },
      ]);
      expect(live.target.cases).toHaveLength(cases);
      expect(live.target.batches).toEqual([]);
      await expectNothingLeft(project);
      service.forget();
      await apply(project);
      expect(service.writes()).toEqual([]);
    });
  });

  test("a plan leaves no lock and no other file", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const before = await project.files();
      expect((await project.run(["plan"])).code).toBe(0);
      expect(await project.files()).toEqual(before);
    });
  });

  test("state list prints each address with its id, as text and as JSON", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      await apply(project);
      const ran = await project.run(["state", "list"]);
      expect(ran.code).toBe(0);
      expect(ran.stdout).toContain("testCase.shop.login");
      expect(ran.stdout).toContain(live.login.id);
      const listed = list(
        parseJson((await project.run(["state", "list", "--format", "json"])).stdout),
      );
      expect(listed).toContainEqual({ address: "testCase.shop.login", id: live.login.id });
      expect(listed).toHaveLength(6);
    });
  });
});

describe.concurrent("folders", () => {
  test("once an answer shows the folder's id, calls for test cases already in it are skipped", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      const folder = service.folder(live.target, "Auth");
      for (const name of ["A", "B", "C"])
        service.addCase(live.target, { description: name, folderId: folder });
      service.addCase(live.target, { description: "D" });
      await project.write({
        "targets/shop.yaml": `${BASE}defaults: { testCases: { folder: Auth } }\ntestCases: { a: { description: A }, b: { description: B }, c: { description: C }, d: { description: D } }\n`,
      });
      const { value: plan } = await project.json(["plan"]);
      expect(at(plan, "summary", "calls", "PATCH")).toBe(4);
      await project.write({ "tasc.yaml": `${await project.read("tasc.yaml")}  concurrency: 1\n` });
      await apply(project);
      // At most one call more than the one for the test case without a folder.
      expect(service.writes().length).toBeLessThanOrEqual(2);
      expect(service.case(live.target, "D").folderId).toBe(folder);
      await expectNothingLeft(project);
    });
  });
});

describe.concurrent("batch generations", () => {
  test("run once, and again when their content changes", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      await apply(project);
      await project.write({ "targets/shop.yaml": BATCH });
      await apply(project);
      expect(live.target.batches).toEqual([{ prompt: "Cover it" }]);
      const { value: done } = await project.json(["plan"]);
      expect(changed(done)).toEqual([]);
      await apply(project);
      expect(live.target.batches).toHaveLength(1);
      await project.write({ "targets/shop.yaml": BATCH.replace("Cover it", "Cover more") });
      await apply(project);
      await apply(project);
      expect(live.target.batches).toEqual([{ prompt: "Cover it" }, { prompt: "Cover more" }]);
    });
  });

  test("are held with a warning on an existing target without state, also on later runs", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": BATCH });
      const { ran, value: plan } = await project.json(["plan"]);
      expect(ran.code).toBe(0);
      expect(changed(plan)).not.toContain("create batchGeneration.shop.spring");
      const warning = list(plan["diagnostics"]).find(
        (item) => at(item, "address") === "batchGeneration.shop.spring",
      );
      expect(at(warning, "severity")).toBe("warning");
      expect(JSON.stringify(warning)).toContain("apply --run batchGeneration.shop.spring");
      expect(JSON.stringify(warning)).toContain("state mark batchGeneration.shop.spring done");
      await apply(project);
      await apply(project);
      expect(live.target.batches).toEqual([]);
      const later = await project.json(["plan", "--detailed-exitcode"]);
      expect(later.ran.code).toBe(0);
      expect(diagnostics(later.value).join("")).toContain("batchGeneration.shop.spring");
    });
  });

  test("apply --run runs a held batch generation once", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": BATCH });
      await apply(project, "--run", "batchGeneration.shop.spring");
      expect(live.target.batches).toEqual([{ prompt: "Cover it" }]);
      await apply(project);
      expect(live.target.batches).toHaveLength(1);
      expect(diagnostics((await project.json(["plan"])).value)).toEqual([]);
    });
  });

  test("state mark done records a held batch generation as run, and undone lets it run", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": BATCH });
      await apply(project);
      service.forget();
      const marked = await project.run(["state", "mark", "batchGeneration.shop.spring", "done"]);
      expect(marked.code, marked.stderr).toBe(0);
      expect(service.log).toEqual([]);
      const plan = await project.json(["plan", "--detailed-exitcode"]);
      expect(plan.ran.code).toBe(0);
      expect(diagnostics(plan.value)).toEqual([]);
      expect(
        (await project.run(["state", "mark", "batchGeneration.shop.spring", "undone"])).code,
      ).toBe(0);
      expect(changed((await project.json(["plan"])).value)).toEqual([
        "create batchGeneration.shop.spring",
      ]);
      await apply(project);
      expect(live.target.batches).toHaveLength(1);
    });
  });

  test("state mark also works before any state exists", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": BATCH });
      expect(
        (await project.run(["state", "mark", "batchGeneration.shop.spring", "done"])).code,
      ).toBe(0);
      await apply(project);
      expect(live.target.batches).toEqual([]);
      expect(diagnostics((await project.json(["plan"])).value)).toEqual([]);
    });
  });

  test.each(["batchGeneration.shop.autumn", "testCase.shop.login", "nonsense"])(
    "state mark rejects %s, which is not a declared batch generation",
    async (address) => {
      await scene({}, async ({ project }) => {
        await project.write({ "targets/shop.yaml": BATCH });
        const ran = await project.run(["state", "mark", address, "done"]);
        expect(ran.code, ran.stderr).toBe(3);
        expect(ran.stderr).toContain(address);
      });
    },
  );

  test("of a new target run in the first apply", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write({
        "targets/shop.yaml": `${BASE}environments: { default: { discoveryUrl: "https://s.example.com" } }\nbatchGenerations: { spring: { prompt: Cover it } }\n`,
      });
      await apply(project);
      expect(service.target("Web Shop").batches).toEqual([{ prompt: "Cover it" }]);
      await expectNothingLeft(project);
    });
  });
});

const declared = (prompt: string): string =>
  `${BASE}testCases: { login: { description: Log in, discovery: { prompt: ${prompt} } } }\n`;

describe.concurrent("prompts", () => {
  test("of an adopted test case with a hidden prompt are recorded, not sent; --rediscover sends them", async () => {
    await scene({ freePrompt: false }, async ({ project, service }) => {
      const live = seed(service);
      live.login.prompt = "Something else";
      await project.write({ "targets/shop.yaml": declared("First") });
      expect((await project.run(["plan", "--detailed-exitcode"])).code).toBe(0);
      await apply(project);
      expect(service.writes()).toEqual([]);
      const plan = await project.json(["plan", "--rediscover", "testCase.shop.login"]);
      expect(changed(plan.value)).toEqual(["rediscover testCase.shop.login"]);
      await apply(project, "--rediscover", "testCase.shop.login");
      expect(live.login.prompt).toBe("First");
      await project.write({ "targets/shop.yaml": declared("Second") });
      expect(changed((await project.json(["plan"])).value)).toEqual([
        "rediscover testCase.shop.login",
      ]);
    });
  });

  test("declared fields that a rediscovery changes are patched after it", async () => {
    await scene({ regenerates: true }, async ({ project, service }) => {
      const live = seed(service);
      live.login.prompt = "Old";
      live.login.elements = [
        service.element({ interaction: { id: service.id(), action: "WAIT" } }),
      ];
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in, discovery: { prompt: New }, elements: [{ interaction: { action: WAIT } }] } }\n`,
      });
      const { value: plan } = await project.json(["plan"]);
      expect(at(change(plan, "testCase.shop.login"), "action")).toBe("rediscover");
      expect(at(plan, "summary")).toMatchObject({ update: 0, rediscover: 1 });
      await apply(project);
      expect(live.login.prompt).toBe("New");
      expect(live.login.elements.map((element) => element.interaction?.["action"])).toEqual([
        "WAIT",
      ]);
      await expectNothingLeft(project);
    });
  });

  test("a rediscovery and other changes are one PATCH, counted once", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      live.login.prompt = "Old";
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in, status: DRAFT, discovery: { prompt: New } } }\n`,
      });
      const { value: plan } = await project.json(["plan"]);
      expect(at(plan, "summary")).toMatchObject({
        update: 0,
        rediscover: 1,
        calls: { POST: 0, PATCH: 1 },
      });
      expect(at(change(plan, "testCase.shop.login"), "calls")).toEqual([
        {
          method: "PATCH",
          path: live.paths.login,
          body: { status: "DRAFT", createBackendDiscoveryPrompt: "New" },
        },
      ]);
    });
  });

  test("a different type or prerequisite is a warning, never a call", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      live.login.prompt = "P";
      live.login.type = "LOGIN";
      service.addCase(live.target, { description: "Cookies" });
      await project.write({
        "targets/shop.yaml": `${BASE}testCases:\n  login: { description: Log in, discovery: { prompt: P, type: COOKIE_BANNER, prerequisite: cookies } }\n  cookies: { description: Cookies }\n`,
      });
      const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
      expect(ran.code).toBe(0);
      expect(changed(plan)).toEqual([]);
      const warnings = list(plan["diagnostics"]).map(object);
      expect(warnings.map((item) => [item["severity"], item["address"]])).toEqual([
        ["warning", "testCase.shop.login"],
        ["warning", "testCase.shop.login"],
      ]);
      expect(JSON.stringify(warnings)).toMatch(/type/u);
      expect(JSON.stringify(warnings)).toMatch(/prerequisite/u);
    });
  });
});

describe.concurrent("apply", () => {
  test("fails and changes nothing without a terminal and without --auto-approve", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["apply"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(1);
      expect(ran.stderr).toContain("--auto-approve");
      expect(service.writes()).toEqual([]);
      expect((await project.files()).filter((file) => file.startsWith(".tasc/state"))).toEqual([]);
    });
  });

  test("needs no confirmation if there is nothing to change", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in } }\n`,
      });
      const ran = await project.run(["apply"]);
      expect(ran.code, ran.stderr).toBe(0);
    });
  });

  test.each([
    { says: "one test case", args: ["--only", "testCase.shop.login"], sends: 1 },
    { says: "a glob of test cases", args: ["--only", "testCase.shop.*"], sends: 3 },
    { says: "one environment", args: ["--only", "environment.shop.preview"], sends: 1 },
    { says: "everything except the target", args: ["--exclude", "target.shop"], sends: 4 },
    { says: "the target only", args: ["--only", "target.shop"], sends: 1 },
  ])("narrowed to $says applies exactly that and exits 0", async ({ args, sends }) => {
    await scene({ made: { status: "DRAFT" } }, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["apply", "--auto-approve", ...args]);
      expect(service.writes(), "each call once").toHaveLength(sends);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(ran.stdout + ran.stderr).not.toMatch(/did not take/u);
      // A second plan has no changes in this scope.
      expect((await project.run(["plan", "--detailed-exitcode", ...args])).code).toBe(0);
    });
  });

  test("an import fails and overwrites nothing if an apply changed state in the meantime", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      const manifest = (field: string): string =>
        `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, ${field} } }\n`;
      await project.write({ "targets/shop.yaml": manifest("status: DRAFT") });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      service.addCase(target, { description: "By hand" });
      await project.write({ "targets/shop.yaml": manifest('folder: "F ${secret:QA_OTP}"') });
      const hold = service.hold({ path: /test-cases$/u }, "after");
      const importing = await project.start(["import"], { QA_OTP: "JBSWY3DPEHPK3PXP" });
      await hold.arrived;
      const applied = await project.run(["apply", "--auto-approve"], {
        QA_OTP: "JBSWY3DPEHPK3PXP",
      });
      expect(applied.code, applied.stdout + applied.stderr).toBe(0);
      const recorded = await project.run(["state", "pull"]);
      const files = await project.files();
      hold.release();
      const imported = await importing.done;
      expect(imported.code).toBe(1);
      expect(imported.stderr).toContain("State of target shop changed while tasc was importing");
      expect((await project.run(["state", "pull"])).stdout).toBe(recorded.stdout);
      expect(await project.files()).toEqual(files);
    });
  });

  test("keeps the number of calls in flight within `concurrency`", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      const names = Array.from({ length: 12 }, (_, n) => `Case ${n}`);
      for (const name of names) service.addCase(live.target, { description: name });
      await project.write({
        "targets/shop.yaml": `${BASE}testCases:\n${names.map((name, n) => `  c${n}: { description: ${name}, status: DRAFT }\n`).join("")}`,
        "tasc.yaml": `${await project.read("tasc.yaml")}  concurrency: 3\n`,
      });
      const holds = [1, 2, 3].map(() => service.hold({ method: "PATCH" }));
      const running = await project.start(["apply", "--auto-approve"]);
      await Promise.all(holds.map((hold) => hold.arrived));
      for (const hold of holds) hold.release();
      expect((await running.done).code).toBe(0);
      expect(service.mostAtOnce).toBe(3);
    });
  });
});
