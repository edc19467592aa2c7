import { closeSync, openSync, readSync } from "node:fs";
import { type Address, compareText, isAddress, targetAddress } from "../model/address.ts";
import type { Desired, DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type TascError, stop } from "../model/error.ts";
import { type Json, type JsonObject, isArray, isObject } from "../model/json.ts";
import type { LiveElement, LiveEnvironment, LiveTarget, LiveTestCase, Reader } from "../model/live.ts";
import type { Settings } from "../model/settings.ts";
import { type BatchRecord, type State, emptyState } from "../model/state.ts";
import { UNKNOWN } from "../model/value.ts";
import { type Refreshed, type RefreshOptions, refresh } from "../plan/refresh.ts";
import { makePlan } from "../plan/plan.ts";
import { changedFields } from "../plan/staleness.ts";
import { readTargets, readTestCase } from "../service/answers.ts";
import {
  CLOSE_LIST,
  COMMA,
  OPEN_LIST,
  closes,
  isBlank,
  isQuote,
  opens,
  parseJson,
  stringEnd,
  withoutBom,
} from "../service/json-stream.ts";
import { sameService } from "../state/backend.ts";

/**
 * A snapshot is what a plan reads, in one JSON document: the live targets, the test cases of those that are managed,
 * and of state what stands for the address of each: ids, folder ids, what became of batch generations. It is for plans
 * where neither the network nor the key may be, such as those of a fork's pull request. So it holds no fingerprint
 * (useless without the key, and nobody should have to trust that they are), and secrets are taken out by their value.
 *
 * The test cases come last and stand one on a line: 100,000 of them are written and read one by one.
 */
export const SNAPSHOT_FORMAT = "tasc-snapshot";
export const SNAPSHOT_VERSION = 1;

/** Everything but the test cases. */
export interface SnapshotHead {
  readonly tool: string;
  readonly stage: string;
  readonly baseUrl: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly states: readonly State[];
  readonly targets: readonly LiveTarget[];
  /** Ids of the targets whose test cases were read. */
  readonly read: readonly string[];
}

/** The state that a snapshot keeps; `undefined` for what is none. */
function readState(json: Json, stage: string, baseUrl: string): State | undefined {
  if (!isObject(json) || typeof json["target"] !== "string") return undefined;
  const [bindings, folders, batches] = [json["bindings"], json["folders"], json["batchGenerations"]];
  if (!isObject(bindings) || !isObject(folders) || !isObject(batches)) return undefined;
  return {
    ...emptyState(stage, json["target"], baseUrl),
    bindings: new Map(addressed(bindings).map(([address, id]) => [address, { id, fields: {} }])),
    folders: new Map(texts(folders)),
    batchGenerations: new Map(
      addressed(batches).flatMap(([address, status]) => (isStatus(status) ? [[address, { status }]] : [])),
    ),
  };
}

function addressed(json: JsonObject): readonly (readonly [Address, string])[] {
  return texts(json).flatMap(([key, text]) => (isAddress(key) ? [[key, text] as const] : []));
}

function texts(json: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(json).flatMap(([key, text]) =>
    typeof text === "string" ? [[key, text] as const] : [],
  );
}

const STATUSES: readonly string[] = ["done", "held", "uncertain", "undone"] satisfies BatchRecord["status"][];

function isStatus(text: string): text is BatchRecord["status"] {
  return STATUSES.includes(text);
}

/** @throws TascError for a snapshot that is not one for these settings */
export function mustFit({ stage, baseUrl }: SnapshotHead, settings: Settings): void {
  if (stage !== settings.stage)
    throw stop(
      "invalid",
      "snapshot",
      `The snapshot is of stage ${stage}, but this plan is for ${settings.stage}`,
      `Its ids are not valid here. Take a snapshot of ${settings.stage}, or plan with --stage ${stage}.`,
    );
  if (!sameService(baseUrl, settings.baseUrl))
    throw stop(
      "invalid",
      "snapshot",
      "The snapshot is from another service",
      `It was taken at ${baseUrl}, and this project's service is ${settings.baseUrl}. Correct service.baseUrl or the variable behind it, or take a snapshot there.`,
    );
}

/** The states of a snapshot, as a plan takes them. */
export function snapshotStates(
  { states }: SnapshotHead,
  { targets }: Desired,
): { readonly states: ReadonlyMap<string, State>; readonly strays: readonly State[] } {
  const declared = new Set(targets.map(({ key }) => key));
  return {
    states: new Map(
      states.filter(({ target }) => declared.has(target)).map((state) => [state.target, state]),
    ),
    strays: states.filter(({ target }) => !declared.has(target)),
  };
}

