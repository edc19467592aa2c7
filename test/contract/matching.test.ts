// Section 2: how an address finds its live resource, and what happens if there is no match or
// several matches.
import { describe, expect, test } from "vitest";
import { answer } from "./fake-service.ts";
import { scene } from "./support/cli.ts";
import { at, list, object, some, text, type JsonObject } from "./support/json.ts";
import { change, changed, diagnostics, seed, type Live } from "./support/story.ts";

const BASE = "target: shop\napp: Web Shop\n";

interface Found {
  readonly says: string;
  readonly live?: (live: Live) => void;
  readonly first?: string;
  /** What happens between the first apply and the plan. */
  readonly meanwhile?: (live: Live) => void;
  readonly manifest: string;
  /** Each address that the plan changes, with the id of its live resource. */
  readonly finds: (live: Live) => Readonly<Record<string, string>>;
  readonly unmanaged?: number;
  readonly warns?: RegExp;
}

const NEW = "(known after apply)";
const second = (live: Live): string => some(live.target.cases[1], "second case").id;

const FOUND: readonly Found[] = [
  {
    says: "a target is found by its app",
    manifest: `${BASE}testIdAttribute: x\n`,
    finds: ({ target }) => ({ "target.shop": target.id }),
    unmanaged: 3,
  },
  {
    says: "a target is found by its id, even if its app differs",
    live: ({ target }) => {
      target.app = "Renamed";
    },
    manifest: `target: shop\nid: TARGET\napp: Web Shop\n`,
    finds: ({ target }) => ({ "target.shop": target.id }),
    unmanaged: 3,
  },
  {
    says: "a target is found by the id in state, even if its app was changed on the service",
    first: `${BASE}testIdAttribute: x\n`,
    meanwhile: ({ target }) => {
      target.app = "Renamed";
    },
    manifest: `${BASE}testIdAttribute: x\n`,
    finds: ({ target }) => ({ "target.shop": target.id }),
    unmanaged: 3,
  },
  {
    says: "the id in the manifest overrides the id in state",
    first: `${BASE}testCases: { login: { description: Log in } }\n`,
    meanwhile: ({ service, target }) => {
      service.addCase(target, { description: "Log in again" });
    },
    manifest: `${BASE}testCases: { login: { id: SECOND, status: DRAFT } }\n`,
    finds: (live) => ({ "testCase.shop.login": second(live) }),
    unmanaged: 3,
  },
  {
    says: "the environment `default` matches the one of type DEFAULT, whatever its discoveryUrl",
    manifest: `${BASE}environments: { default: { discoveryUrl: "https://preview.example.com" } }\n`,
    finds: ({ environment }) => ({ "environment.shop.default": environment.id }),
    unmanaged: 2,
  },
  {
    says: "another environment matches the ADDITIONAL one with the same discoveryUrl",
    manifest: `${BASE}environments: { x: { discoveryUrl: "https://preview.example.com", name: N } }\n`,
    finds: ({ preview }) => ({ "environment.shop.x": preview.id }),
    unmanaged: 2,
  },
  {
    says: "another environment does not match the DEFAULT one with the same discoveryUrl",
    manifest: `${BASE}environments: { x: { discoveryUrl: "https://shop.example.com" } }\n`,
    finds: () => ({ "environment.shop.x": NEW }),
    unmanaged: 3,
  },
  {
    says: "an environment that is bound to another address in state does not match",
    first: `${BASE}environments: { x: { discoveryUrl: "https://preview.example.com" } }\n`,
    manifest: `${BASE}environments: { x: { discoveryUrl: "https://x.example.com" }, y: { discoveryUrl: "https://preview.example.com" } }\n`,
    finds: ({ preview }) => ({ "environment.shop.x": preview.id, "environment.shop.y": NEW }),
    unmanaged: 2,
  },
  {
    says: "a test case is found by its externalId before its description",
    live: ({ service, target }) => {
      service.addCase(target, { description: "Other name", externalId: "S-1" });
    },
    manifest: `${BASE}testCases: { login: { description: Log in, externalId: S-1 } }\n`,
    finds: (live) => ({ "testCase.shop.login": second(live) }),
    unmanaged: 3,
  },
  {
    says: "a test case is found by its description if no live one has the externalId and the match has none",
    manifest: `${BASE}testCases: { login: { description: Log in, externalId: S-1 } }\n`,
    finds: ({ login }) => ({ "testCase.shop.login": login.id }),
    unmanaged: 2,
  },
  {
    says: "a test case is found by its description if the match has an empty externalId",
    live: ({ login }) => {
      login.externalId = "";
    },
    manifest: `${BASE}testCases: { login: { description: Log in, externalId: S-1 } }\n`,
    finds: ({ login }) => ({ "testCase.shop.login": login.id }),
    unmanaged: 2,
  },
  {
    says: "a live test case with the same description but another externalId does not match",
    live: ({ login }) => {
      login.externalId = "S-9";
    },
    manifest: `${BASE}testCases: { login: { description: Log in, externalId: S-1, discovery: { prompt: P } } }\n`,
    finds: () => ({ "testCase.shop.login": NEW }),
    unmanaged: 3,
  },
  {
    says: "without a declared externalId, the description can match a test case that has one",
    live: ({ login }) => {
      login.externalId = "S-9";
    },
    manifest: `${BASE}testCases: { login: { description: Log in, status: DRAFT } }\n`,
    finds: ({ login }) => ({ "testCase.shop.login": login.id }),
    unmanaged: 2,
  },
  {
    says: "a live test case with status DELETED is neither matched nor counted",
    live: ({ login }) => {
      login.status = "DELETED";
    },
    manifest: `${BASE}testCases: { login: { description: Log in, discovery: { prompt: P } } }\n`,
    finds: () => ({ "testCase.shop.login": NEW }),
    unmanaged: 2,
  },
  {
    says: "of two live test cases with the same description, the one that is not DELETED matches",
    live: ({ service, target, login }) => {
      login.status = "DELETED";
      service.addCase(target, { description: "Log in" });
    },
    manifest: `${BASE}testCases: { login: { description: Log in, status: DRAFT } }\n`,
    finds: (live) => ({ "testCase.shop.login": second(live) }),
    unmanaged: 2,
  },
  {
    says: "a bound test case that the service no longer lists is created again, and the plan reports it",
    first: `${BASE}testCases: { login: { description: Log in, discovery: { prompt: P } } }\n`,
    meanwhile: ({ target }) => {
      target.cases.length = 0;
    },
    manifest: `${BASE}testCases: { login: { description: Log in, discovery: { prompt: P } } }\n`,
    finds: () => ({ "testCase.shop.login": NEW }),
    unmanaged: 2,
    warns: /testCase\.shop\.login.*outside/u,
  },
  {
    says: "a bound test case that the service no longer lists is found by its name, and the plan reports it",
    first: `${BASE}testCases: { login: { description: Log in, discovery: { prompt: P } } }\n`,
    meanwhile: ({ service, target }) => {
      target.cases.length = 0;
      service.addCase(target, { description: "Log in" });
    },
    manifest: `${BASE}testCases: { login: { description: Log in, status: DRAFT } }\n`,
    finds: ({ target }) => ({ "testCase.shop.login": target.cases[0]?.id ?? "" }),
    unmanaged: 2,
    warns: /has its name and will be used instead/u,
  },
  {
    says: "a bound test case whose status became DELETED is created again, and the plan reports it",
    first: `${BASE}testCases: { login: { description: Log in, discovery: { prompt: P } } }\n`,
    meanwhile: ({ login }) => {
      login.status = "DELETED";
    },
    manifest: `${BASE}testCases: { login: { description: Log in, discovery: { prompt: P } } }\n`,
    finds: () => ({ "testCase.shop.login": NEW }),
    unmanaged: 2,
    warns: /testCase\.shop\.login.*outside/u,
  },
  {
    says: "`moved` transfers the binding to the new address",
    first: `${BASE}testCases: { old-login: { description: Log in } }\n`,
    manifest: `${BASE}testCases: { login: { description: Sign in } }\nmoved: [{ from: testCase.shop.old-login, to: testCase.shop.login }]\n`,
    finds: ({ login }) => ({ "testCase.shop.login": login.id }),
    unmanaged: 2,
  },
];

