// `reports gate`, `reports flaky` and `status`, as a pipeline calls them.
import { describe, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import {
  CART,
  LOGIN,
  MANIFEST,
  type Scene,
  TARGET,
  id,
  json,
  scene,
  textAt,
} from "../look/scene.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";

async function reported(
  stage: Scene,
  results: Readonly<Record<string, string>>,
  more: JsonObject = {},
): Promise<string> {
  const begun = await stage.control("POST", "/reports", {
    testTargetId: TARGET,
    testCaseIds: Object.keys(results),
    ...more,
  });
  const report = textAt(begun, "id");
  const done = Object.fromEntries(Object.entries(results).filter(([, one]) => one !== "WAITING"));
  await stage.control("POST", `/reports/${report}/results`, { results: done });
  return report;
}

const STEPS = { address: "testCase.shop.login", steps: "notAccepted" };

/** A clock that goes on by a minute with each look. */
function ticking(): () => number {
  let now = Date.UTC(2026, 0, 1);
  return () => (now += 60_000);
}

describe.concurrent("results", () => {
  test("reports gate is never green for want of a result", async ({ expect }) => {
    await scene(
      async (stage) => {
        const none = await stage.run(["reports", "gate", "--format", "json"]);
        expect(none.code, none.stderr).toBe(1);
        expect(json(none)).toMatchObject({
          passed: false,
          missing: ["shop"],
          error: { code: "gate" },
          next: ["tasc reports gate --wait 30m"],
        });

        const waiting = await reported(stage, { [LOGIN]: "WAITING" });
        expect((await stage.run(["reports", "gate"])).code).toBe(1);
        await stage.control("POST", `/reports/${waiting}/results`, {
          results: { [LOGIN]: "PASSED" },
        });
        const passed = await stage.run(["reports", "gate", "--json"]);
        expect([passed.code, json(passed)]).toEqual([
          0,
          {
            passed: true,
            reports: [{ id: waiting, target: "shop", status: "PASSED" }],
            failed: [],
            ignored: [],
            missing: [],
            missingTestCases: [],
          },
        ]);

        await reported(stage, { [LOGIN]: "FAILED", [CART]: "PASSED" });
        const failed = await stage.run(["reports", "gate"]);
        expect(failed.code).toBe(1);
        expect(failed.stdout).toContain("FAILED  testCase.shop.login");
        for (const [format, words] of [
          ["github", "::error file=targets/shop.yaml,line="],
          ["junit", 'failures="1"'],
          ["markdown", "Not passed"],
        ] as const)
          // oxlint-disable-next-line no-await-in-loop
          expect((await stage.run(["reports", "gate", "--format", format])).stdout).toContain(
            words,
          );

        stage.write(
          "targets/shop.yaml",
          MANIFEST.replace(
            "    status: ENABLED\n",
            "    status: ENABLED\n    quarantine: { until: 2099-12-15, reason: Race }\n",
          ),
        );
        const ignored = await stage.run(["reports", "gate"]);
        expect(ignored.code, ignored.stdout).toBe(0);
        expect(ignored.stdout).toContain("1 failure ignored: login, in quarantine until 15 Dec");
        const unknown = await stage.run(["reports", "gate", "--report", "nothing"]);
        expect(unknown.code).toBe(1);
        expect((await stage.run(["reports", "gate", "--sha", SHA])).code).toBe(1);
      },
      { clock: ticking() },
    );
  });

  test("reports gate judges each browser of a commit, and waits for the end", async ({
    expect,
  }) => {
    await scene(
      async (stage) => {
        const other = id(0x13);
        const of = { context: { source: "github", sha: SHA } };
        const gate = ["reports", "gate", "--sha", SHA.slice(0, 8)];
        // A newer pass in one browser hides no failure in another. Those that are not managed count.
        await reported(
          stage,
          { [LOGIN]: "FAILED", [other]: "FAILED" },
          { ...of, browser: "SAFARI" },
        );
        const chromium = await reported(stage, { [LOGIN]: "PASSED" }, of);
        // One of another commit decides nothing.
        await reported(stage, { [LOGIN]: "PASSED" }, { browser: "SAFARI" });
        const failed = await stage.run([...gate, "--json"]);
        expect([failed.code, json(failed)]).toMatchObject([
          1,
          {
            passed: false,
            reports: [
              { id: chromium, status: "PASSED", sha: SHA },
              { status: "FAILED", sha: SHA },
            ],
            failed: [
              { address: "testCase.shop.login", testCaseId: LOGIN, status: "FAILED" },
              { testCaseId: other, status: "FAILED" },
            ],
            missingTestCases: [],
          },
        ]);
        expect((await stage.run(gate)).stdout).toMatch(
          /FAILED {2}testCase\.shop\.login in SAFARI DESKTOP[^]*FAILED {2}Nobody declares it \(.*, not managed, target shop\) in SAFARI/,
        );
        expect((await stage.run(["reports", "gate", "--report", chromium])).code).toBe(0);

        // A running test case that is in none of the reports counts with a commit, and is told without.
        await stage.edit(CART, { status: "ENABLED" });
        await reported(
          stage,
          { [LOGIN]: "PASSED", [other]: "PASSED" },
          { ...of, browser: "SAFARI" },
        );
        const missing = await stage.run([...gate, "--json"]);
        expect([missing.code, json(missing)]).toMatchObject([
          1,
          { failed: [], missingTestCases: ["testCase.shop.cart"] },
        ]);
        const told = await stage.run(["reports", "gate"]);
        expect([told.code, told.stdout]).toEqual([
          0,
          expect.stringContaining("testCase.shop.cart"),
        ]);

        // WAITING decides nothing; with --wait, its end does.
        const all = { [LOGIN]: "PASSED", [CART]: "PASSED" };
        const waiting = await reported(stage, { [LOGIN]: "WAITING", [CART]: "PASSED" }, of);
        const early = await stage.run(gate);
        expect([early.code, early.stdout]).toEqual([
          1,
          expect.stringContaining(`report ${waiting} of shop has not finished`),
        ]);
        expect((await stage.run([...gate, "--wait", "1s"])).code).toBe(1);
        const patient = stage.run([...gate, "--wait", "10m"]);
        await stage.control("POST", `/reports/${waiting}/results`, { results: all });
        const passed = await patient;
        expect(passed.code, passed.stdout + passed.stderr).toBe(0);
      },
      { clock: ticking() },
    );
  });

  test("reports flaky finds flips and writes a quarantine", async ({ expect }) => {
    await scene(
      async (stage) => {
        for (const [login, cart] of ["PF", "FF", "PF", "FF", "PF"].map((both) => both.split("")))
          // oxlint-disable-next-line no-await-in-loop
          await reported(stage, {
            [LOGIN]: login === "P" ? "PASSED" : "FAILED",
            [CART]: cart === "P" ? "PASSED" : "FAILED",
          });
        const found = await stage.run(["reports", "flaky", "--json"]);
        expect(json(found)).toEqual({
          testCases: [
            { address: "testCase.shop.login", results: 5, flips: 4, verdict: "flaky" },
            { address: "testCase.shop.cart", results: 5, flips: 0, verdict: "broken" },
          ],
        });
        const write = ["reports", "flaky", "--write"];
        stage.write(
          "tasc.yaml",
          `${stage.read("tasc.yaml")}policy: { quarantine: { require: [owner] } }\n`,
        );
        expect((await stage.run(write)).code).toBe(3);
        const written = await stage.run([...write, "--owner", "@qa"]);
        expect(written.code, written.stderr).toBe(0);
        const until = new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10);
        expect(stage.read("targets/shop.yaml")).toContain(until);
        expect(stage.read("targets/shop.yaml")).toContain("Flaky in default: 4 flips in 5 results");
        expect(stage.read("targets/shop.yaml")).not.toMatch(/cart:\n(?: {4}.*\n)* {4}quarantine/);
        expect((await stage.run(["validate"])).code).toBe(0);
        expect((await stage.run(write)).stdout).toContain("Nothing to write");
      },
      { clock: ticking() },
    );
  });

  test("status shows the suite, and a stage without its key as such", async ({ expect }) => {
    await scene(
      async (stage) => {
        stage.write(
          "tasc.yaml",
          `${stage.read("tasc.yaml")}stages: { here: {}, away: { service: { apiKey: "\${secret:AWAY_KEY}" } } }\n`,
        );
        await reported(stage, { [LOGIN]: "PASSED" });
        await reported(stage, { [LOGIN]: "FAILED" });
        const all = await stage.run(["status", "--all-stages", "--json"]);
        expect(all.code, all.stderr).toBe(0);
        expect(json(all)).toMatchObject({
          stages: [
            {
              stage: "here",
              targets: [
                {
                  target: "shop",
                  counts: { on: 1, draft: 2, failing: 1, unmanaged: 1 },
                  testCases: [
                    { address: "testCase.shop.cart" },
                    { address: "testCase.shop.cookie" },
                    { address: "testCase.shop.login", runs: true, results: ["FAILED", "PASSED"] },
                  ],
                },
              ],
            },
            { stage: "away", error: "not read: AWAY_KEY is not set", targets: [] },
          ],
        });
        const one = await stage.run(["status", "--stage", "here"]);
        expect(one.stdout).toMatch(/Needs attention\n.*testCase\.shop\.login {2}it fails.*F\./);
        const page = await stage.run(["status", "--all-stages", "--format", "html"]);
        expect(page.stdout).toContain("<i><b>F</b>.</i>");
        expect(page.stdout).toContain("AWAY_KEY is not set");

        const element = {
          interaction: { action: "CLICK" },
          selectors: [{ selectorType: "TEXT", selector: "Pay" }],
        };
        await stage.edit(LOGIN, { elements: [element] });
        stage.write("tasc.yaml", `${stage.read("tasc.yaml")}policy: { steps: report }\n`);
        const unread = json(await stage.run(["status", "--stage", "here", "--json"]));
        expect(unread).toMatchObject({
          stages: [{ targets: [{ counts: { notAccepted: 1 }, testCases: [{}, {}, STEPS] }] }],
        });
      },
      { clock: ticking() },
    );
  });
});
