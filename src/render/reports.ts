import { defined } from "../model/json.ts";
import { bySeverity } from "../model/plan.ts";
import { groupBy } from "../model/collections.ts";
import { placeOf } from "../model/address.ts";
import { placeText } from "./diagnostics.ts";
import * as escape from "./escape.ts";
import { fieldsText } from "./fields.ts";
import { type ChangeView, type DiagnosticView, type PlanView, writeJson } from "./json.ts";
import * as words from "./words.ts";

/**
 * An entry of a report: an error, a warning, or a change at the line of the manifest that causes
 * it.
 */
interface ReportItem extends Pick<
  DiagnosticView,
  "address" | "detail" | "file" | "line" | "column"
> {
  readonly level: "error" | "warning" | "note";
  readonly rule: string;
  /** The summary, or the action and the address of a change. */
  readonly title: string;
  readonly change?: ChangeView;
}

function diagnosticItem(diagnostic: DiagnosticView): ReportItem {
  const { severity: level, code: rule = level, summary: title } = diagnostic;
  return { ...diagnostic, level, rule, title };
}

function changeItems(plan: PlanView): readonly ReportItem[] {
  return bySeverity(plan.changes).map((change): ReportItem => {
    const { address, action, place } = change;
    const level = words.needsAttention(change) ? "warning" : "note";
    const [title, detail] = [`${action} ${address}`, fieldsText(change, MOST)];
    return { ...place, level, rule: `plan-${action}`, title, detail, address, change };
  });
}

/**
 * Returns errors, changes that need attention, warnings, then the other changes; each group keeps
 * its order.
 */
function planItems(plan: PlanView): readonly ReportItem[] {
  return worstFirst([...changeItems(plan), ...plan.diagnostics.map(diagnosticItem)]);
}

function worstFirst(items: readonly ReportItem[]): readonly ReportItem[] {
  return ["error", "warning", "note"].flatMap((wanted) =>
    items.filter(({ level }) => level === wanted),
  );
}

/** Maximum length of a value in a message that GitHub shows in a box, and in reports. */
const MOST_IN_MESSAGE = 200;
const MOST = 400;

export function renderDiagnosticsGithub(diagnostics: readonly DiagnosticView[]): string {
  return worstFirst(diagnostics.map(diagnosticItem)).map(annotation).join("");
}

/**
 * Renders a plan as annotations, the most severe first, because GitHub shows only ten per level;
 * then the summary line.
 */
export function renderPlanGithub(plan: PlanView): string {
  const also = words.alsoLine(plan.summary);
  return [
    ...planItems(plan).map(annotation),
    `${words.planLine(plan.summary)}\n`,
    also === undefined ? "" : escape.withoutWorkflowCommands(`${also}\n`),
  ].join("");
}

function annotation({
  level,
  title,
  detail,
  address,
  file,
  line,
  column,
  change,
}: ReportItem): string {
  const properties = Object.entries(defined({ file, line, col: column, title })).map(
    ([name, value]) => `${name}=${escape.annotationProperty(String(value))}`,
  );
  const message =
    change === undefined
      ? [detail || title, address ?? []].flat().join("\n")
      : fieldsText(change, MOST_IN_MESSAGE) || change.action;
  const word = level === "note" ? "notice" : level;
  return `::${word} ${properties.join(",")}::${escape.annotationMessage(message)}\n`;
}

/**
 * Renders GitLab's Terraform report. A disabled test counts as a deletion; a report without counts
 * is shown as failed.
 */
export function renderPlanGitlab(plan: PlanView): string {
  const { create, update, rediscover, disable } = plan.summary;
  const counted = { create, update: update + rediscover, delete: disable };
  const seal = plan.diagnostics.find(({ code = "" }) => SEAL_CODES.includes(code));
  const mark = seal === undefined ? {} : { [seal.severity]: `${seal.summary}.` };
  return escape.printedJson(
    `${JSON.stringify({ ...(seal?.severity === "error" ? {} : counted), ...mark })}\n`,
  );
}

/** Codes that `tasc show` reports for a seal that is broken, or that it cannot check. */
const SEAL_CODES: readonly string[] = ["plan-altered", "plan-not-verified"];

/**
 * Renders errors and warnings as a JUnit report; if there are no problems, the report has one
 * passed case.
 */
