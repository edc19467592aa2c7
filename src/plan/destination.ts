import { type Address, placeOf } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Path, startsWith } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import { urlOf } from "../model/shape.ts";
import { SENSITIVE, Secret, type Value, isUnknown, isValueObject, reveal } from "../model/value.ts";
import type { MatchedTarget } from "./matched-target.ts";

/* Where a plan sends tests, results and credentials: the origins (scheme, host, port) that it changes. */

interface Matching {
  readonly matched: ReadonlyMap<string, MatchedTarget>;
}

export const resourceAt = (
  address: Address,
  matched: Matching["matched"],
): DesiredResource | undefined => matched.get(placeOf(address).target)?.resources.get(address);

/** The fields that say where something is sent: of an environment and of a target. */
const DESTINATIONS = {
  discoveryUrl: ["discoveryUrl"],
  trackerIntegration: ["trackerIntegration", "domain"],
} as const;

/** Returns the destination that a change of an existing resource moves to another origin. */
export function movedOrigin({ address, action, fields }: Change, { matched }: Matching) {
  if (action === "create") return undefined;
  for (const field of ["discoveryUrl", "trackerIntegration"] as const) {
    const path = DESTINATIONS[field];
    if (!fields.some((one) => startsWith(one.path, path))) continue;
    const value = declaredAt(resourceAt(address, matched), path);
    const live = matched.get(placeOf(address).target)?.matches.get(address)?.live;
    // The service shows no tracker, so its old origin is unknown.
    const before = field === "discoveryUrl" ? live?.discoveryUrl : undefined;
    if (before !== undefined && originOf(before) === originOf(plainText(value))) continue;
    const from = before === undefined ? "not shown" : shownOrigin(before);
    return { field, from, to: shownOrigin(value) };
  }
  return undefined;
}

function declaredAt(resource: DesiredResource | undefined, [field, part]: Path): Value {
  const value = resource?.fields[String(field)] ?? null;
  return part === undefined ? value : isValueObject(value) ? (value[String(part)] ?? null) : null;
}

/** The fields of an environment that the service sends to its origin. */
const CREDENTIALS = ["testAccount", "basicAuth", "additionalHeaderFields"] as const;

const hasCredentials = ({ fields }: DesiredResource): boolean =>
  CREDENTIALS.some((name) => {
    const value = fields[name];
    return isValueObject(value) && Object.keys(value).length > 0;
  });

/**
 * Returns the origin that credentials are sent to for the first time: of an existing environment
 * that moves, or of a new environment or batch generation at an origin that no live environment of
 * the target has. The interface does not say whose credentials a batch generation without an
 * environment uses, so any environment's count.
 */
export function newOriginWithCredentials(change: Change, subject: Matching): string | undefined {
  const { address, action } = change;
  const matched = subject.matched.get(placeOf(address).target);
  const resource = matched?.resources.get(address);
  if (matched?.live === undefined || resource === undefined) return undefined;
  const { kind, fields } = resource;
  if (kind === "environment" && action !== "create") {
    const moved = hasCredentials(resource) ? movedOrigin(change, subject) : undefined;
    return moved?.to;
  }
  if (action !== "create" || (kind !== "environment" && kind !== "batchGeneration"))
    return undefined;
  const url = fields[kind === "environment" ? "discoveryUrl" : "baseUrl"] ?? null;
  const isKnown = matched.live.environments.some(
    ({ discoveryUrl = null }) => originOf(discoveryUrl) === originOf(plainText(url)),
  );
  if (url === null || isUnknown(url) || isKnown) return undefined;
  const { environments } = matched.target;
  const own = environments.filter(({ key }) => key === fields["environment"]);
  const senders = kind === "environment" ? [resource] : own.length > 0 ? own : environments;
  return senders.some(hasCredentials) ? shownOrigin(url) : undefined;
}

function plainText(value: Value): string | null {
  const plain = isUnknown(value) ? null : reveal(value);
  return typeof plain === "string" ? plain : null;
}

/** Returns scheme, host and port; for other texts, the whole of it. */
function originOf(url: string | null): string | null {
  return url === null ? null : (urlOf(url)?.origin ?? url);
}

/** Stands for `(sensitive)` in a host name, where brackets are not allowed. */
const STAND_IN = "sensitive-7f3a";

/** Writes an origin. Of a URL with a secret only the literal part is shown, up to its path. */
function shownOrigin(value: Value): string {
  if (value === null) return "none";
  if (typeof value === "string") return urlOf(value)?.origin ?? SENSITIVE;
  const literal = value instanceof Secret ? (value.literal ?? "") : "";
  // A parser decides what the host is: it reads `\\` and `@` in its own way.
  const origin = urlOf(literal.replaceAll(SENSITIVE, STAND_IN))?.origin;
  return origin?.replaceAll(STAND_IN, SENSITIVE) ?? SENSITIVE;
}
