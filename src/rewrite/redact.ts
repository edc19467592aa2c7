import type { Redactor } from "../output/redact.ts";
import type { Left, Rewriting, Rewritten } from "./rewriting.ts";

/** Takes secrets out of values before a renderer cuts or escapes them. */
export function redactRewriting({ changes, left }: Rewriting, redactor: Redactor): Rewriting {
  const change = ({ before, after, ...rest }: Rewritten): Rewritten => ({
    ...rest,
    ...(before === undefined ? {} : { before: redactor.json(before) }),
    ...(after === undefined ? {} : { after: redactor.json(after) }),
  });
  const leave = (one: Left): Left => ({ ...one, reason: redactor.text(one.reason) });
  return { changes: changes.map(change), left: left.map(leave) };
}
