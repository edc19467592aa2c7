// Creation of targets, environments, discoveries and batch generations.
import { describe, expect, test } from "vitest";
import { scene } from "./support/cli.ts";
import { at, list, object, text, type Json, type JsonObject } from "./support/json.ts";
import {
  change,
  diagnostics,
  expectNothingLeft,
  expectPlanForm,
  KNOWN_LATER,
  seed,
  tell,
  type Call,
  type Story,
} from "./support/story.ts";

const BASE = "target: shop\napp: Web Shop\n";
const PROMPT = "Accept all cookies.";

/** The change of a resource that one POST creates. */
const created = (
  address: string,
  fields: readonly JsonObject[],
  path: string,
  body: JsonObject,
): ReturnType<Story["expected"]> => ({
  address,
  action: "create",
  id: KNOWN_LATER,
  fields,
  calls: [{ method: "POST", path, body }],
});

interface Discovered {
  readonly says: string;
  readonly declared: string;
  readonly fields: readonly JsonObject[];
  readonly body: JsonObject;
  /** Fields that a discovery cannot carry and that this service does not set itself. */
  readonly calls?: JsonObject;
  readonly followUp?: JsonObject;
  readonly sends?: JsonObject;
}

const MADE: readonly Discovered[] = [
  {
    says: "sends only name and prompt if nothing else is declared",
    declared: "",
    fields: [],
    body: {},
  },
  {
    says: "sends entryPointUrlPath",
    declared: "entryPointUrlPath: /start",
    fields: [{ path: ["entryPointUrlPath"], after: "/start" }],
    body: { entryPointUrlPath: "/start" },
  },
  {
    says: "sends externalId",
    declared: "externalId: SHOP-7",
    fields: [{ path: ["externalId"], after: "SHOP-7" }],
    body: { externalId: "SHOP-7" },
  },
  {
    says: "sends tags as tagNames",
    declared: "tags: [web, smoke]",
    fields: [{ path: ["tags"], after: ["web", "smoke"] }],
    body: { tagNames: ["web", "smoke"] },
  },
  {
    says: "sends the folder as folderName",
    declared: "folder: Basics",
    fields: [{ path: ["folder"], after: "Basics" }],
    body: { folderName: "Basics" },
  },
  {
    says: "sends the status in a follow-up, since the POST cannot carry it",
    declared: "status: ENABLED",
    fields: [{ path: ["status"], after: "ENABLED" }],
    body: {},
    followUp: { status: "ENABLED" },
    sends: { status: "ENABLED" },
  },
  {
    says: "sends no follow-up if the service already set the declared value",
    declared: "status: DRAFT",
    fields: [{ path: ["status"], after: "DRAFT" }],
    body: {},
    followUp: { status: "DRAFT" },
  },
  {
    says: "omits null fields",
    declared: "folder: null\n    entryPointUrlPath: null\n    externalId: null",
    fields: [],
    body: {},
    followUp: { externalId: null, folderName: null, entryPointUrlPath: null },
  },
];

const discovery = (item: Discovered): Story => ({
  says: item.says,
  manifest: `${BASE}testCases:\n  cookies:\n    description: Cookies\n    discovery: { prompt: "${PROMPT}" }\n    ${item.declared}\n`,
  expected: (live) => {
    const patch = (body: JsonObject | undefined): readonly Call[] =>
      body === undefined
        ? []
        : [{ method: "PATCH", path: `${live.paths.target}/test-cases/${KNOWN_LATER}`, body }];
    const post: Call = {
      method: "POST",
      path: live.paths.discoveries,
      body: { name: "Cookies", prompt: PROMPT, ...item.body },
    };
    return {
      address: "testCase.shop.cookies",
      action: "create",
      id: KNOWN_LATER,
      fields: [
        { path: ["description"], after: "Cookies" },
        ...item.fields,
        { path: ["discovery", "prompt"], after: PROMPT },
      ],
      calls: [post, ...patch(item.calls)],
      followUps: patch(item.followUp),
    };
  },
  sends: (live) => {
    const post: Call = {
      method: "POST",
      path: live.paths.discoveries,
      body: { name: "Cookies", prompt: PROMPT, ...item.body },
    };
    const path = `${live.paths.target}/test-cases/${live.service.case(live.target, "Cookies").id}`;
    return item.sends === undefined ? [post] : [post, { method: "PATCH", path, body: item.sends }];
  },
});

