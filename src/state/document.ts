import { isUtf8 } from "node:buffer";
import { type Address, compareText, isAddress } from "../model/address.ts";
import { defined, jsonIn, parseJson } from "../model/json.ts";
import { type Guard, isCount, isRecord, isText } from "../model/shape.ts";
import {
  type RunRecord,
  type State,
  type StateEvent,
  emptyState,
  isBatchRecord,
  isIntent,
  isRun,
  isRunChange,
} from "../model/state.ts";
import {
  type Clock,
  type DocumentKey,
  type StoredState,
  sameService,
  sideBySide,
} from "./backend.ts";
import { FaultError } from "../service/failure.ts";
import { membersOf, withoutBom } from "../service/json-stream.ts";
import { entryText, heldBinding, isHeldBinding } from "./binding.ts";
import { applyEvents } from "./events.ts";
import { canonicalJson } from "./fingerprint.ts";
import { StateFailure, problemOf } from "./problem.ts";

/*
 * The text form of a state: JSON that can be kept in git. Keys are sorted, so that the same state gives the same bytes. Each
 * binding has its own line, so that branches merge. There is no counter and no date, because they would conflict in every
 * merge (only documents of the http backend have a `serial`).
 */

const FORMAT = "tasc-state";
/** Version 2 added the lineage, the run in progress, and the fields that show a secret. */
const VERSION = 2;

/**
 * Returns the text of a state.
 * @param serial for backends that count a document's versions inside it
 */
export function formatDocument(state: State, serial?: number): string {
  const {
    batchGenerations,
    bindings,
    folders,
    intents,
    keyCheck,
    lineage,
    run,
    service,
    stage,
    target,
  } = state;
  const imported = [...bindings].flatMap(([address, one]) => (one.imported ? [address] : []));
  const members = [
    ["batchGenerations", mapText(batchGenerations)],
    ["bindings", mapText(imported.length === 0 ? bindings : withoutMarks(bindings))],
    ["folders", mapText(folders)],
    ["format", JSON.stringify(FORMAT)],
    [
      "imported",
      imported.length === 0 ? undefined : JSON.stringify(imported.toSorted(compareText)),
    ],
    ["intents", mapText(intents)],
    ["keyCheck", JSON.stringify(keyCheck)],
    ["lineage", JSON.stringify(lineage)],
    ["run", run && canonicalJson({ ...run, changes: Object.fromEntries(run.changes) })],
    ["serial", JSON.stringify(serial)],
    ["service", JSON.stringify(service)],
    ["stage", JSON.stringify(stage)],
    ["target", JSON.stringify(target)],
    ["version", String(VERSION)],
  ].flatMap(([name, text]) => (text === undefined ? [] : `  "${name}": ${text}`));
  return `{\n${members.join(",\n")}\n}\n`;
}

/**
 * Returns the bindings without `imported`, which stands in one line of its own: otherwise the first
 * apply after an import would rewrite every binding.
 */
function withoutMarks(bindings: State["bindings"]): ReadonlyMap<string, unknown> {
  return new Map(
    [...bindings].map(([address, one]) => [address, defined({ ...one, imported: undefined })]),
  );
}

/**
 * Returns a text for comparing states, without the lineage: a state that has none gets one when it
 * is written.
 */
export function contentOf(state: State): string {
  return formatDocument({ ...state, lineage: "" });
}

/** Returns one line for each entry. Entries of a document that was read are already sorted. */
function mapText(map: ReadonlyMap<string, unknown>): string {
  if (map.size === 0) return "{}";
  const keys = [...map.keys()];
  const isSorted = keys.every((key, at) => at === 0 || (keys[at - 1] ?? "") < key);
  const lines = (isSorted ? keys : keys.toSorted(compareText)).map(
    (key) => `    ${JSON.stringify(key)}: ${entryText(map.get(key))}`,
  );
  return `{\n${lines.join(",\n")}\n  }`;
}

export interface ParsedDocument {
  readonly state: State;
  /** Only in documents of the http backend. */
  readonly serial: number | undefined;
}

type Root = Readonly<Record<string, unknown>>;

/**
 * Parses a document: checks first what it says it is (format, version, stage, target, service),
 * then its content. A document that fails is never overwritten. @param where the file, row or
 * address, for error messages @throws StateFailure
 */
