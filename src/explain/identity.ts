import type { DesiredResource } from "../model/desired.ts";
import type { LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import type { Match } from "../plan/match.ts";
import type { Seen } from "../plan/seen.ts";

/** Which live resource an address means, and how that is known. */
export interface Identity {
  readonly id?: string;
  readonly found: string;
}

/** As a plan finds it. */
export function identityOf(resource: DesiredResource, seen: Seen): Identity {
  if (resource.kind === "batchGeneration") return { found: "the interface shows no batch generations" };
  const match = matchOf(resource, seen);
  if (match === undefined) return { found: "it cannot be told which live resource is meant" };
  if (match.found) return { id: match.id, found: howFound(resource, match.id, seen.state) };
  return match.removed === undefined
    ? { found: "no live resource fits" }
    : { found: `it was ${match.removed}, which the service no longer lists` };
}

/** As far as manifests and state tell, when the service is not asked. */
export function identityOffline(resource: DesiredResource, state: State | undefined): Identity {
  const id = resource.id ?? state?.bindings.get(resource.address)?.id;
  if (id !== undefined) return { id, found: howFound(resource, id, state) };
  return { found: "not bound; which live resource it means shows when the service is asked" };
}

function matchOf({ kind, address }: DesiredResource, seen: Seen): Match<unknown> | undefined {
  switch (kind) {
    case "target": {
      const removed = seen.state?.bindings.get(address)?.id;
      if (seen.live !== undefined) return { found: true, id: seen.live.id, live: seen.live };
      return removed === undefined ? { found: false } : { found: false, removed };
    }
    case "environment":
      return seen.environmentMatches.get(address);
    case "testCase":
      return seen.testCaseMatches.get(address);
    case "batchGeneration":
      return undefined;
  }
}

function howFound(resource: DesiredResource, id: string, state: State | undefined): string {
  if (resource.id !== undefined) return "by `id:` in the manifest";
  if (state?.bindings.get(resource.address)?.id === id) return "by its id in state";
  return `by its ${nameOf(resource)}; an apply binds it`;
}

function nameOf({ kind, key, fields }: DesiredResource): string {
  if (kind === "target") return "`app`";
  if (kind === "environment") return key === "default" ? "type, DEFAULT" : "`discoveryUrl`";
  return fields["externalId"] === undefined ? "`description`" : "`externalId` or `description`";
}

/** The live resource of a kind; nothing where there is none. */
export function liveTargetOf(seen: Seen | undefined): LiveTarget | undefined {
  return seen?.live;
}

export function liveEnvironmentOf(
  { address }: DesiredResource,
  seen: Seen | undefined,
): LiveEnvironment | undefined {
  const match = seen?.environmentMatches.get(address);
  return match?.found === true ? match.live : undefined;
}

export function liveTestCaseOf(
  { address }: DesiredResource,
  seen: Seen | undefined,
): LiveTestCase | undefined {
  const match = seen?.testCaseMatches.get(address);
  return match?.found === true ? match.live : undefined;
}
