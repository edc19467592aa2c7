import type { Address } from "../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  byAddress,
  knownText,
  originOf,
} from "../model/desired.ts";
import { type Diagnostic, oneLine, warning } from "../model/diagnostic.ts";
import { type JsonObject, type Path, defined, isObject, valueAt } from "../model/json.ts";
import type { Policy } from "../model/settings.ts";
import { count, list } from "../model/words.ts";
import { display } from "./compare.ts";
import type { Breach } from "./problem.ts";

const DAY = 86_400_000;

/**
 * Quarantine: a test case keeps running, but until a day its failures do not count. All times are
 * milliseconds since 1970, and days are days of UTC.
 */
export interface Quarantine {
  /** The last day, e.g. `2026-12-15`. */
  readonly until: string;
  readonly reason: string;
  readonly issue?: string;
  readonly owner?: string;
  /** The moment from which failures count again. */
  readonly ends: number;
}

/** Returns the quarantine that a test case declares, over or not; undefined if it has none. */
export function quarantineOf({ fields }: Pick<DesiredResource, "fields">): Quarantine | undefined {
  const declared = display(fields["quarantine"] ?? null);
  if (!isObject(declared)) return undefined;
  const until = textIn(declared, "until") ?? "";
  const ends = Date.parse(`${until}T00:00:00Z`) + DAY;
  if (Number.isNaN(ends)) return undefined;
  return {
    until,
    ends,
    reason: textIn(declared, "reason") ?? "",
    ...defined({ issue: textIn(declared, "issue"), owner: textIn(declared, "owner") }),
  };
}

