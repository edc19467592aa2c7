import { closeSync, openSync, readSync } from "node:fs";
import { type Address, compareText, isAddress, targetAddress } from "../model/address.ts";
import { type TascError, invalid } from "../model/error.ts";
import { type Json, type JsonObject, defined, isArray, isObject } from "../model/json.ts";
import type { LiveElement, LiveTarget, LiveTestCase, Reader } from "../model/live.ts";
import { type State, emptyState, isBatchRecord } from "../model/state.ts";
import { readTargets, readTestCase } from "../service/answers.ts";
import { FaultError } from "../service/failure.ts";
import {
  JsonSplitter,
  isDeeper,
  isQuote,
  closes,
  opens,
  OPEN_LIST,
  parseBytes,
  stringEnd,
  withoutBom,
} from "../service/json-stream.ts";
import { MAX_DEPTH } from "../service/request.ts";

/**
 * A snapshot is one JSON document with everything that a plan reads: the live targets, the test
 * cases of managed targets, and from state only ids by address, folder ids, and the status of batch
 * generations. It is for plans that have no access to the network and the key, e.g. those of a
 * fork's pull request. So it contains no fingerprints (they are useless without the key, but users
 * should not have to rely on that), and secrets are removed by their value.
 *
 * The test cases come last, one per line, so that 100,000 of them can be written and read one by
 * one.
 */
export const SNAPSHOT_FORMAT = "tasc-snapshot";
export const SNAPSHOT_VERSION = 1;

export interface SnapshotHead {
  readonly tool: string;
  readonly stage: string;
  readonly baseUrl: string;
  readonly createdAt: string;
  readonly states: readonly State[];
  readonly targets: readonly LiveTarget[];
  /** Ids of the targets whose test cases were read. */
  readonly read: readonly string[];
}

