import { describe, expect, test } from "vitest";
import { loadProject } from "../../src/manifest/load.ts";
import { type Json, type JsonObject, isObject } from "../../src/model/json.ts";
import type { Policy } from "../../src/model/settings.ts";
import { attentionOf } from "../../src/plan/attention.ts";
import { loosenedSettings, violationsOf } from "../../src/plan/policy.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { scopeTest } from "../../src/plan/scope.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";
import { liveCase, liveElement, liveTarget, planInput } from "../plan/build.ts";

/**
 * The same harm to a protected test case, in every place where manifests can write it. Whatever the
 * place, the plan is refused, or the manifests are. Where the change takes away the protection
 * itself, both the harm and the missing protection are told.
 */
const CLICK = { interaction: { action: "CLICK" } };
const PAID = { assertion: { expectation: "VISIBLE" } };
const TOTAL = { assertion: { expectation: "TEXT", calledWith: "42" } };
const EVIL = "https://evil.example.com";

/** What is done to the test case, as its manifest would say it. */
const HARMS = {
  disabled: { status: "DISABLED" },
  "back to draft": { status: "DRAFT" },
  "switched off": { runStatus: "OFF" },
  "without steps": { elements: [] },
  "an assertion less": { elements: [CLICK, PAID] },
  "a failure ignored": { elements: [CLICK, { ...PAID, ignoreFailure: true }, TOTAL] },
  "another start": { entryPointUrlPath: "/empty" },
  "another prompt": { discovery: { prompt: "Do nothing" } },
  "another name": { description: "Ignore me" },
} satisfies Readonly<Record<string, JsonObject>>;

/** A project: documents by file name, and variables of the environment. */
interface Written {
  readonly files: Readonly<Record<string, Json>>;
  /** What `tasc.yaml` has in addition. */
  readonly settings?: JsonObject;
  readonly stage?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
}

const PAY = { description: "Pay" };
const SHOP = {
  target: "shop",
  app: "Shop",
  environments: { default: { discoveryUrl: "https://shop.example.com/start" } },
  testCases: { pay: PAY },
};
const only = (document: JsonObject): Written => ({ files: { "targets/shop.yaml": document } });
const paying = (pay: JsonObject, more: JsonObject = {}): Written =>
  only({ ...SHOP, testCases: { pay: { ...PAY, ...pay } }, ...more });
const inStage = (pay: JsonObject): JsonObject => ({
  stages: { production: { testCases: { pay } } },
});

/** What the test case declares itself, if defaults shall decide the rest. */
const underDefaults = ({ description }: JsonObject): JsonObject =>
  description === undefined ? PAY : { externalId: "SHOP-1" };

/** Replaces each text of a map by what `of` returns; lists stay as they are. */
function texts(value: JsonObject, of: (text: string) => string): JsonObject {
  const each = (one: Json): Json =>
    typeof one === "string" ? of(one) : isObject(one) ? texts(one, of) : one;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, each(one)]));
}

function textIn(harm: JsonObject): string {
  let found = "";
  texts(harm, (text) => (found = text));
  return found;
}

