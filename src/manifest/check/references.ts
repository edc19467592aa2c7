import { isValueObject } from "../../model/value.ts";
import type { Value } from "../../model/value.ts";
import { nearest } from "../nearest.ts";
import type { ManifestProblem } from "../problem.ts";
import { didYouMean, listWords } from "../words.ts";
import { circlesIn } from "../circles.ts";
import { errorAbout } from "./subject.ts";
import type { Reference, TargetSubject } from "./subject.ts";

/** A guess looks at every key; where hundreds of references dangle, it is no typing error that is to blame. */
const MOST_GUESSES = 100;

/** A prerequisite that is given by key is declared in the same target. */
export function prerequisitesExist({ target, references }: TargetSubject): readonly ManifestProblem[] {
  const keys = target.testCases.map(({ key }) => key);
  const found = dangling(references, "testCase", keys);
  const candidates = found.length > MOST_GUESSES ? [] : keys;
  return found.flatMap(({ from, path, key }) =>
    errorAbout(
      from,
      path,
      "unknown-prerequisite",
      `There is no test case \`${key}\` in target ${target.key}`,
      `\`${path.join(".")}\` names a key of the same target; a test case that is not managed here is named by \`{ description: … }\`.${didYouMean(nearest(key, candidates))}`,
    ),
  );
}

/** The environment of a batch generation is declared in the same target. */
export function environmentsExist({ target, references }: TargetSubject): readonly ManifestProblem[] {
  const keys = target.environments.map(({ key }) => key);
  const known = keys.length === 0 ? "It declares none." : `It has ${listWords(keys, "and")}.`;
  return dangling(references, "environment", keys).flatMap(({ from, path, key }) =>
    errorAbout(
      from,
      path,
      "unknown-environment",
      `There is no environment \`${key}\` in target ${target.key}`,
      `\`${path.join(".")}\` names a key under the target's \`environments\`. ${known}${didYouMean(nearest(key, keys))}`,
    ),
  );
}

/** References by key that none of the keys answers. */
function dangling(
  references: readonly Reference[],
  to: Reference["to"],
  keys: readonly string[],
): readonly (Reference & { readonly key: string })[] {
  const asked = references.filter((reference) => reference.to === to);
  if (asked.length === 0) return [];
  const known = new Set(keys);
  return asked.flatMap((reference) => {
    const { value: key } = reference;
    return typeof key === "string" && !known.has(key) ? [{ ...reference, key }] : [];
  });
}

/** `{ description: … }` is for test cases that nothing here manages; those that are managed have a key. */
export function foreignPrerequisitesAreForeign({
  target,
  references,
}: TargetSubject): readonly ManifestProblem[] {
  const foreign = references.filter(({ value }) => isValueObject(value));
  if (foreign.length === 0) return [];
  const managed = new Map<Value | undefined, string>(
    target.testCases.map(({ key, fields }) => [fields.description, key]),
  );
  return foreign.flatMap(({ from, path, value }) => {
    const name = isValueObject(value) ? value.description : undefined;
    const key = typeof name === "string" ? managed.get(name) : undefined;
    if (key === undefined) return [];
    return errorAbout(
      from,
      path,
      "managed-prerequisite",
      `The prerequisite is managed here, as \`${key}\``,
      `\`{ description: … }\` is for test cases that nothing here manages. Write \`${path.join(".")}: ${key}\`.`,
    );
  });
}

/** No test case waits for itself, by however many others. */
export function prerequisitesDoNotCircle({ references }: TargetSubject): readonly ManifestProblem[] {
  const waiting = new Map<string, Reference>();
  const next = new Map<string, string>();
  for (const reference of references) {
    const { from, value } = reference;
    if (from.kind !== "testCase" || typeof value !== "string") continue;
    waiting.set(from.key, reference);
    next.set(from.key, value);
  }
  return circlesIn(next).flatMap((circle) => {
    const reference = waiting.get(circle[0] ?? "");
    return reference === undefined ? [] : circleOfPrerequisites(reference, circle);
  });
}

function circleOfPrerequisites({ from, path }: Reference, circle: readonly string[]): ManifestProblem[] {
  return errorAbout(
    from,
    path,
    "prerequisite-cycle",
    "The prerequisites go in a circle",
    `Each of these runs after the next: ${circle.join(" → ")}. None could be the first; take one \`prerequisite\` out.`,
  );
}
