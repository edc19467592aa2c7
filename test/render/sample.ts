import type { Address } from "../../src/model/address.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import type { Change, Plan, PlanJson } from "../../src/model/plan.ts";
import { IdOf, Secret } from "../../src/model/value.ts";
import { attentionOf } from "../../src/plan/attention.ts";
import {
  type PlanExtras,
  type PlanView,
  planExtras,
  planJson,
  planView,
} from "../../src/render/json.ts";
import { renderPlanHtml } from "../../src/render/html/page.ts";

/** Plans with every kind of change, and with untrusted names. */

export const META = { tool: "tasc 1.0.0", createdAt: "2026-01-02T03:04:05Z" };
export const PASSWORD = "hunter2-s3cr3t/pass";

const SHOP = "11111111-1111-4111-8111-111111111111";
const target = ["apiKey", "v3", "test-targets"];

function change(address: Address, rest: Partial<Change>): Change {
  return {
    address,
    action: "update",
    fields: [],
    calls: [],
    followUps: [],
    dependsOn: [],
    ...rest,
  };
}

function patchCase(id: string, body: Change["calls"][number]["body"]): Change["calls"] {
  return [{ method: "PATCH", path: [...target, SHOP, "test-cases", id], body }];
}

const OLD_PROMPT = [
  "Open the start page.",
  'Search for "blue shoes".',
  "Put the first result into the cart.",
  "Open the cart.",
  "Check that the cart has one item.",
  "Check that the total is shown.",
  "Go to the checkout and fill in the address of the test account, with the country set to Germany and the invoice sent by mail.",
  "Do not pay.",
].join("\n");
const NEW_PROMPT = OLD_PROMPT.replace("one item", "exactly one item").replace(
  "Do not pay.",
  "Pay with the test card.\nCheck that the order number is shown.",
);

