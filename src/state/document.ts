import { type Address, KEY_PATTERN, KINDS, compareText } from "../model/address.ts";
import type {
  BatchRecord,
  Binding,
  FieldRecord,
  Intent,
  LocatorRecord,
  RunChange,
  RunRecord,
  State,
  StateEvent,
} from "../model/state.ts";
import { sameService } from "./backend.ts";
import { type DocumentKey, StateFailure } from "./problem.ts";

/*
 * The text form of a state: JSON, made to be kept in git. All keys are sorted, so that the same state is the same
 * bytes; one binding a line, so that a diff shows which resource changed and two branches merge; no counter or date
 * of its own, for every merge would conflict there (only servers of the http protocol that ask for a `serial` get one).
 */

const FORMAT = "tasc-state";
/** Since 2: lineage, the run under way, fields that show a secret. */
const VERSION = 2;

/** The document's text. @param serial for keepers that count a document's versions inside it. */
export function formatDocument(state: State, serial?: number): string {
  return `{
  "batchGenerations": ${mapText(state.batchGenerations, batchText)},
  "bindings": ${mapText(state.bindings, bindingText)},
  "folders": ${mapText(state.folders, (id) => JSON.stringify(id))},
  "format": ${JSON.stringify(FORMAT)},
  "intents": ${mapText(state.intents, intentText)},
${optionalLine("keyCheck", state.keyCheck)}${optionalLine("lineage", state.lineage)}${optionalLine("run", state.run && runValue(state.run))}${optionalLine("serial", serial)}  "service": ${JSON.stringify(state.service)},
  "stage": ${JSON.stringify(state.stage)},
  "target": ${JSON.stringify(state.target)},
  "version": ${VERSION}
}
`;
}

function runValue({ at, changes, commit, id, plan, where, who }: RunRecord): object {
  return { at, changes: Object.fromEntries(changes), commit, id, plan, where, who };
}

function optionalLine(name: string, value: string | number | object | undefined): string {
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

/** Tests of what came from a file, a database or a server and may be anything. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** A whole number from zero on. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

/** Whether the value is a record of nothing but what passes the test. */
function isRecordOf<V>(
  value: unknown,
  test: (part: unknown) => part is V,
): value is Readonly<Record<string, V>> {
  if (!isRecord(value)) return false;
  for (const name of Object.keys(value)) if (!test(value[name])) return false;
  return true;
}

type Test = (part: unknown) => boolean;

/**
 * Whether the value is a record with exactly these members. A member more than we know is refused as well: to
 * read past it would be to lose it at the next write.
 */
function hasMembers(
  value: unknown,
  required: Readonly<Record<string, Test>>,
  optional: Readonly<Record<string, Test>> = {},
): boolean {
  if (!isRecord(value)) return false;
  const isKnown = (name: string) => testOf(name, required, optional)?.(value[name]) === true;
  return (
    Object.keys(required).every((name) => Object.hasOwn(value, name)) && Object.keys(value).every(isKnown)
  );
}

/** Own members only: `__proto__` and `constructor` are names like others. */
function testOf(name: string, ...tables: readonly Readonly<Record<string, Test>>[]): Test | undefined {
  return tables.find((table) => Object.hasOwn(table, name))?.[name];
}

/** Whether what a document or a journal holds are records of ours. */

const KEY = KEY_PATTERN.slice(1, -1);
const ADDRESS = new RegExp(`^(?:target|(?:${KINDS.slice(1).join("|")})\\.${KEY})\\.${KEY}$`);

/** As `isAddress` of the model, for as many as a document holds: without taking each one apart. */
export function isAddress(value: unknown): value is Address {
  return isText(value) && ADDRESS.test(value);
}

function isParts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecordOf(value, isText);
}

function isFieldRecord(value: unknown): value is FieldRecord {
  return isText(value) || isParts(value);
}

function isFields(value: unknown): value is Binding["fields"] {
  return isRecordOf(value, isFieldRecord);
}