export type SnapshotPlanOptions = Omit<RefreshOptions, "fingerprints">;

/**
 * Plans from a snapshot, as from the service: the same function over the same data. Without fingerprints write-only
 * fields are unknown and no changes; and the live values of sensitive fields were taken out of the snapshot, so these
 * are not compared either.
 */
export async function planFromSnapshot(snapshot: Snapshot, options: SnapshotPlanOptions): Promise<Refreshed> {
  const found = await refresh(snapshot.reader, { ...options, fingerprints: undefined });
  const { input, planned } = withoutHidden(found);
  const diagnostics = [takenAt(snapshot.head), ...planned.plan.diagnostics];
  return { input, planned: { ...planned, plan: { ...planned.plan, diagnostics } } };
}

function takenAt({ createdAt }: SnapshotHead): Diagnostic {
  return {
    severity: "warning",
    code: "from-snapshot",
    summary: `Planned from a snapshot of ${createdAt}`,
    detail:
      "The service was not called, so later changes are not visible. Write-only and secret fields are not compared.",
  };
}

/** Plans once more with what only seems to differ, since the snapshot holds nothing to compare it with, left out. */
function withoutHidden(found: Refreshed): Refreshed {
  const hidden = hiddenFields(found);
  if (hidden.size === 0) return found;
  const input = { ...found.input, desired: withUnknown(found.input.desired, hidden) };
  return { input, planned: makePlan(input) };
}

type Hidden = ReadonlyMap<Address, readonly string[]>;

/** A creation compares nothing; and what is sent on demand is sent whatever is there. */
function hiddenFields({ planned, input }: Refreshed): Hidden {
  return new Map(
    planned.plan.changes
      .filter(({ action, address }) => action !== "create" && !input.rediscover.has(address))
      .map(({ address, fields }): [Address, readonly string[]] => [
        address,
        changedFields({ address, fields: fields.filter(({ sensitive }) => sensitive) }),
      ])
      .filter(([, names]) => names.length > 0),
  );
}

function withUnknown(desired: Desired, hidden: Hidden): Desired {
  return { ...desired, targets: desired.targets.map((target) => targetWithUnknown(target, hidden)) };
}

function targetWithUnknown(target: DesiredTarget, hidden: Hidden): DesiredTarget {
  return {
    ...resourceWithUnknown(target, hidden),
    environments: target.environments.map((one) => resourceWithUnknown(one, hidden)),
    testCases: target.testCases.map((one) => resourceWithUnknown(one, hidden)),
  };
}

function resourceWithUnknown<R extends DesiredResource>(resource: R, hidden: Hidden): R {
  const names = hidden.get(resource.address);
  if (names === undefined) return resource;
  const unknown = Object.fromEntries(names.map((name) => [name, UNKNOWN]));
  return { ...resource, fields: { ...resource.fields, ...unknown } };
}

/** A snapshot whose head is read; the test cases are read from the file when they are asked for. */
export interface Snapshot {
  readonly head: SnapshotHead;
  readonly reader: Reader;
  /** Hands over every test case, one by one, with the id of its target. @throws TascError where one is damaged */
  readonly eachTestCase: (take: (testCase: LiveTestCase, targetId: string) => void) => void;
}

const LIST = "testCases";

/** @param shown the file as the user named it @param code of what is wrong with it @throws TascError */
export function openSnapshot(
  path: string,
  shown: string,
  code: "snapshot" | "bad-snapshot" = "snapshot",
): Snapshot {
  const refuse = (why: string): TascError =>
    // Another name: this file may be anything, tasc.yaml itself for one.
    stop(
      "invalid",
      code,
      `${shown} is not a snapshot: ${why}`,
      "Take one:\n  tasc snapshot --out snapshot.json",
    );
  const head = readHead(path, refuse);
  const eachTestCase: Snapshot["eachTestCase"] = (take) => readTestCases(path, refuse, take);
  return { head, reader: readerOf(head, shown, eachTestCase), eachTestCase };
}

type Refuse = (why: string) => TascError;

const HEAD = ["format", "version", "tool", "stage", "baseUrl", "createdAt", "states", "targets", "read"];

function readHead(path: string, refuse: Refuse): SnapshotHead {
  const members = new Map<string, Json>();
  const split = readParts(path, refuse, {
    member: (name, value) => {
      if (HEAD.includes(name)) members.set(name, value);
      return members.size < HEAD.length;
    },
    item: () => undefined,
  });
  // A document of another kind, or of a later version, is told as that, whatever else it lacks.
  const other = otherFormat(members, split === "damaged");
  if (other !== undefined) throw refuse(other);
  const head = headOf(members);
  if (head === undefined) throw refuse("a part of it is missing or damaged");
  return head;
}