export const CHANGES: readonly Change[] = [
  change("environment.blog.default", {
    action: "create",
    fields: [{ path: ["discoveryUrl"], after: "https://blog.example.com" }],
    dependsOn: ["target.blog"],
  }),
  change("target.blog", {
    action: "create",
    fields: [
      { path: ["app"], after: "Blog" },
      { path: ["timeoutPerStep"], after: 10000 },
    ],
    calls: [
      {
        method: "POST",
        path: target,
        body: { testTarget: { app: "Blog", discoveryUrl: "https://blog.example.com" } },
      },
      {
        method: "PATCH",
        path: [...target, new IdOf("target.blog")],
        body: { timeoutPerStep: 10000 },
      },
    ],
  }),
  change("target.shop", {
    id: SHOP,
    fields: [
      { path: ["app"], before: "Web Shop", after: "Web Shop (staging)", changedBy: "manifest" },
      { path: ["timeoutPerStep"], after: 10000 },
      { path: ["trackerIntegration", "domain"], after: "https://tracker.example.com" },
      { path: ["trackerIntegration", "apiKey"], sensitive: true },
    ],
    calls: [
      {
        method: "PATCH",
        path: [...target, SHOP],
        body: {
          app: "Web Shop (staging)",
          timeoutPerStep: 10000,
          trackerIntegration: {
            domain: "https://tracker.example.com",
            apiKey: new Secret(PASSWORD),
          },
        },
      },
    ],
  }),
  change("environment.shop.preview", {
    action: "create",
    fields: [
      { path: ["name"], after: "Preview" },
      { path: ["discoveryUrl"], after: "https://preview.shop.example.com" },
      { path: ["basicAuth", "username"], after: "gate" },
      { path: ["basicAuth", "password"], sensitive: true },
      { path: ["additionalHeaderFields", "X-Preview.Id"], sensitive: true },
    ],
    calls: [
      {
        method: "POST",
        path: [...target, SHOP, "environments"],
        body: {
          name: "Preview",
          discoveryUrl: "https://preview.shop.example.com",
          basicAuth: { username: "gate", password: new Secret(PASSWORD) },
          additionalHeaderFields: { "X-Preview.Id": new Secret(PASSWORD) },
        },
      },
    ],
  }),
  change("testCase.shop.cart-total", {
    id: "22222222-2222-4222-8222-222222222222",
    fields: [
      { path: ["runStatus"], before: "OFF", after: "ON", changedBy: "service" },
      { path: ["tags"], before: ["smoke"], after: ["smoke", "cart, total"], changedBy: "manifest" },
      { path: ["folder"], before: null, after: "Cart" },
      {
        path: ["elements", 0, "interaction", "calledWith"],
        before: "sum",
        after: "total",
        changedBy: "both",
      },
      {
        path: ["elements", 2],
        after: { assertion: { expectation: "VISIBLE" }, ignoreFailure: true },
      },
      {
        path: ["elements", 3],
        before: { assertion: { expectation: "VISIBLE" } },
        harmful: "assertion lost",
      },
      { path: ["elements", 4], after: { interaction: { action: "CLICK" } }, movedFrom: 1 },
      {
        path: ["elements", 5, "ignoreFailure"],
        before: false,
        after: true,
        harmful: "failure ignored",
      },
      { path: ["elements", 1, "locatorLine"], after: "getByRole('heading', { name: 'Cart' })" },
    ],
    losses: { assertions: 1, steps: 0, ignored: 1, emptied: 0, all: false },
    calls: [
      ...patchCase("22222222-2222-4222-8222-222222222222", {
        runStatus: "ON",
        assignedTagNames: ["smoke", "cart, total"],
        folderName: "Cart",
        elements: [{ interaction: { action: "EXTRACT", calledWith: "total" } }],
      }),
      {
        method: "PATCH",
        path: [
          ...target,
          SHOP,
          "test-cases",
          "22222222-2222-4222-8222-222222222222",
          "elements",
          new IdOf(1),
        ],
        body: { locatorLine: "getByRole('heading', { name: 'Cart' })" },
      },
    ],
  }),
  change("testCase.shop.checkout", {
    action: "rediscover",
    id: "33333333-3333-4333-8333-333333333333",
    fields: [
      {
        path: ["discovery", "prompt"],
        before: OLD_PROMPT,
        after: NEW_PROMPT,
        changedBy: "manifest",
      },
      { path: ["status"], before: "DRAFT", after: "ENABLED", changedBy: "manifest" },
    ],
    calls: patchCase("33333333-3333-4333-8333-333333333333", {
      createBackendDiscoveryPrompt: NEW_PROMPT,
      status: "ENABLED",
    }),
    followUps: patchCase("33333333-3333-4333-8333-333333333333", {
      status: "ENABLED",
      assignedTagNames: ["web"],
    }),
  }),
  change("testCase.shop.gone", {
    action: "disable",
    id: "44444444-4444-4444-8444-444444444444",
    fields: [{ path: ["status"], before: "ENABLED", after: "DISABLED" }],
    calls: patchCase("44444444-4444-4444-8444-444444444444", { status: "DISABLED" }),
  }),
  change("testCase.shop.login", {
    action: "create",
    fields: [
      { path: ["description"], after: "Log in with valid credentials" },
      { path: ["tags"], after: ["smoke", "auth"] },
      {
        path: ["discovery", "prompt"],
        after: "Log in as the test account and check that the greeting names the user.",
      },
      { path: ["discovery", "prerequisite"], after: "cookie-banner" },
      {
        path: ["elements"],
        after: [
          { interaction: { action: "EXTRACT", calledWith: "total" } },
          { assertion: { expectation: "VISIBLE" } },
        ],
      },
    ],
    calls: [
      {
        method: "POST",
        path: [...target, SHOP, "discoveries"],
        body: {
          name: "Log in with valid credentials",
          prerequisiteName: "Accept the cookie banner",
        },
      },
    ],
    followUps: [
      {
        method: "PATCH",
        path: [...target, SHOP, "test-cases", new IdOf("testCase.shop.login")],
        body: { status: "ENABLED", elements: [] },
      },
    ],
    dependsOn: ["testCase.shop.cookie-banner"],
  }),
  ...["tag-a", "tag-b", "tag-c", "tag-d", "tag-e", "tag-f"].map((key) =>
    change(`testCase.shop.${key}`, {
      id: `id-of-${key}`,
      fields: [{ path: ["tags"], before: [], after: ["web"], changedBy: "manifest" }],
      calls: patchCase(`id-of-${key}`, { assignedTagNames: ["web"] }),
    }),
  ),
  change("batchGeneration.shop.spring", {
    action: "create",
    fields: [{ path: ["prompt"], after: "Cover the spring campaign pages." }],
    calls: [
      {
        method: "POST",
        path: [...target, SHOP, "batch-generations"],
        body: {
          prompt: "Cover the spring campaign pages.",
          environmentId: new IdOf("environment.shop.preview"),
        },
      },
    ],
    dependsOn: ["environment.shop.preview"],
  }),
];

export const DIAGNOSTICS: readonly Diagnostic[] = [
  {
    severity: "warning",
    code: "fixed-field-differs",
    summary: "discovery.type is fixed after creation and differs",
    detail:
      'The service has none, the manifest has "LOGIN". The API cannot change it: take the live value into the manifest, or make the test case anew.',
    address: "testCase.shop.login",
    origin: { file: "targets/shop.yaml", path: ["testCases", "login", "discovery", "type"] },
    place: { file: "targets/shop.yaml", line: 3, column: 20 },
  },
  {
    severity: "warning",
    code: "batch-held",
    summary: "Held: state does not record whether it ran",
    detail:
      "The test target existed before tasc recorded state for it.\nIf it ran:      tasc state mark batchGeneration.shop.summer done\nTo run it now: tasc apply --run batchGeneration.shop.summer",
    address: "batchGeneration.shop.summer",
  },
];