const LOCATOR = { line: isText, selectors: isText };
function isLocator(value: unknown): value is LocatorRecord {
  return hasMembers(value, LOCATOR);
}

function isLocators(value: unknown): value is Readonly<Record<string, LocatorRecord>> {
  return isRecordOf(value, isLocator);
}

const BINDING = { id: isText, fields: isFields };
const BINDING_OPTIONAL = { generating: isText, locators: isLocators, secrets: isTexts };
function isBinding(value: unknown): value is Binding {
  return hasMembers(value, BINDING, BINDING_OPTIONAL);
}

const BATCH_STATUSES: readonly unknown[] = [
  "done",
  "held",
  "uncertain",
  "undone",
] satisfies BatchRecord["status"][];
const BATCH = { status: (value: unknown) => BATCH_STATUSES.includes(value) };
const BATCH_OPTIONAL = { content: isText };
function isBatchRecord(value: unknown): value is BatchRecord {
  return hasMembers(value, BATCH, BATCH_OPTIONAL);
}

const INTENT = { at: isText, existing: isTexts, fields: isFields };
const INTENT_OPTIONAL = { name: isText, externalId: isText, content: isText, secrets: isTexts };
function isIntent(value: unknown): value is Intent {
  return hasMembers(value, INTENT, INTENT_OPTIONAL);
}

const RUN = { id: isText, at: isText, who: isText, plan: isText };
const RUN_OPTIONAL = { where: isText, commit: isText };
function isRun(value: unknown): value is Omit<RunRecord, "changes"> {
  return hasMembers(value, RUN, RUN_OPTIONAL);
}

const PLANNED = { action: isText, calls: isCount };
function arePlannedChanges(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((change) => hasMembers(change, PLANNED));
}

const RUN_CHANGE = { ...PLANNED, answered: isCount };
function isRunChange(value: unknown): value is RunChange {
  return hasMembers(value, RUN_CHANGE);
}

type Members = Readonly<Record<string, (part: unknown) => boolean>>;

/** The members of each type of event, beside `type`. */
const EVENTS: Readonly<Record<StateEvent["type"], readonly [Members, Members?]>> = {
  keyed: [{ keyCheck: isText }],
  bound: [{ address: isAddress, id: isText, fields: isFields }, { secrets: isTexts }],
  wrote: [{ address: isAddress, fields: isFields }, { secrets: isTexts }],
  forgot: [{ address: isAddress, fields: isTexts }],
  located: [
    { address: isAddress, locators: isLocators },
    { elements: isTexts, secret: (value) => value === true },
  ],
  unbound: [{ address: isAddress }],
  moved: [{ from: isAddress, to: isAddress }],
  folder: [{ name: isText, id: isText }],
  batch: [{ address: isAddress, record: isBatchRecord }],
  intended: [{ address: isAddress, intent: isIntent }],
  settled: [{ address: isAddress }],
  generating: [{ address: isAddress, shown: isText }],
  generated: [{ address: isAddress }],
  began: [{ run: isRun, changes: arePlannedChanges }],
  answered: [{ address: isAddress }, { last: (value) => value === true }],
  ended: [{}],
};

export function isStateEvent(value: unknown): value is StateEvent {
  if (!isRecord(value) || !isEventType(value["type"])) return false;
  const [required, optional] = EVENTS[value["type"]];
  return hasMembers(value, { type: isText, ...required }, optional);
}

function isEventType(value: unknown): value is StateEvent["type"] {
  return isText(value) && Object.hasOwn(EVENTS, value);
}

export function areStateEvents(value: unknown): value is readonly StateEvent[] {
  return Array.isArray(value) && value.every(isStateEvent);
}

/**
 * The records of a document, each on one line, all keys sorted. A document may hold a
 * hundred thousand of them, and nearly all come sorted from the last one, so they are copied only where not.
 * Absent members are given as undefined, which JSON leaves out.
 */

