import { createHash } from "node:crypto";
import { defined } from "../model/json.ts";
import { placeOf } from "../model/address.ts";
import { groupBy } from "../model/collections.ts";
import { errorCode } from "../model/error-codes.ts";
import { ATTENTION_SEVERITIES, type Action, type Attention } from "../model/plan.ts";
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
  /** The summary, the action and the address of a change, or the sentence of a row. */
  readonly title: string;
  readonly change?: ChangeView;
  readonly row?: Attention;
}

function diagnosticItem(diagnostic: DiagnosticView): ReportItem {
  const { severity: level, code: rule = level, summary: title } = diagnostic;
  return { ...diagnostic, level, rule, title };
}

function changeItems(plan: PlanView): readonly ReportItem[] {
  const weight = words.weightOf(plan);
  const danger = ATTENTION_SEVERITIES.indexOf("danger");
  return words.byWeight(weight, plan.changes).map((change): ReportItem => {
    const { address, action, place } = change;
    const level = weight(change) <= danger ? "warning" : "note";
    const [title, detail] = [`${action} ${address}`, fieldsText(change, MOST)];
    return { ...place, level, rule: `plan-${action}`, title, detail, address, change };
  });
}

const LEVELS = { error: "error", danger: "warning", caution: "note" } as const;

/** Returns the rows of attention, each at the place of its first change. */
function rowItems({ attention, changes }: PlanView): readonly ReportItem[] {
  const places = new Map<string, ChangeView["place"]>();
  for (const { address, place } of attention.length === 0 ? [] : changes)
    places.set(address, place);
  return attention.map((row): ReportItem => {
    const { code: rule, severity, text: title, addresses } = row;
    const [address] = addresses;
    const place = address === undefined ? undefined : places.get(address);
    const about = address === undefined ? {} : { address };
    return { ...place, ...about, level: LEVELS[severity], rule, title, detail: "", row };
  });
}

/**
 * Returns errors, the rows of attention, warnings, then changes, those that need attention first;
 * each group keeps its order.
 */
function planItems(plan: PlanView): readonly ReportItem[] {
  const { diagnostics } = plan;
  return [
    ...diagnostics.filter(words.isError).map(diagnosticItem),
    ...rowItems(plan),
    ...diagnostics.filter((one) => !words.isError(one)).map(diagnosticItem),
    ...changeItems(plan),
  ];
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
  return [
    ...planItems(plan).map(annotation),
    `${words.planLine(plan.summary)}\n`,
    ...words.noteLines(plan).map((line) => escape.withoutWorkflowCommands(`${line}\n`)),
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
  row,
}: ReportItem): string {
  const heading = row === undefined ? title : `${words.SEVERITY_WORDS[row.severity]}: ${row.code}`;
  const properties = Object.entries(defined({ file, line, col: column, title: heading })).map(
    ([name, value]) => `${name}=${escape.annotationProperty(String(value))}`,
  );
  const message =
    row !== undefined
      ? title
      : change === undefined
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
  return report(`tasc plan ${plan.stage}`, planItems(plan), words.planLine(plan.summary));
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

function suiteOf({ address, file = "project", row }: ReportItem): string {
  if (row !== undefined) return "Needs attention";
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
  const { level, title, detail, address, file, line, change, row } = item;
  const outcome = isFailure(item) ? "failure" : "skipped";
  const message =
    change !== undefined
      ? `to ${change.action}`
      : level === "error" || row !== undefined
        ? title
        : `warning: ${title}`;
  const text = [change === undefined ? placeText(item) : "", detail].filter(Boolean).join("\n");
  const name = row?.code ?? [address ?? [], change === undefined ? title : []].flat().join(": ");
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
        tool: { driver: { name, version, informationUri: HOME, rules: rules.map(ruleJson) } },
        columnKind: "utf16CodeUnits",
        results: items.map((item) => resultJson(item, rules)),
      },
    ],
  });
}

const HOME = "https://github.com/tasc-cli/tasc";

/** The texts of the rules of changes; all others are codes of the catalogue. */
const CHANGE_RULES: Readonly<Record<`plan-${Action}`, string>> = {
  "plan-disable": "A test case is taken out of runs",
  "plan-rediscover": "A test case is generated again",
  "plan-create": "A resource is created",
  "plan-update": "A resource is changed",
  "plan-forget": "State forgets a resource",
};

/** Returns a rule with what a viewer shows beside its results. */
function ruleJson(id: string) {
  const known = errorCode(id);
  const change = Object.entries(CHANGE_RULES).find(([rule]) => rule === id)?.[1];
  const [title, why, remedy] = known ?? [
    change ?? `A ${id} of tasc`,
    change === undefined ? "The message says what is wrong." : "The plan would do this.",
    "Review it before the plan is applied.",
  ];
  const anchor = known === undefined ? "" : `#${id.replace(/^(yaml|http)-.*/, "$1")}`;
  const page = known === undefined ? "plan-json.md" : "errors.md";
  return {
    id,
    shortDescription: { text: `${title}.` },
    fullDescription: { text: why },
    help: { text: `${why} ${remedy}` },
    helpUri: `${HOME}/blob/main/docs/reference/${page}${anchor}`,
  };
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
    partialFingerprints: { "tascResult/v1": fingerprintOf(item) },
    locations: (file ?? address) && [
      {
        physicalLocation: uri && { artifactLocation: { uri }, region },
        logicalLocations: address && [{ fullyQualifiedName: escape.safeLine(address) }],
      },
    ],
  };
}

/**
 * Identifies a result in later plans, where lines and values may differ: by its rule and by what it
 * is about.
 */
function fingerprintOf({ rule, address, file, title, row, change }: ReportItem): string {
  const about = (change ?? row) ? (address ?? "") : [address ?? file ?? "", title].join("\0");
  return createHash("sha256").update(`${rule}\0${about}`).digest("hex").slice(0, 32);
}
