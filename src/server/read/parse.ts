import type { Json } from "../../model/json.ts";
import { Refusal } from "./refusal.ts";

/** What JSON.parse makes is Json by definition; saying so once keeps `any` out of every caller. */
const parse: (text: string) => Json = JSON.parse;

/** JSON this service wrote itself. */
export function parseOwn(written: string): Json {
  return parse(written);
}

/** JSON from outside; `what` says in the refusal which text is not JSON. */
export function parseForeign(sent: string, what: string): Json {
  try {
    return parse(sent);
  } catch {
    throw new Refusal(400, `${what} is not JSON`);
  }
}
