import { circlesIn } from "../../manifest/interpolation.ts";
import { convert } from "../../manifest/shape.ts";
import {
  type Address,
  addressOf,
  compareText,
  parseAddress,
  targetAddress,
} from "../../model/address.ts";
import { countValues } from "../../model/collections.ts";
import { DELETED, fieldsOf } from "../../model/fields.ts";
import type { Json } from "../../model/json.ts";
import type { LiveResource, LiveTestCase } from "../../model/live.ts";
import { urlOf } from "../../model/shape.ts";
import { normalUrl } from "../../plan/normalise.ts";
import { NAMED_BY, type NamedKind } from "../../plan/match.ts";
import { secretFields } from "../../plan/memory.ts";
import { type DeclareOptions, declareFields } from "../declare.ts";
import { chooseKeys } from "./keys.ts";
import { plainName } from "./pair-targets.ts";
import {
  type KnownResources,
  type PlannedProject,
  caseKeysIn,
  knownResources,
} from "./planned-project.ts";
import type { ImportRequest, Pairs } from "./request.ts";

/** A live resource that no manifest declares, in the form in which one will. */
export interface Draft {
  readonly kind: NamedKind;
  readonly live: LiveResource;
  /** The key of the target that it is in, or is; and what the service calls that. */
  readonly target: string;
  readonly app: string;
  readonly key: string;
  readonly address: Address;
  /** Whether it must be bound by `id:`, because its declared fields do not identify it uniquely. */
  readonly bind: boolean;
  /** By field name. */
  readonly fields: Readonly<Record<string, Json>>;
  /** Reasons why fields could not be declared, each a line of a comment. */
  readonly notes: readonly string[];
}

/** A live resource that is not imported, and why. */
export interface Skipped extends Pick<Draft, "kind"> {
  readonly app: string;
  readonly id: string;
  readonly name: string | undefined;
  readonly reason: string;
}

/**
 * Drafts the undeclared resources of live targets, under keys of their own: sorted by target, kind
 * and key.
 * @param refuted addresses that cannot be imported, with the reason
 */
export function draftUndeclared(
  request: ImportRequest,
  project: PlannedProject,
  folderNames: ReadonlyMap<string, string>,
  refuted: ReadonlyMap<Address, string>,
): { readonly drafts: readonly Draft[]; readonly leftOut: readonly Skipped[] } {
  const { chosen, base, stages } = request;
  const { stage } = request.desired;
  const leftOut: Skipped[] = [];
  const drafting: Drafting = {
    elements: request.elements,
    holdsSecret: request.holdsSecret,
    secrets: secretFields(request.states.values()),
    defaults: new Map(),
    folderName: (id) => folderNames.get(id),
    into: request.into ?? new Map(),
    stage: stages.length > 1 ? stage : undefined,
    known: knownResources(project),
    leftOut,
  };
  const fresh = draftsOf("target", chosen, base.live.targets, drafting);
  const targets = new Map(fresh.map((draft) => [draft.live.id, draft]));
  const left = new Set(leftOut.map(({ id }) => id));
  const drafts = chosen.flatMap(({ id, app, environments }): readonly Draft[] => {
    if (left.has(id)) return [];
    const target = targets.get(id);
    // The parts of a target that is left out are not imported either.
    if (target !== undefined && refuted.has(target.address)) return [target];
    const known = project.known.get(id);
    const { key = "" } = target ?? known ?? {};
    const inside = (kind: NamedKind): Drafting => ({
      ...drafting,
      owner: { app, key },
      defaults: project.manifests.defaultsOf(stage, key, kind),
    });
    const cases = (base.live.testCases.get(id) ?? []).filter(({ status }) => status !== DELETED);
    const found = draftsOf("environment", environments, environments, inside("environment"));
    const newCases = draftsOf("testCase", cases, cases, inside("testCase"));
    return [
      ...(target === undefined ? [] : [target]),
      ...found,
      ...withPrerequisites(newCases, cases, caseKeysIn(known?.matched), refuted),
    ];
  });
  const inOrder = drafts.toSorted((a, b) => compareText(a.target, b.target));
  const refusals = inOrder.flatMap(({ app, kind, key, address, live: { id } }) => {
    const reason = refuted.get(address);
    const name = kind === "target" ? app : key;
    return reason === undefined ? [] : [{ app, kind, id, name, reason }];
  });
  return {
    drafts: inOrder.filter(({ address }) => !refuted.has(address)),
    leftOut: [...leftOut, ...refusals],
  };
}

