import type { ChangeJson, PlanJson } from "../model/plan.ts";
import { type DiagnosticView, placeText, planDiagnostics } from "./diagnostics.ts";
import { xml } from "./escape.ts";
import { type PlanExtras, placeOf, planLine } from "./json.ts";
import { fieldLine, groupBy } from "./text.ts";

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
 * failure. What is unchanged is no case at all.
 */
export function renderPlanJunit(plan: PlanJson, extras: PlanExtras): string {
  const cases = [
    ...planDiagnostics(plan, extras).map(diagnosticCase),
    ...plan.changes.map((change) => changeCase(change, extras)),
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

const MOST = 400;

function changeCase({ address, action, fields }: ChangeJson, extras: PlanExtras): Case {
  return {
    suite: placeOf(address).target,
    name: address,
    outcome: "skipped",
    message: `to ${action}`,
    text: fields.map((field) => fieldLine(field, action, MOST)).join("\n"),
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
          `  <testsuite name="${attribute(title)}" tests="1" failures="0" skipped="0">\n    <testcase classname="${attribute(title)}" name="${attribute(passed)}"/>\n  </testsuite>\n`,
        ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${attribute(title)}"${counts(cases)}>\n${all.join("")}</testsuites>\n`;
}

function suiteXml(name: string, cases: readonly Case[]): string {
  return `  <testsuite name="${attribute(name)}"${counts(cases)}>\n${cases.map(caseXml).join("")}  </testsuite>\n`;
}

/** Inside an attribute a line break would be read as a blank. */
function attribute(text: string): string {
  return xml(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}

function counts(cases: readonly Case[]): string {
  const failures = cases.filter(({ outcome }) => outcome === "failure").length;
  const tests = Math.max(1, cases.length);
  return ` tests="${tests}" failures="${failures}" skipped="${cases.length - failures}"`;
}

function caseXml({ suite, name, outcome, message, text, place }: Case): string {
  const file = place.file === undefined ? "" : ` file="${attribute(place.file)}"`;
  const line = place.line === undefined ? "" : ` line="${place.line}"`;
  return (
    `    <testcase classname="${attribute(suite)}" name="${attribute(name)}"${file}${line}>\n` +
    `      <${outcome} message="${attribute(message)}">${xml(text)}</${outcome}>\n` +
    `    </testcase>\n`
  );
}
