import { bySeverity, type ChangeJson, type PlanJson } from "../model/plan.ts";
import { type DiagnosticView, placeText, planDiagnostics } from "./diagnostics.ts";
import {
  annotationMessage,
  annotationProperty,
  printedJson,
  safeLine,
  safeLines,
  withoutWorkflowCommands,
  xml,
  xmlAttribute,
} from "./escape.ts";
import { fieldLine } from "./fields.ts";
import { type PlanExtras, writeJson } from "./json.ts";
import { alsoLine, groupBy, needsAttention, placeOf, planLine } from "./words.ts";

interface Annotation {
  readonly level: "error" | "warning" | "notice";
  readonly title: string;
  readonly message: string;
  readonly place: { readonly file?: string; readonly line?: number; readonly column?: number };
}

/** Errors and warnings as annotations at their places in the manifests. */
export function renderDiagnosticsGithub(diagnostics: readonly DiagnosticView[]): string {
  return inOrder(diagnostics.map((diagnostic) => diagnosticNote(diagnostic)))
    .map(annotation)
    .join("");
}

/**
 * A plan as annotations, the worst first, since GitHub shows but ten of a level: errors, changes that need attention,
 * warnings, then the other changes, each at the line of the manifest that causes it; at the end the line that sums it
 * up.
 */
export function renderPlanGithub(plan: PlanJson, extras: PlanExtras): string {
  const notes = inOrder([
    ...bySeverity(plan.changes).map((change) => changeNote(change, extras)),
    ...planDiagnostics(plan, extras).map(diagnosticNote),
  ]);
  const also = alsoLine(plan.summary);
  return [
    ...notes.map(annotation),
    `${planLine(plan.summary)}\n`,
    also === undefined ? "" : withoutWorkflowCommands(`${also}\n`),
  ].join("");
}

const LEVELS = ["error", "warning", "notice", "note"];

/** Errors, then warnings, then the rest; among equals the order stays. */
function inOrder<T extends { readonly level: string }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

function diagnosticNote(diagnostic: DiagnosticView): Annotation {
  const { severity, summary, detail, address } = diagnostic;
  const subject = address === undefined ? "" : `\n${address}`;
  return { level: severity, title: summary, message: `${detail || summary}${subject}`, place: diagnostic };
}

/** Characters of a value in a message. */
const MOST = 200;

function changeNote(change: ChangeJson, extras: PlanExtras): Annotation {
  const { address, action, fields } = change;
  return {
    level: needsAttention(change) ? "warning" : "notice",
    title: `${action} ${address}`,
    message: fields.map((field) => fieldLine(field, action, MOST)).join("\n") || action,
    place: extras.places?.[address] ?? {},
  };
}