export const PROBLEM: Diagnostic = {
  severity: "error",
  code: "ambiguous",
  summary: "Two live test cases fit",
  detail:
    "Bind the one that is meant:\n  id: 55555555-5555-4555-8555-555555555555\n  id: 66666666-6666-4666-8666-666666666666",
  address: "testCase.shop.wishlist",
  place: { file: "targets/shop.yaml", line: 5, column: 3 },
};

/** The manifest that the places above refer to. */
export const SOURCE = `target: shop
testCases:
  login: { discovery: { type: LOGIN } }
  # 忘れないで
  wishlist: { description: "Wish list", password: hunter2-s3cr3t/pass }
`;

const ORPHANED: Plan["orphaned"] = [
  { address: "testCase.shop.gone", id: "44444444-4444-4444-8444-444444444444" },
];

/** Every kind of change, with warnings and orphans, and no error. */
export const PLAN: Plan = {
  stage: "staging",
  baseUrl: "https://api.example.com",
  summary: {
    create: 5,
    update: 8,
    rediscover: 1,
    disable: 1,
    forget: 0,
    held: 0,
    unchanged: 95,
    orphaned: 1,
    unmanaged: 3,
    calls: { POST: 4, PATCH: 12 },
    followUps: 2,
  },
  changes: CHANGES,
  attention: attentionOf({
    plan: { changes: CHANGES, orphaned: ORPHANED, diagnostics: [] },
    matched: new Map(),
  }),
  orphaned: ORPHANED,
  diagnostics: DIAGNOSTICS,
};

export const REFUSED: Plan = { ...PLAN, diagnostics: [PROBLEM, ...DIAGNOSTICS] };

export const EMPTY: Plan = {
  ...PLAN,
  summary: {
    create: 0,
    update: 0,
    rediscover: 0,
    disable: 0,
    forget: 0,
    held: 0,
    unchanged: 110,
    orphaned: 0,
    unmanaged: 0,
    calls: { POST: 0, PATCH: 0 },
    followUps: 0,
  },
  changes: [],
  attention: [],
  orphaned: [],
  diagnostics: [],
};

/** Texts that could affect a terminal, a workflow log, a table or a page. */
export const HOSTILE_TEXTS: readonly string[] = [
  "plain 👩‍👩‍👧 ❤️ 日本語 한국어",
  "quotes \"double\" 'single' `back` ``two`` ```three",
  "| a | b |\n|---|---|",
  "</script><script>alert(1)</script><!-- --> <img src=x onerror=alert(1)>",
  "\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007 \u009b2J \u0007 \r over",
  "right to \u202eleft\u202c \u2066isolated\u2069 zero\u200bwidth \u00ad soft",
  "::error file=x::forged",
  "  ::set-output name=a::b\n##[error]forged ##vso[task.complete]",
  "@team @org/team #12 GH-12 https://evil.example www.evil.example a@evil.example",
  "![x](https://evil.example/x.png) [click](javascript:alert(1)) **bold** ~~gone~~ $math$ :tada:",
  "</details></summary><details open>",
  "a\n```\n# Heading\n~~~\n<!-- tasc:plan production -->",
  "${{ secrets.X }} {{ x }} %0A::error::x %25",
  "before → after",
  "\ud800 half \udc00",
];

const HOSTILE_CHANGES = HOSTILE_TEXTS.flatMap((text, at) => [
  change(`testCase.shop.hostile-${String(at + 1).padStart(2, "0")}`, {
    id: text,
    action: (["update", "create", "rediscover"] as const)[at % 3] ?? "update",
    fields: [
      { path: ["description"], ...(at % 3 === 1 ? {} : { before: "A name" }), after: text },
      { path: ["additionalHeaderFields", text], after: [text, { [text]: text }] },
      { path: ["discovery", "prompt"], before: `one\n${text}\ntwo`, after: `one\ntwo\n${text}` },
    ],
    calls: patchCase(text, { description: text, [text]: [text] }),
  }),
]);

export const HOSTILE: Plan = {
  ...PLAN,
  stage: "staging",
  changes: HOSTILE_CHANGES,
  attention: attentionOf({
    plan: { changes: HOSTILE_CHANGES, orphaned: [], diagnostics: [] },
    matched: new Map(),
  }),
  orphaned: [{ address: "testCase.shop.gone", id: HOSTILE_TEXTS[4] ?? "" }],
  diagnostics: HOSTILE_TEXTS.map((text) => ({
    severity: "error",
    code: "hostile",
    summary: text,
    detail: `${text}\n${text}`,
    address: "testCase.shop.hostile-01",
    place: { file: `targets/${text}.yaml`, line: 1, column: 1 },
  })),
};

/** A plan as it is saved, and in the form that renderers take. */
export function shown(plan: Plan): {
  readonly json: PlanJson;
  readonly extras: PlanExtras;
  readonly view: PlanView;
} {
  const [json, extras] = [planJson(plan, META), planExtras(plan)];
  return { json, extras, view: planView(json, extras) };
}

/** The page of a plan as a whole. */
export function pageOf(view: PlanView): string {
  return [...renderPlanHtml(view)].join("");
}
