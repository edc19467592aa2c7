import type { Action, Change, Plan } from "../../src/model/plan.ts";
import { attentionOf } from "../../src/plan/attention.ts";
import { PLAN } from "./sample.ts";

/** 5000 changes: most are alike, some hundred are different, and a few are dangerous. */
const CHANGES = [...Array(5000).keys()].map(bigChange);

export const BIG: Plan = {
  ...PLAN,
  changes: CHANGES,
  attention: attentionOf({
    plan: { changes: CHANGES, orphaned: [], diagnostics: [] },
    matched: new Map(),
  }),
  orphaned: [],
  diagnostics: [],
};

function bigChange(at: number): Change {
  const action = actionOf(at);
  return {
    address: `testCase.shop.case-${String(at).padStart(4, "0")}`,
    action,
    ...(action === "create"
      ? {}
      : { id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}` }),
    fields: fieldsOf(at, action),
    calls: [
      {
        method: action === "create" ? "POST" : "PATCH",
        path: ["apiKey", "v3"],
        body: { status: "ENABLED" },
      },
    ],
    followUps: [],
    dependsOn: [],
  };
}

function actionOf(at: number): Action {
  if (at % 500 === 7) return "rediscover";
  if (at % 500 === 9) return "disable";
  return at % 5 === 0 ? (at % 10 === 0 ? "create" : "update") : "update";
}

function fieldsOf(at: number, action: Action): Change["fields"] {
  if (action === "rediscover")
    return [
      {
        path: ["discovery", "prompt"],
        before: prompt(at, "one"),
        after: prompt(at, "exactly one"),
      },
    ];
  if (action === "disable") return [{ path: ["status"], before: "ENABLED", after: "DISABLED" }];
  if (action === "create")
    return [
      { path: ["description"], after: `Case number ${at} of the big plan` },
      { path: ["discovery", "prompt"], after: prompt(at, "one") },
    ];
  if (at % 5 === 0)
    return [{ path: ["description"], before: `Case ${at}`, after: `Case number ${at}` }];
  return [{ path: ["tags"], before: ["old"], after: ["new"] }];
}

function prompt(at: number, amount: string): string {
  return `Open page ${at}.\nCheck that it has ${amount} heading.\nCheck that nothing else is there.`;
}