function otherFormat(members: ReadonlyMap<string, Json>, damaged: boolean): string | undefined {
  const version = members.get("version");
  if (members.get("format") !== SNAPSHOT_FORMAT)
    return damaged && members.size === 0 ? "it is not JSON" : "it is something else";
  if (version !== SNAPSHOT_VERSION)
    return `it has version ${JSON.stringify(version)}, and this tasc reads ${SNAPSHOT_VERSION}`;
  return undefined;
}

function headOf(members: ReadonlyMap<string, Json>): SnapshotHead | undefined {
  const text = (name: string): string | undefined => {
    const value = members.get(name);
    return typeof value === "string" ? value : undefined;
  };
  const list = (name: string): readonly Json[] | undefined => {
    const value = members.get(name);
    return isArray(value) ? value : undefined;
  };
  const [tool, stage, baseUrl, createdAt] = [text("tool"), text("stage"), text("baseUrl"), text("createdAt")];
  if (tool === undefined || stage === undefined || baseUrl === undefined || createdAt === undefined)
    return undefined;
  const states = list("states")?.map((state) => readState(state, stage, baseUrl));
  const targets = readTargets(members.get("targets") ?? null);
  const read = list("read");
  if (states === undefined || read === undefined || !targets.ok) return undefined;
  const whole = states.filter((state) => state !== undefined);
  if (whole.length < states.length) return undefined;
  return {
    tool,
    stage,
    baseUrl,
    createdAt,
    states: whole,
    targets: targets.value,
    read: read.filter((id) => typeof id === "string"),
  };
}

function readTestCases(
  path: string,
  refuse: Refuse,
  take: (testCase: LiveTestCase, targetId: string) => void,
): void {
  let misshapen = false;
  const split = readParts(path, refuse, {
    member: () => true,
    item: (value) => {
      const testCase = readTestCase(value);
      const targetId = isObject(value) ? value["testTargetId"] : undefined;
      if (testCase.ok && typeof targetId === "string") take(testCase.value, targetId);
      else misshapen = true;
    },
  });
  if (split === "damaged" || misshapen)
    throw refuse("a test case in it is damaged, or the file is truncated");
}

function readParts(path: string, refuse: Refuse, handler: JsonHandler): Split {
  try {
    return splitDocument(piecesOf(path), LIST, handler);
  } catch (error) {
    if (error instanceof Error && "code" in error) throw refuse("it cannot be read");
    throw error;
  }
}

const PIECE = 256 * 1024;

/** A buffer of its own for each piece: unfinished parts keep theirs. */
function* piecesOf(path: string): Generator<Uint8Array> {
  const file = openSync(path, "r");
  try {
    for (;;) {
      const piece = Buffer.allocUnsafe(PIECE);
      const size = readSync(file, piece, 0, PIECE, null);
      if (size === 0) return;
      yield piece.subarray(0, size);
    }
  } finally {
    closeSync(file);
  }
}

/** What is asked for side by side is read in one go through the file. */
function readerOf(head: SnapshotHead, shown: string, eachTestCase: Snapshot["eachTestCase"]): Reader {
  const wanted = new Map<string, (testCase: LiveTestCase) => void>();
  let pass: Promise<void> | undefined;
  /** Starts after all who ask in the same turn have asked. */
  const readAll = async (): Promise<void> => {
    await Promise.resolve();
    pass = undefined;
    eachTestCase((testCase, targetId) => wanted.get(targetId)?.(testCase));
  };
  return {
    listTargets: async () => head.targets,
    listTestCases: async (targetId, keep) => {
      if (!head.read.includes(targetId)) throw notRead(head, shown, targetId);
      const kept: LiveTestCase[] = [];
      wanted.set(targetId, (testCase) => void kept.push(keep(testCase)));
      await (pass ??= readAll());
      return kept;
    },
  };
}

function notRead({ targets }: SnapshotHead, shown: string, targetId: string): TascError {
  const app = targets.find(({ id }) => id === targetId)?.app ?? targetId;
  return stop(
    "invalid",
    "snapshot",
    `The snapshot does not contain the test cases of "${app}"`,
    `${shown} contains only targets that were declared when it was taken. Take a new snapshot with the current manifests:\n  tasc snapshot --out ${shown}`,
  );
}