const PLACES: Readonly<Record<string, (harm: JsonObject) => Written>> = {
  "the test case": (harm) => paying(harm),
  "its stage": (harm) => paying({}, inStage(harm)),
  "its stage, against the test case": (harm) =>
    paying({ status: "ENABLED", runStatus: "ON", entryPointUrlPath: "/pay" }, inStage(harm)),
  "the target's defaults": (harm) =>
    only({ ...SHOP, testCases: { pay: underDefaults(harm) }, defaults: { testCases: harm } }),
  "the project's defaults": (harm) => ({
    ...only({ ...SHOP, testCases: { pay: underDefaults(harm) } }),
    settings: { defaults: { testCases: harm } },
  }),
  "another document": (harm) => ({
    files: {
      "targets/shop.yaml": { ...SHOP, testCases: {} },
      "targets/pay.yaml": { target: "shop", testCases: { pay: { ...PAY, ...harm } } },
    },
  }),
  "the stage of another document": (harm) => ({
    files: { "targets/shop.yaml": SHOP, "targets/pay.yaml": { target: "shop", ...inStage(harm) } },
  }),
  "a variable of the stage": (harm) => ({
    ...paying(texts(harm, () => "${var:weak}")),
    stage: { vars: { weak: textIn(harm) } },
  }),
  "a variable of the environment": (harm) => ({
    ...paying(texts(harm, () => "${env:WEAK}")),
    env: { WEAK: textIn(harm) },
  }),
  "the fallback of a variable": (harm) => paying(texts(harm, (text) => `\${env:NONE:-${text}}`)),
  "a secret": (harm) => ({
    ...paying(texts(harm, () => "${secret:WEAK}")),
    env: { WEAK: textIn(harm) },
  }),
  "a file": (harm) => {
    const { files } = paying(texts(harm, () => "${file:weak.txt}"));
    return { files: { ...files, "weak.txt": textIn(harm) } };
  },
  "a moved test case": (harm) =>
    only({
      ...SHOP,
      testCases: { other: { ...PAY, ...harm } },
      moved: [{ from: "testCase.shop.pay", to: "testCase.shop.other" }],
    }),
  "a renamed target": (harm) =>
    paying(harm, { target: "store", moved: [{ from: "target.shop", to: "target.store" }] }),
  "a target that state does not know": (harm) => paying(harm, { target: "store" }),
  "a test case with other changes": (harm) =>
    paying({ tags: ["x"], folder: "Attic", externalId: "SHOP-1", ...harm }),
  "a test case in quarantine": (harm) =>
    paying({ quarantine: { until: "2099-01-01", reason: "Flaky" }, ...harm }),
};

/** Harms that are no field of the test case. */
const OTHERS: Readonly<Record<string, Written>> = {
  "a stage that the test case is not for": paying({ onlyStages: ["staging"] }),
  "a stage that the target is not for": paying({}, { onlyStages: ["staging"] }),
  "no declaration": only({ ...SHOP, testCases: {} }),
  "no declaration, disabled by the target": only({ ...SHOP, testCases: {}, onRemove: "disable" }),
  "no declaration, and forgotten": {
    ...only({ ...SHOP, testCases: {} }),
    settings: { removed: ["testCase.shop.pay"] },
  },
  "another origin": paying({}, { environments: { default: { discoveryUrl: EVIL } } }),
  "another origin in the stage": paying(
    {},
    {
      stages: { production: { environments: { default: { discoveryUrl: EVIL } } } },
    },
  ),
  "another origin by a variable": {
    ...paying({}, { environments: { default: { discoveryUrl: "https://${var:host}" } } }),
    stage: { vars: { host: "evil.example.com" } },
  },
  "another origin by a secret": {
    ...paying({}, { environments: { default: { discoveryUrl: "${secret:URL}" } } }),
    env: { URL: EVIL },
  },
};

const PROTECTED = { protected: ["testCase.shop.pay"] };

/** Where the protection is written. */
const PROTECTIONS: Readonly<
  Record<string, { project?: JsonObject; stage?: JsonObject; trust?: Policy; base?: JsonObject }>
> = {
  "tasc.yaml": { project: PROTECTED },
  "the stage": { stage: PROTECTED },
  "the trust file": { trust: { ...PROTECTED, pinned: PROTECTED.protected } },
  "the base alone": { base: PROTECTED },
};