function bindingText({ id, fields, generating, locators, secrets }: Binding): string {
  const ordered = locators && sorted(locators, orderedLocator);
  return JSON.stringify({ fields: sortedFields(fields), generating, id, locators: ordered, secrets });
}

function batchText({ status, content }: BatchRecord): string {
  return JSON.stringify({ content, status });
}

function intentText({ at, existing, name, externalId, fields, content, secrets }: Intent): string {
  return JSON.stringify({ at, content, existing, externalId, fields: sortedFields(fields), name, secrets });
}

function orderedLocator({ line, selectors }: LocatorRecord): LocatorRecord {
  return { line, selectors };
}

function sortedFields(fields: Binding["fields"]): Binding["fields"] {
  return sorted(fields, (field: FieldRecord) =>
    typeof field === "string" ? field : sorted(field, (part) => part),
  );
}

/** The record with its names in order and its values in theirs: itself, if it is so already. */
function sorted<V>(
  record: Readonly<Record<string, V>>,
  inOrder: (value: V) => V,
): Readonly<Record<string, V>> {
  const names = Object.keys(record);
  let previous = "";
  for (const name of names) {
    const value = record[name];
    if (name < previous || (value !== undefined && inOrder(value) !== value))
      return sortedCopy(record, inOrder);
    previous = name;
  }
  return record;
}

function sortedCopy<V>(record: Readonly<Record<string, V>>, inOrder: (value: V) => V): Record<string, V> {
  const entries = Object.entries(record).toSorted(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([name, value]) => [name, inOrder(value)]));
}

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
 * @throws StateFailure
 */
export function parseDocument(text: string, expected: DocumentKey, where: string): ParsedDocument {
  const corrupt: Corrupt = (reason) => new StateFailure({ kind: "corrupt", where, reason });
  const root = rootOf(text, where, corrupt);
  checkIdentity(root, expected, where, corrupt);
  const content = readContent(root, expected, corrupt);
  const line = doubledEntryLine(text, entryCount(content.state));
  if (line !== undefined) throw new StateFailure({ kind: "conflicted", where, line });
  return content;
}

/** Makes the error of a document that is damaged, of what is wrong with it. */
type Corrupt = (reason: string) => StateFailure;

function rootOf(text: string, where: string, corrupt: Corrupt): Root {
  const root = parseJson(text);
  if (isRecord(root)) return root;
  if (root !== undefined) throw corrupt("it is JSON, but not an object");
  const line = conflictMarkerLine(text);
  if (line !== undefined) throw new StateFailure({ kind: "conflicted", where, line });
  throw corrupt("invalid JSON; the file may be truncated");
}

function entryCount({ bindings, folders, batchGenerations, intents }: State): number {
  return bindings.size + folders.size + batchGenerations.size + intents.size;
}

function checkIdentity(root: Root, expected: DocumentKey, where: string, corrupt: Corrupt): void {
  const { format, version } = root;
  if (format !== FORMAT) throw corrupt(`its "format" is not "${FORMAT}"`);
  if (!isCount(version) || version === 0) throw corrupt('its "version" is not a whole number from 1 up');
  if (version > VERSION) throw new StateFailure({ kind: "newer", where, version, understood: VERSION });
  if (!isDocumentKey(root)) throw corrupt('it does not name its "stage", "target" and "service"');
  checkKey(root, expected, where);
}

export function isDocumentKey(value: Root): value is Root & DocumentKey {
  return isText(value["stage"]) && isText(value["target"]) && isText(value["service"]);
}

/** Whether a text is of the stage, target and service that it is expected to be of. @throws StateFailure */
export function checkKey(
  { stage, target, service }: DocumentKey,
  expected: DocumentKey,
  where: string,
): void {
  if (stage !== expected.stage || target !== expected.target)
    throw new StateFailure({
      kind: "misplaced",
      where,
      expected: { stage: expected.stage, target: expected.target },
      found: { stage, target },
    });
  if (!sameService(service, expected.service))
    throw new StateFailure({ kind: "other-service", where, expected: expected.service, found: service });
}