/** A discovery with one more part, in the manifest, in the plan and in the body. */
const withPart = (
  says: string,
  declared: string,
  field: JsonObject,
  body: JsonObject,
  others = "",
): Story => ({
  says,
  manifest: `${BASE}testCases:\n${others}  cookies:\n    description: Cookies\n    discovery: { prompt: "${PROMPT}", ${declared} }\n`,
  expected: (live) =>
    created(
      "testCase.shop.cookies",
      [
        { path: ["description"], after: "Cookies" },
        { path: ["discovery", "prompt"], after: PROMPT },
        field,
      ],
      live.paths.discoveries,
      { name: "Cookies", prompt: PROMPT, ...body },
    ),
});

tell("a discovery", [
  ...MADE.map(discovery),
  withPart(
    "sends the type",
    "type: COOKIE_BANNER",
    { path: ["discovery", "type"], after: "COOKIE_BANNER" },
    { type: "COOKIE_BANNER" },
  ),
  withPart(
    "sends the description of a managed prerequisite as prerequisiteName",
    "prerequisite: login",
    { path: ["discovery", "prerequisite"], after: "login" },
    { prerequisiteName: "Log in" },
    "  login: { description: Log in }\n",
  ),
  withPart(
    "sends the description of an unmanaged prerequisite as prerequisiteName",
    "prerequisite: { description: Log in }",
    { path: ["discovery", "prerequisite"], after: { description: "Log in" } },
    { prerequisiteName: "Log in" },
  ),
]);

interface Batch {
  readonly says: string;
  readonly declared: string;
  readonly fields: readonly JsonObject[];
  readonly body: (ids: { readonly preview: string; readonly login: string }) => JsonObject;
}

const BATCHES: readonly Batch[] = [
  {
    says: "sends prompt",
    declared: "prompt: Cover it",
    fields: [{ path: ["prompt"], after: "Cover it" }],
    body: () => ({ prompt: "Cover it" }),
  },
  {
    says: "sends imageUrls",
    declared: 'prompt: Cover it, imageUrls: ["https://img.example.com/a.png"]',
    fields: [
      { path: ["prompt"], after: "Cover it" },
      { path: ["imageUrls"], after: ["https://img.example.com/a.png"] },
    ],
    body: () => ({ prompt: "Cover it", imageUrls: ["https://img.example.com/a.png"] }),
  },
  {
    says: "sends entryPointUrlPath",
    declared: "prompt: Cover it, entryPointUrlPath: /start",
    fields: [
      { path: ["prompt"], after: "Cover it" },
      { path: ["entryPointUrlPath"], after: "/start" },
    ],
    body: () => ({ prompt: "Cover it", entryPointUrlPath: "/start" }),
  },
  {
    says: "sends environmentId for the key of the environment",
    declared: "prompt: Cover it, environment: preview",
    fields: [
      { path: ["prompt"], after: "Cover it" },
      { path: ["environment"], after: "preview" },
    ],
    body: ({ preview }) => ({ prompt: "Cover it", environmentId: preview }),
  },
  {
    says: "sends prerequisiteId for the key of the test case",
    declared: "prompt: Cover it, prerequisite: login",
    fields: [
      { path: ["prompt"], after: "Cover it" },
      { path: ["prerequisite"], after: "login" },
    ],
    body: ({ login }) => ({ prompt: "Cover it", prerequisiteId: login }),
  },
  {
    says: "sends baseUrl",
    declared: 'prompt: Cover it, baseUrl: "https://other.example.com"',
    fields: [
      { path: ["prompt"], after: "Cover it" },
      { path: ["baseUrl"], after: "https://other.example.com" },
    ],
    body: () => ({ prompt: "Cover it", baseUrl: "https://other.example.com" }),
  },
  {
    says: "sends context",
    declared: "prompt: Cover it, context: { source: github, issueNumber: 7 }",
    fields: [
      { path: ["prompt"], after: "Cover it" },
      { path: ["context"], after: { source: "github", issueNumber: 7 } },
    ],
    body: () => ({ prompt: "Cover it", context: { source: "github", issueNumber: 7 } }),
  },
  {
    says: "omits null fields",
    declared:
      "prompt: Cover it, entryPointUrlPath: null, environment: null, prerequisite: null, baseUrl: null",
    fields: [{ path: ["prompt"], after: "Cover it" }],
    body: () => ({ prompt: "Cover it" }),
  },
];

