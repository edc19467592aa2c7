import { KINDS, targetAddress } from "../../model/address.ts";
import { countValues, groupBy } from "../../model/collections.ts";
import { knownText } from "../../model/desired.ts";
import type { LiveTarget } from "../../model/live.ts";
import { Manifests, onlyStagesOf, setAt } from "../manifests.ts";
import { desiredIn, planProject } from "./planned-project.ts";
import type { ImportSources, Pairs } from "./request.ts";

/** A live target that matches several declared ones, or the other way round. */
export interface Unclear {
  readonly live: LiveTarget;
  readonly keys: readonly string[];
}

/** Finds the keys of live targets in other stages. @param into live id → key, as the user chose */
export function pairTargets(sources: ImportSources, into: Pairs) {
  const { stages, desired, states, chosen } = sources;
  const pairs = new Map<string, string>();
  if (stages.length < 2) return { pairs, unclear: [] };
  const manifests = new Manifests(sources.reading);
  const { known } = planProject(sources, manifests, new Map(), desired);
  const declared = new Set(manifests.targets);
  const free = chosen.filter(({ id }) => {
    const own = known.get(id);
    const key = into.get(id) ?? own?.key;
    if (key !== undefined && own?.matched === undefined && declared.has(key)) pairs.set(id, key);
    return key === undefined;
  });
  const taken = new Set([...pairs.values(), ...[...known.values()].map(({ key }) => key)]);
  const here = new Set(desired.targets.map(({ key }) => key));
  const open = manifests.targets.filter((key) => {
    const isBound = here.has(key) && states.get(key)?.bindings.has(targetAddress(key)) === true;
    return !taken.has(key) && !isBound;
  });
  // The apps in each stage that has them, and as if they existed in the imported stage.
  const lifted = manifests.with(open.flatMap((key) => lifting(manifests, key, sources)));
  const inStages = targetsByStage(sources, lifted);
  const apps = open.flatMap((key) =>
    inStages.flatMap(({ stage, targets }) => {
      const target = targets.get(key);
      const app = target && knownText(target, "app");
      return app === undefined ? [] : [{ key, app, plain: withoutStage(app, stage) }];
    }),
  );
  const keysBy = (name: "app" | "plain"): ReadonlyMap<string, readonly string[]> => {
    const groups = [...groupBy(apps, (one) => one[name])];
    return new Map(groups.map(([text, own]) => [text, [...new Set(own.map(({ key }) => key))]]));
  };
  const [exact, plain] = [keysBy("app"), keysBy("plain")];
  const candidates = free.map((live): Unclear => {
    const name = withoutStage(live.app, desired.stage);
    return { live, keys: exact.get(live.app) ?? (name === "" ? undefined : plain.get(name)) ?? [] };
  });
  // Thousands of targets with one name share one list of keys, which is searched once.
  const claims = countValues(
    [...countValues(candidates.map(({ keys }) => keys))].flatMap(([keys, times]) =>
      keys.length > 1 || times > 1 ? [...keys, ...keys] : keys,
    ),
  );
  const isUnclear = ({ keys: [first = ""] }: Unclear): boolean => (claims.get(first) ?? 0) > 1;
  for (const one of candidates)
    if (one.keys[0] !== undefined && !isUnclear(one)) pairs.set(one.live.id, one.keys[0]);
  return { pairs, unclear: candidates.filter(isUnclear) };
}

/** Returns what manifests declare in each stage, by key. */
export function targetsByStage(sources: ImportSources, manifests: Manifests) {
  return sources.stages.map((stage) => {
    const targets = desiredIn(stage, sources, manifests)?.targets ?? [];
    return { stage, targets: new Map(targets.map((target) => [target.key, target])) };
  });
}

/** Returns edits that make all resources of a target exist in the imported stage. */
export function lifting(
  manifests: Manifests,
  key: string,
  { desired: { stage }, stages }: ImportSources,
) {
  return manifests.addressesOf(key, ...KINDS).flatMap((address) => {
    const only = onlyStagesOf(manifests, address, stages);
    return only === undefined || only.stages.includes(stage)
      ? []
      : [setAt(only.slot, [...only.stages, stage])];
  });
}

/** Returns the words of a name in lower case, without those of its stage. */
export function withoutStage(name: string, stage: string): string {
  return words(name).replaceAll(words(stage), " ").trim();
}

function words(text: string): string {
  return ` ${text.toLowerCase()} `.replaceAll(/[^\p{L}\p{N}]+/gu, " ");
}

/** Returns a name to make a key of: without the words of its stage, if there is more than these. */
export function plainName(name: string, stage: string | undefined): string {
  if (stage === undefined) return name;
  return (words(name).includes(words(stage)) && withoutStage(name, stage)) || name;
}
