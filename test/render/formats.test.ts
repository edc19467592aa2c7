import { describe, expect, test } from "vitest";
import { CAUSES, type Plan, type PlanJson } from "../../src/model/plan.ts";
import { PLAIN } from "../../src/render/style.ts";
import { renderPlanText } from "../../src/render/text.ts";
import { renderPlanHtml } from "../../src/render/html/page.ts";
import { type PlanExtras, writeJson } from "../../src/render/json.ts";
import { renderPlanMarkdown } from "../../src/render/markdown.ts";
import {
  renderPlanGithub,
  renderPlanGitlab,
  renderPlanJunit,
  renderPlanSarif,
} from "../../src/render/reports.ts";
import { EMPTY, HOSTILE, PASSWORD, PLAN, REFUSED, shown } from "./sample.ts";

type Render = (plan: PlanJson, extras: PlanExtras) => string;

/** Every format of a plan beside the text, and the ending of its golden files. */
const FORMATS: readonly (readonly [string, string, Render])[] = [
  ["json", "json", (plan) => writeJson(plan)],
  ["markdown", "md", renderPlanMarkdown],
  ["github", "github.txt", renderPlanGithub],
  ["gitlab", "gitlab.json", renderPlanGitlab],
  ["sarif", "sarif.json", renderPlanSarif],
  ["junit", "junit.xml", renderPlanJunit],
  ["html", "html", renderPlanHtml],
];

const PLANS: readonly (readonly [string, Plan])[] = [
  ["plan", PLAN],
  ["plan-refused", REFUSED],
  ["plan-empty", EMPTY],
  ["plan-hostile", HOSTILE],
];

function rendered(plan: Plan, render: Render): string {
  const { json, extras } = shown(plan);
  const places = Object.fromEntries(
    plan.changes.map(({ address }, at) => [address, { file: "targets/shop.yaml", line: at + 1, column: 3 }]),
  );
  return render(json, { ...extras, places });
}

describe.each(FORMATS)("%s", (_, ending, render) => {
  test.each(PLANS)("of %s", async (name, plan) => {
    const text = rendered(plan, render);
    await expect(text).toMatchFileSnapshot(`golden/${name}.${ending}`);
    expect(text).not.toContain(PASSWORD);
    expect(rendered(plan, render)).toBe(text);
  });
});

test.each([
  [
    "text",
    "txt",
    (plan, extras) => renderPlanText(plan, extras, { style: PLAIN, width: 100, verbose: false }),
  ],
  ["markdown", "md", renderPlanMarkdown],
  ["html", "html", renderPlanHtml],
] satisfies readonly (readonly [string, string, Render])[])(
  "%s shows apart what these manifests change, what was pending, and drift",
  async (_, ending, render) => {
    const { json, extras } = shown(PLAN);
    const changes = json.changes.map((change, at) => ({ ...change, cause: CAUSES[at % 3] ?? "manifest" }));
    await expect(render({ ...json, changes }, extras)).toMatchFileSnapshot(`golden/plan-base.${ending}`);
  },
);
