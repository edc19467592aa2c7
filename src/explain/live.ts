import type { Field } from "../fields/field.ts";
import { compareText } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import { sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { State } from "../model/state.ts";
import { isSensitive, SENSITIVE } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { ALL_PARTS, declaredElements, projectElement } from "../plan/elements.ts";
import type { Seen } from "../plan/seen.ts";

/** A live value, or why none shows. */
export type Shown = { readonly live: Json } | { readonly liveNote: string };

/** What the service shows of a field. */
export function liveOf<L>(field: Field<L>, live: L, value: Value | undefined, seen: Seen | undefined): Shown {
  const shown = readShown(field, live, value, seen);
  if (!("live" in shown) || value === undefined || !isSensitive(value)) return shown;
  return { live: SENSITIVE };
}

const NOT_SHOWN: Shown = { liveNote: "the service does not show it" };

function readShown<L>(field: Field<L>, live: L, value: Value | undefined, seen: Seen | undefined): Shown {
  const { behaviour } = field;
  switch (behaviour.kind) {
    case "writeOnly":
      return { liveNote: "the service never shows it" };
    case "readable":
      return valueOr(behaviour.read(live));
    case "indirect":
      return folderOf(behaviour.readId(live), seen?.state);
    case "elements": {
      const declared = declaredElements(value);
      return {
        live: behaviour.read(live).map((element, at) => projectElement(declared[at] ?? ALL_PARTS, element)),
      };
    }
    case "fixed": {
      const shown = behaviour.read(live);
      return typeof shown === "string" && field.shape.type === "reference"
        ? { live: addressOfId(shown, seen) ?? shown }
        : valueOr(shown);
    }
  }
}

function valueOr(live: Json | undefined): Shown {
  return live === undefined ? NOT_SHOWN : { live };
}

/** The service shows a folder's id; its name is known once an answer has told it. */
function folderOf(id: string | null, state: State | undefined): Shown {
  if (id === null) return { live: null };
  const names = [...(state?.folders ?? [])].filter(([, known]) => sameJson(known, id)).map(([name]) => name);
  const [name] = names.toSorted(compareText);
  return name === undefined
    ? { liveNote: `the folder with the id ${id}, whose name is not known yet` }
    : { live: name };
}

function addressOfId(id: string, seen: Seen | undefined): Address | undefined {
  for (const [address, match] of seen?.testCaseMatches ?? [])
    if (match.found && match.id === id) return address;
  return undefined;
}
