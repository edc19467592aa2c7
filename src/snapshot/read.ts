import { closeSync, openSync, readSync } from "node:fs";
import { readTargets } from "../client/answers/read-target.ts";
import { readTestCase } from "../client/answers/read-test-case.ts";
import type { Read, Reader } from "../look/look.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import { readState, SNAPSHOT_FORMAT, SNAPSHOT_VERSION } from "./head.ts";
import type { SnapshotHead } from "./head.ts";
import { splitDocument } from "./split.ts";

/** Why a snapshot cannot be used, for the person who has it. */
export interface SnapshotProblem {
  readonly summary: string;
  readonly detail: string;
}

/** A snapshot whose head is read; the test cases are read from the file when they are asked for. */
export interface Snapshot {
  readonly head: SnapshotHead;
  readonly reader: Reader<SnapshotProblem>;
  /** Every test case, one by one, with the id of its target. */
  eachTestCase(take: (testCase: LiveTestCase, targetId: string) => void): Read<undefined, SnapshotProblem>;
}

const LIST = "testCases";

/** @param shown the file as the user named it */
export function openSnapshot(path: string, shown: string): Read<Snapshot, SnapshotProblem> {
  const head = readHead(path, shown);
  if (!head.ok) return head;
  const eachTestCase: Snapshot["eachTestCase"] = (take) => readTestCases(path, shown, take);
  const reader = new SnapshotReader(head.value, shown, eachTestCase);
  return { ok: true, value: { head: head.value, reader, eachTestCase } };
}

const HEAD = ["format", "version", "tool", "stage", "baseUrl", "createdAt", "states", "targets", "read"];

function readHead(path: string, shown: string): Read<SnapshotHead, SnapshotProblem> {
  const members = new Map<string, Json>();
  const split = readParts(path, {
    member: (name, value) => {
      if (HEAD.includes(name)) members.set(name, value);
      return members.size < HEAD.length;
    },
    item: () => undefined,
  });
  if (split === "unreadable") return refused(shown, "it cannot be read");
  // A document of another kind, or of a later version, is told as that, whatever else it lacks.
  const other = otherFormat(members, split === "damaged");
  if (other !== undefined) return refused(shown, other);
  const head = headOf(members);
  return head === undefined
    ? refused(shown, "a part of it is missing or damaged")
    : { ok: true, value: head };
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
  shown: string,
  take: (testCase: LiveTestCase, targetId: string) => void,
): Read<undefined, SnapshotProblem> {
  let misshapen = false;
  const split = readParts(path, {
    member: () => true,
    item: (value) => {
      const testCase = readTestCase(value);
      const targetId = isObject(value) ? value["testTargetId"] : undefined;
      if (testCase.ok && typeof targetId === "string") take(testCase.value, targetId);
      else misshapen = true;
    },
  });
  if (split === "unreadable") return refused(shown, "it cannot be read");
  if (split === "damaged" || misshapen)
    return refused(shown, "a test case in it is damaged, or it was cut short");
  return { ok: true, value: undefined };
}

function readParts(
  path: string,
  taker: Parameters<typeof splitDocument>[2],
): ReturnType<typeof splitDocument> | "unreadable" {
  try {
    return splitDocument(piecesOf(path), LIST, taker);
  } catch (error) {
    if (error instanceof Error && "code" in error) return "unreadable";
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

/** What a look asks for side by side is read in one go through the file. */
class SnapshotReader implements Reader<SnapshotProblem> {
  readonly #head: SnapshotHead;
  readonly #shown: string;
  readonly #each: Snapshot["eachTestCase"];
  readonly #wanted = new Map<string, Wanted>();
  #pass: Promise<Read<undefined, SnapshotProblem>> | undefined;

  constructor(head: SnapshotHead, shown: string, each: Snapshot["eachTestCase"]) {
    this.#head = head;
    this.#shown = shown;
    this.#each = each;
  }

  async listTargets(): ReturnType<Reader<SnapshotProblem>["listTargets"]> {
    return { ok: true, value: this.#head.targets };
  }

  async listTestCases(
    targetId: string,
    keep: (testCase: LiveTestCase) => LiveTestCase,
  ): ReturnType<Reader<SnapshotProblem>["listTestCases"]> {
    if (!this.#head.read.includes(targetId)) return this.#notRead(targetId);
    const wanted: Wanted = { keep, kept: [] };
    this.#wanted.set(targetId, wanted);
    this.#pass ??= this.#readAll();
    const read = await this.#pass;
    return read.ok ? { ok: true, value: wanted.kept } : read;
  }

  /** Starts after all who ask in the same turn have asked. */
  async #readAll(): Promise<Read<undefined, SnapshotProblem>> {
    await Promise.resolve();
    this.#pass = undefined;
    return this.#each((testCase, targetId) => {
      const wanted = this.#wanted.get(targetId);
      if (wanted !== undefined) wanted.kept.push(wanted.keep(testCase));
    });
  }

  #notRead(targetId: string): { readonly ok: false; readonly failure: SnapshotProblem } {
    const app = this.#head.targets.find(({ id }) => id === targetId)?.app ?? targetId;
    return {
      ok: false,
      failure: {
        summary: `The snapshot does not hold the test cases of "${app}"`,
        detail: `${this.#shown} holds those of the targets that were declared when it was taken. Take it anew, with the manifests that declare this one:\n  tasc snapshot --out ${this.#shown}`,
      },
    };
  }
}

interface Wanted {
  readonly keep: (testCase: LiveTestCase) => LiveTestCase;
  readonly kept: LiveTestCase[];
}

function refused(shown: string, why: string): { readonly ok: false; readonly failure: SnapshotProblem } {
  return {
    ok: false,
    failure: {
      summary: `${shown} is no snapshot: ${why}`,
      // Another name: this file may be anything, tasc.yaml itself for one.
      detail: "Take one:\n  tasc snapshot --out snapshot.json",
    },
  };
}
