import { driftOf } from "../inspect/drift.ts";
import { type StageStatus, targetStatus } from "../inspect/status.ts";
import { placesIn } from "../manifest/problem.ts";
import { type Address, targetOf } from "../model/address.ts";
import { type DesiredResource, originOf } from "../model/desired.ts";
import { display } from "../plan/compare.ts";
import { countUnmanaged } from "../plan/orphans.ts";
import { EVERYTHING } from "../plan/scope.ts";
import { resultsOf, surveyResults } from "./results.ts";
import type { Session } from "./session.ts";

/** Reads the status of a stage: one list and the newest reports of each target. */
export async function stageStatus(session: Session, last: number): Promise<StageStatus> {
  const { settings, project, host } = session;
  const { planned, targets } = await surveyResults(
    session,
    undefined,
    ({ length }) => length >= last,
  );
  const drift = driftOf(planned, EVERYTHING);
  const placeOf = await placesIn(project.sources);
  return {
    stage: settings.stage,
    targets: targets.map((one) =>
      targetStatus({
        ...one,
        drift,
        last,
        now: host.now(),
        unmanaged:
          one.matched === undefined
            ? 0
            : countUnmanaged(
                one.matched,
                planned.plan.orphaned.filter(({ address }) => targetOf(address) === one.key),
              ),
        resultsOf: (address: Address) => resultsOf(one, address),
        placeOf: (resource: DesiredResource) => {
          const origin = originOf(resource);
          return origin && placeOf(origin);
        },
        textOf: ({ fields }, field) => {
          const text = display(fields[field] ?? null);
          return typeof text === "string" ? text : undefined;
        },
      }),
    ),
  };
}