const MANAGED =
  'environments: { preview: { discoveryUrl: "https://preview.example.com" } }\ntestCases: { login: { description: Log in } }\n';

tell(
  "a batch generation, on a target that state knows",
  BATCHES.map((item): Story => ({
    says: item.says,
    first: `${BASE}testIdAttribute: data-testid\n${MANAGED}`,
    manifest: `${BASE}testIdAttribute: data-testid\n${MANAGED}batchGenerations:\n  spring: { ${item.declared} }\n`,
    expected: (live) =>
      created(
        "batchGeneration.shop.spring",
        item.fields,
        live.paths.batches,
        item.body({ preview: live.preview.id, login: live.login.id }),
      ),
  })),
);

tell("an environment", [
  {
    says: "without a name sends its key as the name, and the declared fields",
    manifest: `${BASE}environments:\n  beta: { discoveryUrl: "https://beta.example.com", privateLocationName: berlin, testAccount: null }\n`,
    expected: (live) =>
      created(
        "environment.shop.beta",
        [
          { path: ["discoveryUrl"], after: "https://beta.example.com" },
          { path: ["privateLocationName"], after: "berlin" },
        ],
        `${live.paths.target}/environments`,
        {
          name: "beta",
          discoveryUrl: "https://beta.example.com",
          privateLocationName: "berlin",
        },
      ),
  },
  {
    says: "with a name sends that name",
    manifest: `${BASE}environments:\n  beta: { name: Beta!, discoveryUrl: "https://beta.example.com" }\n`,
    expected: (live) =>
      created(
        "environment.shop.beta",
        [
          { path: ["name"], after: "Beta!" },
          { path: ["discoveryUrl"], after: "https://beta.example.com" },
        ],
        `${live.paths.target}/environments`,
        { name: "Beta!", discoveryUrl: "https://beta.example.com" },
      ),
  },
]);

const NEW_TARGET = `
target: shop
app: New Shop
testIdAttribute: data-testid
environments:
  default:
    discoveryUrl: https://new.example.com
    testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" }
  preview: { discoveryUrl: https://preview.new.example.com }
testCases:
  checkout: { description: Check out, discovery: { prompt: Buy it., prerequisite: cart } }
  cart: { description: Fill the cart, discovery: { prompt: Fill it., prerequisite: login } }
  login: { description: Log in, status: ENABLED, tags: [a], discovery: { prompt: Log in., type: LOGIN } }
batchGenerations:
  spring: { prompt: Cover it, environment: preview, prerequisite: checkout }
`;

