import type { DesiredTarget } from "../../model/desired.ts";
import type { ManifestProblem } from "../problem.ts";
import { defaultEnvironmentIsSpeltRight } from "./environments.ts";
import { externalIdsAreUnique, idsAreUnique } from "./ids.ts";
import { movesMakeSense } from "./moves.ts";
import {
  environmentsExist,
  foreignPrerequisitesAreForeign,
  prerequisitesDoNotCircle,
  prerequisitesExist,
} from "./references.ts";
import { subjectOf } from "./subject.ts";
import type { TargetRule } from "./subject.ts";

/** What must hold whatever else is wrong. */
const RULES: readonly TargetRule[] = [
  foreignPrerequisitesAreForeign,
  prerequisitesDoNotCircle,
  defaultEnvironmentIsSpeltRight,
  movesMakeSense,
  externalIdsAreUnique,
];

/** What can be said only when every resource could be read. */
const RULES_OF_WHOLES: readonly TargetRule[] = [prerequisitesExist, environmentsExist];

/** Checks resolved targets, each by itself and all together. */
export function checkTargets(
  targets: readonly DesiredTarget[],
  complete: boolean,
): readonly ManifestProblem[] {
  const rules = complete ? [...RULES, ...RULES_OF_WHOLES] : RULES;
  const own = targets.flatMap((target) => {
    const subject = subjectOf(target);
    return rules.flatMap((rule) => rule(subject));
  });
  return [...own, ...idsAreUnique(targets)];
}