/**
 * A snapshot as the data of the local service. What the service never shows is not there: credentials, headers and
 * private locations are those of a resource just made.
 */
export function seedOf(
  { targets, states }: Pick<SnapshotHead, "targets" | "states">,
  eachTestCase: Snapshot["eachTestCase"],
): JsonObject {
  const testCases: JsonObject[] = [];
  eachTestCase((live, targetId) => void testCases.push(testCaseSeed(live, targetId)));
  return {
    testTargets: targets.map(({ id, app }) => ({ id, app })),
    environments: targets.flatMap(environmentSeeds),
    folders: states.flatMap((state) => folderSeeds(state, targets)),
    testCases,
  };
}

function environmentSeeds({ id, environments }: LiveTarget): readonly JsonObject[] {
  return environments.map((environment) => environmentSeed(environment, id));
}

function environmentSeed({ id, type, discoveryUrl }: LiveEnvironment, testTargetId: string): JsonObject {
  return { id, testTargetId, type: type ?? "ADDITIONAL", ...known({ discoveryUrl }) };
}

/** Folders whose name somebody has learnt; others are ids without a name, as they are to whoever only reads. */
function folderSeeds(state: State, targets: readonly LiveTarget[]): readonly JsonObject[] {
  const testTargetId = state.bindings.get(targetAddress(state.target))?.id;
  if (!targets.some(({ id }) => id === testTargetId) || testTargetId === undefined) return [];
  return [...state.folders]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, id]) => ({ id, testTargetId, name }));
}

function testCaseSeed(
  { elements, discovery, description, tags, ...rest }: Omit<LiveTestCase, "asDeclared">,
  testTargetId: string,
): JsonObject {
  return {
    ...known({ ...rest }),
    testTargetId,
    description: description ?? "",
    tags: tags ?? [],
    elements: (elements ?? []).map(elementSeed),
    ...(discovery === undefined
      ? {}
      : { discovery: { ...known({ ...discovery }), status: discovery.status ?? "FINISHED" } }),
  };
}

/** In the described form; what a service shows beyond that means nothing to the local one. */
function elementSeed({ id, parts }: LiveElement): JsonObject {
  const { interaction, assertion, selectors, ...rest } = parts;
  return {
    ...known({ ...rest, id }),
    interaction: step("action", interaction),
    assertion: step("expectation", assertion),
    selectors: (isArray(selectors) ? selectors.filter(isObject) : []).map((selector) => ({
      selectorType: "TEXT",
      selector: "",
      ...selector,
    })),
  };
}

function step(name: string, part: Json | undefined): JsonObject | null {
  const does = isObject(part) ? part[name] : undefined;
  if (!isObject(part) || does === undefined) return null;
  const { calledWith } = part;
  return { [name]: does, ...(typeof calledWith === "string" ? { calledWith } : {}) };
}

/** What the service did not show stays out. */
export function known(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) shown[name] = value;
  return shown;
}

/** Takes in a document part by part. */
export interface JsonHandler {
  /** A member of the document, other than the streamed list. @returns whether to go on */
  member(name: string, value: Json): boolean;
  /** An item of the streamed list. */
  item(value: Json): void;
}

/** How a document was read: to its end, as far as was wanted, or up to something that is not JSON. */
export type Split = "whole" | "stopped" | "damaged";

const COLON = 0x3a;
/** Deeper than anything that a service lists; the parser would follow any depth. */
const DEEPEST = 110;
/** Members of the document stand at depth 1, items of its list at 2. */
const DEPTH_OF_PARTS = 2;
/** Bytes of one member or item. */
const LARGEST = 256 * 1024 * 1024;

/**
 * Reads a JSON object of which one member is a list too long to be held: that one comes item by item, each parsed from
 * just its bytes, the others come whole. How the text is laid out makes no difference.
 *
 * As for the client's splitter, a scan finds where parts end and `JSON.parse` judges what is in them.
 * @param list name of the member that is streamed
 */
export function splitDocument(pieces: Iterable<Uint8Array>, list: string, taker: JsonHandler): Split {
  const splitter = new DocumentSplitter(list, taker);
  let first = true;
  for (const piece of pieces) {
    const state = splitter.push(first ? withoutBom(piece) : piece);
    if (state !== undefined) return state;
    first = false;
  }
  return splitter.ended() ? "whole" : "damaged";
}

