import { parseAddress } from "../../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  type Layer,
  type Move,
  originOf,
  resourcesOf,
} from "../../model/desired.ts";
import { type Field, TEST_CASE_FIELDS } from "../../model/fields.ts";
import type { Origin } from "../../model/diagnostic.ts";
import { type Path, defined } from "../../model/json.ts";
import { type Value, isValueObject } from "../../model/value.ts";
import { circlesIn } from "../interpolation.ts";
import { serviceNoun } from "../../model/words.ts";
import {
  type ManifestProblem,
  didYouMean,
  listWords,
  manifestProblem,
  nearest,
} from "../problem.ts";
import { isDay } from "../shape.ts";
import { SECTIONS } from "../tables.ts";

type Reference = ReturnType<typeof referencesIn>[number];

/** Adds an error about a resource, or about one of its fields. */
type Add = (
  resource: DesiredResource,
  field: Path,
  code: string,
  summary: string,
  detail: string,
  extras?: Pick<Partial<ManifestProblem>, "related" | "at" | "severity">,
) => void;

/**
 * Checks resolved targets.
 * @param complete whether all resources were read; if not, a missing one is not an error
 */
export function checkTargets(
  targets: readonly DesiredTarget[],
  complete: boolean,
): readonly ManifestProblem[] {
  const problems: ManifestProblem[] = [];
  const add: Add = (resource, field, code, summary, detail, extras = {}) => {
    const origin = originOf(resource, field);
    const { address } = resource;
    if (origin !== undefined)
      problems.push(manifestProblem(code, origin, summary, detail, { ...extras, address }));
  };
  for (const target of targets) {
    const references = referencesIn(target);
    checkForeignPrerequisites(target, references, add);
    checkCircles(references, add);
    for (const environment of target.environments)
      if (environment.key !== "default" && environment.key.toLowerCase() === "default") {
        const summary = `\`${environment.key}\` is not the service's DEFAULT environment`;
        const detail =
          "The DEFAULT environment has the key `default`. Choose a different key for an additional environment.";
        add(environment, [], "misspelt-default", summary, detail, { at: "key" });
      }
    for (const testCase of target.testCases) checkQuarantine(testCase, add);
    checkMoves(target, problems);
    // A field by which a resource is found again when state is lost should match only one.
    warnOfShared(target.testCases, "externalId", "duplicate-external-id", add);
    const byName = target.testCases.filter(({ fields }) => fields.externalId === undefined);
    warnOfShared(byName, "description", "duplicate-description", add);
    if (complete) checkReferences(target, references, add);
    if (complete) checkOverrides(target, add);
  }
  checkIds(targets, add);
  warnOfShared(targets, "app", "duplicate-app", add);
  return problems;
}

const REFERRING: ReadonlyMap<string, readonly Field[]> = new Map(
  SECTIONS.map(({ kind, fields }) => [
    kind,
    fields.filter(({ shape }) => shape.type === "reference"),
  ]),
);

function referencesIn(target: DesiredTarget) {
  return resourcesOf(target).flatMap((from) =>
    (REFERRING.get(from.kind) ?? []).flatMap(({ name, path, shape }) => {
      const value = from.fields[name];
      if (value === undefined || value === null || shape.type !== "reference") return [];
      return { from, to: shape.to, path, value };
    }),
  );
}

/**
 * Maximum number of mistakes that get suggestions: each compares all keys, and hundreds are not
 * typing errors.
 */
const MOST_GUESSES = 100;

/** Checks that prerequisites and environments given by key are declared in the same target. */
function checkReferences(target: DesiredTarget, references: readonly Reference[], add: Add): void {
  if (references.length === 0) return;
  const keys = {
    testCase: target.testCases.map(({ key }) => key),
    environment: target.environments.map(({ key }) => key),
  };
  const known = { testCase: new Set(keys.testCase), environment: new Set(keys.environment) };
  const environments =
    keys.environment.length === 0
      ? "It declares none."
      : `It has ${listWords(keys.environment, "and")}.`;
  const dangling = references.flatMap(({ value: key, ...reference }) =>
    typeof key === "string" && !known[reference.to].has(key) ? [{ ...reference, key }] : [],
  );
  for (const { from, to, path, key } of dangling) {
    const isTestCase = to === "testCase";
    const guess = didYouMean(nearest(key, dangling.length <= MOST_GUESSES ? keys[to] : []));
    add(
      from,
      path,
      isTestCase ? "unknown-prerequisite" : "unknown-environment",
      `There is no ${isTestCase ? "test case" : "environment"} \`${key}\` in target ${target.key}`,
      isTestCase
        ? `\`${path.join(".")}\` must be a key of the same target. For a test case that is not managed here, write \`{ description: … }\`.${guess}`
        : `\`${path.join(".")}\` must be a key under the target's \`environments\`. ${environments}${guess}`,
    );
  }
}