const MEMBERS = [
  "format",
  "version",
  "serial",
  "stage",
  "target",
  "service",
  "keyCheck",
  "lineage",
  "run",
  "bindings",
  "folders",
  "batchGenerations",
  "intents",
];

function readContent(root: Root, { stage, target, service }: DocumentKey, corrupt: Corrupt): ParsedDocument {
  const { keyCheck, serial, lineage } = root;
  const unknown = Object.keys(root).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined)
    throw corrupt(`it has a member ${JSON.stringify(unknown)} that tasc does not know`);
  if (keyCheck !== undefined && !isText(keyCheck)) throw corrupt('"keyCheck" is not a string');
  if (lineage !== undefined && !isText(lineage)) throw corrupt('"lineage" is not a string');
  if (serial !== undefined && !isCount(serial)) throw corrupt('"serial" is not a whole number');
  const state = {
    ...(lineage !== undefined && { lineage }),
    stage,
    target,
    service,
    keyCheck,
    bindings: mapOf<Address, Binding>(root, "bindings", isAddress, isBinding, corrupt),
    folders: mapOf(root, "folders", isText, isText, corrupt),
    batchGenerations: mapOf<Address, BatchRecord>(
      root,
      "batchGenerations",
      isAddress,
      isBatchRecord,
      corrupt,
    ),
    intents: mapOf<Address, Intent>(root, "intents", isAddress, isIntent, corrupt),
    ...(root["run"] !== undefined && { run: readRun(root["run"], corrupt) }),
  };
  return { state, serial };
}

function readRun(value: unknown, corrupt: Corrupt): RunRecord {
  if (!isRecord(value)) throw corrupt('"run" is not an object');
  const { changes: _, ...run } = value;
  if (!isRun(run)) throw corrupt('"run" is not in the expected format');
  return { ...run, changes: mapOf<Address, RunChange>(value, "changes", isAddress, isRunChange, corrupt) };
}

/** A member that maps keys to records. */
function mapOf<K extends string, V>(
  root: Root,
  member: string,
  isKey: (key: unknown) => key is K,
  isValue: (value: unknown) => value is V,
  corrupt: Corrupt,
): Map<K, V> {
  const record = root[member];
  if (!isRecord(record)) throw corrupt(`"${member}" is missing or not an object`);
  const map = new Map<K, V>();
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (!isKey(key)) throw corrupt(`"${member}" has a key ${JSON.stringify(key)} that is not an address`);
    if (!isValue(value))
      throw corrupt(`the entry ${JSON.stringify(key)} of "${member}" is not in the expected format`);
    map.set(key, value);
  }
  return map;
}

/** The value of a JSON text; `undefined`, which no JSON has, if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What git leaves in a file that both sides changed; no line of JSON begins like this. */
const MARKER = /^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)/m;

/** The line, from 1, of git's first conflict marker in a text that is not JSON. */
function conflictMarkerLine(text: string): number | undefined {
  return lineOf(text, MARKER.exec(text)?.index);
}

const ENTRY = '\n    "';
const TWICE = /^ {4}("[^"\n]*"): .*\n {4}\1: /m;

/**
 * The line, from 1, of an entry that is there twice, as `merge=union` leaves it; a JSON parser takes the last
 * without a word. Entries are sorted, so the two are neighbours. Counting them first spares nearly every
 * document the search.
 *
 * @param entries as many as the parsed document has.
 */
function doubledEntryLine(text: string, entries: number): number | undefined {
  return count(text, ENTRY) > entries ? lineOf(text, TWICE.exec(text)?.index) : undefined;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found += 1;
  return found;
}

function lineOf(text: string, index: number | undefined): number | undefined {
  return index === undefined ? undefined : text.slice(0, index).split("\n").length;
}