const fill = (manifest: string, live: Live): string =>
  manifest
    .replaceAll("TARGET", live.target.id)
    .replaceAll("SECOND", live.target.cases[1]?.id ?? "");

describe.concurrent("finding the live resource of an address", () => {
  test.each(FOUND)(
    "$says",
    async ({ live: prepare, first, meanwhile, manifest, finds, unmanaged, warns }) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        prepare?.(live);
        if (first !== undefined) {
          await project.write({ "targets/shop.yaml": fill(first, live) });
          const ran = await project.run(["apply", "--auto-approve"]);
          expect(ran.code, ran.stdout + ran.stderr).toBe(0);
        }
        meanwhile?.(live);
        await project.write({ "targets/shop.yaml": fill(manifest, live) });
        const { ran, value: plan } = await project.json(["plan"]);
        expect(ran.code, ran.stdout).toBe(0);
        const found = list(plan["changes"]).map((item) => [
          text(at(item, "address")),
          text(at(item, "id")),
        ]);
        expect(Object.fromEntries(found)).toEqual(finds(live));
        expect(at(plan, "summary", "unmanaged")).toBe(unmanaged);
        expect(list(plan["orphaned"])).toEqual([]);
        if (warns !== undefined) expect(diagnostics(plan).join("\n")).toMatch(warns);
      });
    },
  );
});

