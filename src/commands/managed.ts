import type { Session } from "../app/session.ts";
import { type AddressOf, addressesIn } from "../inspect/reports.ts";
import { nearest } from "../manifest/problem.ts";
import type { Desired, DesiredTarget } from "../model/desired.ts";
import { stop } from "../model/error.ts";
import type { LiveTarget } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { liveTargets } from "../plan/plan.ts";

/** The ids of the declared targets that are live, by key, found as a plan finds them. */
export function liveIds(
  desired: Desired,
  states: ReadonlyMap<string, State>,
  targets: readonly LiveTarget[],
): ReadonlyMap<string, string> {
  const found = liveTargets({ desired, states, fingerprints: undefined }, targets);
  return new Map([...found].map(([key, { id }]) => [key, id]));
}

/** The managed targets that are live, or the one that was asked for. */
export interface ManagedTargets {
  readonly targets: readonly { readonly key: string; readonly id: string }[];
  readonly addressOf: AddressOf;
}

/** Finds the project's targets on the service; those that are not there are warned of. @throws TascError */
export async function managedTargets(session: Session, word: string | undefined): Promise<ManagedTargets> {
  const wanted = targetsNamed(word, session.desired);
  const { states, strays } = await session.remembered();
  const live = await session.client().listTargets();
  const ids = liveIds(session.desired, states, live);
  session.host.warn(
    wanted
      .filter(({ key }) => !ids.has(key))
      .map(({ key }) => ({
        severity: "warning",
        code: "not-live",
        summary: `Target ${key} does not exist on the service, so there is nothing to read`,
        detail: "Create it with `tasc apply`. If several live targets match, `tasc plan` lists them.",
      })),
  );
  const targets = wanted.flatMap(({ key }) => {
    const id = ids.get(key);
    return id === undefined ? [] : [{ key, id }];
  });
  return { targets, addressOf: addressesIn([...states.values(), ...strays]) };
}

/** The target of that key, or all where none is named. @throws TascError if no manifest declares it */
export function targetsNamed(word: string | undefined, { targets }: Desired): readonly DesiredTarget[] {
  if (word === undefined) return targets;
  const key = word.replace(/^target\./, "");
  const found = targets.find((target) => target.key === key);
  if (found !== undefined) return [found];
  const keys = targets.map((target) => target.key);
  const close = nearest(key, keys);
  throw stop(
    "invalid",
    "unknown-target",
    `No manifest declares a target ${key}`,
    `Declared targets: ${keys.join(", ")}.${close === undefined ? "" : ` Did you mean ${close}?`}`,
  );
}