class DocumentSplitter {
  readonly #list: string;
  readonly #taker: JsonHandler;
  #depth = 0;
  /** Inside an unfinished string: how far into the next piece the scan skips; -1 outside of any. */
  #resume = -1;
  /** The member whose value is being read. */
  #name: string | undefined;
  /** Inside the streamed list. */
  #streaming = false;
  #done = false;
  /** Earlier pieces of the current part. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;

  constructor(list: string, taker: JsonHandler) {
    this.#list = list;
    this.#taker = taker;
  }

  ended(): boolean {
    return this.#done;
  }

  /** @returns how it ended, if it did */
  push(piece: Uint8Array): Split | undefined {
    let start = 0;
    let at = this.#resume < 0 ? 0 : stringEnd(piece, this.#resume) + 1;
    for (; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (isQuote(byte)) {
        at = stringEnd(piece, at + 1);
        continue;
      }
      // Nearly all bytes are within an item and mean nothing by themselves.
      if (this.#depth > DEPTH_OF_PARTS && !opens(byte) && !closes(byte)) continue;
      const cut = this.#structure(byte, piece, start, at);
      if (cut === "part") start = at + 1;
      else if (cut !== "inside") return cut;
    }
    this.#resume = at - piece.length - 1;
    return this.#keep(piece.subarray(start)) ? undefined : "damaged";
  }

  /** What a byte outside of strings means for the part that began at `start`. */
  #structure(
    byte: number,
    piece: Uint8Array,
    start: number,
    at: number,
  ): "inside" | "part" | "stopped" | "damaged" {
    if (this.#done) return isBlank(byte) ? "inside" : "damaged";
    if (opens(byte)) return this.#open(byte, piece, start, at);
    if (closes(byte)) return this.#close(byte, piece, start, at);
    const inner = this.#streaming ? 2 : 1;
    if (this.#depth === 0) return isBlank(byte) ? "inside" : "damaged";
    if (this.#depth !== inner) return "inside";
    if (byte === COMMA) return this.#part(piece, start, at);
    if (byte === COLON && !this.#streaming && this.#name === undefined) return this.#named(piece, start, at);
    return "inside";
  }

  #open(byte: number, piece: Uint8Array, start: number, at: number): "inside" | "part" | "damaged" {
    this.#depth += 1;
    if (this.#depth === 1) return byte === OPEN_LIST ? "damaged" : "part";
    if (this.#depth > DEEPEST) return "damaged";
    if (this.#depth !== 2 || this.#streaming || this.#name !== this.#list || byte !== OPEN_LIST)
      return "inside";
    this.#streaming = true;
    return this.#take(piece, start, at).every(isBlank) ? "part" : "damaged";
  }

  #close(
    byte: number,
    piece: Uint8Array,
    start: number,
    at: number,
  ): "inside" | "part" | "stopped" | "damaged" {
    this.#depth -= 1;
    if (this.#streaming && this.#depth === 1) {
      if (byte !== CLOSE_LIST) return "damaged";
      const end = this.#part(piece, start, at);
      this.#streaming = false;
      return end;
    }
    if (this.#depth > 0) return "inside";
    if (this.#depth < 0 || byte === CLOSE_LIST) return "damaged";
    const end = this.#part(piece, start, at);
    this.#done = end === "part";
    return end;
  }

  #named(piece: Uint8Array, start: number, at: number): "part" | "damaged" {
    const name = parseJson(this.#take(piece, start, at));
    if (!name.ok || typeof name.value !== "string") return "damaged";
    this.#name = name.value;
    return "part";
  }

  /** A member's value or an item ends here. Blank ones are what is left over behind a list, or an empty list. */
  #part(piece: Uint8Array, start: number, at: number): "part" | "stopped" | "damaged" {
    const bytes = this.#take(piece, start, at);
    const name = this.#name;
    if (!this.#streaming) this.#name = undefined;
    if (bytes.every(isBlank)) return name === undefined || name === this.#list ? "part" : "damaged";
    const parsed = parseJson(bytes);
    if (!parsed.ok || name === undefined) return "damaged";
    if (this.#streaming) this.#taker.item(parsed.value);
    else if (!this.#taker.member(name, parsed.value)) return "stopped";
    return "part";
  }

  #take(piece: Uint8Array, start: number, end: number): Uint8Array {
    const last = piece.subarray(start, end);
    if (this.#kept.length === 0) return last;
    const whole = Buffer.concat([...this.#kept, last]);
    this.#kept = [];
    this.#keptBytes = 0;
    return whole;
  }

  #keep(rest: Uint8Array): boolean {
    if (rest.length > 0) this.#kept.push(rest);
    this.#keptBytes += rest.length;
    return this.#keptBytes <= LARGEST;
  }
}
