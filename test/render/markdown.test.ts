import * as fc from "fast-check";
import MarkdownIt from "markdown-it";
import { marked } from "marked";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { attentionOf } from "../../src/plan/attention.ts";
import { fieldLine } from "../../src/render/fields.ts";
import { renderPlanMarkdown } from "../../src/render/markdown.ts";
import { PLAIN } from "../../src/render/style.ts";
import { renderPlanText } from "../../src/render/text.ts";
import { EMPTY, shown } from "./sample.ts";

const PARSERS: readonly (readonly [string, (markdown: string) => string])[] = [
  ["marked", (markdown) => marked.parse(markdown, { async: false })],
  ["markdown-it", (markdown) => new MarkdownIt({ html: true }).render(markdown)],
  [
    "GitHub's",
    (markdown) =>
      micromark(markdown, {
        extensions: [gfm()],
        htmlExtensions: [gfmHtml()],
        allowDangerousHtml: true,
      }),
  ],
];

/** Values that end a cell early in one parser or another. */
const value = fc
  .array(fc.constantFrom("|", "\\", "`", "a", " ", "*", "_", "<b>", "&#124;", "@team"), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(""));

test.each(PARSERS)("%s parser keeps a value unchanged in its cell", (_, parse) => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const field = { path: ["description"], before, after };
      const { view } = shown(planOf(field));
      const html = parse(renderPlanMarkdown(view));
      const rows = [...html.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, row = ""]) => cellsOf(row));
      expect(rows).toHaveLength(2);
      expect(rows[1]).toEqual([
        "~\u00a0update",
        "testCase.shop.login",
        fieldLine(field, "update", 40),
      ]);
    }),
    {
      examples: [
        ["a | b", "a \\| b"],
        ["a\\", "|"],
        ["`|`", "\\\\|"],
      ],
    },
  );
});

function planOf(field: Plan["changes"][number]["fields"][number]): Plan {
  const change = {
    address: "testCase.shop.login",
    action: "update",
    id: "1",
    fields: [field],
  } as const;
  return { ...EMPTY, changes: [{ ...change, calls: [], followUps: [], dependsOn: [] }] };
}

const SENTENCES = "Log in as the test account. ".repeat(120);

test.each([
  ["of sentences", `${SENTENCES}Check the greeting.`, `${SENTENCES}Delete the account.`],
  ["without spaces", `${"x".repeat(2600)}good`, `${"x".repeat(2600)}Delete the account.`],
  ["in a new field", undefined, `${SENTENCES}Delete the account.`],
  ["in a list", ["a".repeat(2600), "good"], ["a".repeat(2600), "Delete the account."]],
])("a difference at the end of a long line is shown: %s", (_, before, after) => {
  const { view } = shown(
    planOf({ path: ["discovery", "prompt"], after, ...(before && { before }) }),
  );
  expect(renderPlanMarkdown(view)).toContain("Delete the account.");
  const text = renderPlanText(view, {
    style: PLAIN,
    width: 100,
    verbose: false,
    source: () => undefined,
  });
  if (before === `${SENTENCES}Check the greeting.`) expect(text).toContain("+ Delete the account.");
});

const LONG = "k".repeat(70_000);

test.each([
  ["a long key in a field", "login", [{ path: ["elements", 0, "options", LONG], after: "x" }]],
  ["a long key of its own", LONG, []],
  [
    "thousands of lost assertions",
    "login",
    Array.from({ length: 3000 }, (_, at) => ({
      path: ["elements", at],
      before: { assertion: { expectation: "VISIBLE" } },
      harmful: "assertion lost" as const,
    })),
  ],
])("a change is listed in spite of %s", (_, key, fields) => {
  const off = { path: ["status"], before: "ENABLED", after: "DISABLED" };
  const change = { action: "disable", id: "1", calls: [], followUps: [], dependsOn: [] } as const;
  const changes = [
    { ...change, address: `testCase.shop.${key}`, fields: [off, ...fields] } as const,
    { ...change, address: "testCase.shop.cart", fields: [off] } as const,
  ];
  const plan = { changes, orphaned: [], diagnostics: [] };
  const attention = attentionOf({ plan, matched: new Map() });
  const text = renderPlanMarkdown(shown({ ...EMPTY, changes, attention }).view);
  expect(text).toContain(
    `**Danger:** 2 test cases stop running: testCase.shop.${key.slice(0, 100)}`,
  );
  expect(text).toContain(`-\u00a0disable | \`testCase.shop.${key.slice(0, 100)}`);
  expect(text).toContain("2 changes, all shown");
});

test("a small change is listed after larger ones that do not fit", () => {
  const change = { action: "update", id: "1", calls: [], followUps: [], dependsOn: [] } as const;
  const changed = (key: string, after: string) => ({
    ...change,
    address: `testCase.shop.${key}` as const,
    fields: [{ path: ["description"], before: "", after }],
  });
  const large = Array.from({ length: 60 }, (_, at) => changed(`large-${at}`, `${at} `.repeat(30)));
  const changes = [...large, changed("small", "x")];
  const { view } = shown({ ...EMPTY, changes });
  const texts = [2100, 2150].map((budget) => renderPlanMarkdown(view, { budget }));
  expect(texts.filter((text) => text.includes("testCase.shop.small"))).toHaveLength(1);
});

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };

/** The text of each cell, without the marks that prevent GitHub from creating links. */
function cellsOf(row: string): readonly string[] {
  return [...row.matchAll(/<t[dh]>([^]*?)<\/t[dh]>/g)].map(([, cell = ""]) =>
    cell
      .replace(/<[^>]*>/g, "")
      .replace(/&#(x?[\da-f]+);/gi, (_, code: string) =>
        String.fromCodePoint(code.startsWith("x") ? parseInt(code.slice(1), 16) : Number(code)),
      )
      .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => ENTITIES[name] ?? "")
      .replaceAll("\u200b", ""),
  );
}

test("a plan of up to 12 changes is open, a larger one is folded by target", () => {
  const plan = (changes: number): Plan => ({
    ...EMPTY,
    changes: Array.from({ length: changes }, (_, at) => ({
      address: `testCase.shop.c${at}` as const,
      action: "update" as const,
      id: `C${at}`,
      fields: [{ path: ["tags"], before: [], after: [`t${at}`] }],
      calls: [],
      followUps: [],
      dependsOn: [],
    })),
  });
  const open = "<details open><summary><b>shop</b>";
  expect(renderPlanMarkdown(shown(plan(12)).view)).toContain(open);
  expect(renderPlanMarkdown(shown(plan(13)).view)).not.toContain(open);
});
