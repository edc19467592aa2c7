import { type Address, parseAddress, placeOf } from "../model/address.ts";
import { cached, groupBy } from "../model/collections.ts";
import { byAddress } from "../model/desired.ts";
import { fieldsOf } from "../model/fields.ts";
import {
  ATTENTION_CODES,
  ATTENTION_SEVERITIES,
  type Attention,
  type AttentionCode,
  type AttentionSeverity,
  type Change,
  type Plan,
  type StepLosses,
} from "../model/plan.ts";
import { Secret, isSensitive } from "../model/value.ts";
import type { LiveResource } from "../model/live.ts";
import { defined } from "../model/json.ts";
import type { StepsState } from "../model/steps.ts";
import { count, kindNoun, list, nonZero } from "../model/words.ts";
import type { MatchedTarget } from "./matched-target.ts";
import { movedOrigin, newOriginWithCredentials, resourceAt } from "./destination.ts";
import { generationTrouble } from "./generation.ts";
import { memoryOf } from "./memory.ts";
import type { NotJudged } from "./passed-in.ts";
import { type LongerQuarantine, endingQuarantines } from "./quarantine.ts";
import { isRediscovering, isShown } from "./staleness.ts";
import { type ReviewedCase, reviewedCases } from "./steps.ts";

/*
 * What a reviewer must see is decided here alone: one row for each kind of harm. Every output prints what the rows
 * found, and `policy.protected` refuses what they mark. A row says no values of fields, so a secret hides nothing.
 */

/** What the rows look at. Row conditions that need more add a member. */
export interface Subject {
  readonly plan: Pick<Plan, "changes" | "orphaned" | "diagnostics">;
  readonly matched: ReadonlyMap<string, MatchedTarget>;
  /** Milliseconds since 1970; without it, nothing that depends on the day is found. */
  readonly now?: number | undefined;
  /** Only with `plan --base`: the settings that allow more than those of the base. */
  readonly loosened?: readonly string[];
  /** Only with `plan --base`: what is in quarantine longer than in the base. */
  readonly quarantined?: readonly LongerQuarantine[];
  /** Test cases that are not switched on until their steps are accepted. */
  readonly held?: ReadonlySet<Address>;
}

/** Something that a row found: one address, or, without one, the whole project. */
export interface Finding {
  readonly address?: Address;
  /** What it is exactly, if that differs between findings; equal ones are told together. */
  readonly what?: string;
  readonly losses?: StepLosses;
  /** If it differs from the row's. */
  readonly severity?: AttentionSeverity;
  /** `policy.protected` refuses it: the words after "this test case would be". */
  readonly refused?: string;
  /** It is also refused if the target has a protected test case, because all of them run there. */
  readonly concerns?: "all test cases";
}

/** What all rows share. */
interface Looked extends Subject {
  readonly reviewed: readonly ReviewedCase[];
}

interface Row {
  readonly severity: AttentionSeverity;
  readonly find: (subject: Looked) => readonly Finding[];
  /** The words after one address, after several, and the whole head if there are none. */
  readonly says: readonly [one: string, many: string, none?: string];
  /** What the findings come to, in brackets. */
  readonly total?: (found: readonly Finding[]) => string;
}

/** Makes a condition over one change. @param of returns undefined if the row does not apply */
function eachChange(
  of: (change: Change, subject: Subject) => Omit<Finding, "address"> | undefined,
) {
  return (subject: Subject): readonly Finding[] =>
    subject.plan.changes.flatMap((change) => {
      const found = of(change, subject);
      return found === undefined ? [] : [{ address: change.address, ...found }];
    });
}

const CAUTION = { severity: "caution" } as const;