export function parseDocument(
  document: string | Buffer,
  expected: DocumentKey,
  where: string,
): ParsedDocument {
  const corrupt: Corrupt = (reason) => new StateFailure({ kind: "corrupt", where, reason });
  const conflicted = (line: number) => new StateFailure({ kind: "conflicted", where, line });
  const bytes = typeof document === "string" ? Buffer.from(document) : withoutBom(document);
  if (!isUtf8(bytes)) throw corrupt("it is not UTF-8 text");
  const { root, repeated } = readMembers(bytes);
  if (!isRecord(root)) {
    if (root !== undefined) throw corrupt("it is JSON, but not an object");
    const line = lineOf(bytes.toString(), MARKER);
    throw line === undefined
      ? corrupt("invalid JSON; the file may be truncated")
      : conflicted(line);
  }
  const { format, version } = root;
  if (format !== FORMAT) throw corrupt(`its "format" is not "${FORMAT}"`);
  if (!isCount(version) || version === 0)
    throw corrupt('its "version" is not a whole number from 1 up');
  if (version > VERSION)
    throw new StateFailure({ kind: "newer", where, version, understood: VERSION });
  if (!isDocumentKey(root)) throw corrupt('it does not name its "stage", "target" and "service"');
  checkKey(root, expected, where);
  const content = readContent(root, expected, corrupt);
  // If an entry is repeated, as `merge=union` may leave it, the last one was read: refuse the
  // document.
  const line = repeated ? lineOf(bytes.toString(), TWICE) : undefined;
  if (line !== undefined) throw conflicted(line);
  return content;
}

/**
 * Reads the members of a document, large ones as maps, so that the whole text or parsed form is
 * never in memory at once.
 */
function readMembers(bytes: Buffer): { readonly root: unknown; readonly repeated: boolean } {
  let repeated = false;
  const value = (from: number, to: number): unknown => parseJson(bytes.toString("utf8", from, to));
  const binding: typeof value = (from, to) => heldBinding(bytes.toString("utf8", from, to));
  const map = (place: [number, number], read: typeof value): unknown => {
    let entries = 0;
    const found = membersOf(bytes, (from, to) => (entries++, read(from, to)), place);
    repeated ||= entries > found.size;
    return found;
  };
  try {
    const root = membersOf(bytes, (from, to, name) =>
      MAPS.includes(name)
        ? map([from, to], name === "bindings" ? binding : value)
        : value(from, to),
    );
    return { root: Object.fromEntries(root), repeated };
  } catch (error) {
    if (!(error instanceof FaultError) && !(error instanceof SyntaxError)) throw error;
    return { root: jsonIn(bytes.toString()), repeated };
  }
}

interface StoredParts extends Pick<StoredState, "revision"> {
  readonly document: string | Buffer | undefined;
  readonly events: readonly StateEvent[] | undefined;
}

/**
 * Returns the state of a document with the events on top of it; `undefined` if there is neither.
 */
export function storedState(
  { document, revision, events }: StoredParts,
  key: DocumentKey,
  where: string,
): StoredState | undefined {
  if (document === undefined && events === undefined) return undefined;
  const { stage, target, service } = key;
  const below =
    document === undefined
      ? emptyState(stage, target, service)
      : parseDocument(document, key, where).state;
  return { state: applyEvents(below, events ?? []), revision, journalled: events !== undefined };
}

type Corrupt = (reason: string) => StateFailure;

export function isDocumentKey(value: Root): value is Root & DocumentKey {
  return isText(value["stage"]) && isText(value["target"]) && isText(value["service"]);
}

/**
 * Checks that a text is for the expected stage, target and service.
 * @throws StateFailure if it is not
 */
export function checkKey(found: DocumentKey, expected: DocumentKey, where: string): void {
  const keyOf = ({ stage, target }: DocumentKey) => ({ stage, target });
  if (found.stage !== expected.stage || found.target !== expected.target)
    throw new StateFailure({
      kind: "misplaced",
      where,
      expected: keyOf(expected),
      found: keyOf(found),
    });
  if (!sameService(found.service, expected.service))
    throw new StateFailure({
      kind: "other-service",
      where,
      expected: expected.service,
      found: found.service,
    });
}