function readState(json: Json, stage: string, baseUrl: string): State | undefined {
  if (!isObject(json)) return undefined;
  const { target, bindings, folders, batchGenerations: batches } = json;
  if (typeof target !== "string" || !isObject(bindings) || !isObject(folders) || !isObject(batches))
    return undefined;
  const imported = new Set(isArray(json.imported) ? json.imported : []);
  const mark = (address: Address) => (imported.has(address) ? ({ imported: true } as const) : {});
  return {
    ...emptyState(stage, target, baseUrl),
    bindings: new Map(
      addressed(bindings).map(([address, id]) => [address, { id, fields: {}, ...mark(address) }]),
    ),
    folders: new Map(texts(folders)),
    batchGenerations: new Map(
      addressed(batches).flatMap(([address, status]) => {
        const record = { status };
        return isBatchRecord(record) ? [[address, record]] : [];
      }),
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

/**
 * A snapshot whose head has been read. The test cases are read from the file when they are needed.
 */
export interface Snapshot {
  readonly head: SnapshotHead;
  readonly reader: Reader;
  /**
   * Calls `take` with each test case and the id of its target, one by one.
   * @throws TascError if a test case is damaged
   */
  readonly eachTestCase: (take: (testCase: LiveTestCase, targetId: string) => void) => void;
}

const LIST = "testCases";

/**
 * Opens a snapshot.
 * @param shown the file as the user named it
 * @param code of its errors
 * @throws TascError
 */
export function openSnapshot(
  path: string,
  shown: string,
  code: "snapshot" | "bad-snapshot" = "snapshot",
): Snapshot {
  const refuse = (why: string): TascError =>
    // A different name, because this file may be any file, even tasc.yaml.
    invalid(
      code,
      `${shown} is not a snapshot: ${why}`,
      "Take one:\n  tasc snapshot --out snapshot.json",
    );
  const head = readHead(path, refuse);
  const eachTestCase: Snapshot["eachTestCase"] = (take) => readTestCases(path, refuse, take);
  return { head, reader: readerOf(head, shown, eachTestCase), eachTestCase };
}

type Refuse = (why: string) => TascError;

const HEAD = [
  "format",
  "version",
  "tool",
  "stage",
  "baseUrl",
  "createdAt",
  "states",
  "targets",
  "read",
];

function readHead(path: string, refuse: Refuse): SnapshotHead {
  const document = readDocument(path, refuse);
  if (!isObject(document)) throw refuse("it is not JSON");
  // First the format and the version, so that other documents and later versions are reported as
  // such.
  const {
    format,
    version,
    tool,
    stage,
    baseUrl,
    createdAt,
    states,
    targets = null,
    read,
  } = document;
  if (format !== SNAPSHOT_FORMAT) throw refuse("it is something else");
  if (version !== SNAPSHOT_VERSION)
    throw refuse(
      `it has version ${JSON.stringify(version)}, and this tasc reads ${SNAPSHOT_VERSION}`,
    );
  const damaged = refuse("a part of it is missing or damaged");
  if (typeof tool !== "string" || typeof stage !== "string" || typeof baseUrl !== "string")
    throw damaged;
  if (typeof createdAt !== "string" || !isArray(states) || !isArray(read)) throw damaged;
  const whole = states.flatMap((state) => readState(state, stage, baseUrl) ?? []);
  if (whole.length < states.length) throw damaged;
  const head = { tool, stage, baseUrl, createdAt, states: whole };
  try {
    return {
      ...head,
      targets: readTargets(targets),
      read: read.filter((id) => typeof id === "string"),
    };
  } catch (error) {
    throw error instanceof FaultError ? damaged : error;
  }
}

function readTestCases(
  path: string,
  refuse: Refuse,
  take: (testCase: LiveTestCase, targetId: string) => void,
): void {
  const document = readDocument(path, refuse, (item) => {
    const targetId = isObject(item) ? item["testTargetId"] : undefined;
    // A test case must have a target's id: without it, this reports the damage.
    if (typeof targetId === "string") take(readTestCase(item), targetId);
    else readTestCase(item);
  });
  if (document === undefined)
    throw refuse("a test case in it is damaged, or the file is truncated");
}

const PIECE = 256 * 1024;

/**
 * Reads the document with an empty list of test cases, because the list may not fit into memory:
 * test cases go to `take`, one by one. The layout of the text does not matter. Returns `undefined`
 * if the text is not JSON.
 *
 * @param take without it, the list is skipped, and not even read if it comes last
 */
function readDocument(path: string, refuse: Refuse, take?: (item: Json) => void): Json | undefined {
  let file: number | undefined;
  const next = (size = PIECE): Buffer => {
    file ??= openSync(path, "r");
    // Each piece has its own buffer, because unfinished parts still refer to theirs.
    const piece = Buffer.allocUnsafe(size);
    return piece.subarray(0, readSync(file, piece, 0, size, null));
  };
  try {
    let head = next();
    let start = listStart(head);
    while (start === undefined) {
      // Doubles the text, because it is searched again from its start.
      const piece = next(head.length + 1);
      if (piece.length === 0) return parsed(head);
      head = Buffer.concat([head, piece]);
      start = listStart(head);
    }
    const before = head.subarray(0, start);
    const document = take === undefined ? parsed(before, Buffer.from("[]}")) : undefined;
    if (isObject(document) && HEAD.every((name) => Object.hasOwn(document, name))) return document;
    const splitter = new JsonSplitter((item) => take?.(item));
    let piece = head.subarray(start);
    for (let pushed = 0; ; pushed += piece.length, piece = next()) {
      try {
        splitter.push(piece);
      } catch (error) {
        // The text after the list is read below.
        if (splitter.closedAt === undefined) throw error;
      }
      if (splitter.closedAt !== undefined) {
        piece = piece.subarray(splitter.closedAt - pushed);
        break;
      }
      if (piece.length === 0) return undefined;
    }
    const after: Buffer[] = [];
    for (; piece.length > 0; piece = next()) after.push(piece);
    return parsed(before, Buffer.from("[]"), ...after);
  } catch (error) {
    if (error instanceof FaultError) return undefined;
    if (error instanceof Error && "syscall" in error) throw refuse("it cannot be read");
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Returns the position of the list of test cases; `undefined` if it is not in these bytes. */
function listStart(bytes: Buffer): number | undefined {
  let depth = 0;
  let name = "";
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isQuote(byte)) {
      const end = stringEnd(bytes, at + 1);
      // The last string at this depth before a list is the list's name.
      if (depth === 1) name = bytes.toString("utf8", at + 1, end);
      at = end;
    } else if (closes(byte)) depth--;
    else if (opens(byte) && depth++ === 1 && byte === OPEN_LIST && name === LIST) return at;
  }
  return undefined;
}

/**
 * Parses the JSON in these parts of a text. Checks its depth first, because the parser has no
 * limit.
 * @throws FaultError
 */
function parsed(...parts: readonly Uint8Array[]): Json | undefined {
  const bytes = withoutBom(Buffer.concat(parts));
  return isDeeper(bytes, MAX_DEPTH) ? undefined : parseBytes(bytes);
}

/**
 * Returns a reader. Test cases that are requested concurrently are read in one pass through the
 * file.
 */
function readerOf(
  head: SnapshotHead,
  shown: string,
  eachTestCase: Snapshot["eachTestCase"],
): Reader {
  const wanted = new Map<string, (testCase: LiveTestCase) => void>();
  let pass: Promise<void> | undefined;
  /** Starts after all requests of the same turn have been registered. */
  const readAll = async (): Promise<void> => {
    await Promise.resolve();
    pass = undefined;
    eachTestCase((testCase, targetId) => wanted.get(targetId)?.(testCase));
  };
  return {
    listTargets: async () => head.targets,
    listTestCases: async (targetId, keep) => {
      if (!head.read.includes(targetId)) {
        const app = head.targets.find(({ id }) => id === targetId)?.app ?? targetId;
        throw invalid(
          "snapshot",
          `The snapshot does not contain the test cases of "${app}"`,
          `${shown} contains only targets that were declared when it was taken. Take a new snapshot with the current manifests:\n  tasc snapshot --out ${shown}`,
        );
      }
      const kept: LiveTestCase[] = [];
      wanted.set(targetId, (testCase) => void kept.push(keep(testCase)));
      await (pass ??= readAll());
      return kept;
    },
  };
}

/**
 * Returns a snapshot as data of the local service. Values that the service never shows are those of
 * a new resource.
 */
export function seedOf(
  { targets, states }: Pick<SnapshotHead, "targets" | "states">,
  eachTestCase: Snapshot["eachTestCase"],
): JsonObject {
  const testCases: JsonObject[] = [];
  eachTestCase((live, testTargetId) => {
    const {
      asDeclared: _,
      hidden: ___,
      acceptance: __,
      elements = [],
      discovery,
      description = "",
      tags = [],
      ...rest
    } = live;
    testCases.push({
      ...defined({ ...rest, testTargetId }),
      description,
      tags,
      elements: elements.map(elementSeed),
      ...(discovery && { discovery: { status: "FINISHED", ...defined({ ...discovery }) } }),
    });
  });
  return {
    testTargets: targets.map(({ id, app }) => ({ id, app })),
    environments: targets.flatMap(({ id: testTargetId, environments }) =>
      environments.map(({ id, type = "ADDITIONAL", discoveryUrl }) =>
        defined({ id, testTargetId, type, discoveryUrl }),
      ),
    ),
    folders: states.flatMap((state) => folderSeeds(state, targets)),
    testCases,
  };
}

/**
 * Returns the folders whose names are known. Other folders are ids without a name, as for any
 * client that only reads.
 */
function folderSeeds(state: State, targets: readonly LiveTarget[]): readonly JsonObject[] {
  const testTargetId = state.bindings.get(targetAddress(state.target))?.id;
  if (!targets.some(({ id }) => id === testTargetId) || testTargetId === undefined) return [];
  return [...state.folders]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, id]) => ({ id, testTargetId, name }));
}

/**
 * Returns an element in the documented form. Other data that a service shows means nothing to the
 * local service.
 */
function elementSeed({ id, parts }: LiveElement): JsonObject {
  const { interaction, assertion, selectors, ...rest } = parts;
  return {
    ...defined({ ...rest, id }),
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
  if (!isObject(part) || part[name] === undefined) return null;
  const { calledWith } = part;
  return { [name]: part[name], ...(typeof calledWith === "string" ? { calledWith } : {}) };
}
