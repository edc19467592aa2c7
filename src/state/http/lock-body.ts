import { parseJson } from "../json-text.ts";
import type { LockInfo } from "../lock-info.ts";
import { isLockInfo } from "../lock-info.ts";
import { isRecord, isText } from "../shape.ts";

/*
 * A lock in the words of the protocol, whose members servers read, and some demand. What only tasc knows goes as
 * JSON into `Info`, which is free text there; a server that drops it still tells who, since when and why.
 */

const PROTOCOL_VERSION = "1";

export function lockBody(info: LockInfo, path: string): string {
  return JSON.stringify({
    ID: info.id,
    Operation: info.why,
    Info: JSON.stringify(info),
    Who: info.who,
    Version: PROTOCOL_VERSION,
    Created: info.since,
    Path: path,
  });
}

/** The holder, from a server's answer; `undefined` if it does not tell. */
export function parseLockBody(text: string): LockInfo | undefined {
  const body = parseJson(text);
  if (!isRecord(body) || !isText(body["ID"])) return undefined;
  const own = isText(body["Info"]) ? parseJson(body["Info"]) : undefined;
  if (isLockInfo(own) && own.id === body["ID"]) return own;
  return {
    id: body["ID"],
    who: textOr(body["Who"], "somebody"),
    since: textOr(body["Created"], "an unknown time"),
    why: textOr(body["Operation"], "an unknown command"),
  };
}

function textOr(value: unknown, otherwise: string): string {
  return isText(value) && value !== "" ? value : otherwise;
}
