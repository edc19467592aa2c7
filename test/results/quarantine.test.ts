// Quarantine: failures do not count until a day, and the policy limits how many and how long.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { QuarantinePolicy } from "../../src/model/settings.ts";
import {
  endingQuarantines,
  quarantineBreaches,
  quarantineNow,
  reasonBreaches,
} from "../../src/plan/quarantine.ts";
import { MANIFEST, at, json, scene } from "../look/scene.ts";
import { type TargetParts, target } from "../plan/build.ts";

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 24, 12);
const day = (offset: number): string => new Date(NOON + offset * DAY).toISOString().slice(0, 10);

function quarantined(offset: number, more: Readonly<Record<string, string>> = {}) {
  return { quarantine: { until: day(offset), reason: "Spinner race", ...more } };
}

describe("a quarantine", () => {
  test("is in force to the end of its last day in UTC", () => {
    fc.assert(
      fc.property(fc.integer({ min: -40, max: 40 }), fc.nat({ max: DAY - 1 }), (offset, time) => {
        const now = Math.floor(NOON / DAY) * DAY + time;
        expect(quarantineNow({ fields: quarantined(offset) }, now) !== undefined).toBe(offset >= 0);
      }),
    );
  });

  test.each([
    ["over since yesterday", -1, "over"],
    ["ends today", 0, "soon"],
    ["ends in two days", 2, "soon"],
    ["ends in three days", 3, "later"],
  ])("that %s", (_, offset, expected) => {
    const { over, soon } = endingQuarantines(
      [
        target({
          testCases: { a: quarantined(offset), off: { ...quarantined(-9), runStatus: "OFF" } },
        }),
      ],
      NOON,
    );
    expect([over.length, soon.length]).toEqual([
      expected === "over" ? 1 : 0,
      expected === "soon" ? 1 : 0,
    ]);
  });
});