function annotation({ level, title, message, place }: Annotation): string {
  const properties = [
    place.file === undefined ? [] : [`file=${annotationProperty(place.file)}`],
    place.line === undefined ? [] : [`line=${place.line}`],
    place.column === undefined ? [] : [`col=${place.column}`],
    [`title=${annotationProperty(title)}`],
  ].flat();
  return `::${level} ${properties.join(",")}::${annotationMessage(message)}\n`;
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

/** A case of a JUnit report: errors fail, warnings and changes that wait are skipped. */
interface Case {
  readonly suite: string;
  readonly name: string;
  readonly outcome: "failure" | "skipped";
  readonly message: string;
  readonly text: string;
  readonly place: { readonly file?: string; readonly line?: number };
}

/** Errors and warnings as a JUnit report; with none of them, one case that passed. */
export function renderDiagnosticsJunit(diagnostics: readonly DiagnosticView[], title: string): string {
  return report(title, diagnostics.map(diagnosticCase), title);
}

/**
 * A plan as a JUnit report. A change is a skipped case, as it has yet to be done; that a plan has changes is not a
 * failure. Unchanged resources are left out.
 */
export function renderPlanJunit(plan: PlanJson, extras: PlanExtras): string {
  const cases = [
    ...planDiagnostics(plan, extras).map(diagnosticCase),
    ...bySeverity(plan.changes).map((change) => changeCase(change, extras)),
  ];
  return report(`tasc plan ${plan.stage}`, cases, planLine(plan.summary));
}

function diagnosticCase(diagnostic: DiagnosticView): Case {
  const { severity, summary, detail, address, file } = diagnostic;
  return {
    suite: address === undefined ? (file ?? "project") : placeOf(address).target,
    name: [address, summary].filter((part) => part !== undefined).join(": "),
    outcome: severity === "error" ? "failure" : "skipped",
    message: severity === "error" ? summary : `warning: ${summary}`,
    text: [placeText(diagnostic), detail].filter((part) => part !== undefined && part !== "").join("\n"),
    place: diagnostic,
  };
}

const MOSTJunit = 400;

function changeCase({ address, action, fields }: ChangeJson, extras: PlanExtras): Case {
  return {
    suite: placeOf(address).target,
    name: address,
    outcome: "skipped",
    message: `to ${action}`,
    text: fields.map((field) => fieldLine(field, action, MOSTJunit)).join("\n"),
    place: extras.places?.[address] ?? {},
  };
}

function report(title: string, cases: readonly Case[], passed: string): string {
  const suites = groupBy(cases, ({ suite }) => suite);
  const shown = [...suites].map(([name, own]) => suiteXml(name, own));
  const all =
    shown.length > 0
      ? shown
      : [
          `  <testsuite name="${xmlAttribute(title)}" tests="1" failures="0" skipped="0">\n    <testcase classname="${xmlAttribute(title)}" name="${xmlAttribute(passed)}"/>\n  </testsuite>\n`,
        ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xmlAttribute(title)}"${counts(cases)}>\n${all.join("")}</testsuites>\n`;
}

function suiteXml(name: string, cases: readonly Case[]): string {
  return `  <testsuite name="${xmlAttribute(name)}"${counts(cases)}>\n${cases.map(caseXml).join("")}  </testsuite>\n`;
}

function counts(cases: readonly Case[]): string {
  const failures = cases.filter(({ outcome }) => outcome === "failure").length;
  const tests = Math.max(1, cases.length);
  return ` tests="${tests}" failures="${failures}" skipped="${cases.length - failures}"`;
}

function caseXml({ suite, name, outcome, message, text, place }: Case): string {
  const file = place.file === undefined ? "" : ` file="${xmlAttribute(place.file)}"`;
  const line = place.line === undefined ? "" : ` line="${place.line}"`;
  return (
    `    <testcase classname="${xmlAttribute(suite)}" name="${xmlAttribute(name)}"${file}${line}>\n` +
    `      <${outcome} message="${xmlAttribute(message)}">${xml(text)}</${outcome}>\n` +
    `    </testcase>\n`
  );
}

interface TestResultView {
  readonly ruleId: string;
  readonly level: "error" | "warning" | "note";
  readonly text: string;
  readonly address?: string;
  readonly place: { readonly file?: string; readonly line?: number; readonly column?: number };
}

/** Errors and warnings as SARIF 2.1.0. `tool` is name and version, `tasc 1.0.0`. */
export function renderDiagnosticsSarif(diagnostics: readonly DiagnosticView[], tool: string): string {
  return log(diagnostics.map(diagnosticResult), tool);
}

/** A plan as SARIF 2.1.0, the worst first: each change is a result at the line that causes it. */
export function renderPlanSarif(plan: PlanJson, extras: PlanExtras): string {
  const changes = bySeverity(plan.changes).map((change) => changeResult(change, extras));
  return log(inOrder([...changes, ...planDiagnostics(plan, extras).map(diagnosticResult)]), plan.tool);
}

function diagnosticResult(diagnostic: DiagnosticView): TestResultView {
  const { severity, code, summary, detail, address } = diagnostic;
  return {
    ruleId: code ?? severity,
    level: severity,
    text: detail === "" ? summary : `${summary}\n${detail}`,
    ...(address === undefined ? {} : { address }),
    place: diagnostic,
  };
}

const MOSTSarif = 400;

function changeResult(change: ChangeJson, extras: PlanExtras): TestResultView {
  const { address, action, fields } = change;
  const lines = fields.map((field) => fieldLine(field, action, MOSTSarif));
  return {
    ruleId: `plan-${action}`,
    level: needsAttention(change) ? "warning" : "note",
    text: [`${action} ${address}`, ...lines].join("\n"),
    address,
    place: extras.places?.[address] ?? {},
  };
}

function log(results: readonly TestResultView[], tool: string): string {
  const [name = tool, version] = tool.split(" ");
  const rules = [...new Set(results.map(({ ruleId }) => ruleId))].toSorted();
  return writeJson({
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name, ...(version === undefined ? {} : { version }), rules: rules.map((id) => ({ id })) },
        },
        columnKind: "utf16CodeUnits",
        results: results.map((result) => resultJson(result, rules)),
      },
    ],
  });
}

function resultJson(
  { ruleId, level, text, address, place }: TestResultView,
  rules: readonly string[],
): object {
  return {
    ruleId,
    ruleIndex: rules.indexOf(ruleId),
    level,
    message: { text: safeLines(text) },
    ...(place.file === undefined && address === undefined ? {} : { locations: [location(place, address)] }),
  };
}

function location({ file, line, column }: TestResultView["place"], address: string | undefined): object {
  const region =
    line === undefined
      ? undefined
      : { startLine: line, ...(column === undefined ? {} : { startColumn: column }) };
  return {
    ...(file === undefined
      ? {}
      : {
          physicalLocation: {
            artifactLocation: { uri: uriOf(file) },
            ...(region === undefined ? {} : { region }),
          },
        }),
    ...(address === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: safeLine(address) }] }),
  };
}

/** A relative path as a reference that is one; a scheme or a root cannot come of a file's name. */
function uriOf(file: string): string {
  return file
    .split("/")
    .map((part) => encodeURIComponent(part.replace(/\p{Cs}/gu, "\ufffd")))
    .join("/");
}
