import type { State, StateEvent } from "../../model/state.ts";
import { emptyState } from "../../model/state.ts";
import type { StoredState } from "../backend.ts";
import { NO_DOCUMENT } from "../backend.ts";
import { parseJson } from "../json-text.ts";
import { parseDocument } from "../parse-document.ts";
import type { DocumentKey, Result } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import { areStateEvents } from "../record-shape.ts";
import { applyEvents } from "../reduce.ts";
import type { Client, Row } from "./client.ts";
import type { Tables } from "./tables.ts";
import { queryIfMade } from "./tables.ts";

/** The serial that stands for no document; a document's first is 1. */
export const NO_SERIAL = "0";

/** Document and journal, as of one moment. Without tables there is neither, and reading makes none. */
export async function readStored(
  client: Client,
  tables: Tables,
  key: DocumentKey,
  where: string,
): Promise<Result<StoredState | undefined>> {
  const [row] = await queryIfMade(client, tables, readingOf(tables), key.stage, key.target);
  return row === undefined ? success(undefined) : storedOf(row, key, where);
}

function readingOf({ documents, journal }: Tables): string {
  return `
    select d.document::text as document, coalesce(d.serial, ${NO_SERIAL})::text as serial,
      (select json_agg(j.events order by j.n)::text from ${journal} j
        where j.stage = k.stage and j.target = k.target and j.base = coalesce(d.serial, ${NO_SERIAL})) as events,
      (exists (select from ${journal} j
        where j.stage = k.stage and j.target = k.target and j.base <> coalesce(d.serial, ${NO_SERIAL})))::text as stranded
    from (select $1::text as stage, $2::text as target) k left join ${documents} d using (stage, target)`;
}

function storedOf(row: Row, key: DocumentKey, where: string): Result<StoredState | undefined> {
  if (row["stranded"] === "true")
    return refusal({ kind: "stranded-journal", where, journal: `the journal of ${where}` });
  const document = row["document"] ?? undefined;
  const journal = row["events"] ?? undefined;
  if (document === undefined && journal === undefined) return success(undefined);
  const below = belowJournal(document, key, where);
  if (!below.ok) return below;
  const events = eventsOf(journal);
  if (events === undefined)
    return refusal({ kind: "corrupt", where, reason: "its journal is not as tasc writes it" });
  const revision = document === undefined ? NO_DOCUMENT : (row["serial"] ?? NO_DOCUMENT);
  const state = applyEvents(below.value, events);
  return success({ state, revision, journalled: events.length > 0 });
}

function belowJournal(document: string | undefined, key: DocumentKey, where: string): Result<State> {
  if (document === undefined) return success(emptyState(key.stage, key.target, key.service));
  const parsed = parseDocument(document, key, where);
  return parsed.ok ? success(parsed.value.state) : parsed;
}

/** The events of all rows in their order; `undefined` if they are not events. */
function eventsOf(journal: string | undefined): readonly StateEvent[] | undefined {
  if (journal === undefined) return [];
  const rows = parseJson(journal);
  if (!Array.isArray(rows)) return undefined;
  const events: StateEvent[] = [];
  for (const row of rows) {
    if (!areStateEvents(row)) return undefined;
    for (const event of row) events.push(event);
  }
  return events;
}
