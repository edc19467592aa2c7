import * as fc from "fast-check";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { describe, expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { Secret } from "../../src/model/value.ts";
import { type PlanView, planJson, planView, writeJson, writePlan } from "../../src/render/json.ts";
import { COMMENT_LIMIT, renderPlanMarkdown } from "../../src/render/markdown.ts";
import { changedWords, inLines, lineDiff, wordDiff } from "../../src/render/fields.ts";
import { createRedactor, redactPlan } from "../../src/render/redact.ts";
import {
  renderPlanGithub,
  renderPlanGitlab,
  renderPlanJunit,
  renderPlanSarif,
} from "../../src/render/reports.ts";
import { COLOURED, PLAIN } from "../../src/render/style.ts";
import { renderPlanText } from "../../src/render/text.ts";
import { BIG } from "./big.ts";
import { hostilePlan, hostileText } from "./hostile.ts";
import { META, PLAN, pageOf, shown } from "./sample.ts";

const TEXT = { style: PLAIN, width: 80, verbose: true };

function text(plan: Plan): string {
  const { view } = shown(plan);
  return renderPlanText(view, TEXT);
}

/** It repeats itself. */
const LONG_TEXT = "open the page, and check that it says welcome; ".repeat(5);

describe("the difference of two texts", () => {
  const words = fc.array(
    fc.constantFrom("a", "bb", "é", ".", ". ", " ", "  ", "\n", "x".repeat(600), LONG_TEXT),
    {
      maxLength: 12,
    },
  );
  const edited = fc
    .tuple(words, words, words, words)
    .map(([start, one, other, end]) =>
      [one, other].map((middle) => [...start, ...middle, ...end].join("")),
    );

  test.each([
    ["words", wordDiff, (text: string) => text, ""],
    ["lines", lineDiff, (text: string) => inLines(text).replace(/\n$/, ""), "\n"],
  ] as const)("in %s has all of both", (_, diff, written, between) => {
    fc.assert(
      fc.property(edited, ([before = "", after = ""]) => {
        const pieces = diff(before, after);
        const side = (other: string) =>
          pieces.flatMap(({ kind, text: part }) => (kind === other ? [] : part)).join(between);
        expect([side("added"), side("removed")]).toEqual([written(before), written(after)]);
      }),
    );
  });

  test("marks the words that differ", () => {
    expect(wordDiff("go to the shop now", "go to the bank now")).toEqual([
      { kind: "same", text: "go to the " },
      { kind: "removed", text: "shop" },
      { kind: "added", text: "bank" },
      { kind: "same", text: " now" },
    ]);
  });

  test.each([
    ["Cyrillic", "Открой страницу входа", "Открой таблицу входа", "страницу → таблицу"],
    ["Chinese", "打开第一页。", "打开第二页。", "一 → 二"],
  ])("compares words of %s", (_, before, after, change) => {
    expect(changedWords(wordDiff(before, after), 60)).toBe(change);
  });

  test.each([
    ["two places", "go to the shop now", "go to a shop today", "the → a, 1 more"],
    ["both ends of a long text", `the ${LONG_TEXT}`, `a ${LONG_TEXT}now`, "the → a, 1 more"],
    [
      "what a long text repeats",
      `Go. ${LONG_TEXT}End.`,
      `First of all you sign in. ${LONG_TEXT}Stop.`,
      "Go → First of all you sign in, 1 more",
    ],
    [
      "lines that a long text repeats",
      `Sign in.\n${"Click Next and wait until it is there.\n".repeat(6)}Check the total.`,
      `Sign in as the buyer.\n${"Click Next and wait until it is there.\n".repeat(6)}Check the sum.`,
      '"as the buyer" added, 1 more',
    ],
    ["an insertion", "pay one item", "pay exactly one item", '"exactly" added'],
    ["a removal", "pay one item", "pay item", '"one" removed'],
    ["white space alone", "pay  now", "pay now", '" " removed'],
    ["long text", "pay", "pay ".repeat(30), '"pay pay pay pay pay pay … (115 characters)" added'],
  ])("tells the first change on one line: %s", (_, before, after, change) => {
    expect(changedWords(wordDiff(before, after), 24)).toBe(change);
  });
});

/** Control characters except line breaks and tabs, and characters that reverse or hide text. */
const ACTING = /[^\t\n\P{Cc}]|[\u202a-\u202e\u2066-\u2069\u200b\u2028\p{Cs}]/u;

describe("for any names", () => {
  test("text contains no terminal controls and no workflow commands", () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const out = text(plan);
        expect(out).not.toMatch(ACTING);
        expect(out).not.toMatch(/^\s*::/m);
        expect(out).not.toMatch(/##\[/);
        expect(out.match(/^Plan: /gm)).toHaveLength(1);
      }),
    );
  });

  test("JSON keeps every value, and contains no control characters or workflow commands", () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { json } = shown(plan);
        const out = writeJson(json);
        expect([...writePlan(json, json.changes, (change) => change)].join("")).toBe(out);
        expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(json)));
        expect(out).not.toMatch(ACTING);
        expect(out).not.toMatch(/^\s*::|##\[/m);
      }),
    );
  });

  test("Markdown contains only intended elements, and no mentions or links", () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { view } = shown(plan);
        expectHarmlessMarkdown(renderPlanMarkdown(view));
      }),
      { numRuns: 120 },
    );
  });

  test("annotations contain only the intended lines", () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { view } = shown(plan);
        const lines = renderPlanGithub(view)
          .trimEnd()
          .split(/[\n\r\u2028]/);
        const kinds = lines.map((line) => line.slice(0, 6));
        expect(kinds.join(" ")).toMatch(/^::erro (::(noti|warn) )*Plan:  Also: $/);
        const annotations = lines.slice(0, -2);
        expect(annotations.filter((line) => !/^::\w+ (\w+=[^:,]*,?)*::/.test(line))).toEqual([]);
      }),
    );
  });

  test("SARIF is valid JSON, and JUnit is valid XML", () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { view } = shown(plan);
        expect(() => JSON.parse(renderPlanSarif(view)) as unknown).not.toThrow();
        const xml = renderPlanJunit(view);
        expect(xml).not.toMatch(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
        const content = xml.replace(
          /<\/?(testsuites?|testcase|failure|skipped)( \w+="[^"<>]*")*\/?>|<\?xml [^>]*\?>/g,
          "",
        );
        expect(content).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;|#\d+;)/);
      }),
    );
  });

  test("the HTML page contains only intended elements", () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { view } = shown(plan);
        const page = pageOf(view);
        expect(page.match(/<\/?script/gi)).toHaveLength(2);
        const shell = page.replace(
          /<(script|style)( [^<>]*)?>[^<]*<\/\1>|<script>[^]*?<\/script>/g,
          "",
        );
        expect(strangers(shell, MEANT)).toEqual([]);
      }),
    );
  });
});

