import * as fc from "fast-check";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { expect, test } from "vitest";
import type { DesiredFields } from "../../src/model/desired.ts";
import { Secret } from "../../src/model/value.ts";
import { type PlanView, planExtras, planJson, planView, writeJson } from "../../src/render/json.ts";
import { COMMENT_LIMIT, renderPlanMarkdown } from "../../src/render/markdown.ts";
import { createRedactor, redactPlan } from "../../src/render/redact.ts";
import { renderPlanGithub, renderPlanJunit, renderPlanSarif } from "../../src/render/reports.ts";
import { PLAIN } from "../../src/render/style.ts";
import { renderPlanText } from "../../src/render/text.ts";
import { liveCase, liveElement, liveTarget, planOf } from "../plan/build.ts";
import { META, pageOf } from "./sample.ts";

/** Whatever the table of attention calls dangerous stands above the changes, in each format. */
const CLICK = { interaction: { action: "CLICK", calledWith: "#pay" } };
const PAID = { assertion: { expectation: "VISIBLE" } };
const TOTAL = { assertion: { expectation: "TEXT", calledWith: "42" } };

/** What may change of a test case; each element is one way. */
const WAYS: readonly DesiredFields[] = [
  {},
  { tags: ["a", "b"] },
  { status: "DISABLED" },
  { runStatus: "OFF", tags: [] },
  { status: new Secret("DISABLED") },
  { elements: [] },
  { elements: [CLICK, PAID] },
  { elements: [{ interaction: null }, PAID, TOTAL] },
  { elements: [CLICK, { ...PAID, ignoreFailure: true }, TOTAL] },
  { elements: [{ interaction: { action: "CLICK", calledWith: new Secret("typed-1") } }, TOTAL] },
  { "discovery.prompt": "Do something else" },
  { entryPointUrlPath: "/other" },
  { description: "Renamed" },
];
const ACCOUNT = { username: "qa", password: new Secret("pass-word-1") };
const PLACES: readonly DesiredFields[] = [
  {},
  { discoveryUrl: "https://shop.example.com/other" },
  { discoveryUrl: "https://other.example.net" },
  { discoveryUrl: "https://other.example.net:8443", testAccount: ACCOUNT },
  { testAccount: ACCOUNT, basicAuth: { username: "u", password: new Secret("gate-word-1") } },
];

/** A random pair of what is live and what is declared, as the plan between them. */
const plans = fc
  .record({
    ways: fc.array(fc.constantFrom(...WAYS), { minLength: 1, maxLength: 40 }),
    gone: fc.array(fc.boolean(), { maxLength: 8 }),
    onRemove: fc.constantFrom("ignore" as const, "disable" as const),
    place: fc.constantFrom(...PLACES),
    preview: fc.constantFrom(...PLACES),
    made: fc.integer({ min: 0, max: 3 }),
    hasSteps: fc.boolean(),
  })
  .map(({ ways, gone, onRemove, place, preview, made, hasSteps }) => {
    const name = (at: number): string => `Case ${at}`;
    const elements = [CLICK, PAID, TOTAL].map((one, at) => liveElement(`e${at}`, at, one));
    const declared = ways.map((way, at) => [`c${at}`, { description: name(at), ...way }] as const);
    const created = [...Array(made).keys()].map(
      (at) => [`new${at}`, { description: `${name(at)}!`, "discovery.prompt": "p" }] as const,
    );
    const cases = [...ways, ...gone].map((_, at) =>
      liveCase(name(at), {
        entryPointUrlPath: "/pay",
        elements: hasSteps ? elements : [],
        discovery: {
          status: "FINISHED",
          freePrompt: "Pay",
          abortCause: undefined,
          message: undefined,
        },
      }),
    );
    return planOf({
      declared: {
        environments: { default: place, preview: { name: "Preview", ...preview } },
        testCases: Object.fromEntries([...declared, ...created]),
        onRemove,
      },
      live: {
        target: liveTarget([
          { id: "E0", type: "DEFAULT", discoveryUrl: "https://shop.example.com/start" },
        ]),
        testCases: cases,
      },
      state: cases.map(({ id }, at) => ({
        type: "bound",
        address: at < ways.length ? `testCase.shop.c${at}` : `testCase.shop.left${at}`,
        id,
        fields: {},
      })),
    }).plan;
  });