async function loadedOf(
  { files, settings, stage, env }: Written,
  policy: { project?: JsonObject; stage?: JsonObject; trust?: Policy },
) {
  const project = {
    version: 1,
    service: { baseUrl: "http://127.0.0.1:4010", apiKey: "${secret:KEY}" },
    policy: policy.project ?? {},
    stages: { staging: {}, production: { policy: policy.stage ?? {}, ...stage } },
    ...settings,
  };
  const all = Object.entries({ ...files, "tasc.yaml": project }).map(
    ([name, one]) => [name, typeof one === "string" ? one : JSON.stringify(one)] as const,
  );
  const limits = policy.trust === undefined ? {} : { policy: policy.trust };
  return await loadProject(
    { root: "", stage: "production", env: { KEY: "the-api-key", ...env } },
    { ...memoryFolder(Object.fromEntries(all)), trust: async () => () => limits },
  );
}

const LIVE = liveCase("C", {
  description: "Pay",
  externalId: "SHOP-1",
  entryPointUrlPath: "/pay",
  elements: [CLICK, PAID, TOTAL].map((parts, at) => liveElement(`e${at}`, at, parts)),
  discovery: { status: "FINISHED", freePrompt: "Pay", abortCause: undefined, message: undefined },
});
const ENVIRONMENT = {
  id: "E0",
  type: "DEFAULT" as const,
  discoveryUrl: "https://shop.example.com/start",
};

/** Returns why a project is refused, and the rows that tell its harm. */
async function outcomeOf(written: Written, protection: (typeof PROTECTIONS)[string]) {
  const loaded = await loadedOf(written, protection);
  if (!loaded.ok) return { refused: loaded.diagnostics.map(({ code }) => code), told: [] };
  const { desired, settings } = loaded;
  const situation = {
    declared: {},
    live: { target: liveTarget([ENVIRONMENT]), testCases: [LIVE] },
    state: [
      { type: "bound", address: "target.shop", id: "T", fields: {} },
      { type: "bound", address: "environment.shop.default", id: "E0", fields: {} },
      { type: "bound", address: "testCase.shop.pay", id: "C", fields: {} },
    ] as const,
  };
  const input = planInput({ ...situation, input: { desired } });
  const isDeclared = desired.targets.some(({ key }) => key === "shop");
  const known = [...input.states.values()];
  const planned = makePlan({
    ...input,
    ...(isDeclared ? {} : { states: new Map(), strays: known }),
  });
  const inScope = scopeTest(input.scope);
  const { policy } = settings;
  const found = violationsOf({ ...planned, policy, now: 0, inScope, ruleOrigin: () => undefined });
  const base = protection.base && (await loadedOf(only(SHOP), { project: protection.base }));
  const loosened = base?.ok === true ? loosenedSettings(base.settings, settings) : [];
  const attention = attentionOf({ ...planned, loosened }, inScope);
  const errors = planned.plan.diagnostics.filter(({ severity }) => severity === "error");
  return {
    refused: [...errors, ...found].map(({ summary }) => summary),
    told: attention.map(({ code }) => code),
  };
}

const ALL = [
  ...Object.entries(PLACES).flatMap(([place, write]) =>
    Object.entries(HARMS).map(([harm, fields]) => [`${harm} in ${place}`, write(fields)] as const),
  ),
  ...Object.entries(OTHERS),
];

/** Where the protection is written and how the harm is do not depend on each other. */
const FEW = ALL.filter(([title]) => title.startsWith("another prompt") || title in OTHERS);

describe.each(Object.entries(PROTECTIONS))("a test case that %s protects", (_, protection) => {
  const isWhole = protection.project !== undefined || protection.base !== undefined;
  test.each(isWhole ? ALL : FEW)("%s", async (__, written) => {
    const { refused, told } = await outcomeOf(written, protection);
    if (protection.base === undefined) expect(refused).not.toEqual([]);
    else if (refused.length === 0)
      // The harm, and that nothing protects the test case any more.
      expect([told.includes("policy-loosened"), told.length > 1]).toEqual([true, true]);
  });
});

test("without harm, nothing is refused or told", async () => {
  for (const protection of Object.values(PROTECTIONS))
    if (protection.base === undefined)
      // oxlint-disable-next-line no-await-in-loop
      expect(await outcomeOf(only(SHOP), protection)).toEqual({ refused: [], told: [] });
});
