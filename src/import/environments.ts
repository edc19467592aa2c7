import { ENVIRONMENT_FIELDS } from "../fields/environment.ts";
import { compareText } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { LiveEnvironment, LiveTarget } from "../model/live.ts";
import { normalise } from "../plan/compare.ts";
import { declareFields } from "./declare.ts";
import type { Around } from "./declare.ts";
import type { Entry, LeftOut } from "./draft.ts";
import { canBind, countValues, NOT_BINDABLE, UNCLEAR } from "./identity.ts";
import { chooseKeys } from "./keys.ts";
import type { KnownParts } from "./known.ts";

/** What becomes of the parts of a target. */
export interface ImportedParts {
  /** Sorted by key. */
  readonly entries: readonly Entry[];
  readonly leftOut: readonly Omit<LeftOut, "app">[];
}

const DEFAULT_KEY = "default";

/** The environments that no manifest declares. */
export function importEnvironments(
  target: LiveTarget,
  known: KnownParts,
  around: Omit<Around, "defaults">,
): ImportedParts {
  const fresh = uniqueById(target.environments).filter(({ id }) => !known.managed.has(id));
  const leftOut: Omit<LeftOut, "app">[] = [];
  const judged = fresh.flatMap((live) => {
    const declared = declareFields(ENVIRONMENT_FIELDS, live, { ...around, defaults: known.defaults });
    const bind = mustBind(live, declared.fields["discoveryUrl"], target.environments);
    const reason = known.isDoubtful(live.id, [live.discoveryUrl, live.type])
      ? UNCLEAR
      : bind && !canBind(live.id)
        ? NOT_BINDABLE
        : undefined;
    if (reason === undefined) return [{ live, declared, bind }];
    leftOut.push({ kind: "environment", id: live.id, name: live.discoveryUrl, reason });
    return [];
  });
  const keys = environmentKeys(
    judged.map(({ live }) => live),
    known,
    around,
  );
  const entries = judged.map(({ live, declared, bind }): Entry => {
    const key = keys.get(live.id) ?? "";
    return { id: live.id, key, bind, ...declared, folderId: null };
  });
  return { entries: entries.toSorted((a, b) => compareText(a.key, b.key)), leftOut };
}

/**
 * The DEFAULT environment is found by its type, another by its URL; of both kinds there may be several alike, and of
 * types that the interface does not name nothing is found.
 */
function mustBind(live: LiveEnvironment, url: Json | undefined, all: readonly LiveEnvironment[]): boolean {
  const alike = all.filter(({ type }) => type === live.type);
  if (live.type === "DEFAULT") return alike.length > 1;
  if (live.type !== "ADDITIONAL" || url === undefined) return true;
  const counts = countValues(alike.map(({ discoveryUrl }) => normalise("url", discoveryUrl ?? null)));
  return counts.get(normalise("url", live.discoveryUrl ?? null)) !== 1;
}

function environmentKeys(
  live: readonly LiveEnvironment[],
  known: KnownParts,
  { holdsSecret }: Omit<Around, "defaults">,
): ReadonlyMap<string, string> {
  const isDefaultFree = !known.declared.has(DEFAULT_KEY);
  const [first] = live
    .filter(({ type }) => type === "DEFAULT")
    .map(({ id }) => id)
    .toSorted(compareText);
  const keys = new Map<string, string>();
  if (isDefaultFree && first !== undefined) keys.set(first, DEFAULT_KEY);
  for (const { id } of live) {
    const key = known.remembered.get(id);
    if (key !== undefined && key !== DEFAULT_KEY && !keys.has(id)) keys.set(id, key);
  }
  const wishes = live
    .filter(({ id }) => !keys.has(id))
    .map(({ id, discoveryUrl: url }) => {
      const name = url === undefined || holdsSecret(url) ? undefined : nameOfUrl(url);
      return { id, name, noun: "environment" };
    });
  const taken = new Set([...known.taken, DEFAULT_KEY]);
  return new Map([...keys, ...chooseKeys(wishes, taken)]);
}

/** Host and path: what is readable of a URL, and tells environments of one application apart. */
function nameOfUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { hostname, port, pathname } = new URL(text);
  return `${hostname.replace(/^www\./, "")} ${port} ${pathname}`;
}

/** The planner takes the last of those that are listed under one id. */
export function uniqueById<L extends { readonly id: string }>(live: readonly L[]): readonly L[] {
  return [...new Map(live.map((one) => [one.id, one])).values()];
}
