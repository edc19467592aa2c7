import { closeSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { type Address, compareAddresses, compareText, parseAddress } from "../model/address.ts";
import { type Json, type JsonObject, isArray, isObject } from "../model/json.ts";
import type { LiveDiscovery, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { BatchRecord, State } from "../model/state.ts";
import { SENSITIVE } from "../model/value.ts";
import { secretFieldsOf } from "../plan/memory.ts";
import { printedJson } from "../render/escape.ts";
import { refuseSpecialFile } from "../render/output-file.ts";
import type { Redactor } from "../render/redact.ts";
import type { Client } from "../service/client.ts";
import type { Collector } from "../service/exchange.ts";
import { SNAPSHOT_FORMAT, SNAPSHOT_VERSION, type SnapshotHead, known } from "./snapshot.ts";

/** What a snapshot keeps of a state. */
function stateJson(state: State): JsonObject {
  return {
    target: state.target,
    bindings: sortedEntries(state.bindings, ({ id }) => id),
    folders: Object.fromEntries([...state.folders].toSorted(([a], [b]) => compareText(a, b))),
    batchGenerations: sortedEntries(batchesOf(state), ({ status }) => status),
  };
}

/** A batch generation that was cut off while it was sent: with the key a plan would find it uncertain as well. */
function batchesOf({ batchGenerations, intents }: State): ReadonlyMap<Address, Pick<BatchRecord, "status">> {
  const uncertain = [...intents.keys()]
    .filter((address) => parseAddress(address)?.kind === "batchGeneration")
    .map((address): [Address, Pick<BatchRecord, "status">] => [address, { status: "uncertain" }]);
  return new Map([...batchGenerations, ...uncertain]);
}

function sortedEntries<V>(map: ReadonlyMap<Address, V>, text: (value: V) => string): JsonObject {
  return Object.fromEntries(
    [...map].toSorted(([a], [b]) => compareAddresses(a, b)).map(([address, value]) => [address, text(value)]),
  );
}

/** Where a snapshot goes, piece by piece. What was written after a mark can be taken back. */
export interface Sink {
  write(text: string): void;
  mark(): number;
  rewind(mark: number): void;
}

/** In memory, for standard output: nothing that a broken try wrote may have left. */
export function memorySink(): Sink & { pieces(): readonly string[] } {
  const pieces: string[] = [];
  return {
    write: (text) => void pieces.push(text),
    mark: () => pieces.length,
    rewind: (mark) => void pieces.splice(mark),
    pieces: () => pieces,
  };
}

export interface FileSink extends Sink {
  /** Puts the file in its place. */
  keep(): void;
  /** Leaves nothing behind; after `keep` it does nothing. */
  drop(): void;
}

/** Characters that are gathered before they are written. */
const BUFFERED = 256 * 1024;

/**
 * A file that is readable for its owner alone from the first moment, and in its place only when it is whole.
 * @throws the system's error where it cannot be written
 */
export function fileSink(path: string, root: string): FileSink {
  refuseSpecialFile(path, root);
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, "wx", 0o600);
  let waiting = "";
  let size = 0;
  let open = true;
  const flush = (): void => {
    const bytes = Buffer.from(waiting);
    waiting = "";
    for (let done = 0; done < bytes.length;)
      done += writeSync(file, bytes, done, bytes.length - done, size + done);
    size += bytes.length;
  };
  const close = (): void => {
    open = false;
    closeSync(file);
  };
  return {
    write(text) {
      waiting += text;
      if (waiting.length > BUFFERED) flush();
    },
    mark() {
      flush();
      return size;
    },
    rewind(mark) {
      waiting = "";
      ftruncateSync(file, mark);
      size = mark;
    },
    keep() {
      flush();
      close();
      renameSync(temporary, path);
    },
    drop() {
      if (open) close();
      rmSync(temporary, { force: true });
    },
  };
}

/** What a snapshot says beside what it reads. */
export type SnapshotFrame = Omit<SnapshotHead, "targets" | "read">;

/**
 * Reads the service into a snapshot. Targets are read one after the other, so that each test case goes straight
 * through, and nothing of a list is held.
 * @param managed the targets whose test cases belong to it
 */
export async function takeSnapshot(
  client: Client,
  frame: SnapshotFrame,
  managed: (targets: readonly LiveTarget[]) => readonly string[],
  sink: Sink,
  redactor: Redactor,
): Promise<void> {
  const targets = await client.listTargets();
  const read = managed(targets);
  const writer = writeSnapshot(sink, { ...frame, targets, read }, redactor);
  for (const id of read) await client.listTestCases(id, () => writer.testCases(id));
  writer.end();
}

/** Writes a snapshot as it is read: the head, then test case after test case, then the end. */
export interface SnapshotWriter {
  /** Takes the test cases of one target. Asked for again, it begins again: a try that broke leaves nothing. */
  testCases(targetId: string): Collector<LiveTestCase, undefined>;
  end(): void;
}

export function writeSnapshot(sink: Sink, head: SnapshotHead, redactor: Redactor): SnapshotWriter {
  const line = (value: Json): string => printedJson(JSON.stringify(redactor.json(value)));
  const secrets = secretFields(head.states);
  sink.write(headText(head, secrets, line));
  let written = 0;
  let last: { readonly targetId: string; readonly mark: number; readonly written: number } | undefined;
  return {
    testCases(targetId) {
      if (last?.targetId === targetId) {
        sink.rewind(last.mark);
        written = last.written;
      } else last = { targetId, mark: sink.mark(), written };
      return {
        add(testCase) {
          sink.write(
            `${written === 0 ? "" : ","}\n    ${line(withoutFields(testCaseJson(testCase, targetId), secrets))}`,
          );
          written += 1;
        },
        result: () => undefined,
      };
    },
    end: () => sink.write(written === 0 ? "]\n}\n" : "\n  ]\n}\n"),
  };
}

/** Members in a fixed order, one state and one target a line. */
function headText(head: SnapshotHead, secrets: SecretFields, line: (value: Json) => string): string {
  const list = (items: readonly Json[]): string =>
    items.length === 0 ? "[]" : `[\n${items.map((item) => `    ${line(item)}`).join(",\n")}\n  ]`;
  const members = [
    ["format", JSON.stringify(SNAPSHOT_FORMAT)],
    ["version", String(SNAPSHOT_VERSION)],
    ["tool", line(head.tool)],
    ["stage", line(head.stage)],
    ["baseUrl", line(head.baseUrl)],
    ["createdAt", line(head.createdAt)],
    ["states", list(head.states.map(stateJson))],
    ["targets", list(head.targets.map((target) => targetJson(target, secrets)))],
    ["read", list(head.read)],
  ];
  return `{\n${members.map(([name, text]) => `  "${name}": ${text},\n`).join("")}  "testCases": [`;
}

/** As the service shows it (service-api.md, "Test target"). */
function targetJson({ id, app, environments }: LiveTarget, secrets: SecretFields): JsonObject {
  const inner = environments.map((environment) => withoutFields(known({ ...environment }), secrets));
  return { ...withoutFields({ id, app }, secrets), environments: inner };
}

/** By id of a live resource: the fields whose live values may still show a secret that no manifest has any more. */
type SecretFields = ReadonlyMap<Json | undefined, readonly string[]>;

function secretFields(states: readonly State[]): SecretFields {
  const bindings = states.flatMap((state) => [...state.bindings.values()]);
  return new Map(bindings.map((binding) => [binding.id, secretFieldsOf(binding)]));
}

/**
 * They are left out by name, since the old secret itself is not known: a plan takes what is not shown as unknown. Only
 * what a plan cannot do without stays, without its texts.
 */
function withoutFields(shown: JsonObject, secrets: SecretFields): JsonObject {
  const hidden = secrets.get(shown["id"]) ?? [];
  if (hidden.length === 0) return shown;
  return Object.fromEntries(
    Object.entries(shown).flatMap(([name, value]) => {
      if (name === "discovery" && isObject(value) && hidden.includes("discovery.prompt"))
        return [[name, known({ status: value["status"], abortCause: value["abortCause"] })]];
      if (!hidden.includes(name)) return [[name, value]];
      return name === "app" || name === "elements" ? [[name, withoutTexts(value)]] : [];
    }),
  );
}

/** Ids and words of the service, such as a status, are no values of anybody. */
const OWN_WORDS: readonly string[] = ["id", "status", "action", "expectation", "selectorType"];

function withoutTexts(value: Json): Json {
  if (typeof value === "string") return SENSITIVE;
  if (isArray(value)) return value.map(withoutTexts);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, OWN_WORDS.includes(key) ? part : withoutTexts(part)]),
  );
}

/** As the service lists it (service-api.md, "Test case"), as far as a plan reads it. */
function testCaseJson(
  { elements, discovery, ...plain }: Omit<LiveTestCase, "asDeclared">,
  testTargetId: string,
): JsonObject {
  return {
    ...known({ testTargetId, ...plain }),
    ...(elements === undefined ? {} : { elements: elements.map(({ raw }) => raw) }),
    ...(discovery === undefined ? {} : { discovery: discoveryJson(discovery) }),
  };
}

/** Without its date: no plan reads that, and a snapshot of the same things is to be the same text. */
function discoveryJson({ status, freePrompt, abortCause, message }: LiveDiscovery): JsonObject {
  return known({ status, freePrompt, abortCause, message });
}
