// The results of test cases over time: pure functions, held to laws.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PassedIn } from "../../src/model/settings.ts";
import { type Evidence, refusalLine, refusalOf } from "../../src/plan/passed-in.ts";
import {
  type CaseResult,
  flakinessOf,
  newestByPlatform,
  passesIn,
  platformOf,
  resultsByCase,
} from "../../src/plan/results.ts";
import type { LiveReport, NewReports } from "../../src/service/answers.ts";
import { readReports, withResults } from "../../src/service/reports.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 24, 12);

const BLANK: LiveReport = {
  id: "r",
  testTargetId: undefined,
  createdAt: undefined,
  updatedAt: undefined,
  executionUrl: undefined,
  status: undefined,
  context: undefined,
  breakpoint: undefined,
  browser: undefined,
  results: [],
};

const RESULT: LiveReport["results"][number] = {
  id: undefined,
  testCaseId: "a",
  name: undefined,
  createdAt: undefined,
  updatedAt: undefined,
  status: undefined,
  errorMessage: undefined,
  traceUrl: undefined,
};

/** A report of test case `a` with these statuses. */
function report(id: string, at: number, statuses: readonly (string | undefined)[], more = {}) {
  const results = statuses.map((status) => ({ ...RESULT, status }));
  return { ...BLANK, id, createdAt: new Date(at).toISOString(), results, ...more };
}

/** Results from a word such as `PPF`, the newest first, an hour apart. */
function results(word: string, platform = "CHROMIUM DESKTOP", newest = NOW - HOUR): CaseResult[] {
  return word.split("").map((letter, at) => ({
    testCaseId: "a",
    status: letter === "P" ? "PASSED" : letter === "F" ? "FAILED" : "SKIPPED",
    at: newest - at * HOUR,
    report: `r${at}`,
    platform,
    name: undefined,
    errorMessage: undefined,
    traceUrl: undefined,
  }));
}

const word = fc.array(fc.constantFrom("P", "F", "S"), { maxLength: 8 }).map((all) => all.join(""));