const REDACTOR = createRedactor(["typed-1", "pass-word-1", "gate-word-1", "DISABLED"]);

/** @param more changes that need no attention */
function viewOf(plan: ReturnType<typeof planOf>["plan"], more = 0): PlanView {
  const fields = [{ path: ["tags"], before: ["old"], after: ["new"] }];
  const padding = [...Array(more).keys()].map((at) => ({
    address: `testCase.shop.more-${at}` as const,
    action: "update" as const,
    id: `M${at}`,
    fields: [...fields, { path: ["description"], before: `Before ${at}`, after: `After ${at}` }],
    calls: [],
    followUps: [],
    dependsOn: [],
  }));
  const padded = { ...plan, changes: [...plan.changes, ...padding] };
  return planView(redactPlan(planJson(padded, META), REDACTOR), planExtras(padded));
}

/** Text as a browser shows it. */
function seen(html: string): string {
  const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return html
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:#(\d+)|(\w+));/g, (whole: string, code?: string, word: string = "") =>
      code === undefined ? (named[word] ?? whole) : String.fromCodePoint(Number(code)),
    );
}

function commentOf(view: PlanView): string {
  const markdown = renderPlanMarkdown(view);
  expect(markdown.length).toBeLessThanOrEqual(COMMENT_LIMIT);
  const options = { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true };
  return seen(micromark(markdown.split("**Plan: ")[0] ?? "", options));
}

/** The part of each format that comes before the first change. */
const ABOVE: Readonly<Record<string, (view: PlanView) => string>> = {
  text: (view) =>
    renderPlanText(view, { style: PLAIN, width: 80, verbose: false }).split("\n\nshop ")[0] ?? "",
  markdown: commentOf,
  // GitHub shows ten warnings of a step.
  github: (view) => {
    const lines = renderPlanGithub(view).split("\n");
    const warnings = lines.filter((line) => line.startsWith("::warning ")).slice(0, 10);
    return lines
      .filter((line) => line.startsWith("::error ") || warnings.includes(line))
      .join("\n");
  },
  html: (view) => seen(pageOf(view).split("<main>")[0]?.split("<body>")[1] ?? ""),
  junit: (view) =>
    seen(
      (renderPlanJunit(view).split('<testsuite name="shop"')[0] ?? "").replace(
        / message="([^"]*)"/g,
        ">$1<",
      ),
    ),
  sarif: (view) => {
    const log: unknown = JSON.parse(renderPlanSarif(view));
    const text = JSON.stringify(log, undefined, 1);
    const first = text.slice(text.indexOf('"results"')).split('"ruleId": "plan-')[0] ?? "";
    return first.replaceAll('\\"', '"');
  },
  json: (view) => writeJson(view).split('"attention": [')[1]?.split('"orphaned"')[0] ?? "",
};

test.each(Object.entries(ABOVE))("%s shows what is dangerous above the changes", (_, above) => {
  let dangers = 0;
  fc.assert(
    fc.property(plans, (plan) => {
      const view = viewOf(plan);
      const top = above(view);
      const dangerous = view.attention.filter(({ severity }) => severity !== "caution");
      dangers += dangerous.length;
      const places = dangerous.map(({ text }) => top.indexOf(text));
      expect([top, ...places]).toEqual([top, ...places.toSorted((a, b) => a - b)]);
      for (const [at, place] of places.entries())
        expect(place, `${dangerous[at]?.text}\nis not in\n${top}`).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 40 },
  );
  expect(dangers).toBeGreaterThan(40);
});

test("so it is beside 5000 other changes, and a comment keeps to its limit", () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const view = viewOf(plan, 5000);
      for (const [format, above] of Object.entries(ABOVE)) {
        const top = above(view);
        for (const { severity, text } of view.attention)
          if (severity !== "caution") expect(top.includes(text), `${format}: ${text}`).toBe(true);
      }
    }),
    { numRuns: 1, endOnFailure: true },
  );
});
