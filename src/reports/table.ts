import { safeLine } from "../output/safe.ts";
import { type Style, padTo, textWidth } from "../render/style.ts";

/** Columns of text under headings; the last one takes what it needs. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  const safe = rows.map((row) => row.map(safeLine));
  const widths = headings.map((heading, at) =>
    safe.reduce((most, row) => Math.max(most, textWidth(row[at] ?? "")), textWidth(heading)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === cells.length - 1 ? cell : padTo(cell, widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  return [style.faint(line(headings)), ...safe.map(line)].map((text) => `${text}\n`).join("");
}
