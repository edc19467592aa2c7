import type { Answered } from "../../http/answered.ts";

/** Objects whose keys are data, not fields: a key added there would be a lie about the data. */
const FREE_FORM = new Set(["additionalHeaderFields", "context", "options", "payload", "scrollState"]);

/** The answer of a later service, with a field the text does not know in every object. */
export function withExtraFields(answer: Answered): Answered {
  if (typeof answer !== "object" || answer === null) return answer;
  if (isList(answer)) return answer.map(withExtraFields);
  const fields = Object.entries(answer).map(([name, value]): [string, Answered | undefined] => [
    name,
    value === undefined || FREE_FORM.has(name) ? value : withExtraFields(value),
  ]);
  return Object.fromEntries([...fields, ["addedLater", { since: "v3" }]]);
}

function isList(answer: Answered): answer is readonly Answered[] {
  return Array.isArray(answer);
}