interface Unclear {
  readonly says: string;
  readonly live?: (live: Live) => void;
  readonly manifest: string;
  readonly address: string;
  /** Ids that the error lists. */
  readonly ids: (live: Live) => readonly string[];
  readonly names?: RegExp;
}

const UNCLEAR: readonly Unclear[] = [
  {
    says: "two targets with the same app",
    live: ({ service }) => {
      service.addTarget("Web Shop");
    },
    manifest: `${BASE}testIdAttribute: x\n`,
    address: "target.shop",
    ids: ({ service }) => service.targets.map((target) => target.id),
    names: /id:/u,
  },
  {
    says: "two ADDITIONAL environments with the same discoveryUrl",
    live: ({ service, target }) => {
      service.addEnvironment(target, { discoveryUrl: "https://preview.example.com" });
    },
    manifest: `${BASE}environments: { x: { discoveryUrl: "https://preview.example.com", name: N } }\n`,
    address: "environment.shop.x",
    ids: ({ target }) => target.environments.slice(1).map((item) => item.id),
    names: /id:/u,
  },
  {
    says: "two test cases with the same description",
    live: ({ service, target }) => {
      service.addCase(target, { description: "Log in" });
    },
    manifest: `${BASE}testCases: { login: { description: Log in, status: DRAFT } }\n`,
    address: "testCase.shop.login",
    ids: ({ target }) => target.cases.map((item) => item.id),
    names: /id:/u,
  },
  {
    says: "two test cases with the same externalId",
    live: ({ service, target }) => {
      service.addCase(target, { description: "A", externalId: "S-1" });
      service.addCase(target, { description: "B", externalId: "S-1" });
    },
    manifest: `${BASE}testCases: { login: { description: Log in, externalId: S-1 } }\n`,
    address: "testCase.shop.login",
    ids: ({ target }) => target.cases.slice(1).map((item) => item.id),
    names: /id:/u,
  },
  {
    says: "the id of a test case that the service does not list",
    manifest: `${BASE}testCases: { login: { id: 00000000-0000-4000-8000-0000000000ff, status: DRAFT } }\n`,
    address: "testCase.shop.login",
    ids: () => ["00000000-0000-4000-8000-0000000000ff"],
  },
  {
    says: "the id of a target that the service does not list",
    manifest: `target: shop\napp: Web Shop\nid: 00000000-0000-4000-8000-0000000000ff\n`,
    address: "target.shop",
    ids: () => ["00000000-0000-4000-8000-0000000000ff"],
  },
  {
    says: "the id of an environment that the service does not list",
    manifest: `${BASE}environments: { x: { id: 00000000-0000-4000-8000-0000000000ff, discoveryUrl: "https://preview.example.com" } }\n`,
    address: "environment.shop.x",
    ids: () => ["00000000-0000-4000-8000-0000000000ff"],
  },
  {
    says: "a prerequisite whose description two live test cases have",
    live: ({ service, target }) => {
      service.addCase(target, { description: "Log in" });
    },
    manifest: `${BASE}testCases: { cart: { description: Cart, discovery: { prompt: P, prerequisite: { description: Log in } } } }\n`,
    address: "testCase.shop.cart",
    ids: ({ target }) => target.cases.map((item) => item.id),
  },
  {
    says: "a prerequisite whose description no live test case has",
    manifest: `${BASE}testCases: { cart: { description: Cart, discovery: { prompt: P, prerequisite: { description: Nowhere } } } }\n`,
    address: "testCase.shop.cart",
    ids: () => [],
    names: /Nowhere/u,
  },
  {
    says: "two addresses that match the same test case",
    manifest: `${BASE}testCases: { a: { description: Log in, status: DRAFT }, b: { description: Log in, status: DISABLED } }\n`,
    address: "testCase.shop",
    ids: () => [],
    names: /testCase\.shop\.a[\s\S]*testCase\.shop\.b|testCase\.shop\.b[\s\S]*testCase\.shop\.a/u,
  },
];