function textIn(map: JsonObject, key: string): string | undefined {
  const value = map[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the quarantine that is in force, if there is one. */
export function quarantineNow(resource: Pick<DesiredResource, "fields">, now: number) {
  const found = quarantineOf(resource);
  return found !== undefined && now < found.ends ? found : undefined;
}

export interface LongerQuarantine {
  readonly address: Address;
  readonly until: string;
}

/** Returns the test cases whose failures count again later than `base` says, or did count there. */
export function longerQuarantines(
  targets: readonly DesiredTarget[],
  base: readonly DesiredTarget[],
  now: number,
): readonly LongerQuarantine[] {
  const before = byAddress(base.flatMap(({ testCases }) => testCases));
  return targets.flatMap(({ testCases }) =>
    testCases.flatMap((resource) => {
      const { address } = resource;
      const found = quarantineNow(resource, now);
      const was = before.get(address);
      const ended = (was && quarantineNow(was, now)?.ends) ?? 0;
      return found !== undefined && found.ends > ended ? [{ address, until: found.until }] : [];
    }),
  );
}

/** Whether the manifests take a test case out of runs. Its failures cannot count then. */
export function isDeclaredOff(resource: DesiredResource): boolean {
  return offFields(resource).length > 0;
}

const OFF = { status: "DISABLED", runStatus: "OFF" } as const;

function offFields(resource: DesiredResource): readonly (keyof typeof OFF)[] {
  return (["status", "runStatus"] as const).filter(
    (name) => knownText(resource, name) === OFF[name],
  );
}

/** How long before its end a quarantine is told, in milliseconds. */
const SOON = 3 * DAY;

/** Returns the running test cases whose quarantine is over, and those whose quarantine ends soon. */
export function endingQuarantines(targets: readonly DesiredTarget[], now: number) {
  const all = targets.flatMap(({ testCases }) =>
    testCases.flatMap((resource) => {
      const quarantine = quarantineOf(resource);
      return quarantine === undefined || isDeclaredOff(resource) ? [] : [{ resource, quarantine }];
    }),
  );
  return {
    over: all.filter(({ quarantine: { ends } }) => ends <= now),
    soon: all.filter(({ quarantine: { ends } }) => now < ends && ends - SOON <= now),
  };
}

/** Returns a warning for each quarantine that is over: its failures count again. */
export function overWarnings(
  targets: readonly DesiredTarget[],
  now: number,
): readonly Diagnostic[] {
  return endingQuarantines(targets, now).over.map(({ resource, quarantine }) => ({
    ...warning(
      "quarantine-over",
      `The quarantine ended on ${quarantine.until}, so failures count again`,
      `It was for: ${oneLine(quarantine.reason)}. Remove \`quarantine\`, or give it a new \`until\`.`,
    ),
    address: resource.address,
    ...defined({ origin: originOf(resource, ["quarantine", "until"]) }),
  }));
}

/** Returns a sentence about the quarantines that end soon; undefined if there are none. */
export function endingHint(targets: readonly DesiredTarget[], now: number): string | undefined {
  const { soon } = endingQuarantines(targets, now);
  if (soon.length === 0) return undefined;
  const named = soon.map(({ resource, quarantine: { until } }) => `${resource.address} (${until})`);
  return `${count(soon.length, "quarantine")} will end soon: ${list(named)}.`;
}

interface Judged {
  readonly targets: readonly DesiredTarget[];
  readonly inScope: (address: Address) => boolean;
  readonly now: number;
}

/** Returns the violations of `policy.quarantine`. A date in the past violates nothing. */
export function quarantineBreaches(
  { targets, inScope, now }: Judged,
  { quarantine: rule = {} }: Policy,
): readonly Breach[] {
  const { maxDays = Infinity, maxPercent = 100, require = [] } = rule;
  const latest = maxDays === Infinity ? Infinity : Math.floor(now / DAY) + maxDays;
  return targets.flatMap((target) => {
    const inForce = target.testCases.flatMap((resource) => {
      const found = quarantineNow(resource, now);
      return found === undefined || isDeclaredOff(resource) ? [] : [{ resource, ...found }];
    });
    const own = inForce.filter(({ resource: { address } }) => inScope(address));
    const breaches = own.flatMap(({ resource, until, ends, ...notes }): readonly Breach[] => {
      const { address } = resource;
      const missing = require.filter((name) => notes[name] === undefined);
      const last = latest === Infinity ? "" : new Date(latest * DAY).toISOString().slice(0, 10);
      return [
        ...(ends / DAY - 1 > latest
          ? [
              {
                summary: `a quarantine until ${until} is too long, at most ${count(maxDays, "day")} allowed`,
                detail: `From today, \`until\` can be ${last} at the latest.`,
                address,
                origin: originOf(resource, ["quarantine", "until"]),
              },
            ]
          : []),
        ...(missing.length === 0
          ? []
          : [
              {
                summary: `the quarantine has no ${list(missing)}`,
                detail: `Add ${list(missing.map((name) => `\`${name}\``))} to its \`quarantine\`.`,
                address,
                origin: originOf(resource, ["quarantine"]),
              },
            ]),
      ];
    });
    const total = target.testCases.length;
    if (inForce.length * 100 <= maxPercent * total) return breaches;
    const percent = Math.round((inForce.length / total) * 1000) / 10;
    return [
      ...breaches,
      {
        summary: `${percent} % of the test cases are in quarantine, at most ${maxPercent} % allowed`,
        detail: `${inForce.length} of the ${total} declared test cases of ${target.key} are in quarantine. Repair some, or switch them off.`,
        address: target.address,
        origin: originOf(target),
      },
    ];
  });
}

const REASON: Path = ["reason"];

/**
 * Returns the violations of `policy.offNeedsReason`: the map that takes a test case out of runs must
 * also say why, since another layer may take it out for another reason.
 */
export function reasonBreaches({ targets, inScope }: Judged): readonly Breach[] {
  const testCases = targets.flatMap((target) => target.testCases);
  return testCases.flatMap((resource) => {
    const { address, layers } = resource;
    if (!inScope(address)) return [];
    return offFields(resource).flatMap((name): readonly Breach[] => {
      const layer = layers.findLast(({ value }) => value[name] !== undefined);
      const reason = layer && valueAt(layer.value, REASON);
      if (layer === undefined || typeof reason === "string") return [];
      return [
        {
          summary: `${name} is ${OFF[name]} without a reason`,
          detail: `Add \`reason: …\` beside \`${name}: ${OFF[name]}\`, in the same place.`,
          address,
          origin: { file: layer.file, path: [...layer.path, name] },
        },
      ];
    });
  });
}
