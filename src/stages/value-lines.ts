import type { Json, Path } from "../model/json.ts";
import { clip, fieldName, valueText } from "../render/fields.ts";
import type { Style } from "../render/style.ts";
import { fieldLines } from "../render/text.ts";

/** A field on two sides; a side without value does not declare it. */
export interface TwoValues {
  readonly path: Path;
  readonly sensitive?: true;
  readonly before?: Json;
  readonly after?: Json;
}

/** `name: before → after`, as a plan draws it. */
export function valueLines(
  { path, sensitive, before, after }: TwoValues,
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const options = { style, width, verbose: false };
  if (sensitive) return fieldLines({ path, sensitive }, "update", "", options);
  if (before !== undefined && after !== undefined)
    return fieldLines({ path, before, after }, "update", "", options);
  return [`${fieldName(path)}: ${oneSide(before)} → ${oneSide(after)}`];
}

/** What fills a few lines of a terminal; `--format json` has it whole. */
const MOST = 400;

function oneSide(value: Json | undefined): string {
  return value === undefined ? "(not declared)" : clip(valueText(value), MOST);
}