export function renderDiagnosticsJunit(diagnostics: readonly DiagnosticView[]): string {
  return report("tasc validate", diagnostics.map(diagnosticItem), "tasc validate");
}

/**
 * Renders a plan as a JUnit report. A change is a skipped case and not a failure, because it is
 * still to be applied.
 */
export function renderPlanJunit(plan: PlanView): string {
  const items = [...plan.diagnostics.map(diagnosticItem), ...changeItems(plan)];
  return report(`tasc plan ${plan.stage}`, items, words.planLine(plan.summary));
}

function report(title: string, items: readonly ReportItem[], passed: string): string {
  const suites = [...groupBy(items, suiteOf)].map(([name, own]) =>
    suiteXml(name, own.length, own.filter(isFailure).length, own.map(caseXml).join("")),
  );
  const name = escape.xmlAttribute(title);
  const nothing = `    <testcase classname="${name}" name="${escape.xmlAttribute(passed)}"/>\n`;
  const all = suites.length > 0 ? suites : [suiteXml(title, 0, 0, nothing)];
  const counted = counts(items.length, items.filter(isFailure).length);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${name}"${counted}>\n${all.join("")}</testsuites>\n`;
}

function suiteOf({ address, file = "project" }: ReportItem): string {
  return address === undefined ? file : placeOf(address).target;
}

function isFailure({ level }: ReportItem): boolean {
  return level === "error";
}

function suiteXml(name: string, cases: number, failures: number, inside: string): string {
  return `  <testsuite name="${escape.xmlAttribute(name)}"${counts(cases, failures)}>\n${inside}  </testsuite>\n`;
}

function counts(cases: number, failures: number): string {
  return ` tests="${Math.max(1, cases)}" failures="${failures}" skipped="${cases - failures}"`;
}

function caseXml(item: ReportItem): string {
  const { level, title, detail, address, file, line, change } = item;
  const outcome = isFailure(item) ? "failure" : "skipped";
  const message =
    change !== undefined ? `to ${change.action}` : level === "error" ? title : `warning: ${title}`;
  const text = [change === undefined ? placeText(item) : "", detail].filter(Boolean).join("\n");
  const name = [address ?? [], change === undefined ? title : []].flat().join(": ");
  const attributes = Object.entries(defined({ classname: suiteOf(item), name, file, line })).map(
    ([key, value]) => ` ${key}="${escape.xmlAttribute(String(value))}"`,
  );
  return (
    `    <testcase${attributes.join("")}>\n` +
    `      <${outcome} message="${escape.xmlAttribute(message)}">${escape.html(text)}</${outcome}>\n` +
    `    </testcase>\n`
  );
}

/** Renders errors and warnings as SARIF 2.1.0. `tool` is name and version, `tasc 1.0.0`. */
export function renderDiagnosticsSarif(
  diagnostics: readonly DiagnosticView[],
  tool: string,
): string {
  return log(diagnostics.map(diagnosticItem), tool);
}

/**
 * Renders a plan as SARIF 2.1.0, the most severe first: each change is a result at the line that
 * causes it.
 */
export function renderPlanSarif(plan: PlanView): string {
  return log(planItems(plan), plan.tool);
}

function log(items: readonly ReportItem[], tool: string): string {
  const [name = tool, version] = tool.split(" ");
  const rules = [...new Set(items.map(({ rule }) => rule))].toSorted();
  return writeJson({
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name, version, rules: rules.map((id) => ({ id })) } },
        columnKind: "utf16CodeUnits",
        results: items.map((item) => resultJson(item, rules)),
      },
    ],
  });
}

function resultJson(item: ReportItem, rules: readonly string[]) {
  const { rule, level, title, detail, address, file, line, column } = item;
  // A relative path stays relative: after encoding, a file's name cannot become a scheme or a root.
  const uri = file?.split("/").map(escape.uriPart).join("/");
  const region = line === undefined ? undefined : { startLine: line, startColumn: column };
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level,
    message: { text: escape.safeLines(detail === "" ? title : `${title}\n${detail}`) },
    locations: (file ?? address) && [
      {
        physicalLocation: uri && { artifactLocation: { uri }, region },
        logicalLocations: address && [{ fullyQualifiedName: escape.safeLine(address) }],
      },
    ],
  };
}
