import type { StateEvent } from "../../model/state.ts";
import type { Revision } from "../backend.ts";
import { parseJson } from "../json-text.ts";
import type { DocumentKey, Result, StateProblem } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import { areStateEvents } from "../record-shape.ts";
import { sameService } from "../service.ts";
import { isCount, isRecord, isText } from "../shape.ts";

/*
 * The text of a journal: JSON lines. The first says what it is and which revision of which document it continues;
 * then one line for each group of events that was flushed together; last, when the journal has become part of
 * the document, the revision that this gave, so that a crash before the journal is removed does not fold it twice.
 *
 * Since each line is flushed before the next is written, a crash can spoil only the last one, and nobody has yet
 * been told that this one is safe. It is dropped. A spoilt line further up is damage, and is refused.
 */

const FORMAT = "tasc-journal";
const VERSION = 1;
const NEWLINE = 0x0a;

export interface Journal {
  /** The revision that the events continue. */
  readonly base: Revision;
  readonly events: readonly StateEvent[];
  /** Revisions of the document that have the events in them. */
  readonly folded: readonly Revision[];
  /** Bytes up to the end of the last sound line. */
  readonly soundBytes: number;
}

export function headerLine({ stage, target, service }: DocumentKey, base: Revision): string {
  return line({ format: FORMAT, version: VERSION, stage, target, service, base });
}

export function eventsLine(events: readonly StateEvent[]): string {
  return line(events);
}

export function foldedLine(revision: Revision): string {
  return line({ folded: revision });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Reads a journal; `undefined` if not even its first line was finished. @param where the file, for problems */
export function parseJournal(
  bytes: Buffer,
  expected: DocumentKey,
  where: string,
): Result<Journal | undefined> {
  const { values, spoilt, soundBytes } = parseLines(bytes);
  if (spoilt !== undefined) return refusal(damaged(where, spoilt));
  const [header, ...rest] = values;
  if (header === undefined) return success(undefined);
  const base = readHeader(header, expected, where);
  if (!base.ok) return base;
  const events: StateEvent[] = [];
  const folded: Revision[] = [];
  for (const [at, value] of rest.entries()) {
    if (areStateEvents(value)) for (const event of value) events.push(event);
    else if (isRecord(value) && isText(value["folded"])) folded.push(value["folded"]);
    else return refusal(damaged(where, at + 2));
  }
  return success({ base: base.value, events, folded, soundBytes });
}

interface Lines {
  readonly values: readonly unknown[];
  /** Number, from 1, of a line before the last that is no JSON. */
  readonly spoilt: number | undefined;
  readonly soundBytes: number;
}

function parseLines(bytes: Buffer): Lines {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const texts = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  const values: unknown[] = [];
  for (const [at, text] of texts.entries()) {
    const value = parseJson(text);
    if (value !== undefined) values.push(value);
    else if (at + 1 < texts.length) return { values, spoilt: at + 1, soundBytes: 0 };
    else return { values, spoilt: undefined, soundBytes: startOfLastLine(bytes, end) };
  }
  return { values, spoilt: undefined, soundBytes: end };
}

function startOfLastLine(bytes: Buffer, end: number): number {
  return end < 2 ? 0 : bytes.lastIndexOf(NEWLINE, end - 2) + 1;
}

/** The revision that the journal continues. */
function readHeader(header: unknown, expected: DocumentKey, where: string): Result<Revision> {
  if (!isRecord(header) || header["format"] !== FORMAT) return refusal(damaged(where, 1));
  const { version, stage, target, service, base } = header;
  if (isCount(version) && version > VERSION)
    return refusal({ kind: "newer", where, version, understood: VERSION });
  if (version !== VERSION || !isText(stage) || !isText(target) || !isText(service) || !isText(base))
    return refusal(damaged(where, 1));
  if (stage !== expected.stage || target !== expected.target)
    return refusal({
      kind: "misplaced",
      where,
      expected: { stage: expected.stage, target: expected.target },
      found: { stage, target },
    });
  if (!sameService(service, expected.service))
    return refusal({ kind: "other-service", where, expected: expected.service, found: service });
  return success(base);
}

function damaged(where: string, lineNumber: number): StateProblem {
  return { kind: "corrupt", where, reason: `line ${lineNumber} is not as tasc writes it` };
}
