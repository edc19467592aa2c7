import type { Json, Path } from "../model/json.ts";
import { blockLines, commentLines } from "./block-lines.ts";

export type WriteOptions = {
  /**
   * A comment to stand on lines of its own above the key or the item at a path, or for `[]` above everything.
   * Without `#`; it may have several lines, and hold anything: it cannot end early and become YAML.
   */
  readonly commentAt?: (path: Path) => string | undefined;
};

/**
 * Writes plain data as YAML in block style: the same value always as the same text, texts of several lines as
 * `|` blocks, quotes only where a reader of YAML 1.1 or 1.2 would else take a text for something different.
 * Reading the text gives the value again, if it is not nested deeper than reading allows.
 */
export function writeYaml(value: Json, options: WriteOptions = {}): string {
  const site = {
    indent: 0,
    layout: { step: 2, listStep: 2 },
    path: [],
    commentAt: options.commentAt ?? (() => undefined),
  };
  return `${[...commentLines(site), ...blockLines(value, site)].join("\n")}\n`;
}
