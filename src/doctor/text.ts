import { safeLine, safeLines } from "../output/safe.ts";
import { type Style, wrap } from "../render/style.ts";
import { count } from "../render/words.ts";
import type { Check, CheckStatus } from "./check.ts";

const SIGNS: Readonly<Record<CheckStatus, string>> = { ok: "✓", warn: "!", fail: "✗", skipped: "-" };

/** Columns of a check's name, the longest of which is `version`. */
const NAME_WIDTH = 9;

/** The checks, one a line, with what to do below those that need it, and a line that sums them up. */
export function renderChecks(
  checks: readonly Check[],
  options: { readonly style: Style; readonly width: number },
): string {
  const lines = [...checks.flatMap((one) => checkLines(one, options)), "", summaryLine(checks)];
  return lines.map((line) => `${line}\n`).join("");
}

const INDENT = " ".repeat(2 + NAME_WIDTH + 6);

function checkLines(
  { name, status, summary, detail }: Check,
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const paint = { ok: style.added, warn: style.warning, fail: style.error, skipped: style.faint }[status];
  const word = status === "skipped" ? "" : status;
  const head = `${paint(SIGNS[status])} ${name.padEnd(NAME_WIDTH)} ${paint(word.padEnd(4))} ${safeLine(summary)}`;
  const below = safeLines(detail)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => wrap(line.trimStart(), width - INDENT.length));
  return [head, ...below.map((line) => `${INDENT}${line}`)];
}

function summaryLine(checks: readonly Check[]): string {
  const amount = (status: CheckStatus): number => checks.filter((one) => one.status === status).length;
  const [failed, warned, skipped] = [amount("fail"), amount("warn"), amount("skipped")];
  if (failed + warned + skipped === 0) return "All is well.";
  return [
    ...(failed === 0 ? [] : [`${count(failed, "check")} failed`]),
    ...(warned === 0 ? [] : [count(warned, "warning")]),
    ...(skipped === 0 ? [] : [`${skipped} not checked`]),
  ].join(", ");
}
