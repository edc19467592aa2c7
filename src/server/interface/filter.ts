import { type TestCase, caseStatus, isLive, runStatus } from "../data/testCase.ts";
import { parseForeign } from "../read/parse.ts";
import { type Reader, list, nullable, object } from "../read/reader.ts";
import { text, uuid } from "../read/values.ts";

export type Filter = (testCase: TestCase) => boolean;

/**
 * The query's `filter` (operation 7). "Operator syntax per field: not shown", so a field takes a plain value, which
 * must be equal, and AND, OR and NOT take arrays of filters; NOT holds when none of its filters does. Without a
 * filter everything but DELETED is listed; a filter says all of what it wants.
 */
export function readFilter(sent: string | null): Filter {
  return sent === null ? isLive : filter(parseForeign(sent, "filter"), "filter");
}

const filter: Reader<Filter> = object((fields) => {
  const equal = <K extends keyof TestCase>(name: K, read: Reader<TestCase[K]>): Filter => {
    const wanted = fields.optional(name, read);
    return (testCase) => wanted === undefined || testCase[name] === wanted;
  };
  const conditions = [
    equal("id", uuid),
    equal("testTargetId", uuid),
    equal("description", text),
    equal("status", caseStatus),
    equal("runStatus", runStatus),
    equal("folderId", nullable(text)),
    equal("externalId", nullable(text)),
  ];
  const combined = {
    and: fields.optional("AND", list(nested)) ?? [],
    or: fields.optional("OR", list(nested)),
    not: fields.optional("NOT", list(nested)) ?? [],
  };
  return (testCase) =>
    [...conditions, ...combined.and].every((condition) => condition(testCase)) &&
    (combined.or === undefined || combined.or.some((condition) => condition(testCase))) &&
    !combined.not.some((condition) => condition(testCase));
});

/** Filters nest; the reader of the nested ones is looked up when one is met. */
function nested(...given: Parameters<Reader<Filter>>): Filter {
  return filter(...given);
}