/** The rows, by code. */
const ROWS: Readonly<Partial<Record<AttentionCode, Row>>> = {
  "stops-running": {
    severity: "danger",
    find: eachChange((change, subject) =>
      leavesRuns(change, subject) ? { refused: "disabled" } : undefined,
    ),
    says: ["stops running", "stop running"],
  },
  destination: {
    severity: "danger",
    find: eachChange((change, subject) => {
      const moved = movedOrigin(change, subject);
      if (moved === undefined) return undefined;
      const isDefault = parseAddress(change.address)?.key === "default";
      return {
        what: `${moved.from} → ${moved.to}`,
        refused: "sent to another origin",
        ...(isDefault && moved.field === "discoveryUrl" && { concerns: "all test cases" as const }),
      };
    }),
    says: ["gets another destination", "get another destination"],
  },
  "credentials-sent": {
    severity: "danger",
    find: eachChange((change, subject) => {
      const to = newOriginWithCredentials(change, subject);
      return to === undefined ? undefined : { what: to };
    }),
    says: [
      "sends credentials to an origin that is new here",
      "send credentials to an origin that is new here",
    ],
  },
  "checks-less": {
    severity: "danger",
    find: eachChange(({ losses }) => {
      if (losses === undefined) return undefined;
      const how = losses.all ? "left without steps" : `weakened (${list(lossWords([losses]))})`;
      return { losses, refused: how };
    }),
    says: ["checks less", "check less"],
    total: (found) => list(lossWords(found.flatMap(({ losses }) => losses ?? []))),
  },
  "other-start": {
    severity: "caution",
    find: eachChange(({ action, fields }) =>
      action !== "create" && fields.some(({ path }) => path[0] === "entryPointUrlPath")
        ? { refused: "started elsewhere" }
        : undefined,
    ),
    says: ["starts at another path", "start at another path"],
  },
  generates: {
    severity: "caution",
    find: eachChange((change) => {
      if (isRediscovering(change)) return { what: "again", refused: "rediscovered" };
      if (change.action !== "create") return undefined;
      const kind = parseAddress(change.address)?.kind;
      return kind === "testCase" || kind === "batchGeneration" ? { what: "new" } : undefined;
    }),
    says: ["is generated by the service", "are generated by the service"],
  },
  "likely-duplicate": {
    severity: "danger",
    find: ({ plan: { diagnostics } }) =>
      diagnostics.flatMap(({ code, address }) =>
        code === "looks-renamed" && address !== undefined ? [{ address }] : [],
      ),
    says: [
      "looks like a duplicate of an orphaned one, and cannot be deleted",
      "look like duplicates of orphaned ones, and cannot be deleted",
    ],
  },
  "leaves-management": {
    severity: "caution",
    find: ({ plan: { changes, orphaned } }) => [
      ...changes.flatMap(({ address, action }) =>
        action === "forget" ? [{ address, what: "forgotten", refused: "forgotten" }] : [],
      ),
      ...orphaned.map(({ address }) => ({ address, refused: "orphaned" })),
    ],
    says: ["is in no manifest any more", "are in no manifest any more"],
  },
  "generation-failed": {
    severity: "danger",
    find: (subject) =>
      generationsIn(subject).flatMap(({ address, trouble: { failed, steps, staysOff } }) => {
        if (failed === undefined) return [];
        const { cause, message } = failed;
        const why = [cause, message?.slice(0, LONGEST_MESSAGE)].filter(Boolean).join(": ");
        const kept = staysOff
          ? "it has no steps, so nothing switches it on"
          : steps === true
            ? "it keeps the steps that it has"
            : "";
        const what = [why, kept].filter((part) => part !== "").join("; ");
        return [{ address, what, ...(steps === true ? CAUTION : {}) }];
      }),
    says: ["was not generated", "were not generated"],
    total: ([{ address = "ADDRESS" } = {}, ...others]) =>
      `change the prompt, or tasc apply --rediscover ${others.length === 0 ? address : "ADDRESS"}`,
  },
  "no-steps": {
    severity: "danger",
    find(subject) {
      const changed = byAddress(subject.plan.changes);
      return generationsIn(subject).flatMap(
        ({ address, trouble: { failed, word, staysOff, isOn } }) => {
          if (failed !== undefined) return [];
          if (word !== undefined && staysOff)
            return [{ address, what: `its generation is ${word}, so nothing switches it on` }];
          if (!isOn) return [];
          const change = changed.get(address);
          if (change !== undefined && isRediscovering(change))
            return [{ address, what: "it passes until it is generated", ...CAUTION }];
          return [{ address, what: "it always passes", ...(change === undefined && CAUTION) }];
        },
      );
    },
    says: ["has no steps", "have no steps"],
  },
  renamed: {
    severity: "caution",
    find: eachChange(({ address, action, fields }) => {
      if (action === "create") return undefined;
      const name = NAMES[parseAddress(address)?.kind ?? "batchGeneration"];
      return fields.some(({ path }) => path[0] === name) ? { refused: "renamed" } : undefined;
    }),
    says: ["gets another name", "get another name"],
  },
  "steps-weakened": {
    severity: "danger",
    find: eachReviewed("weakened", (reviewed) =>
      reviewed ? { refused: "weakened on the service" } : {},
    ),
    says: ["checks less than was accepted", "check less than was accepted"],
  },
  "steps-changed": {
    severity: "caution",
    find: eachReviewed("changed"),
    says: ["has other steps than were accepted", "have other steps than were accepted"],
  },
  "steps-new": {
    severity: "caution",
    find: eachReviewed("notAccepted", (reviewed, { status, runStatus }) => {
      const runs = reviewed && status === "ENABLED" && runStatus === "ON";
      return runs ? { what: "running", severity: "danger" } : {};
    }),
    says: ["has steps that nobody accepted", "have steps that nobody accepted"],
  },
  "steps-selector": {
    severity: "caution",
    find: eachReviewed("selectorOnly"),
    says: [
      "finds elements another way than was accepted",
      "find elements another way than was accepted",
    ],
  },
  "quarantine-over": {
    severity: "caution",
    find: ({ matched, now }) =>
      now === undefined
        ? []
        : endingQuarantines(
            [...matched.values()].map(({ target }) => target),
            now,
          ).over.map(({ resource, quarantine }) => ({
            address: resource.address,
            what: `until ${quarantine.until}`,
          })),
    says: [
      "is no longer in quarantine, so its failures count",
      "are no longer in quarantine, so their failures count",
    ],
  },
  "policy-loosened": {
    severity: "danger",
    find: ({ loosened = [], quarantined = [] }) => [
      ...loosened.map((what) => ({ what })),
      ...quarantined.map(({ address, until }) => ({
        address,
        what: `until ${until}`,
        ...CAUTION,
      })),
    ],
    says: [
      "is in quarantine longer than in the base, so its failures do not count",
      "are in quarantine longer than in the base, so their failures do not count",
      "The project's settings allow more than those of the base",
    ],
  },
  "secret-in-open": {
    severity: "caution",
    find: eachChange((change, { matched }) => {
      const { kind, fields = {} } = resourceAt(change.address, matched) ?? {};
      const open = fieldsOf(kind ?? "target").filter((field) => {
        const value = fields[field.name];
        const mayShow = value !== undefined && field.read !== undefined;
        return mayShow && isShown(change, field) && isSensitive(value);
      });
      return open.length === 0 ? undefined : { what: list(open.map(({ name }) => name)) };
    }),
    says: [
      "shows a secret to everybody on the service",
      "show a secret to everybody on the service",
    ],
  },
};

