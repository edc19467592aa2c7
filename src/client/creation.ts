import type { Json } from "../model/json.ts";
import type { SendOutcome } from "./client.ts";
import type { Misfit } from "./failure.ts";
import type { WriteCall } from "./request.ts";
import { pathOf } from "./request.ts";
import type { Result } from "./result.ts";
import { bad } from "./result.ts";

/**
 * Reads what a POST made. An answer that does not show it is no readable success: the service may have made it,
 * and tasc has to look (design contract, section 5).
 * @param read one of the readers of `written.ts`
 */
export function readCreation<T>(
  call: WriteCall,
  outcome: SendOutcome,
  read: (answer: Json | undefined) => Result<T, Misfit>,
): Result<T> {
  if (!outcome.ok) return outcome;
  const { body, attempts } = outcome.value;
  const made = read(body);
  if (made.ok) return made;
  const path = pathOf(call.path);
  return bad({ kind: "misshapen", ...made.failure, method: call.method, path, attempts, acted: "maybe" });
}
