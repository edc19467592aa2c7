import type { Secret } from "../model/value.ts";
import { SENSITIVE } from "../model/value.ts";
import type { Redact } from "./exchange/words.ts";

/** Header values that arrive as they were sent: ASCII, without blanks at the ends or line breaks. */
const HEADER_VALUE = /^[!-~]([\t -~]*[!-~])?$/;

/** Shorter texts occur by themselves; removing them would spoil messages and protect nothing. */
const MIN_REDACTED = 4;

/** Whether the key can be put into the header `X-API-Key`. A line break from a CI variable is the usual reason. */
export function isSendable(key: Secret): boolean {
  return HEADER_VALUE.test(key.reveal());
}

/** Adds the key to what is removed from the service's words. */
export function redactingKey(key: Secret, redact: Redact): Redact {
  const text = key.reveal();
  return text.length < MIN_REDACTED ? redact : (words) => redact(words).replaceAll(text, SENSITIVE);
}