/** The tags of a page that are not meant. One `expect` for each tag would take most of the time. */
function strangers(page: string, meant: RegExp): readonly string[] {
  return (page.match(/<[^>]*>?/g) ?? []).filter((tag) => !meant.test(tag));
}

const MEANT =
  /^<(!doctype html|\/?(html|head|title|body|header|main|section|div|h[1-6]|p|ul|li|b|time|kbd|ins|del|table|tbody|tr|t[hd]|form|label|fieldset|legend|select|option|button|noscript|span|strong|pre|code|details|summary|a|input|meta|svg|g|rect|text|path)( [a-z-]+(="[^"<>]*")?)*)>$/;

/** Checks the output of GitHub's parser: only our elements, no mentions, no links. */
function expectHarmlessMarkdown(markdown: string): void {
  const page = micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
  });
  expect(strangers(page, IN_COMMENT)).toEqual([]);
  const rows = page.match(/<tr>[^]*?<\/tr>/g) ?? [];
  expect(rows.filter((row) => row.match(/<t[dh]>/g)?.length !== 3)).toEqual([]);
  const prose = page.replace(/<(code)[^>]*>[^]*?<\/\1>|<[^>]*>/g, "");
  expect(prose.replace(/&(?:#\d+|amp|lt|gt|quot);/g, "")).not.toMatch(/[@#]\w|:\/\/|www\./);
}

const IN_COMMENT =
  /^<(!-- tasc:plan [\w%.!~*'()-]* --|\/?(h3|p|strong|b|blockquote|ul|li|code|pre|details|summary|table|thead|tbody|tr|t[hd])|code class="language-(diff|text)"|details open|br( \/)?)>$/;

describe("a plan with 5000 changes", () => {
  const { json, view } = shown(BIG);

  test("fits a comment, has dangerous changes first, and reports correctly what is left out", () => {
    const markdown = renderPlanMarkdown(view);
    expect(markdown.length).toBeLessThanOrEqual(COMMENT_LIMIT);
    expect(markdown.length).toBeGreaterThan(COMMENT_LIMIT * 0.9);
    const [caution = "", rest = ""] = markdown.split("**Plan: ");
    for (const { text: sentence } of json.attention) expect(caution).toContain(sentence);
    const [, shown] = /^Showing ([\d,]+) of 5,000 changes/m.exec(rest) ?? [];
    const others = rest.match(/^\| [-↻+~]\u00a0|^<details><summary>[-↻+~] /gm) ?? [];
    const alike = [...rest.matchAll(/^[|<].* and (\d+) more alike/gm)].map(([, more]) =>
      Number(more),
    );
    const told = others.length + alike.reduce((sum, more) => sum + more, 0);
    expect(Number(shown?.replace(",", ""))).toBe(told);
    const clipped = rest.match(/^\| .*(…|lines? removed|more field|more alike)/gm) ?? [];
    const [, left = "0"] = /the details of ([\d,]+) more/.exec(rest) ?? [];
    expect(Number(left)).toBe(clipped.length);
  });

  test("fits any budget of at least 1500 characters", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1500, max: 200_000 }), (budget) => {
        const markdown = renderPlanMarkdown(view, { budget });
        expect(markdown.length).toBeLessThanOrEqual(budget);
        expectHarmlessMarkdown(markdown);
      }),
      { numRuns: 3 },
    );
  });

  test("can be rendered in every format, and its text has fewer than 1300 lines", () => {
    const out = renderPlanText(view, { style: COLOURED, width: 100, verbose: false });
    for (const render of [
      renderPlanMarkdown,
      renderPlanGithub,
      renderPlanSarif,
      renderPlanJunit,
      pageOf,
    ])
      render(view);
    writeJson(json);
    expect(out.split("\n").length).toBeLessThan(1300);
    expect(out).toMatch(/3980 test cases/);
  });
});

