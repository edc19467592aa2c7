import type { Style } from "../render/style.ts";
import { type TargetReport, countResults } from "./list.ts";
import { renderTable } from "./table.ts";

/** Reports as a table, as they are given. */
export function renderReports(reports: readonly TargetReport[], style: Style): string {
  if (reports.length === 0) return "No reports.\n";
  return renderTable(
    ["CREATED", "TARGET", "STATUS", "RESULTS", "BROWSER", "REPORT"],
    reports.map(({ target, report }) => [
      report.createdAt ?? "-",
      target,
      report.status ?? "-",
      countsText(report.results),
      [report.browser, report.breakpoint].filter((part) => part !== undefined).join(" ") || "-",
      report.id,
    ]),
    style,
  );
}

/** `12 passed, 1 failed`; what there is none of is left out. */
export function countsText(results: TargetReport["report"]["results"]): string {
  const parts = Object.entries(countResults(results)).filter(([, amount]) => amount > 0);
  return parts.map(([status, amount]) => `${amount} ${status.toLowerCase()}`).join(", ") || "none";
}