describe("policy.quarantine", () => {
  const breaches = (rule: QuarantinePolicy, testCases: TargetParts["testCases"] = {}) =>
    quarantineBreaches(
      { targets: [target({ testCases })], inScope: () => true, now: NOON },
      { quarantine: rule },
    ).map(({ address, summary }) => `${address}: ${summary}`);

  test.each<readonly [string, QuarantinePolicy, TargetParts["testCases"], readonly string[]]>([
    ["allows the last day", { maxDays: 14 }, { a: quarantined(14) }, []],
    [
      "refuses the day after it",
      { maxDays: 14 },
      { a: quarantined(15) },
      [`testCase.shop.a: a quarantine until ${day(15)} is too long, at most 14 days allowed`],
    ],
    [
      "refuses what lacks an owner or an issue",
      { require: ["owner", "issue"] },
      { a: quarantined(1, { owner: "@checkout" }), b: quarantined(1) },
      [
        "testCase.shop.a: the quarantine has no issue",
        "testCase.shop.b: the quarantine has no owner and issue",
      ],
    ],
    [
      "refuses too many at once",
      { maxPercent: 33 },
      { a: quarantined(1), b: {}, c: quarantined(2) },
      ["target.shop: 66.7 % of the test cases are in quarantine, at most 33 % allowed"],
    ],
    ["counts none that is over", { maxPercent: 0, require: ["owner"] }, { a: quarantined(-1) }, []],
    [
      "counts none that is off",
      { maxPercent: 0, maxDays: 1 },
      { a: { ...quarantined(90), status: "DISABLED" } },
      [],
    ],
  ])("%s", (_, rule, testCases, expected) => {
    expect(breaches(rule, testCases)).toEqual(expected);
  });

  test("never refuses tomorrow what it allows today", () => {
    const rule = fc.record({ maxDays: fc.nat({ max: 20 }), maxPercent: fc.nat({ max: 100 }) });
    const offsets = fc.array(fc.integer({ min: -5, max: 25 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(rule, offsets, fc.nat({ max: 30 }), (quarantine, ends, days) => {
        const testCases = Object.fromEntries(ends.map((end, at) => [`c${at}`, quarantined(end)]));
        const found = (now: number): number =>
          quarantineBreaches(
            { targets: [target({ testCases })], inScope: () => true, now },
            { quarantine },
          ).length;
        expect(found(NOON + days * DAY)).toBeLessThanOrEqual(found(NOON));
      }),
    );
  });
});

test("policy.offNeedsReason looks for the reason in the map that takes the test case out", () => {
  const layer = (kind: "base" | "stage", value: Readonly<Record<string, string>>) => ({
    kind,
    file: "targets/shop.yaml",
    path: [kind],
    value,
  });
  const shop = target({ testCases: { a: { status: "DISABLED", runStatus: "OFF" } } });
  const judge = (...layers: readonly ReturnType<typeof layer>[]) =>
    reasonBreaches({
      targets: [{ ...shop, testCases: shop.testCases.map((one) => ({ ...one, layers })) }],
      inScope: () => true,
      now: NOON,
    }).map(({ summary, origin }) => [summary, origin?.path]);
  expect(judge(layer("base", { status: "DISABLED", runStatus: "OFF", reason: "Closed" }))).toEqual(
    [],
  );
  expect(
    judge(
      layer("base", { runStatus: "OFF", reason: "Closed" }),
      layer("stage", { status: "DISABLED" }),
    ),
  ).toEqual([["status is DISABLED without a reason", ["stage", "status"]]]);
});

test("validate, plan, drift, explain and fmt know the field, and nothing of it is sent", () =>
  scene(async (stage) => {
    const inDays = (days: number): string =>
      new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
    const withCase = (login: string): void =>
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace("    status: ENABLED\n", `    status: ENABLED\n    ${login}\n`),
      );
    const policy = (text: string): void =>
      stage.write("tasc.yaml", `${stage.read("tasc.yaml")}policy: ${text}\n`);

    expect((await stage.run(["apply", "--auto-approve"])).code).toBe(0);
    withCase(`quarantine: { until: ${inDays(10)}, reason: Race, issue: SHOP-1, owner: "@qa" }`);
    const planned = await stage.run(["plan"]);
    expect(planned.stdout).toContain("No changes.");
    const explained = await stage.run(["explain", "testCase.shop.login", "quarantine"]);
    expect(explained.stdout).toContain("It is never sent: only tasc reads it.");

    withCase(`quarantine: { reason: Race, until: ${inDays(1)} }`);
    expect((await stage.run(["fmt"])).code).toBe(0);
    expect(stage.read("targets/shop.yaml")).toContain(
      `    status: ENABLED\n    quarantine: { until: ${inDays(1)}, reason: Race }\n    tags`,
    );
    const ending = await stage.run(["validate"]);
    expect([ending.code, ending.stderr]).toEqual([
      0,
      `1 quarantine will end soon: testCase.shop.login (${inDays(1)}).\n`,
    ]);

    withCase(`quarantine: { until: ${inDays(-1)}, reason: Race }`);
    const over = await stage.run(["validate", "--format", "json"]);
    expect(over.code).toBe(0);
    expect(JSON.parse(over.stdout)).toMatchObject({
      valid: true,
      diagnostics: [{ code: "quarantine-over", address: "testCase.shop.login" }],
    });
    const told = await stage.run(["plan", "--format", "json"]);
    expect(told.code).toBe(0);
    const row = {
      code: "quarantine-over",
      severity: "caution",
      addresses: ["testCase.shop.login"],
      text: `1 test case is no longer in quarantine, so its failures count: testCase.shop.login (until ${inDays(-1)})`,
    };
    expect(at(json(told), "attention", 1)).toMatchObject(row);
    const drifted = await stage.run(["drift"]);
    expect([drifted.code, drifted.stderr]).toEqual([
      0,
      expect.stringContaining("so failures count again"),
    ]);

    policy("{ quarantine: { maxDays: 14, require: [owner] }, offNeedsReason: true }");
    withCase(`runStatus: OFF\n    quarantine: { until: ${inDays(60)}, reason: Race }`);
    for (const args of [["validate"], ["plan"]]) {
      // oxlint-disable-next-line no-await-in-loop
      const refused = await stage.run(args);
      expect(refused.code).toBe(1);
      expect(refused.stderr + refused.stdout).toContain("runStatus is OFF without a reason");
      expect(refused.stderr + refused.stdout).not.toContain("maxDays");
    }
    const allowed = await stage.run(["plan", "--override-policy", "offNeedsReason"]);
    expect(allowed.code).toBe(0);

    withCase("quarantine: { until: 2026-02-30, issue: SHOP-1 }");
    const wrong = await stage.run(["validate"]);
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain("`quarantine.reason` is missing");
    expect(wrong.stderr).toContain("There is no 2026-02-30.");
  }));