/** Maximum length of the service's message about a failed generation, in characters. */
const LONGEST_MESSAGE = 200;

/** Returns the test cases whose generation or lack of steps must be told: two rows ask. */
function generationsIn(subject: Subject) {
  return cached(GENERATIONS, subject, () => findGenerations(subject));
}

const GENERATIONS = new WeakMap<Subject, ReturnType<typeof findGenerations>>();

function findGenerations({ plan, matched }: Subject) {
  const changed = byAddress(plan.changes);
  return [...matched.values()].flatMap((target) =>
    target.target.testCases.flatMap((resource) => {
      const { address } = resource;
      const live = target.matches.get(address)?.live;
      // Those that were as declared and have steps are kept without the data to decide on.
      if (live === undefined || live.asDeclared !== undefined) return [];
      const memory = memoryOf(address, live.id, target);
      const trouble = generationTrouble(resource, live, memory, changed.get(address));
      return trouble === undefined ? [] : [{ address, trouble }];
    }),
  );
}

/** Makes a condition over the test cases whose steps are in this state. */
function eachReviewed(
  state: StepsState,
  of: (isReviewed: boolean, live: LiveResource) => Partial<Finding> = () => ({}),
) {
  return ({ reviewed, held }: Looked): readonly Finding[] =>
    reviewed.flatMap(({ resource: { address }, live, acceptance, mode }) => {
      if (acceptance.state !== state) return [];
      const what = held?.has(address) === true ? "stays off until they are accepted" : undefined;
      return { address, ...defined({ what }), ...of(mode === "reviewed", live) };
    });
}

/** The field that people know a resource by. */
const NAMES = {
  target: "app",
  environment: "name",
  testCase: "description",
  batchGeneration: undefined,
} as const;

const RUNNING = "ENABLED";

/**
 * Whether a change takes a test case out of runs. The API does not say whether test cases with other
 * statuses run, so only ENABLED counts as running.
 */
function leavesRuns({ address, action, calls }: Change, { matched }: Subject): boolean {
  if (action === "disable") return true;
  if (action === "create") return false;
  const { live } = matched.get(placeOf(address).target)?.matches.get(address) ?? {};
  const { status: was = RUNNING } = live ?? {};
  return (
    was === RUNNING &&
    calls.some(({ method, body: { status: to = RUNNING } }) => {
      return method === "PATCH" && (to instanceof Secret ? to.reveal() : to) !== RUNNING;
    })
  );
}

/** Says what steps lose, each kind with its number. */
function lossWords(losses: readonly StepLosses[]): readonly string[] {
  const sum = (key: "assertions" | "steps" | "ignored" | "emptied"): number =>
    losses.reduce((total, one) => total + one[key], 0);
  const cases = losses.filter(({ all }) => all).length;
  return nonZero(
    `${count(sum("assertions"), "assertion")} removed`,
    `${count(sum("steps"), "step")} removed`,
    `${count(sum("emptied"), "step")} emptied`,
    `${count(sum("ignored"), "step")} with ignoreFailure switched on`,
    `${count(cases, "test case")} left without steps`,
  );
}