describe("a secret", () => {
  const secret = fc
    .string({ minLength: 4, maxLength: 20 })
    .filter(
      (value) =>
        !JSON.stringify(PLAN).includes(value) &&
        !"(sensitive)".includes(value) &&
        /[^\d\s.]/.test(value) &&
        value === value.trim(),
    );

  test("in a planned body is not in the plan's JSON", () => {
    const before = writeJson(
      planJson(withBody({ testAccount: { password: "", list: [""] } }), META),
    );
    fc.assert(
      fc.property(secret, (value) => {
        const plan = planJson(
          withBody({ testAccount: { password: new Secret(value), list: [new Secret(value)] } }),
          META,
        );
        fc.pre(!before.includes(value));
        expect(writeJson(plan)).not.toContain(value);
      }),
    );
  });

  test("repeated by the service is in no output", () => {
    const { view: unrelated } = shown(echoing(""));
    const formats = RENDERERS.map((render) => ({ render, own: render(unrelated) }));
    fc.assert(
      fc.property(secret, hostileText, (value, around) => {
        fc.pre(!around.includes(value) && formats.every(({ own }) => !own.includes(value)));
        const { json, extras } = shown(echoing(around + value + around));
        const redactor = createRedactor([value]);
        const clean = redactPlan(json, redactor);
        for (const { render } of formats)
          expect(redactor.document(render(planView(clean, extras)))).not.toContain(value);
      }),
    );
  });

  const RENDERERS: readonly ((plan: PlanView) => string)[] = [
    (plan) => renderPlanText(plan, TEXT),
    renderPlanMarkdown,
    renderPlanGithub,
    renderPlanSarif,
    renderPlanJunit,
    renderPlanGitlab,
    pageOf,
    (plan) => writeJson(plan),
  ];
});

function withBody(body: Plan["changes"][number]["calls"][number]["body"]): Plan {
  return {
    ...PLAN,
    changes: [
      {
        address: "environment.shop.default",
        action: "update",
        fields: [
          { path: ["testAccount", "password"], sensitive: true, before: "never", after: "never" },
        ],
        calls: [{ method: "PATCH", path: ["apiKey"], body }],
        followUps: [],
        dependsOn: [],
      },
    ],
  };
}

function echoing(message: string): Plan {
  const plan = withBody({ description: message });
  return {
    ...plan,
    changes: plan.changes.map((change) => ({
      ...change,
      fields: [
        { path: ["description"], before: message, after: [message] },
        { path: ["discovery", "prompt"], before: `a\n${message}`, after: `${message}\nb` },
      ],
    })),
    diagnostics: [{ severity: "error", code: "x", summary: message, detail: message }],
  };
}

test("equal plans give identical output", () => {
  expect(writeJson(shown(PLAN).json)).toBe(writeJson(shown(structuredCloneOf(PLAN)).json));
  expect(text(PLAN)).toBe(text(structuredCloneOf(PLAN)));
});

function structuredCloneOf(plan: Plan): Plan {
  return { ...plan, changes: plan.changes.map((change) => ({ ...change })) };
}
