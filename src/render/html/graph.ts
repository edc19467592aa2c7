import { html } from "../escape.ts";
import type { PlanView } from "../json.ts";

/**
 * Maximum number of nodes: a larger drawing is unreadable, and each change names what it needs
 * anyway.
 */
const MOST_NODES = 120;

const COLUMN = 300;
const ROW = 30;
const BOX = { width: 250, height: 22 } as const;
const FITTING = 35;

type Point = { readonly x: number; readonly y: number };
type Edge = { readonly from: string; readonly to: string };

/** Maximum length of the list; a longer one is not readable. */
const MOST_EDGES = 500;

/**
 * Draws the order of changes with a column per step, and lists it for readers who cannot see the
 * drawing.
 */
export function graphSection({ changes }: PlanView): string {
  const edges = changes.flatMap(({ address, needs = [] }) =>
    needs.map((needed): Edge => ({ from: needed, to: address })),
  );
  if (edges.length === 0) return "";
  // Placing the nodes takes quadratic time.
  const nodes = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const drawing = nodes.size > MOST_NODES ? "" : svg(placed(edges), edges);
  const items = edges.map(
    ({ from, to }) => `<li>${addressLink(to)} after ${addressLink(from)}</li>`,
  );
  const list =
    edges.length > MOST_EDGES
      ? `<p>${edges.length} changes wait for another; each says for which.</p>`
      : `<details><summary>As a list (${edges.length})</summary><ul>${items.join("")}</ul></details>`;
  return section("order", "Order", drawing + list);
}

/**
 * Places each node one column to the right of the last one that it needs, and as close to the
 * needed row as possible.
 */
function placed(edges: readonly Edge[]): ReadonlyMap<string, Point> {
  const columns = new Map<string, number>();
  for (const { from, to } of edges) columns.set(from, 0).set(to, 0);
  // A plan has no cycles; if it ever has one, the bound ends the loop.
  for (let round = 0, moved = true; moved && round < columns.size; round++) {
    moved = false;
    for (const { from, to } of edges) {
      const least = (columns.get(from) ?? 0) + 1;
      if ((columns.get(to) ?? 0) >= least) continue;
      columns.set(to, least);
      moved = true;
    }
  }
  const nodes = new Map<string, Point>();
  const free = new Map<number, number>();
  for (const [address, column] of [...columns].toSorted(([, a], [, b]) => a - b)) {
    const needed = edges
      .filter(({ to }) => to === address)
      .map(({ from }) => nodes.get(from)?.y ?? 0);
    const y = Math.max(free.get(column) ?? 0, needed.length === 0 ? 0 : Math.min(...needed));
    nodes.set(address, { x: column * COLUMN, y });
    free.set(column, y + ROW);
  }
  return nodes;
}

function svg(nodes: ReadonlyMap<string, Point>, edges: readonly Edge[]): string {
  const points = [...nodes.values()];
  const width = Math.max(...points.map(({ x }) => x)) + BOX.width + 2;
  const height = Math.max(...points.map(({ y }) => y)) + BOX.height + 2;
  const pointOf = (address: string): Point => nodes.get(address) ?? { x: 0, y: 0 };
  const lines = edges.map(({ from, to }) => {
    const [{ x, y }, { x: x2, y: end }] = [pointOf(from), pointOf(to)];
    const [x1, y1, y2] = [x + BOX.width, y + BOX.height / 2, end + BOX.height / 2];
    const middle = (x1 + x2) / 2;
    return `<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>`;
  });
  const boxes = [...nodes].map(([address, { x, y }]) => {
    const text = address.length > FITTING ? `${address.slice(0, FITTING - 1)}…` : address;
    return (
      `<a href="#${html(address)}" tabindex="-1"><title>${html(address)}</title><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="5"/>` +
      `<text x="${x + 8}" y="${y + 15}">${html(text)}</text></a>`
    );
  });
  return (
    `<div class="graph" tabindex="0" role="region" aria-label="Order of the changes"><svg viewBox="-1 -1 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true" focusable="false">` +
    `${lines.join("")}${boxes.join("")}</svg></div>`
  );
}

export function section(id: string, title: string, inside: string | false): string {
  return inside
    ? `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${inside}</section>`
    : "";
}

export function addressLink(address: string): string {
  return `<a href="#${html(address)}"><code>${html(address)}</code></a>`;
}
