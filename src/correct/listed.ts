import { DELETED } from "../fields/test-case.ts";
import type { Read, Reader } from "../look/look.ts";
import type { Kind } from "../model/address.ts";
import type { LiveTarget } from "../model/live.ts";

/** Where an id is looked for. */
export interface Sought {
  readonly kind: Exclude<Kind, "batchGeneration">;
  readonly id: string;
  /** Id of the test target that an environment or a test case must be in. */
  readonly targetId: string | undefined;
}

/** Whether the service lists a resource of that kind with that id, in that target; or what it is instead. */
export async function isListed<F>(
  reader: Reader<F>,
  targets: readonly LiveTarget[],
  sought: Sought,
): Promise<Read<{ readonly listed: boolean; readonly hint: string }, F>> {
  const { kind, id, targetId } = sought;
  const hint = hintFor(targets, sought);
  if (kind === "target")
    return found(
      targets.some((target) => target.id === id),
      hint,
    );
  const target = targets.find((candidate) => candidate.id === targetId);
  if (kind === "environment")
    return found(target?.environments.some((environment) => environment.id === id) === true, hint);
  if (target === undefined) return found(false, hint);
  const cases = await reader.listTestCases(target.id, (live) => ({ ...live, elements: undefined }));
  if (!cases.ok) return cases;
  const live = cases.value.find((testCase) => testCase.id === id);
  if (live?.status === DELETED) return found(false, "It was deleted on the service.");
  return found(live !== undefined, hint);
}

function found(listed: boolean, hint: string) {
  return { ok: true as const, value: { listed, hint } };
}

/** An id of another kind is an easy mistake. */
function hintFor(targets: readonly LiveTarget[], { kind, id, targetId }: Sought): string {
  if (kind !== "target" && targets.some((target) => target.id === id))
    return "It is the id of a test target.";
  const holder = targets.find(({ environments }) => environments.some((one) => one.id === id));
  if (holder !== undefined && (kind !== "environment" || holder.id !== targetId))
    return `It is the id of an environment of the test target ${holder.id}.`;
  if (kind !== "target" && targetId === undefined)
    return "Its test target is not on the service, or is not bound yet.";
  return "";
}
