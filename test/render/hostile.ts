import * as fc from "fast-check";
import type { Plan } from "../../src/model/plan.ts";
import { HOSTILE_TEXTS, PLAN } from "./sample.ts";

/** Characters that are special in some format, and letters between them. */
const UNIT = fc.constantFrom(
  ..."`*_~|<>&\"'@#:[](){}!\\/-=+%$.;^?ab1 \n\t\r".split(""),
  "::",
  "##[",
  "```",
  "-->",
  "<!--",
  "</script>",
  "]]>",
  "\u001b[2J",
  "\u009b",
  "\u202e",
  "\u200b",
  "\u2028",
  "\ufe0f",
  "\ud800",
  "\uffff",
  "👩‍👩‍👧",
  "語",
);

export const hostileText = fc.oneof(
  fc.array(UNIT, { maxLength: 12 }).map((units) => units.join("")),
  fc.constantFrom(...HOSTILE_TEXTS),
);

/** A plan in which all external values are hostile. */
export const hostilePlan: fc.Arbitrary<Plan> = fc
  .array(hostileText, { minLength: 4, maxLength: 4 })
  .chain(([a = "", b = "", c = "", d = ""]) =>
    fc
      .constantFrom<readonly ["create" | "update" | "rediscover" | "disable", unknown]>(
        ["create", 1],
        ["update", 1],
        ["rediscover", 1],
        ["disable", 1],
      )
      .map(([action]) => ({
        ...PLAN,
        stage: a,
        baseUrl: b,
        changes: [
          {
            address: "testCase.shop.login",
            action,
            id: c,
            fields: [
              { path: ["description"], before: a, after: b },
              { path: ["discovery", "prompt"], after: `${c}\n${d}` },
              { path: ["additionalHeaderFields", d], after: [a, { [b]: c }] },
            ],
            calls: [{ method: "PATCH", path: ["apiKey", a], body: { [b]: c } }],
            followUps: [],
            dependsOn: [],
          },
        ],
        orphaned: [{ address: "testCase.shop.gone", id: d }],
        diagnostics: [
          {
            severity: "error",
            code: "x",
            summary: a,
            detail: b,
            place: { file: c, line: 1, column: 1 },
          },
          { severity: "warning", code: "x", summary: d, detail: c, address: "testCase.shop.login" },
        ],
      })),
  );