const NEEDED = ["until", "reason"] as const;

/**
 * Checks a quarantine after all layers are merged, since a stage may override one part of it. The
 * schema only knows the form of a date, not the calendar.
 */
function checkQuarantine(testCase: DesiredResource, add: Add): void {
  const { quarantine: value } = testCase.fields;
  if (!isValueObject(value)) return;
  for (const key of NEEDED) {
    if (value[key] !== undefined) continue;
    const detail =
      key === "until"
        ? "A quarantine ends: write its last day, e.g. `until: 2026-12-15`."
        : "Write why its failures do not count.";
    add(testCase, ["quarantine"], "missing-key", `\`quarantine.${key}\` is missing`, detail);
  }
  const { until } = value;
  if (typeof until !== "string" || isDay(until)) return;
  const detail = `There is no ${until}. Write a day of the calendar.`;
  const path = ["quarantine", "until"];
  add(testCase, path, "bad-value", `\`quarantine.until\` is not a date`, detail);
}

const isBase = ({ kind }: Layer): boolean => kind === "base";

const RECOGNIZING = TEST_CASE_FIELDS.filter(({ recognizedBy }) => recognizedBy !== undefined);

/**
 * Reports overrides without a test case, most likely left over from a rename, unless they identify
 * the test case.
 */
function checkOverrides(target: DesiredTarget, add: Add): void {
  const isStub = ({ id, fields, layers }: DesiredResource): boolean =>
    id === undefined &&
    !layers.some(isBase) &&
    RECOGNIZING.every(({ name }) => fields[name] === undefined);
  const stubs = target.testCases.filter(isStub);
  const isGuessed = stubs.length > 0 && stubs.length <= MOST_GUESSES;
  const declared = isGuessed
    ? target.testCases.filter((one) => !isStub(one)).map(({ key }) => key)
    : [];
  for (const stub of stubs) {
    const guess = didYouMean(nearest(stub.key, declared));
    const detail = `No document declares it outside \`stages\`. Correct the key, or remove the override.${guess}`;
    const summary = `This override has no test case \`${stub.key}\` to override`;
    add(stub, [], "override-without-base", summary, detail);
  }
}

/**
 * Reports `{ description: … }` for managed test cases, which have a key; it is for test cases that
 * are not managed.
 */
function checkForeignPrerequisites(
  target: DesiredTarget,
  references: readonly Reference[],
  add: Add,
): void {
  const foreign = references.filter(({ value }) => isValueObject(value));
  if (foreign.length === 0) return;
  const managed = new Map<Value | undefined, string>(
    target.testCases.map(({ key, fields }) => [fields.description, key]),
  );
  for (const { from, path, value } of foreign) {
    const name = isValueObject(value) ? value.description : undefined;
    const key = typeof name === "string" ? managed.get(name) : undefined;
    if (key === undefined) continue;
    const detail = `\`{ description: … }\` is for test cases that nothing here manages. Write \`${path.join(".")}: ${key}\`.`;
    add(
      from,
      path,
      "managed-prerequisite",
      `The prerequisite is managed here as \`${key}\``,
      detail,
    );
  }
}

/** Checks that no test case waits for itself, directly or through others. */
function checkCircles(references: readonly Reference[], add: Add): void {
  const waiting = references.flatMap(({ from, path, value }) =>
    from.kind === "testCase" && typeof value === "string" ? [{ from, path, value }] : [],
  );
  for (const circle of circlesIn(new Map(waiting.map(({ from, value }) => [from.key, value])))) {
    const first = waiting.find(({ from }) => from.key === circle[0]);
    const detail = `Each of these runs after the next: ${circle.join(" → ")}. Remove one of them.`;
    if (first !== undefined)
      add(first.from, first.path, "prerequisite-cycle", "Circular prerequisites", detail);
  }
}

