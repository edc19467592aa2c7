import type { Redactor } from "../output/redact.ts";
import type { Difference, DiffSide, StageDiff } from "./difference.ts";

/** Takes secrets out of values before a renderer cuts or escapes them. */
export function redactStageDiff(diff: StageDiff, redactor: Redactor): StageDiff {
  return { ...diff, differences: diff.differences.map((one) => redactDifference(one, redactor)) };
}

function redactDifference(difference: Difference, redactor: Redactor): Difference {
  return {
    ...difference,
    from: redactSide(difference.from, redactor),
    to: redactSide(difference.to, redactor),
  };
}

function redactSide(side: DiffSide | undefined, redactor: Redactor): DiffSide | undefined {
  return side?.value === undefined ? side : { ...side, value: redactor.json(side.value) };
}