/** Returns what each row finds, by code, in the order of the table. */
export function findingsOf(subject: Subject): ReadonlyMap<AttentionCode, readonly Finding[]> {
  const { matched } = subject;
  const looked = {
    ...subject,
    reviewed: reviewedCases(matched, ({ state }) => state !== "accepted"),
  };
  return new Map(ATTENTION_CODES.map((code) => [code, ROWS[code]?.find(looked) ?? []] as const));
}

/**
 * Returns what a reviewer must see of a plan, the most severe first. Equal harms are one sentence.
 * @param inScope which addresses the plan is narrowed to
 */
export function attentionOf(
  subject: Subject,
  inScope: (address: Address) => boolean = () => true,
): readonly Attention[] {
  const changed = byAddress(subject.plan.changes);
  const isTold = ({ address }: Finding): boolean =>
    address === undefined || changed.has(address) || inScope(address);
  return inTableOrder(
    [...findingsOf(subject)].flatMap(([code, all]) => {
      const row = ROWS[code];
      if (row === undefined) return [];
      const found = all.filter(isTold);
      const bySeverity = groupBy(found, ({ severity = row.severity }) => severity);
      return [...bySeverity].map(([severity, own]): Attention => {
        const named = own.flatMap(({ address }) => address ?? []);
        const isChanged = (address: Address): boolean => changed.has(address);
        const addresses = [
          ...new Set([...named.filter(isChanged), ...named.filter((one) => !isChanged(one))]),
        ];
        return {
          code,
          severity,
          addresses,
          count: addresses.length,
          text: sentence(row, own, addresses),
        };
      });
    }),
  );
}

/** Makes the row of test cases that `policy.passedIn` is for, but that nobody judged. */
export function notJudged({ why, addresses }: NotJudged): Attention {
  const about = whoText(addresses);
  const noun = count(addresses.length, "test case");
  return {
    code: "not-judged",
    severity: "caution",
    addresses,
    count: addresses.length,
    text: `not judged here: ${why}, so it is open whether ${noun} passed elsewhere: ${about}`,
  };
}

/** Sorts rows of one or several plans: by severity, then as in the table. The sort is stable. */
export function inTableOrder<T extends Pick<Attention, "code" | "severity">>(
  rows: readonly T[],
): readonly T[] {
  const rank = ({ code, severity }: T): number =>
    ATTENTION_SEVERITIES.indexOf(severity) * ATTENTION_CODES.length + ATTENTION_CODES.indexOf(code);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

/** Up to this many addresses are named; more are counted per target. */
const MOST_NAMED = 3;
/** Maximum number of groups and of targets in a sentence. */
const MOST_GROUPS = 20;

function sentence(
  { says: [one, many, none], total }: Row,
  found: readonly Finding[],
  addresses: readonly Address[],
): string {
  const kinds = new Set(addresses.map((address) => placeOf(address).kind));
  const [kind] = kinds;
  const noun = kind !== undefined && kinds.size === 1 ? kindNoun(kind) : "resource";
  const sum = total?.(found);
  const head =
    addresses.length === 0
      ? (none ?? "")
      : `${count(addresses.length, noun)} ${addresses.length === 1 ? one : many}`;
  const alike = [...groupBy(found, ({ what = "" }) => what)].map(([what, own]) => {
    const names = whoText(own.flatMap(({ address }) => address ?? []));
    return what === "" ? names : names === "" ? what : `${names} (${what})`;
  });
  return `${head}${sum === undefined ? "" : ` (${sum})`}: ${bounded(alike, "; ", "more")}`;
}

/** Names few addresses; counts many per target: `backoffice (40), shop (20)`. */
function whoText(addresses: readonly Address[]): string {
  if (addresses.length <= MOST_NAMED) return addresses.map(shortName).join(", ");
  const targets = [...groupBy(addresses, (address) => placeOf(address).target)];
  return bounded(
    targets.map(([target, own]) => `${shortName(target)} (${own.length})`),
    ", ",
    "more targets",
  );
}

/** Keys may have any length; a sentence may not, or the formats could not show all of them. */
const LONGEST_NAME = 120;
const LONGEST_LIST = 1000;

function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

function bounded(parts: readonly string[], joint: string, more: string): string {
  let length = 0;
  const fits = parts.findIndex((part, at) => {
    length += part.length;
    return at > 0 && (at >= MOST_GROUPS || length > LONGEST_LIST);
  });
  if (fits < 0) return parts.join(joint);
  return `${parts.slice(0, fits).join(joint)} and ${parts.length - fits} ${more}`;
}
