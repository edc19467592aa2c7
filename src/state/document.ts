import { compareText } from "../model/address.ts";
import type { State } from "../model/state.ts";
import { batchText, bindingText, intentText } from "./record-text.ts";

/*
 * The text form of a state: JSON, made to be kept in git. All keys are sorted, so that the same state is the same
 * bytes; one binding a line, so that a diff shows which resource changed and two branches merge; no counter or date
 * of its own, for every merge would conflict there (only servers of the http protocol that ask for a `serial` get one).
 */

export const FORMAT = "tasc-state";
export const VERSION = 1;

/** The document's text. @param serial for keepers that count a document's versions inside it. */
export function formatDocument(state: State, serial?: number): string {
  return `{
  "batchGenerations": ${mapText(state.batchGenerations, batchText)},
  "bindings": ${mapText(state.bindings, bindingText)},
  "folders": ${mapText(state.folders, (id) => JSON.stringify(id))},
  "format": ${JSON.stringify(FORMAT)},
  "intents": ${mapText(state.intents, intentText)},
${optionalLine("keyCheck", state.keyCheck)}${optionalLine("serial", serial)}  "service": ${JSON.stringify(state.service)},
  "stage": ${JSON.stringify(state.stage)},
  "target": ${JSON.stringify(state.target)},
  "version": ${VERSION}
}
`;
}

function optionalLine(name: string, value: string | number | undefined): string {
  return value === undefined ? "" : `  "${name}": ${JSON.stringify(value)},\n`;
}

function mapText<V>(map: ReadonlyMap<string, V>, text: (value: V) => string): string {
  if (map.size === 0) return "{}";
  const lines: string[] = [];
  for (const key of sortedKeys(map)) {
    const value = map.get(key);
    if (value !== undefined) lines.push(`    ${JSON.stringify(key)}: ${text(value)}`);
  }
  return `{\n${lines.join(",\n")}\n  }`;
}

/** By code unit. Those of a document that was read are in order already. */
function sortedKeys(map: ReadonlyMap<string, unknown>): readonly string[] {
  const keys = [...map.keys()];
  const isSorted = keys.every((key, at) => at === 0 || (keys[at - 1] ?? "") < key);
  return isSorted ? keys : keys.toSorted(compareText);
}