const NOT_BINDABLE =
  "nothing that it shows tells it from all others, and its id is not a UUID, so that `id:` cannot bind it";

const UNCLEAR =
  "a manifest may mean it, which is not clear; `tasc plan` says what it takes to make it so";

/**
 * Returns the readable part of a name; for a URL host, port and path, which distinguish
 * environments of one application.
 */
function readableName(kind: NamedKind, text: string): string {
  const url = kind === "environment" ? urlOf(text) : undefined;
  if (url === undefined) return text;
  const { hostname, port, pathname } = url;
  return `${hostname.replace(/^www\./, "")} ${port} ${pathname}`;
}

interface Drafting extends DeclareOptions {
  readonly known: KnownResources;
  /** The target that contains the resources, if they are not targets themselves. */
  readonly owner?: { readonly app: string; readonly key: string };
  /** Keys that the user chose for new targets. */
  readonly into: Pairs;
  /** The stage, whose name no key repeats; undefined if it is the only one. */
  readonly stage: string | undefined;
  /** Receives the resources that are left out. */
  readonly leftOut: Skipped[];
}

/**
 * Drafts undeclared resources, each with a key.
 * @param all the resources that they could be mistaken for, and themselves
 */
function draftsOf(
  kind: NamedKind,
  listed: readonly LiveResource[],
  all: readonly LiveResource[],
  drafting: Drafting,
): readonly Draft[] {
  const { known, owner, leftOut } = drafting;
  const target = owner?.key ?? "";
  const addressWith = (key: string): Address =>
    kind === "target" ? targetAddress(key) : addressOf(kind, target, key);
  const appOf = ({ app = "" }: LiveResource): string => owner?.app ?? app;
  const isFound = finder(kind, all);
  // If an id is listed twice, the planner uses the last entry.
  const fresh = [...new Map(listed.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !known.managed.has(id),
  );
  const found = fresh.flatMap((live) => {
    const { id, [NAMED_BY[kind]]: name } = live;
    const declared = declareFields(fieldsOf(kind), live, drafting);
    const bind = !isFound(live, declared.fields);
    const isDoubtful = known.isDoubtful(kind, target, live);
    if (!isDoubtful && (!bind || convert({ type: "uuid" }, id) !== undefined))
      return [{ kind, live, ...declared, bind }];
    const reason = isDoubtful ? UNCLEAR : NOT_BINDABLE;
    leftOut.push({ app: appOf(live), kind, id, name, reason });
    return [];
  });
  const keys = keysOf(
    kind,
    found.map(({ live }) => live),
    addressWith,
    drafting,
  );
  const drafts = found.map((draft): Draft => {
    const key = keys.get(draft.live.id) ?? "";
    return {
      ...draft,
      target: target || key,
      app: appOf(draft.live),
      key,
      address: addressWith(key),
    };
  });
  return drafts.toSorted((a, b) => compareText(a.key, b.key));
}

/** Returns the key of each new resource, by live id. */
function keysOf(
  kind: NamedKind,
  fresh: readonly LiveResource[],
  addressWith: (key: string) => Address,
  { known, into, stage, secrets, holdsSecret }: Drafting,
): ReadonlyMap<string, string> {
  const reserved = kind === "environment" ? "default" : "";
  const [first] = fresh
    .flatMap(({ type, id }) => (type === "DEFAULT" ? id : []))
    .toSorted(compareText);
  const isTaken = (key: string): boolean => known.taken.has(addressWith(key).toLowerCase());
  // First the keys that do not depend on the resource's name.
  const keys = new Map<string, string>();
  for (const { id } of fresh) {
    const { key: remembered = reserved } = parseAddress(known.remembered.get(id) ?? "") ?? {};
    const wanted = (kind === "target" && into.get(id)) || reserved;
    const isDefault = reserved !== "" && id === first && !known.declared.has(addressWith(reserved));
    if (isDefault) keys.set(id, reserved);
    else if (remembered !== reserved) keys.set(id, remembered);
    else if (wanted !== reserved && !isTaken(wanted)) keys.set(id, wanted);
  }
  const requests = fresh.flatMap(({ id, [NAMED_BY[kind]]: text }) => {
    const isHidden = secrets.get(id)?.includes(NAMED_BY[kind]) === true;
    const shown = text === undefined || isHidden || holdsSecret(text) ? undefined : text;
    const name = shown && plainName(readableName(kind, shown), stage);
    return keys.has(id) ? [] : [{ id, name, noun: kind === "testCase" ? "case" : kind }];
  });
  const used = new Set([...keys.values(), reserved].map((key) => key.toLowerCase()));
  const chosen = chooseKeys(requests, (key) => used.has(key) || isTaken(key));
  return new Map([...keys, ...chosen]);
}

/**
 * Returns a function: whether declared fields match their live resource and no other, as the
 * planner does it.
 */
function finder(kind: NamedKind, all: readonly LiveResource[]) {
  const nameOf = ({ type, [NAMED_BY[kind]]: name }: LiveResource): string | undefined =>
    kind !== "environment"
      ? name
      : type === "DEFAULT"
        ? type
        : `${type ?? ""} ${normalUrl(name ?? "")}`;
  const names = countValues(all.map(nameOf));
  const externalIds = countValues(all.map(({ externalId }) => externalId));
  return (live: LiveResource, declared: Draft["fields"]): boolean => {
    if (typeof declared["externalId"] === "string") return externalIds.get(live.externalId) === 1;
    const isNamed = declared[NAMED_BY[kind]] !== undefined;
    const { type } = live;
    const isKnown =
      kind === "environment" ? type === "DEFAULT" || (type === "ADDITIONAL" && isNamed) : isNamed;
    return isKnown && names.get(nameOf(live)) === 1;
  };
}

/** Returns the circles of prerequisites among live test cases, each as the keys of its members. */
export function circlesOf(
  cases: readonly LiveTestCase[],
  keys: ReadonlyMap<string, string>,
): readonly (readonly string[])[] {
  const next = cases.flatMap(({ id, prerequisiteId }): readonly (readonly [string, string])[] => {
    const key = keys.get(id);
    return key === undefined ? [] : [[key, keys.get(prerequisiteId ?? "") ?? ""]];
  });
  return circlesIn(new Map(next));
}

const PREREQUISITE = "discovery.prerequisite";

/**
 * Adds the keys of prerequisites to test cases, except prerequisites that have no key here, that
 * are left out, or that close a cycle.
 * @param cases all live test cases of the target
 * @param declared keys of declared test cases, by live id
 */
function withPrerequisites(
  drafts: readonly Draft[],
  cases: readonly LiveTestCase[],
  declared: ReadonlyMap<string, string>,
  refuted: ReadonlyMap<Address, string>,
): readonly Draft[] {
  const keys = new Map(declared);
  for (const { live, key } of drafts) keys.set(live.id, key);
  const leftOut = new Set(drafts.flatMap((one) => (refuted.has(one.address) ? one.key : [])));
  const own = new Set(drafts.map(({ key }) => key));
  // Also of declared test cases: one that another stage declares may run after a new one here.
  const closing = new Set(
    circlesOf(cases, keys).map((circle) =>
      circle
        .filter((key) => own.has(key))
        .toSorted(compareText)
        .at(-1),
    ),
  );
  return drafts.map((draft) => {
    const id = draft.live.prerequisiteId ?? undefined;
    if (id === undefined) return draft;
    const key = keys.get(id);
    const noted = (reason: string) => ({
      ...draft,
      notes: [...draft.notes, `${PREREQUISITE}: ${reason}`],
    });
    if (key === undefined)
      return noted(`the service has ${id}, which is not among the test cases here.`);
    if (closing.has(draft.key))
      return noted(
        `the service has ${key}, which in turn runs after this one; a manifest cannot declare that.`,
      );
    if (leftOut.has(key)) return noted("the service has one that is left out here.");
    return { ...draft, fields: { ...draft.fields, [PREREQUISITE]: key } };
  });
}