const MAPS = ["bindings", "folders", "batchGenerations", "intents"];
const MEMBERS = new Set([
  ..."format version serial stage target service keyCheck lineage run imported".split(" "),
  ...MAPS,
]);

function readContent(
  root: Root,
  { stage, target, service }: DocumentKey,
  corrupt: Corrupt,
): ParsedDocument {
  const unknown = Object.keys(root).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined)
    throw corrupt(`it has a member ${JSON.stringify(unknown)} that tasc does not know`);
  const { keyCheck, lineage, serial, run, imported } = root;
  const { bindings, folders, batchGenerations, intents } = root;
  if (keyCheck !== undefined && !isText(keyCheck)) throw corrupt('"keyCheck" is not a string');
  if (lineage !== undefined && !isText(lineage)) throw corrupt('"lineage" is not a string');
  if (serial !== undefined && !isCount(serial)) throw corrupt('"serial" is not a whole number');
  const state = {
    ...defined({ lineage, run: run === undefined ? undefined : readRun(run, corrupt) }),
    stage,
    target,
    service,
    keyCheck,
    bindings: mapOf(bindings, "bindings", isAddress, isHeldBinding, corrupt),
    folders: mapOf(folders, "folders", isText, isText, corrupt),
    batchGenerations: mapOf(
      batchGenerations,
      "batchGenerations",
      isAddress,
      isBatchRecord,
      corrupt,
    ),
    intents: mapOf(intents, "intents", isAddress, isIntent, corrupt),
  };
  if (imported !== undefined && !isAddresses(imported))
    throw corrupt('"imported" is not a list of addresses');
  for (const address of imported ?? []) {
    const binding = state.bindings.get(address);
    if (binding !== undefined) state.bindings.set(address, { ...binding, imported: true });
  }
  return { state, serial };
}

function isAddresses(value: unknown): value is readonly Address[] {
  return Array.isArray(value) && value.every(isAddress);
}

function readRun(value: unknown, corrupt: Corrupt): RunRecord {
  if (!isRecord(value)) throw corrupt('"run" is not an object');
  const { changes, ...run } = value;
  if (!isRun(run)) throw corrupt('"run" is not in the expected format');
  return { ...run, changes: mapOf(changes, "changes", isAddress, isRunChange, corrupt) };
}

function mapOf<K extends string, V>(
  found: unknown,
  member: string,
  isKey: Guard<K>,
  isValue: Guard<V>,
  corrupt: Corrupt,
): Map<K, V> {
  if (!isRecord(found)) throw corrupt(`"${member}" is missing or not an object`);
  const map = new Map<K, V>();
  const entries: Iterable<[string, unknown]> = found instanceof Map ? found : Object.entries(found);
  for (const [key, value] of entries) {
    if (!isKey(key))
      throw corrupt(`"${member}" has a key ${JSON.stringify(key)} that is not an address`);
    if (!isValue(value))
      throw corrupt(
        `the entry ${JSON.stringify(key)} of "${member}" is not in the expected format`,
      );
    map.set(key, value);
  }
  return map;
}

/** Git's conflict markers. No line of JSON begins like this. */
const MARKER = /^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)/m;

/** A repeated entry. Entries are sorted, so both are on adjacent lines. */
const TWICE = /^ {4}("[^"\n]*"): .*\n {4}\1: /m;

function lineOf(text: string, what: RegExp): number | undefined {
  const index = what.exec(text)?.index;
  return index === undefined ? undefined : text.slice(0, index).split("\n").length;
}

/** Milliseconds to wait before a document that may be half written is read again. */
const HALF_WRITTEN = 200;

/**
 * Reads documents singly, for `readAll`. A corrupt one is read again after a pause, because it may
 * be half written.
 */
export async function readEach(
  keys: readonly DocumentKey[],
  clock: Clock,
  read: (key: DocumentKey) => Promise<StoredState | undefined>,
  atOnce?: number,
): Promise<ReadonlyMap<string, StoredState>> {
  const readOne = async (key: DocumentKey) => {
    const stored = await read(key).catch(async (error: unknown) => {
      problemOf(error, "corrupt");
      await clock.sleep(HALF_WRITTEN);
      return await read(key);
    });
    return stored === undefined ? [] : [[key.target, stored] as const];
  };
  return new Map((await sideBySide(keys, readOne, atOnce)).flat());
}
