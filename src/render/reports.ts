import { bySeverity, type ChangeJson, type PlanJson } from "../model/plan.ts";
import { type DiagnosticView, placeText, planDiagnostics } from "./diagnostics.ts";
import {
  annotationMessage,
  annotationProperty,
  html,
  printedJson,
  safeLine,
  safeLines,
  withoutWorkflowCommands,
  xmlAttribute,
} from "./escape.ts";
import { fieldsText } from "./fields.ts";
import { type PlanExtras, writeJson } from "./json.ts";
import { alsoLine, groupBy, needsAttention, placeOf, planLine } from "./words.ts";

/** What a report lists: an error or a warning, or a change at the line of the manifest that causes it. */
interface ReportItem {
  readonly level: "error" | "warning" | "note";
  readonly rule: string;
  /** The summary, or what is done with which address. */
  readonly title: string;
  readonly detail: string;
  readonly address?: string | undefined;
  readonly place: Pick<DiagnosticView, "file" | "line" | "column">;
  readonly change?: ChangeJson;
}

function diagnosticItem(diagnostic: DiagnosticView): ReportItem {
  const { severity, code, summary, detail, address } = diagnostic;
  return { level: severity, rule: code ?? severity, title: summary, detail, address, place: diagnostic };
}

/** The changes of a plan, the worst first. */
function changeItems(plan: PlanJson, { places }: PlanExtras): readonly ReportItem[] {
  return bySeverity(plan.changes).map((change) => {
    const { address, action } = change;
    const level = needsAttention(change) ? "warning" : "note";
    const place = places?.[address] ?? {};
    return {
      level,
      rule: `plan-${action}`,
      title: `${action} ${address}`,
      detail: "",
      address,
      place,
      change,
    };
  });
}

const LEVELS = ["error", "warning", "note"];

/** Errors, changes that need attention, warnings, the other changes; among equals the order stays. */
function planItems(plan: PlanJson, extras: PlanExtras): readonly ReportItem[] {
  return worstFirst([...changeItems(plan, extras), ...planDiagnostics(plan, extras).map(diagnosticItem)]);
}

