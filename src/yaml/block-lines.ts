import { isArray, isObject, type Json, type JsonArray, type JsonObject, type Path } from "../model/json.ts";
import { MAX_KEY_LENGTH } from "./bounds.ts";
import { literalOf, scalarText } from "./scalar-text.ts";

/** How far what is in a map, and a list under a key, stand further right: in spaces. */
export type Layout = { readonly step: number; readonly listStep: number };

/** Where and how a value is written in block style. */
export type Site = {
  /** The column of its keys or dashes, from 0. */
  readonly indent: number;
  readonly layout: Layout;
  readonly path: Path;
  readonly commentAt: (path: Path) => string | undefined;
};

/** The lines of a value that begins on a line of its own. */
export function blockLines(value: Json, site: Site): string[] {
  if (isArray(value) && value.length > 0) return listLines(value, site);
  if (isObject(value) && Object.keys(value).length > 0) return mapLines(value, site);
  // At the very top, too, the lines of a text are indented: there they could be taken for a `---`.
  const [first, ...rest] = inlineLines(value, Math.max(site.indent, site.layout.step));
  return [pad(site.indent) + first, ...rest];
}

function mapLines(map: JsonObject, site: Site): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const inner = { ...site, path: [...site.path, key] };
    return [...commentLines(inner), ...pairLines(key, value, inner)];
  });
}

/** A key and its value; the site is that of the key. */
export function pairLines(key: string, value: Json, site: Site): string[] {
  const keyText = scalarText(key, "block");
  // A longer key is none to YAML unless it is announced.
  const announced = keyText.length < MAX_KEY_LENGTH ? [] : [`${pad(site.indent)}? ${keyText}`];
  const head = pad(site.indent) + (announced.length === 0 ? `${keyText}:` : ":");
  if (isFilled(value)) return [...announced, head, ...blockLines(value, underKey(value, site))];
  const [first, ...rest] = inlineLines(value, site.indent + site.layout.step);
  return [...announced, `${head} ${first}`, ...rest];
}

/** The site of a value that stands on the lines below its key. */
export function underKey(value: Json, site: Site): Site {
  const { step, listStep } = site.layout;
  return { ...site, indent: site.indent + (isArray(value) ? listStep : step) };
}

function listLines(list: JsonArray, site: Site): string[] {
  return list.flatMap((value, index) => {
    const inner = { ...site, path: [...site.path, index] };
    return [...commentLines(inner), ...itemLines(value, inner)];
  });
}

/** A dash and its value; the site is that of the dash. */
export function itemLines(value: Json, site: Site): string[] {
  const indent = site.indent + DASH;
  const [first = "", ...rest] = blockLines(value, { ...site, indent });
  return [`${pad(site.indent)}- ${first.slice(indent)}`, ...rest];
}

const DASH = 2;

/** A value that can begin behind a colon or a dash. Further lines, those of a text, are indented as told. */
export function inlineLines(value: Json, indent: number): [string, ...string[]] {
  if (isArray(value)) return ["[]"];
  if (isObject(value)) return ["{}"];
  const literal = typeof value === "string" ? literalOf(value) : undefined;
  if (literal === undefined) return [scalarText(value, "block")];
  return [literal.mark, ...literal.lines.map((line) => (line === "" ? "" : pad(indent) + line))];
}

/** Whether a value is a map or a list with something in it, which needs lines of its own in block style. */
export function isFilled(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** The comment of a site's path, above which and at whose column it stands. */
export function commentLines({ commentAt, path, indent }: Site): string[] {
  const comment = commentAt(path);
  if (comment === undefined) return [];
  return comment
    .split(/\r\n?|[\n\u0085\u2028\u2029]/)
    .map((line) => `${pad(indent)}# ${printable(line)}`.trimEnd());
}

/** A comment may quote names from elsewhere; what no YAML file may hold is shown as unreadable. */
function printable(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]|\p{Cs}|[\ufeff\ufffe\uffff]/gu, "\ufffd");
}

export function pad(indent: number): string {
  return " ".repeat(indent);
}
