import { describe, expect, test } from "vitest";
import { CAUSES, type Plan } from "../../src/model/plan.ts";
import { type PlanFormat, renderPlan } from "../../src/render/formats.ts";
import { PLAIN } from "../../src/render/style.ts";
import { EMPTY, HOSTILE, PASSWORD, PLAN, REFUSED, shown } from "./sample.ts";

const OPTIONS = { style: PLAIN, width: 100, verbose: false };

/** Every format of a plan except text, and the extension of its golden files. */
const FORMATS: readonly (readonly [PlanFormat, string])[] = [
  ["json", "json"],
  ["markdown", "md"],
  ["github", "github.txt"],
  ["gitlab", "gitlab.json"],
  ["sarif", "sarif.json"],
  ["junit", "junit.xml"],
  ["html", "html"],
];

const PLANS: readonly (readonly [string, Plan])[] = [
  ["plan", PLAN],
  ["plan-refused", REFUSED],
  ["plan-empty", EMPTY],
  ["plan-hostile", HOSTILE],
];

async function rendered(plan: Plan, format: PlanFormat): Promise<string> {
  const { json, extras } = shown(plan);
  const places = Object.fromEntries(
    plan.changes.map(({ address }, at) => [
      address,
      { file: "targets/shop.yaml", line: at + 1, column: 3 },
    ]),
  );
  return [...(await renderPlan(format, json, { ...extras, places }, OPTIONS))].join("");
}

/** Splits a page into its body and the frame around it, which is the same for all plans. */
function partsOf(page: string) {
  const [, before = "", body = "", after = ""] =
    /^([^]*<body>\n)([^]*)(\n<script>[^]*)$/.exec(page) ?? [];
  return { body, frame: `${before}(the body)${after}` };
}

/** The part of a text that a golden file holds. */
const golden = (text: string, format: string): string =>
  format === "html" ? partsOf(text).body : text;

test("the frame of a page", async () => {
  await expect(partsOf(await rendered(PLAN, "html")).frame).toMatchFileSnapshot(
    "golden/frame.html",
  );
});

describe.each(FORMATS)("%s", (format, ending) => {
  test.each(PLANS)("of %s", async (name, plan) => {
    const text = await rendered(plan, format);
    await expect(golden(text, format)).toMatchFileSnapshot(`golden/${name}.${ending}`);
    expect(text).not.toContain(PASSWORD);
    expect(await rendered(plan, format)).toBe(text);
  });
});

test.each([
  ["text", "txt"],
  ["markdown", "md"],
  ["html", "html"],
] as const)(
  "%s separates changes by these manifests, pending changes and drift",
  async (format, ending) => {
    const { json, extras } = shown(PLAN);
    const changes = json.changes.map((change, at) => ({
      ...change,
      cause: CAUSES[at % 3] ?? "manifest",
    }));
    const pieces = await renderPlan(format, { ...json, changes }, extras, OPTIONS);
    const text = [...pieces].join("");
    await expect(golden(text, format)).toMatchFileSnapshot(`golden/plan-base.${ending}`);
  },
);