/**
 * Checks `moved:` entries: same target and kind, each address moved once and to its own new one,
 * nothing left behind.
 */
function checkMoves(target: DesiredTarget, problems: ManifestProblem[]): void {
  const { key, moved } = target;
  if (moved.length === 0) return;
  const declared = new Set(resourcesOf(target).map(({ address }) => address));
  const add = (
    { origin }: Move,
    side: "from" | "to",
    code: string,
    summary: string,
    detail: string,
    related?: Origin,
  ): void => {
    const place = { ...origin, path: [...origin.path, side] };
    problems.push(manifestProblem(code, place, summary, detail, defined({ related })));
  };
  for (const move of moved) {
    const { from, to } = move;
    for (const side of ["from", "to"] as const) {
      const detail =
        "`moved` renames within one target. Between targets, or for a target itself, run `tasc state mv FROM TO`.";
      if (parseAddress(move[side])?.target !== key)
        add(move, side, "move-elsewhere", `${move[side]} does not belong to target ${key}`, detail);
    }
    if (parseAddress(from)?.kind !== parseAddress(to)?.kind)
      add(
        move,
        "to",
        "move-kind",
        `${from} cannot become ${to}`,
        "They are different kinds of resource.",
      );
    if (from !== to && declared.has(from)) {
      const detail = `\`moved\` says that it is now ${to}. Remove its declaration, or the move.`;
      add(move, "from", "move-of-declared", `${from} is still declared`, detail);
    }
  }
  for (const [move, first, from] of shared(moved, (one) => one.from)) {
    const detail = `It cannot become both ${first.to} and ${move.to}.`;
    add(move, "from", "move-twice", `${from} is moved twice`, detail, first.origin);
  }
  for (const [move, first, to] of shared(moved, (one) => one.to)) {
    const detail = `${first.from} and ${move.from} cannot both become it.`;
    add(move, "to", "move-twice", `Two addresses are moved to ${to}`, detail, first.origin);
  }
  for (const circle of circlesIn(new Map(moved.map(({ from, to }) => [from, to])))) {
    const move = moved.find(({ from }) => from === circle[0]);
    const detail = `Each of these is moved to the next: ${circle.join(" → ")}. Remove one of them.`;
    if (move !== undefined) add(move, "from", "move-cycle", "Circular moves", detail);
  }
}

/** Returns the items whose text another item has, too, each with the first such item. */
function shared<T>(items: readonly T[], textOf: (item: T) => Value | undefined) {
  const owners = new Map<string, T>();
  const found: [item: T, first: T, text: string][] = [];
  for (const item of items) {
    const text = textOf(item);
    if (typeof text !== "string") continue;
    const owner = owners.get(text);
    if (owner === undefined) owners.set(text, item);
    else found.push([item, owner, text]);
  }
  return found;
}

/** Checks that an id in the manifests is bound to only one address. */
function checkIds(targets: readonly DesiredTarget[], add: Add): void {
  for (const [resource, owner] of shared(targets.flatMap(resourcesOf), ({ id }) =>
    id?.toLowerCase(),
  )) {
    const detail = `\`${resource.id}\` can only be bound to one address. Correct or remove one of the two.`;
    const extras = defined({ related: originOf(owner, ["id"]) });
    add(resource, ["id"], "duplicate-id", `${owner.address} has the same \`id\``, detail, extras);
  }
}

/**
 * Warns about resources of one kind with the same value of a field that is used for matching,
 * except those with an `id`.
 */
function warnOfShared(
  resources: readonly DesiredResource[],
  field: string,
  code: string,
  add: Add,
): void {
  const unbound = ({ id, fields }: DesiredResource) =>
    id === undefined ? fields[field] : undefined;
  for (const [resource, owner, value] of shared(resources, unbound)) {
    const detail = `A live ${serviceNoun(resource.kind)} with \`${value}\` would match both. Change or remove one of them.`;
    const extras = defined({ severity: "warning", related: originOf(owner, [field]) });
    add(resource, [field], code, `${owner.address} has the same \`${field}\``, detail, extras);
  }
}
