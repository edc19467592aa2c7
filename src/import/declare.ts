import type { Field } from "../fields/field.ts";
import { isArray } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { declarable } from "./declarable.ts";
import { elementsInWords } from "./elements.ts";
import { withValue } from "./paths.ts";

/** What decides on the way a live value is declared, besides the value. */
export interface Around {
  /** Whether elements are wanted. */
  readonly elements: boolean;
  /** Fields that the target's defaults would set where they are left out. */
  readonly defaults: ReadonlySet<string>;
  readonly folderName: (id: string) => string | undefined;
  /** Whether a value repeats one that must not show in any file. */
  readonly holdsSecret: (value: Json) => boolean;
}

/** What a resource declares of its live values, in the form of a document, and what had to be left out. */
export interface Declared {
  readonly fields: JsonObject;
  /** For comments; each a line. */
  readonly notes: readonly string[];
}

/** A field of a resource: its value in the manifest, or why it has none; neither where there is nothing to say. */
interface Verdict {
  readonly value?: Json;
  readonly note?: string;
}

const SILENT: Verdict = {};

/** Declares what the interface shows of a resource. References to others are for `prerequisites.ts` to add. */
export function declareFields<L>(rows: readonly Field<L>[], live: L, around: Around): Declared {
  const notes: string[] = [];
  let fields: JsonObject = {};
  for (const row of rows) {
    const { value, note } = judge(row, live, around);
    if (value !== undefined) fields = withValue(fields, row.path, value);
    if (note !== undefined) notes.push(`${row.name}: ${note}`);
  }
  return { fields, notes };
}

function judge<L>(row: Field<L>, live: L, around: Around): Verdict {
  const { behaviour } = row;
  switch (behaviour.kind) {
    case "readable":
      return readable(row, behaviour.read(live), around);
    case "elements":
      return around.elements ? elements(row, elementsInWords(behaviour.read(live)), around) : SILENT;
    case "indirect":
      return folder(row, behaviour.readId(live), around);
    case "fixed":
      return row.shape.type === "reference" ? SILENT : fixed(row, behaviour.read(live));
    case "writeOnly":
      return SILENT;
  }
}

function readable<L>(row: Field<L>, live: Json | undefined, around: Around): Verdict {
  if (live === undefined) return SILENT;
  if (isNothing(live)) return nothing(row, live, around);
  if (around.holdsSecret(live))
    return { note: "it repeats the value of a secret, so it is not written here." };
  const value = declarable(row.shape, live);
  return value === undefined
    ? { note: `the service has ${shortly(live)}, which a manifest cannot declare.` }
    : { value };
}

/** What is not there is left out, unless a default would then be taken for it. */
function nothing<L>(row: Field<L>, live: Json, { defaults }: Around): Verdict {
  const declarableAsIs = isArray(live) || row.nullable;
  return defaults.has(row.name) && declarableAsIs ? { value: live } : SILENT;
}

function elements<L>(row: Field<L>, live: Json, around: Around): Verdict {
  if (isNothing(live)) return nothing(row, live, around);
  if (around.holdsSecret(live))
    return { note: "they repeat the value of a secret, so they are not written here." };
  const value = declarable(row.shape, live);
  return value === undefined ? { note: "a manifest cannot declare all that they hold." } : { value };
}

/** Folders without a name are told of once for all test cases in them. */
function folder<L>(row: Field<L>, id: string | null, around: Around): Verdict {
  if (id === null) return nothing(row, null, around);
  const name = around.folderName(id);
  const value = name === undefined ? undefined : declarable(row.shape, name);
  return value === undefined ? SILENT : { value };
}

/** A value that creations do not know is no choice that somebody made; there is nothing to say about it. */
function fixed<L>(row: Field<L>, live: Json | undefined): Verdict {
  const value = live === undefined ? undefined : declarable(row.shape, live);
  return value === undefined ? SILENT : { value };
}

function isNothing(value: Json): boolean {
  return value === null || (isArray(value) && value.length === 0);
}

/** As much of a value as fits into a comment. */
function shortly(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
