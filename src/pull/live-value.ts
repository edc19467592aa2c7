import type { Field } from "../fields/field.ts";
import { declarable } from "../import/declarable.ts";
import { elementsInWords } from "../import/elements.ts";
import { compareText, parseAddress } from "../model/address.ts";
import { isArray } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import { isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { sameAsLive } from "../plan/compare.ts";
import type { Memory } from "../plan/memory.ts";
import { elementsDiffer, graftElements } from "./elements.ts";
import { graft, graftSet } from "./graft.ts";
import type { Graft } from "./graft.ts";

/** What is to become of a declared field: nothing, the text that says what is live, or why it is left. */
export type Verdict =
  | { readonly kind: "same" }
  /** The service does not show it, so that only a plan can tell whether it differs. */
  | { readonly kind: "hidden" }
  | { readonly kind: "pull"; readonly written: Json; readonly live: Json }
  | { readonly kind: "left"; readonly reason: string };

/** What a verdict draws on besides the field and its live resource. */
export interface Declared {
  readonly value: Value;
  /** As the manifests say it, with placeholders. */
  readonly written: Json;
  readonly memory: Memory;
  /** What the service would show of a fixed field; nothing where that cannot be told. */
  readonly expected: (value: Value) => Json | undefined;
  readonly addressOfId: (id: string) => string | undefined;
  /** Whether a value repeats one that must not show in any file. */
  readonly holdsSecret: (value: Json) => boolean;
}

const SAME: Verdict = { kind: "same" };
const HIDDEN: Verdict = { kind: "hidden" };

/** Compares a declared field with what is live, as a plan does. */
export function judge<L>(field: Field<L>, live: L, declared: Declared): Verdict {
  const { value } = declared;
  if (isUnknown(value)) return HIDDEN;
  const { behaviour } = field;
  switch (behaviour.kind) {
    case "writeOnly":
      return HIDDEN;
    case "readable": {
      const shown = behaviour.read(live);
      if (shown === undefined) return HIDDEN;
      if (sameAsLive(behaviour.compare, value, shown)) return SAME;
      return written(field, shown, declared, () => graftValue(behaviour.compare === "set", shown, declared));
    }
    case "elements": {
      const elements = behaviour.read(live);
      if (!elementsDiffer(value, elements, declared.memory)) return SAME;
      return writtenElements(field, elements, declared);
    }
    case "indirect":
      return folder(field, behaviour.readId(live), declared);
    case "fixed":
      return fixed(field, behaviour.read(live), declared);
  }
}

function graftValue(isSet: boolean, live: Json, { value, written: text }: Declared): Graft {
  const meant = reveal(value);
  return isSet && isArray(text) && isArray(meant) && isArray(live)
    ? graftSet(text, meant, live)
    : graft(text, meant, live);
}

function written<L>(
  field: Field<L>,
  live: Json,
  { value, holdsSecret }: Declared,
  make: () => Graft,
): Verdict {
  if (isSensitive(value))
    return left("It holds a secret, and what is live in its place is not shown or written.");
  if (holdsSecret(live)) return left("The live value repeats a secret, so it is not written.");
  const declares = live === null ? field.nullable : declarable(field.shape, live) !== undefined;
  if (!declares) return left(`The service has ${shortly(live)}, which a manifest cannot declare.`);
  const made = make();
  if (!made.ok)
    return left(`It comes through ${[...new Set(made.placeholders)].join(", ")}; live is ${shortly(live)}.`);
  return { kind: "pull", written: made.value, live };
}

function writtenElements<L>(field: Field<L>, elements: readonly LiveElement[], declared: Declared): Verdict {
  const { value, written: text, memory } = declared;
  return written(field, elementsInWords(elements), declared, () =>
    graftElements(text, value, elements, memory),
  );
}

/** The service shows a folder's id; its name is known once an answer has told it. */
function folder<L>(field: Field<L>, id: string | null, declared: Declared): Verdict {
  const { value, memory } = declared;
  if (isSensitive(value)) return HIDDEN;
  const name = reveal(value);
  const wanted = typeof name === "string" ? memory.folders.get(name) : null;
  if (wanted === id) return SAME;
  if (id === null) return written(field, null, declared, () => graftValue(false, null, declared));
  const [known] = [...memory.folders]
    .filter(([, own]) => own === id)
    .map(([own]) => own)
    .toSorted(compareText);
  if (known === undefined)
    return left(`It is in the folder with the id ${id}, whose name is not known here; write it by hand.`);
  return written(field, known, declared, () => graftValue(false, known, declared));
}

/** A field that no call can change: taking over what is live is the only way to end the difference. */
function fixed<L>(field: Field<L>, shown: Json | undefined, declared: Declared): Verdict {
  const expected = declared.expected(declared.value);
  if (shown === undefined || expected === undefined || shown === expected) return SAME;
  const live = field.shape.type === "reference" ? referenceTo(shown, declared) : shown;
  if (live === undefined)
    return left(`The service has ${shortly(shown)}, which is no test case that the manifests declare.`);
  if (live === null) return left("The service has none; take the field out by hand.");
  return written(field, live, declared, () => graftValue(false, live, declared));
}

function referenceTo(id: Json, { addressOfId }: Declared): Json | undefined {
  if (typeof id !== "string") return id;
  const address = addressOfId(id);
  return address === undefined ? undefined : parseAddress(address)?.key;
}

function left(reason: string): Verdict {
  return { kind: "left", reason };
}

/** As much of a value as fits into a line. */
function shortly(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
