import { addressOf, targetAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { LiveTarget } from "../model/live.ts";
import { isEmpty } from "./draft.ts";
import type { Composed, Draft, Entry, LeftOut } from "./draft.ts";
import { withoutPrerequisites } from "./prerequisites.ts";

/** The drafts without some addresses, which are left out for the reasons given. */
export function trim(
  { drafts, leftOut }: Composed,
  reasons: ReadonlyMap<Address, string>,
  targets: readonly LiveTarget[],
): Composed {
  const gone: LeftOut[] = [];
  const kept = drafts.flatMap((draft): Draft[] => {
    const app = targets.find(({ id }) => id === draft.liveId)?.app ?? "";
    const reason = reasons.get(targetAddress(draft.key));
    if (reason !== undefined && draft.target !== undefined) {
      gone.push({ app, kind: "target", id: draft.liveId, name: app, reason });
      return [];
    }
    const split = (kind: "environment" | "testCase", entries: readonly Entry[]): readonly Entry[] =>
      entries.filter(({ id, key }) => {
        const own = reasons.get(addressOf(kind, draft.key, key));
        if (own !== undefined) gone.push({ app, kind, id, name: key, reason: own });
        return own === undefined;
      });
    const testCases = split("testCase", draft.testCases);
    const lost = new Set(draft.testCases.filter((one) => !testCases.includes(one)).map(({ key }) => key));
    return [
      {
        ...draft,
        environments: split("environment", draft.environments),
        testCases: withoutPrerequisites(testCases, lost),
      },
    ];
  });
  return { drafts: kept.filter((draft) => !isEmpty(draft)), leftOut: [...leftOut, ...gone] };
}