describe.concurrent("a new target", () => {
  test("is planned with one read and created in order, each prerequisite before the test case that needs it", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write({ "targets/shop.yaml": NEW_TARGET });
      const { value: plan } = await project.json(["plan"]);
      expectPlanForm(plan);
      expect(service.reads()).toEqual(["/apiKey/v3/test-targets"]);
      expect(plan["summary"]).toEqual({
        create: 7,
        update: 0,
        rediscover: 0,
        disable: 0,
        forget: 0,
        held: 0,
        unchanged: 0,
        orphaned: 0,
        unmanaged: 0,
        calls: { POST: 6, PATCH: 2 },
        followUps: 1,
      });
      expect(at(change(plan, "target.shop"), "calls")).toEqual([
        {
          method: "POST",
          path: "/apiKey/v3/test-targets",
          body: { testTarget: { app: "New Shop", discoveryUrl: "https://new.example.com" } },
        },
        {
          method: "PATCH",
          path: `/apiKey/v3/test-targets/${KNOWN_LATER}`,
          body: { testIdAttribute: "data-testid" },
        },
      ]);
      expect(change(plan, "environment.shop.default")["action"]).toBe("create");
      expect(at(change(plan, "environment.shop.default"), "calls")).toEqual([
        {
          method: "PATCH",
          path: `/apiKey/v3/test-targets/${KNOWN_LATER}/environments/${KNOWN_LATER}`,
          body: { testAccount: { username: "qa", password: "(sensitive)" } },
        },
      ]);
      expect(at(change(plan, "batchGeneration.shop.spring"), "calls", 0, "body")).toEqual({
        prompt: "Cover it",
        environmentId: KNOWN_LATER,
        prerequisiteId: KNOWN_LATER,
      });
      for (const item of list(plan["changes"])) {
        expect(at(item, "id")).toBe(KNOWN_LATER);
        for (const field of list(at(item, "fields")))
          expect(Object.keys(object(field))).not.toContain("before");
      }

      service.forget();
      const applied = await project.run(["apply", "--auto-approve"]);
      expect(applied.code, applied.stdout + applied.stderr).toBe(0);
      expect(service.violations).toEqual([]);
      const made = service
        .writes()
        .filter((call) => call["method"] === "POST")
        .map((call) => nameOf(call));
      expect(made[0]).toBe("New Shop");
      expect(made.indexOf("Log in")).toBeLessThan(made.indexOf("Fill the cart"));
      expect(made.indexOf("Fill the cart")).toBeLessThan(made.indexOf("Check out"));
      expect(made.at(-1)).toBe("Cover it");
      const kinds = service.writes().map((call) => kindOf(call));
      expect(kinds).toEqual(kinds.toSorted((one, other) => one - other));
      const shop = service.target("New Shop");
      const ids = new Map(shop.cases.map((item) => [item.description, item.id]));
      expect(service.case(shop, "Check out").prerequisiteId).toBe(ids.get("Fill the cart"));
      expect(shop.batches).toEqual([
        {
          prompt: "Cover it",
          environmentId: shop.environments[1]?.id,
          prerequisiteId: ids.get("Check out"),
        },
      ]);
      expect(service.case(shop, "Log in").status).toBe("ENABLED");
      await expectNothingLeft(project);
    });
  });

  test("without environments.default.discoveryUrl is a plan error", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write({ "targets/shop.yaml": "target: shop\napp: New Shop\n" });
      const { ran, value: plan } = await project.json(["plan"]);
      expect(ran.code).toBe(1);
      expect(diagnostics(plan).join("\n")).toMatch(/discoveryUrl/u);
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
      expect(service.writes()).toEqual([]);
    });
  });

  test("a new test case without a prompt is a plan error that names the test case", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { ghost: { description: Nobody made me }, login: { description: Log in, status: DRAFT } }\n`,
      });
      const { ran, value: plan } = await project.json(["plan"]);
      expect(ran.code).toBe(1);
      const error = list(plan["diagnostics"]).find((item) => at(item, "severity") === "error");
      expect(at(error, "address")).toBe("testCase.shop.ghost");
      expect(JSON.stringify(error)).toContain("prompt");
      expect(at(error, "file")).toBe("targets/shop.yaml");
      expect((await project.run(["plan", "--detailed-exitcode"])).code, "1 wins over 2").toBe(1);
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
      expect(service.writes()).toEqual([]);
    });
  });

  test("a field is not patched if the service itself already set the declared value", async () => {
    await scene({ made: { status: "ENABLED", runStatus: "ON" } }, async ({ project, service }) => {
      seed(service);
      await project.write({
        "targets/shop.yaml": `${BASE}testCases: { cookies: { description: Cookies, status: ENABLED, runStatus: ON, discovery: { prompt: P } } }\n`,
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      expect(service.writes()).toHaveLength(1);
      await expectNothingLeft(project);
    });
  });
});

function nameOf(call: JsonObject): Json | undefined {
  const body = call["body"];
  return at(body, "testTarget", "app") ?? at(body, "name") ?? at(body, "prompt");
}

/**
 * Position of a call in an apply: targets, environments, discoveries, test cases, batch
 * generations.
 */
function kindOf(call: JsonObject): number {
  const path = text(call["path"]);
  if (path.includes("/batch-generations")) return 5;
  if (path.includes("/test-cases/")) return 4;
  if (path.includes("/discoveries")) return 3;
  if (path.includes("/environments")) return 2;
  return 1;
}
