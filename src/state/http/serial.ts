import { parseJson } from "../json-text.ts";
import { isCount, isRecord } from "../shape.ts";

/**
 * The serial in a document's text: servers keep versions by it, and some demand that it grows. 0 where there is
 * none; whether the text is a document of ours at all is for its reader to say.
 */
export function serialOf(text: string): number {
  const root = parseJson(text);
  const serial = isRecord(root) ? root["serial"] : undefined;
  return isCount(serial) ? serial : 0;
}