describe("reading reports", () => {
  async function* pages(all: readonly LiveReport[], size: number, end: NewReports["next"] = "end") {
    for (let at = 0; at < all.length; at += size) {
      const next = at + size < all.length ? "more" : end;
      yield { reports: all.slice(at, at + size), next } as const;
    }
  }

  test("gives the newest, from new to old or from old to new, in pages of any size", async () => {
    const times = fc.uniqueArray(fc.nat({ max: 50 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        times,
        fc.constantFrom(1, -1),
        fc.integer({ min: 1, max: 7 }),
        fc.nat({ max: 9 }),
        async (of, direction, size, limit) => {
          const sorted = of.toSorted((a, b) => direction * (a - b));
          const all = sorted.map((time) => report(`r${time}`, NOW + time * HOUR, ["PASSED"]));
          const read = await readReports(pages(all, size), ({ length }) => length >= limit);
          const newest = of
            .toSorted((a, b) => b - a)
            .slice(0, Math.max(1, Math.min(limit, of.length)));
          expect(read.reports.slice(0, newest.length).map(({ id }) => id)).toEqual(
            newest.map((time) => `r${time}`),
          );
          expect(read.unsure).toBe(false);
        },
      ),
    );
  });

  test("is unsure if an unsorted list ends without its end", async () => {
    const [old, fresh] = [report("a", NOW, ["PASSED"]), report("b", NOW + 1, ["PASSED"])];
    const unsure = async (...all: LiveReport[]): Promise<boolean> =>
      (await readReports(pages(all, 9, "no-key"), () => false)).unsure;
    expect([await unsure(old, fresh), await unsure(fresh, old)]).toEqual([true, false]);
  });

  test("asks for a report whose results the list does not show", async () => {
    const asked: string[] = [];
    const listed = [
      report("shown", NOW, ["PASSED"]),
      report("empty", NOW, []),
      report("wrapped", NOW, [undefined]),
      report("waiting", NOW, [], { status: "WAITING" }),
    ];
    const whole = await withResults(listed, async (id) => {
      asked.push(id);
      return report(id, 0, ["FAILED"]);
    });
    expect(asked).toEqual(["empty", "wrapped"]);
    expect(whole.map(({ createdAt }) => createdAt)).toEqual(listed.map((one) => one.createdAt));
    expect(
      resultsByCase(whole)
        .get("a")
        ?.map(({ status }) => status),
    ).toEqual(["FAILED", "FAILED", "PASSED"]);
  });
});

describe("the results of a test case", () => {
  test.each([
    [
      "of a report that waits decide nothing",
      report("r", NOW, ["FAILED"], { status: "WAITING" }),
      [],
    ],
    ["with one still waiting decide nothing", report("r", NOW, ["FAILED", "WAITING"]), []],
    ["are the worst of one report", report("r", NOW, ["PASSED", "FAILED", "PASSED"]), ["FAILED"]],
    ["may have a status that nobody lists", report("r", NOW, ["PASSED", "FLAKY"]), ["FLAKY"]],
  ])("%s", (_, one, expected) => {
    expect((resultsByCase([one]).get("a") ?? []).map(({ status }) => status)).toEqual(expected);
  });

  test("count the newest report of each browser and breakpoint, not of all together", () => {
    const platforms = fc.constantFrom("CHROMIUM", "FIREFOX", "SAFARI", undefined);
    const breakpoints = fc.constantFrom("MOBILE", "DESKTOP", undefined);
    fc.assert(
      fc.property(fc.array(fc.tuple(platforms, breakpoints), { maxLength: 12 }), (all) => {
        const reports = all.map(([browser, breakpoint], at) =>
          report(`r${at}`, NOW + at * HOUR, ["PASSED"], { browser, breakpoint }),
        );
        const newest = newestByPlatform(reports);
        const last = new Map(reports.map((one) => [platformOf(one), one.id]));
        expect(new Map(newest.map((one) => [platformOf(one), one.id]))).toEqual(last);
      }),
    );
  });
});

describe("flakiness", () => {
  test.each<readonly [string, string, readonly number[], string, number]>([
    ["three flips are flaky", "PFPF", [], "flaky", 3],
    ["two are not", "PFPP", [], "stable", 2],
    ["always failing is broken, not flaky", "FFFF", [], "broken", 0],
    ["other statuses do not flip", "PSPSPS", [], "stable", 0],
    ["a flip across an apply has a cause", "PFPF", [NOW - 1.5 * HOUR], "stable", 2],
    ["failing ever since an apply is broken", "FFPP", [NOW - 2.5 * HOUR], "broken", 0],
    ["nothing ran", "", [], "stable", 0],
  ])("%s", (_, ran, changes, verdict, flips) => {
    expect(flakinessOf(results(ran), 50, changes)).toMatchObject({ verdict, flips });
  });

  test("an apply never adds a flip, and one between any two results leaves none", () => {
    fc.assert(
      fc.property(word, fc.array(fc.nat({ max: 9 })), (ran, hours) => {
        const all = results(ran);
        const flipsWith = (changes: readonly number[]) => flakinessOf(all, 50, changes).flips;
        const changes = hours.map((hour) => NOW - (hour + 0.5) * HOUR);
        expect(flipsWith(changes)).toBeLessThanOrEqual(flipsWith([]));
        expect(flipsWith(all.map(({ at }) => at - 1))).toBe(0);
      }),
    );
  });

  test("looks at each browser by itself, and at no more than the last results", () => {
    const both = [...results("PPPP"), ...results("FFFF", "SAFARI DESKTOP")];
    expect(flakinessOf(both, 50, [])).toEqual({ results: 8, flips: 0, verdict: "broken" });
    expect(flakinessOf(results("PPPFPFPF"), 3, [])).toMatchObject({ results: 3, flips: 0 });
  });
});

describe("passedIn", () => {
  const rule = (passes: number, soak: number): PassedIn => ({
    stage: "staging",
    passes,
    soak,
    except: [],
  });
  const evidence = (found: readonly CaseResult[], more: Partial<Evidence> = {}): Evidence => ({
    quarantined: false,
    results: found,
    report: "newest",
    applied: undefined,
    ...more,
  });

  test("holds exactly from the earliest time on, if what is missing passes", () => {
    const passes = fc.integer({ min: 1, max: 4 });
    const soak = fc.nat({ max: 30 }).map((hours) => hours * HOUR);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 3 }),
        passes,
        soak,
        (words, least, age) => {
          const groups = words.map((ran, at) => results(ran, `BROWSER${at}`));
          const asked = rule(least, age);
          const refused = refusalOf("testCase.shop.a", evidence(groups.flat()), asked, NOW);
          if (refused === undefined) return;
          const more = groups.flatMap((own) => {
            const missing = Math.max(0, least - passesIn(own));
            const platform = own[0]?.platform;
            return platform === undefined
              ? []
              : results("P".repeat(missing), platform, NOW).map((one) => ({ ...one, at: NOW }));
          });
          const all = groups.every((own) => own.length === 0)
            ? results("P".repeat(least), "X", NOW).map((one) => ({ ...one, at: NOW }))
            : [...more, ...groups.flat()];
          const later = (now: number) => refusalOf("testCase.shop.a", evidence(all), asked, now);
          expect(later(refused.earliest)).toBeUndefined();
          if (refused.earliest > NOW) expect(later(refused.earliest - 1)).toBeDefined();
        },
      ),
    );
  });

  test.each<readonly [string, Evidence | undefined, PassedIn, string | undefined]>([
    ["passed", evidence(results("P")), rule(1, 0), undefined],
    ["failed before that", evidence(results("PPF")), rule(2, 0), undefined],
    [
      "passed too rarely",
      evidence(results("PF")),
      rule(3, 24 * HOUR),
      "it needs more passes; passed 1 of 3 in staging; next possible 2026-11-25T11:00Z",
    ],
    [
      "passed too recently",
      evidence(results("PPP")),
      rule(2, 24 * HOUR),
      "its passes are too recent; passed 2 of 2 in staging; next possible 2026-11-25T10:00Z",
    ],
    [
      "failed in one browser",
      evidence([...results("P"), ...results("F", "SAFARI MOBILE")]),
      rule(1, 0),
      "FAILED in report r0 (SAFARI MOBILE); passed 0 of 1 in staging; next possible 2026-11-24T12:00Z",
    ],
    [
      "did not run since",
      evidence([], { applied: "2026-11-24T09:00:00Z" }),
      rule(1, 0),
      "no report has finished since it was applied at 2026-11-24T09:00:00Z; passed 0 of 1 in staging; next possible 2026-11-24T12:00Z",
    ],
    [
      "does not exist there",
      undefined,
      rule(1, HOUR),
      "it does not exist in staging; passed 0 of 1 in staging; next possible 2026-11-24T13:00Z",
    ],
    [
      "is in quarantine there",
      evidence(results("F"), { quarantined: true }),
      rule(3, 0),
      undefined,
    ],
    [
      "is in quarantine, but not applied",
      evidence([], { quarantined: true, obstacle: "it is not live there" }),
      rule(1, 0),
      "it is not live there; passed 0 of 1 in staging; next possible 2026-11-24T12:00Z",
    ],
  ])("of a test case that %s", (_, given, asked, line) => {
    const refused = refusalOf("testCase.shop.a", given, asked, NOW);
    expect(refused && refusalLine(refused, asked)).toBe(line);
  });

  test("compares no clocks without soak", () => {
    const future = results("P", "CHROMIUM DESKTOP", NOW + 1000 * HOUR);
    expect(refusalOf("testCase.shop.a", evidence(future), rule(1, 0), NOW)).toBeUndefined();
  });
});

