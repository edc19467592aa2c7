import type { Address } from "../model/address.ts";
import type { BatchRecord, Binding, Intent, State } from "../model/state.ts";
import { FORMAT, VERSION } from "./document.ts";
import { conflictMarkerLine, doubledEntryLine } from "./merge-conflict.ts";
import type { DocumentKey, Result, StateProblem } from "./problem.ts";
import { refusal, success } from "./problem.ts";
import { isAddress, isBatchRecord, isBinding, isIntent } from "./record-shape.ts";
import { sameService } from "./service.ts";
import { isCount, isRecord, isText } from "./shape.ts";

export interface ParsedDocument {
  readonly state: State;
  /** Only in documents of the http backend. */
  readonly serial: number | undefined;
}

type Root = Readonly<Record<string, unknown>>;

/**
 * Reads a document's text. What the document says it is comes first, and only then what is in it: format,
 * version, stage and target, service, content. A document that fails any of them is never written over.
 *
 * @param where for problems: the file, row or address that the text came from.
 */
export function parseDocument(text: string, expected: DocumentKey, where: string): Result<ParsedDocument> {
  const root = rootOf(text, where);
  if (!root.ok) return root;
  const problem = identityProblem(root.value, expected, where);
  if (problem !== undefined) return refusal(problem);
  const content = readContent(root.value, expected);
  if (typeof content === "string") return refusal({ kind: "corrupt", where, reason: content });
  const line = doubledEntryLine(text, entryCount(content.state));
  return line === undefined ? success(content) : refusal({ kind: "conflicted", where, line });
}

function rootOf(text: string, where: string): Result<Root> {
  try {
    const root: unknown = JSON.parse(text);
    if (isRecord(root)) return success(root);
    return refusal({ kind: "corrupt", where, reason: "it is JSON, but no object" });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const line = conflictMarkerLine(text);
    if (line !== undefined) return refusal({ kind: "conflicted", where, line });
    return refusal({ kind: "corrupt", where, reason: "it is no JSON; it may have been cut short" });
  }
}

function entryCount({ bindings, folders, batchGenerations, intents }: State): number {
  return bindings.size + folders.size + batchGenerations.size + intents.size;
}

function identityProblem(root: Root, expected: DocumentKey, where: string): StateProblem | undefined {
  const { format, version, stage, target, service } = root;
  if (format !== FORMAT) return { kind: "corrupt", where, reason: `its "format" is not "${FORMAT}"` };
  if (!isCount(version) || version === 0)
    return { kind: "corrupt", where, reason: 'its "version" is no whole number from 1 on' };
  if (version > VERSION) return { kind: "newer", where, version, understood: VERSION };
  if (!isText(stage) || !isText(target) || !isText(service))
    return { kind: "corrupt", where, reason: 'it does not name its "stage", "target" and "service"' };
  if (stage !== expected.stage || target !== expected.target)
    return {
      kind: "misplaced",
      where,
      expected: { stage: expected.stage, target: expected.target },
      found: { stage, target },
    };
  if (!sameService(service, expected.service))
    return { kind: "other-service", where, expected: expected.service, found: service };
  return undefined;
}

const MEMBERS = [
  "format",
  "version",
  "serial",
  "stage",
  "target",
  "service",
  "keyCheck",
  "bindings",
  "folders",
  "batchGenerations",
  "intents",
];

/** The content, or what is wrong with it. */
function readContent(root: Root, { stage, target, service }: DocumentKey): ParsedDocument | string {
  const { keyCheck, serial } = root;
  const unknown = Object.keys(root).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `it has a member ${JSON.stringify(unknown)} that tasc does not know`;
  if (keyCheck !== undefined && !isText(keyCheck)) return '"keyCheck" is no text';
  if (serial !== undefined && !isCount(serial)) return '"serial" is no whole number';
  const bindings = mapOf<Address, Binding>(root, "bindings", isAddress, isBinding);
  if (typeof bindings === "string") return bindings;
  const folders = mapOf(root, "folders", isText, isText);
  if (typeof folders === "string") return folders;
  const batches = mapOf<Address, BatchRecord>(root, "batchGenerations", isAddress, isBatchRecord);
  if (typeof batches === "string") return batches;
  const intents = mapOf<Address, Intent>(root, "intents", isAddress, isIntent);
  if (typeof intents === "string") return intents;
  const state = { stage, target, service, keyCheck, bindings, folders, batchGenerations: batches, intents };
  return { state, serial };
}

/** A member that maps keys to records, or what is wrong with it. */
function mapOf<K extends string, V>(
  root: Root,
  member: string,
  isKey: (key: unknown) => key is K,
  isValue: (value: unknown) => value is V,
): Map<K, V> | string {
  const record = root[member];
  if (!isRecord(record)) return `"${member}" is missing or no object`;
  const map = new Map<K, V>();
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (!isKey(key)) return `"${member}" has a key ${JSON.stringify(key)} that is no address`;
    if (!isValue(value)) return `the entry ${JSON.stringify(key)} of "${member}" is not as tasc writes it`;
    map.set(key, value);
  }
  return map;
}