describe.concurrent("ambiguous and missing matches", () => {
  test.each(UNCLEAR)(
    "plan exits 1: $says",
    async ({ live: prepare, manifest, address, ids, names }) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        prepare?.(live);
        await project.write({ "targets/shop.yaml": manifest });
        const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
        expect(ran.code).toBe(1);
        const errors = list(plan["diagnostics"])
          .map(object)
          .filter((item: JsonObject) => item["severity"] === "error");
        expect(errors.length).toBeGreaterThan(0);
        expect(errors.every((item) => text(item["address"] ?? "").startsWith(address))).toBe(true);
        const said = JSON.stringify(errors);
        for (const id of ids(live)) expect(said).toContain(id);
        if (names !== undefined) expect(said).toMatch(names);
        expect(at(errors[0], "file")).toBe("targets/shop.yaml");
        expect(at(errors[0], "line")).toBeGreaterThan(0);
        expect(service.writes()).toEqual([]);
      });
    },
  );

  test("apply exits 1 and sends nothing if a match is ambiguous", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      service.addTarget("Web Shop");
      await project.write({ "targets/shop.yaml": `${BASE}testIdAttribute: x\n` });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
      expect(service.writes()).toEqual([]);
    });
  });
});

describe.concurrent("orphans and moves", () => {
  test("a resource that was removed from the manifest is listed as orphaned and not changed", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in } }\n`,
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({ "targets/shop.yaml": BASE });
      const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
      expect(ran.code).toBe(0);
      expect(plan["orphaned"]).toEqual([{ address: "testCase.shop.login", id: live.login.id }]);
      expect(at(plan, "summary", "orphaned")).toBe(1);
      expect(changed(plan)).toEqual([]);
    });
  });

  test.each([
    { says: "of the target", target: "onRemove: disable\n", project: "" },
    { says: "of the project's policy", target: "", project: "policy: { onRemove: disable }\n" },
  ])(
    "onRemove: disable $says sets the status of an orphan to DISABLED and still lists it",
    async (row) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        await project.write({ "tasc.yaml": (await project.read("tasc.yaml")) + row.project });
        const base = BASE + row.target;
        await project.write({
          "targets/shop.yaml": `${base}testCases: { login: { description: Log in } }\n`,
        });
        expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
        await project.write({ "targets/shop.yaml": base });
        const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
        expect(ran.code).toBe(2);
        expect(plan["orphaned"]).toEqual([{ address: "testCase.shop.login", id: live.login.id }]);
        expect(plan["summary"]).toEqual({
          create: 0,
          update: 0,
          rediscover: 0,
          disable: 1,
          forget: 0,
          held: 0,
          unchanged: 1,
          orphaned: 1,
          unmanaged: 2,
          calls: { POST: 0, PATCH: 1 },
          followUps: 0,
        });
        expect(change(plan, "testCase.shop.login")).toEqual({
          address: "testCase.shop.login",
          action: "disable",
          id: live.login.id,
          fields: [{ path: ["status"], before: "ENABLED", after: "DISABLED" }],
          calls: [{ method: "PATCH", path: live.paths.login, body: { status: "DISABLED" } }],
          followUps: [],
        });
        expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
        expect(live.login.status).toBe("DISABLED");
        const again = await project.json(["plan", "--detailed-exitcode"]);
        expect(again.ran.code).toBe(0);
        expect(again.value["orphaned"]).toEqual([
          { address: "testCase.shop.login", id: live.login.id },
        ]);
      });
    },
  );

  test("a test case that is not in state and matches its live values is adopted without a call", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in, status: ENABLED, tags: [] } }\n`,
      });
      const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
      expect(ran.code).toBe(0);
      expect(plan["summary"]).toMatchObject({ unchanged: 2, unmanaged: 2 });
    });
  });

  test("a different live prompt of an adopted test case is not drift, even if sending it failed", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service).login.prompt = "Old";
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in, discovery: { prompt: New } } }\n`,
      });
      service.fail({ on: { method: "PATCH" }, phase: "before", answer: answer(400) });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
      const ran = await project.run(["drift"]);
      expect(ran.code, ran.stdout).toBe(0);
    });
  });

  test("tags are compared as a set", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      live.login.tags = ["b", "a"];
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { login: { description: Log in, tags: [a, b] } }\n`,
      });
      expect((await project.run(["plan", "--detailed-exitcode"])).code).toBe(0);
    });
  });
});