describe("results by test case", () => {
  const one = (status: string | undefined, more: object = {}) => ({ ...RESULT, status, ...more });
  const shown = (status: string, of: string, at: number, more: object = {}) => ({
    testCaseId: "a",
    status,
    at,
    report: of,
    platform: "CHROMIUM DESKTOP",
    name: undefined,
    errorMessage: undefined,
    traceUrl: undefined,
    ...more,
  });

  test("are whole, the newest first, and of one moment the worst", () => {
    const details = { name: "Log in", errorMessage: "Gone", traceUrl: "https://t" };
    const reports = [
      report("old", NOW - HOUR, ["PASSED"]),
      report("b", NOW, ["PASSED"], { browser: "FIREFOX", breakpoint: "MOBILE" }),
      report("c", NOW, ["PASSED"]),
      report("a", NOW, [], { results: [one("FAILED", details), one("FAILED", { name: "Again" })] }),
      report("waits", NOW, ["FAILED"], { status: "WAITING" }),
      report("none", NOW, [undefined, "WAITING"]),
      report("nameless", NOW, [], { results: [one("FAILED", { testCaseId: undefined })] }),
    ];
    expect(resultsByCase(reports)).toEqual(
      new Map([
        [
          "a",
          [
            shown("FAILED", "a", NOW, details),
            shown("PASSED", "b", NOW, { platform: "FIREFOX MOBILE" }),
            shown("PASSED", "c", NOW),
            shown("PASSED", "old", NOW - HOUR),
          ],
        ],
      ]),
    );
    expect(resultsByCase(reports.slice(5))).toEqual(new Map());
  });

  test.each([
    ["at the moment of a result", "FF", NOW - HOUR, 0, "stable"],
    ["just before the newest result", "FP", NOW - HOUR - 1, 0, "broken"],
    ["at the moment of the older result", "FP", NOW - 2 * HOUR, 0, "broken"],
    ["just before the older result", "FP", NOW - 2 * HOUR - 1, 1, "stable"],
    ["at the moment of the newer result", "FP", NOW - HOUR, 1, "stable"],
    ["long ago", "FFF", 0, 0, "broken"],
    ["never", "FFSF", undefined, 0, "broken"],
    ["never, and nothing ran", "", undefined, 0, "stable"],
    ["never, with something unknown", "FS", undefined, 0, "broken"],
    ["never, with a pass", "FPFP", undefined, 3, "flaky"],
    ["never, with two flips", "FPF", undefined, 2, "stable"],
  ] as const)("with a change %s: %s", (_, all, change, flips, verdict) => {
    const changes = change === undefined ? [] : [change];
    const ran = all.replaceAll("S", "").length;
    expect(flakinessOf(results(all), 20, changes)).toEqual({ results: ran, flips, verdict });
  });

  test("count the last ones of each browser and breakpoint", () => {
    const all = [...results("PFPFPF"), ...results("FFFFF", "FIREFOX DESKTOP")];
    expect(flakinessOf(all, 3, [])).toEqual({ results: 6, flips: 2, verdict: "broken" });
    expect(flakinessOf(all, 4, [])).toEqual({ results: 8, flips: 3, verdict: "flaky" });
  });
});
