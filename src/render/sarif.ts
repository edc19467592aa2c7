import type { ChangeJson, PlanJson } from "../model/plan.ts";
import { type DiagnosticView, planDiagnostics } from "./diagnostics.ts";
import { safeLine, safeLines } from "./escape.ts";
import { type PlanExtras, byImportance, writeJson } from "./json.ts";
import { fieldLine } from "./text.ts";

interface Result {
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

/** A plan as SARIF 2.1.0: errors and warnings, then each change as a note at the line that causes it. */
export function renderPlanSarif(plan: PlanJson, extras: PlanExtras): string {
  const diagnostics = planDiagnostics(plan, extras).map(diagnosticResult);
  const changes = byImportance(plan.changes).map((change) => changeResult(change, extras));
  return log([...diagnostics, ...changes], plan.tool);
}

function diagnosticResult(diagnostic: DiagnosticView): Result {
  const { severity, code, summary, detail, address } = diagnostic;
  return {
    ruleId: code ?? severity,
    level: severity,
    text: detail === "" ? summary : `${summary}\n${detail}`,
    ...(address === undefined ? {} : { address }),
    place: diagnostic,
  };
}

const MOST = 400;

function changeResult({ address, action, fields }: ChangeJson, extras: PlanExtras): Result {
  const lines = fields.map((field) => fieldLine(field, action, MOST));
  return {
    ruleId: `plan-${action}`,
    level: "note",
    text: [`${action} ${address}`, ...lines].join("\n"),
    address,
    place: extras.places?.[address] ?? {},
  };
}

function log(results: readonly Result[], tool: string): string {
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

function resultJson({ ruleId, level, text, address, place }: Result, rules: readonly string[]): object {
  return {
    ruleId,
    ruleIndex: rules.indexOf(ruleId),
    level,
    message: { text: safeLines(text) },
    ...(place.file === undefined && address === undefined ? {} : { locations: [location(place, address)] }),
  };
}

function location({ file, line, column }: Result["place"], address: string | undefined): object {
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