function worstFirst(items: readonly ReportItem[]): readonly ReportItem[] {
  return items.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

/** Characters of a value: in a message that GitHub shows in a box, and in reports. */
const MOST_IN_MESSAGE = 200;
const MOST = 400;

/** Errors and warnings as annotations at their places in the manifests. */
export function renderDiagnosticsGithub(diagnostics: readonly DiagnosticView[]): string {
  return worstFirst(diagnostics.map(diagnosticItem)).map(annotation).join("");
}

/** A plan as annotations, the worst first, since GitHub shows but ten of a level; at the end the line that sums it up. */
export function renderPlanGithub(plan: PlanJson, extras: PlanExtras): string {
  const also = alsoLine(plan.summary);
  return [
    ...planItems(plan, extras).map(annotation),
    `${planLine(plan.summary)}\n`,
    also === undefined ? "" : withoutWorkflowCommands(`${also}\n`),
  ].join("");
}

function annotation({ level, title, detail, address, place, change }: ReportItem): string {
  const properties = [
    place.file === undefined ? [] : [`file=${annotationProperty(place.file)}`],
    place.line === undefined ? [] : [`line=${place.line}`],
    place.column === undefined ? [] : [`col=${place.column}`],
    [`title=${annotationProperty(title)}`],
  ].flat();
  const message =
    change === undefined
      ? [detail || title, ...(address === undefined ? [] : [address])].join("\n")
      : fieldsText(change, MOST_IN_MESSAGE) || change.action;
  const word = level === "note" ? "notice" : level;
  return `::${word} ${properties.join(",")}::${annotationMessage(message)}\n`;
}

/**
 * GitLab's Terraform report: the counts of the merge request's widget. A rediscovery is an update there; a test that
 * stops running is a deletion, the one thing that a reviewer must not miss. The counts of a plan that was altered are
 * nobody's: a report without them shows in the widget as one that failed.
 */
export function renderPlanGitlab(plan: PlanJson, extras: PlanExtras): string {
  const { create, update, rediscover, disable } = plan.summary;
  const counted = { create, update: update + rediscover, delete: disable };
  const seal = planDiagnostics(plan, extras).find(({ code = "" }) => SEAL_CODES.includes(code));
  const mark = seal === undefined ? {} : { [seal.severity]: `${seal.summary}.` };
  return printedJson(`${JSON.stringify({ ...(seal?.severity === "error" ? {} : counted), ...mark })}\n`);
}

/** What `tasc show` says of a seal that is broken, or that it cannot check. */
const SEAL_CODES: readonly string[] = ["plan-altered", "plan-not-verified"];

/** Errors and warnings as a JUnit report; with none of them, one case that passed. */
export function renderDiagnosticsJunit(diagnostics: readonly DiagnosticView[]): string {
  return report("tasc validate", diagnostics.map(diagnosticItem), "tasc validate");
}

/**
 * A plan as a JUnit report. A change is a skipped case, as it has yet to be done; that a plan has changes is not a
 * failure. Unchanged resources are left out.
 */
export function renderPlanJunit(plan: PlanJson, extras: PlanExtras): string {
  const items = [...planDiagnostics(plan, extras).map(diagnosticItem), ...changeItems(plan, extras)];
  return report(`tasc plan ${plan.stage}`, items, planLine(plan.summary));
}

function report(title: string, items: readonly ReportItem[], passed: string): string {
  const suites = [...groupBy(items, suiteOf)].map(([name, own]) =>
    suiteXml(name, own.length, own.filter(isFailure).length, own.map(caseXml).join("")),
  );
  const name = xmlAttribute(title);
  const nothing = `    <testcase classname="${name}" name="${xmlAttribute(passed)}"/>\n`;
  const all = suites.length > 0 ? suites : [suiteXml(title, 0, 0, nothing)];
  const counted = counts(items.length, items.filter(isFailure).length);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${name}"${counted}>\n${all.join("")}</testsuites>\n`;
}

function suiteOf({ address, place }: ReportItem): string {
  return address === undefined ? (place.file ?? "project") : placeOf(address).target;
}

/** Errors fail; warnings, and changes that wait, are skipped. */
function isFailure({ level }: ReportItem): boolean {
  return level === "error";
}

function suiteXml(name: string, cases: number, failures: number, inside: string): string {
  return `  <testsuite name="${xmlAttribute(name)}"${counts(cases, failures)}>\n${inside}  </testsuite>\n`;
}

function counts(cases: number, failures: number): string {
  return ` tests="${Math.max(1, cases)}" failures="${failures}" skipped="${cases - failures}"`;
}

function caseXml(item: ReportItem): string {
  const { level, title, detail, address, place, change } = item;
  const names = change === undefined ? [address, title] : [address];
  const outcome = isFailure(item) ? "failure" : "skipped";
  const message =
    change !== undefined ? `to ${change.action}` : level === "error" ? title : `warning: ${title}`;
  const text =
    change === undefined
      ? [placeText(place), detail].filter((part) => part !== undefined && part !== "").join("\n")
      : fieldsText(change, MOST);
  const name = names.filter((part) => part !== undefined).join(": ");
  const file = place.file === undefined ? "" : ` file="${xmlAttribute(place.file)}"`;
  const line = place.line === undefined ? "" : ` line="${place.line}"`;
  return (
    `    <testcase classname="${xmlAttribute(suiteOf(item))}" name="${xmlAttribute(name)}"${file}${line}>\n` +
    `      <${outcome} message="${xmlAttribute(message)}">${html(text)}</${outcome}>\n` +
    `    </testcase>\n`
  );
}

/** Errors and warnings as SARIF 2.1.0. `tool` is name and version, `tasc 1.0.0`. */
export function renderDiagnosticsSarif(diagnostics: readonly DiagnosticView[], tool: string): string {
  return log(diagnostics.map(diagnosticItem), tool);
}

/** A plan as SARIF 2.1.0, the worst first: each change is a result at the line that causes it. */
export function renderPlanSarif(plan: PlanJson, extras: PlanExtras): string {
  return log(planItems(plan, extras), plan.tool);
}

function log(items: readonly ReportItem[], tool: string): string {
  const [name = tool, version] = tool.split(" ");
  const rules = [...new Set(items.map(({ rule }) => rule))].toSorted();
  return writeJson({
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name, version, rules: rules.map((id) => ({ id })) },
        },
        columnKind: "utf16CodeUnits",
        results: items.map((item) => resultJson(item, rules)),
      },
    ],
  });
}

function resultJson(item: ReportItem, rules: readonly string[]) {
  const { rule, level, title, detail, address, place, change } = item;
  const { file, line, column } = place;
  const more = change === undefined ? detail : fieldsText(change, MOST);
  const physicalLocation = file !== undefined && {
    artifactLocation: { uri: uriOf(file) },
    region: line === undefined ? undefined : { startLine: line, startColumn: column },
  };
  const logicalLocations = address !== undefined && [{ fullyQualifiedName: safeLine(address) }];
  const location = {
    ...(physicalLocation && { physicalLocation }),
    ...(logicalLocations && { logicalLocations }),
  };
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level,
    message: { text: safeLines(more === "" ? title : `${title}\n${more}`) },
    locations: Object.keys(location).length === 0 ? undefined : [location],
  };
}

/** A relative path as a reference that is one; a scheme or a root cannot come of a file's name. */
function uriOf(file: string): string {
  return file
    .split("/")
    .map((part) => encodeURIComponent(part.replace(/\p{Cs}/gu, "\ufffd")))
    .join("/");
}
