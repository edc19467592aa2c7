import { DELETED, TEST_CASE_FIELDS } from "../fields/test-case.ts";
import { compareText } from "../model/address.ts";
import type { LiveTestCase } from "../model/live.ts";
import { declareFields } from "./declare.ts";
import type { Around, Declared } from "./declare.ts";
import type { Entry, LeftOut } from "./draft.ts";
import { uniqueById } from "./environments.ts";
import type { ImportedParts } from "./environments.ts";
import { canBind, countValues, NOT_BINDABLE, UNCLEAR } from "./identity.ts";
import { chooseKeys } from "./keys.ts";
import type { KnownParts } from "./known.ts";
import { linkPrerequisites } from "./prerequisites.ts";

/** The test cases that no manifest declares. */
export function importTestCases(
  all: readonly LiveTestCase[],
  known: KnownParts,
  prerequisites: ReadonlyMap<string, string>,
  around: Omit<Around, "defaults">,
): ImportedParts {
  const live = all.filter(({ status }) => status !== DELETED);
  const mustBind = binding(live);
  const leftOut: Omit<LeftOut, "app">[] = [];
  const judged = uniqueById(live)
    .filter(({ id }) => !known.managed.has(id))
    .flatMap((testCase) => {
      const declared = declareFields(TEST_CASE_FIELDS, testCase, { ...around, defaults: known.defaults });
      const bind = mustBind(testCase, declared);
      const reason = obstacle(testCase, bind, known);
      if (reason === undefined) return [{ testCase, declared, bind }];
      leftOut.push({ kind: "testCase", id: testCase.id, name: testCase.description, reason });
      return [];
    });
  const keys = testCaseKeys(
    judged.map(({ testCase }) => testCase),
    known,
    around,
  );
  const entries = judged.map(({ testCase, declared, bind }): Entry => {
    const key = keys.get(testCase.id) ?? "";
    return { id: testCase.id, key, bind, ...declared, folderId: testCase.folderId ?? null };
  });
  const sorted = entries.toSorted((a, b) => compareText(a.key, b.key));
  const wanted = new Map(live.map(({ id, prerequisiteId }) => [id, prerequisiteId ?? null]));
  return { entries: linkPrerequisites(sorted, wanted, known.managed, prerequisites), leftOut };
}

function obstacle(testCase: LiveTestCase, bind: boolean, known: KnownParts): string | undefined {
  if (known.isDoubtful(testCase.id, [testCase.description, testCase.externalId])) return UNCLEAR;
  return bind && !canBind(testCase.id) ? NOT_BINDABLE : undefined;
}

/** A test case is found by its external id, or else by its name; by either only if it is the only one. */
function binding(live: readonly LiveTestCase[]): (testCase: LiveTestCase, declared: Declared) => boolean {
  const names = countValues(live.map(({ description }) => description));
  const externalIds = countValues(live.map(({ externalId }) => externalId ?? undefined));
  return (testCase, { fields }) => {
    if (typeof fields["externalId"] === "string")
      return externalIds.get(testCase.externalId ?? undefined) !== 1;
    return fields["description"] === undefined || names.get(testCase.description) !== 1;
  };
}

function testCaseKeys(
  live: readonly LiveTestCase[],
  known: KnownParts,
  { holdsSecret }: Omit<Around, "defaults">,
): ReadonlyMap<string, string> {
  const old = live.flatMap(({ id }): [string, string][] => {
    const key = known.remembered.get(id);
    return key === undefined ? [] : [[id, key]];
  });
  const remembered = new Map(old);
  const wishes = live
    .filter(({ id }) => !remembered.has(id))
    .map(({ id, description }) => {
      const name = description === undefined || holdsSecret(description) ? undefined : description;
      return { id, name, noun: "case" };
    });
  return new Map([...remembered, ...chooseKeys(wishes, known.taken)]);
}
