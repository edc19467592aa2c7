import { type Session, targetsNamed } from "../app/session.ts";
import * as reports from "../inspect/reports.ts";
import { warning } from "../model/diagnostic.ts";
import { secretFields } from "../plan/memory.ts";

export async function managedTargets(session: Session, word: string | undefined) {
  const wanted = targetsNamed(word, session.desired);
  const { states, strays } = await session.remembered();
  const live = await session.client().listTargets();
  const ids = session.liveIds(states, live);
  const known = [...states.values(), ...strays];
  const missing = wanted.filter(({ key }) => !ids.has(key));
  session.host.warn(
    missing.map(({ key }) =>
      warning(
        "not-live",
        `Target ${key} does not exist on the service, so there is nothing to read`,
        "Create it with `tasc apply`. If several live targets match, `tasc plan` lists them.",
      ),
    ),
  );
  return {
    targets: wanted.flatMap(({ key }) => {
      const id = ids.get(key);
      const environments = live.find((one) => one.id === id)?.environments ?? [];
      return id === undefined ? [] : [{ key, id, environments }];
    }),
    addressOf: reports.addressesIn(known),
    secrets: secretFields(known),
  };
}
