import { circlesIn } from "../../manifest/interpolation.ts";
import { convert } from "../../manifest/shape.ts";
import {
  type Address,
  type Kind,
  addressOf,
  compareText,
  parseAddress,
  targetAddress,
} from "../../model/address.ts";
import { countValues } from "../../model/collections.ts";
import { DELETED, fieldsOf } from "../../model/fields.ts";
import type { Json } from "../../model/json.ts";
import type { LiveResource, LiveTarget } from "../../model/live.ts";
import { urlOf } from "../../model/shape.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import { normalUrl } from "../../plan/normalise.ts";
import { NAMED_BY, type NamedKind } from "../../plan/match.ts";
import { secretFields } from "../../plan/memory.ts";
import { type DeclareOptions, declareFields } from "../declare.ts";
import type { Manifests } from "../manifests.ts";
import type { FolderNames } from "./folders.ts";
import { chooseKeys } from "./keys.ts";
import {
  type ImportSources,
  type KnownResources,
  type PlannedProject,
  knownResources,
} from "./planned-project.ts";

/** A live resource in the form in which a manifest will declare it. */
export interface Draft {
  readonly kind: NamedKind;
  readonly live: LiveResource;
  readonly key: string;
  readonly address: Address;
  /** Whether it must be bound by `id:`, because its declared fields do not identify it uniquely. */
  readonly bind: boolean;
  /** By field name. */
  readonly fields: Readonly<Record<string, Json>>;
  /** Reasons why fields could not be declared, each a line of a comment. */
  readonly notes: readonly string[];
}

/** New resources of one live target, before they are laid out in files. */
export interface TargetDraft {
  readonly live: LiveTarget;
  readonly key: string;
  /** The target itself; undefined if a manifest already declares it. */
  readonly target: Draft | undefined;
  /** Sorted by key, like the test cases. */
  readonly environments: readonly Draft[];
  readonly testCases: readonly Draft[];
  /** Field name → the value that test cases inherit if they do not declare one. */
  readonly defaults: ReadonlyMap<string, Json>;
}

/** A live resource that is not imported, and why. */
export interface Skipped extends Pick<Draft, "kind"> {
  readonly app: string;
  readonly id: string;
  readonly name: string | undefined;
  readonly reason: string;
}

export interface DraftOptions extends Pick<DeclareOptions, "elements" | "holdsSecret"> {
  readonly folderNames: FolderNames;
  /** Keys that the user chose for new targets: live id → key. */
  readonly into: ReadonlyMap<string, string>;
  /** Returns a name without that of the stage. */
  readonly plainName: (name: string) => string;
  /** Addresses that cannot be imported, with the reason. */
  readonly refused: ReadonlyMap<Address, string>;
}

/** Drafts the undeclared resources of live targets, under keys of their own. */
export function draftTargets(
  { chosen, base, states, desired: { stage } }: ImportSources,
  project: PlannedProject,
  manifests: Manifests,
  options: DraftOptions,
): { readonly targets: readonly TargetDraft[]; readonly leftOut: readonly Skipped[] } {
  const leftOut: Skipped[] = [];
  const known = knownResources(project, manifests);
  const drafting = { ...options, secrets: secretFields(states.values()), known, leftOut };
  const all = draftsOf("target", chosen, base.live.targets, { ...drafting, defaults: new Map() });
  const fresh = new Map(all.map((draft) => [draft.live.id, draft]));
  const left = new Set(leftOut.map(({ id }) => id));
  const targets = chosen.flatMap((live): readonly TargetDraft[] => {
    const { id, environments } = live;
    if (left.has(id)) return [];
    const target = fresh.get(id);
    const { key = "" } = target ?? project.known.get(id) ?? {};
    const names = options.folderNames.get(id);
    const defaults = manifests.defaultsOf(stage, key, "testCase");
    const inside = (kind: Kind) => ({
      ...drafting,
      owner: { app: live.app, key },
      defaults: kind === "testCase" ? defaults : manifests.defaultsOf(stage, key, kind),
      folderName: (folder: string) => names?.get(folder),
    });
    const cases = (base.live.testCases.get(id) ?? []).filter(({ status }) => status !== DELETED);
    return [
      {
        live,
        key,
        target,
        environments: draftsOf("environment", environments, environments, inside("environment")),
        testCases: draftsOf("testCase", cases, cases, inside("testCase")),
        defaults,
      },
    ];
  });
  const isKept = ({ kind, address, key, live: { id } }: Draft, app: string): boolean => {
    const reason = options.refused.get(address);
    if (reason !== undefined)
      leftOut.push({ app, kind, id, name: kind === "target" ? app : key, reason });
    return reason === undefined;
  };
  return {
    targets: targets
      .toSorted((a, b) => compareText(a.key, b.key))
      .flatMap((draft): readonly TargetDraft[] => {
        const { live, target } = draft;
        const { app } = live;
        if (target !== undefined && !isKept(target, app)) return [];
        const { matched } = project.known.get(live.id) ?? {};
        const kept = draft.testCases.filter((one) => isKept(one, app));
        const environments = draft.environments.filter((one) => isKept(one, app));
        const testCases = withPrerequisites(draft.testCases, kept, matched);
        const isEmpty = target === undefined && environments.length + testCases.length === 0;
        return isEmpty ? [] : [{ ...draft, environments, testCases }];
      }),
    leftOut,
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

interface Drafting extends DeclareOptions, Pick<DraftOptions, "into" | "plainName"> {
  readonly known: KnownResources;
  /** The target that contains the resources. */
  readonly owner?: { readonly app: string; readonly key: string };
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
  { known, owner, leftOut, into, plainName, ...options }: Drafting,
): readonly Draft[] {
  const target = owner?.key ?? "";
  const addressWith = (key: string): Address =>
    kind === "target" ? targetAddress(key) : addressOf(kind, target, key);
  const isFound = finder(kind, all);
  // If an id is listed twice, the planner uses the last entry.
  const fresh = [...new Map(listed.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !known.managed.has(id),
  );
  const found = fresh.flatMap((live) => {
    const { id, externalId, type, [NAMED_BY[kind]]: name } = live;
    const declared = declareFields(fieldsOf(kind), live, options);
    const bind = !isFound(live, declared.fields);
    const names = [name, externalId, kind === "environment" ? type : undefined];
    const isDoubtful = known.isDoubtful(kind, target, id, names);
    if (!isDoubtful && (!bind || convert({ type: "uuid" }, id) !== undefined))
      return [{ kind, live, ...declared, bind }];
    const reason = isDoubtful ? UNCLEAR : NOT_BINDABLE;
    leftOut.push({ app: owner?.app ?? name ?? "", kind, id, name, reason });
    return [];
  });
  // First the keys that do not depend on the resource's name.
  const reserved = kind === "environment" ? "default" : "";
  const [first] = found
    .flatMap(({ live }) => (live.type === "DEFAULT" ? live.id : []))
    .toSorted(compareText);
  const isTaken = (key: string): boolean => known.taken.has(addressWith(key).toLowerCase());
  const keys = new Map<string, string>();
  for (const { live } of found) {
    const { id } = live;
    const { key: remembered = reserved } = parseAddress(known.remembered.get(id) ?? "") ?? {};
    const wanted = (kind === "target" && into.get(id)) || reserved;
    const isDefault = reserved !== "" && id === first && !known.declared.has(addressWith(reserved));
    if (isDefault) keys.set(id, reserved);
    else if (remembered !== reserved) keys.set(id, remembered);
    else if (wanted !== reserved && !isTaken(wanted)) keys.set(id, wanted);
  }
  const requests = found.flatMap(({ live: { id, [NAMED_BY[kind]]: name } }) => {
    const isHidden = options.secrets.get(id)?.includes(NAMED_BY[kind]) === true;
    const shown = name === undefined || isHidden || options.holdsSecret(name) ? undefined : name;
    const readable = shown && plainName(readableName(kind, shown));
    return keys.has(id) ? [] : [{ id, name: readable, noun: kind === "testCase" ? "case" : kind }];
  });
  const used = new Set([...keys.values(), reserved].map((key) => key.toLowerCase()));
  for (const [id, key] of chooseKeys(requests, (key) => used.has(key) || isTaken(key)))
    keys.set(id, key);
  const drafts = found.map((draft): Draft => {
    const key = keys.get(draft.live.id) ?? "";
    return { ...draft, key, address: addressWith(key) };
  });
  return drafts.toSorted((a, b) => compareText(a.key, b.key));
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

const PREREQUISITE = "discovery.prerequisite";

/**
 * Adds the keys of prerequisites to test cases, except prerequisites that have no key here or that
 * close a cycle.
 * @param kept the drafts that were not refused; the others are left out
 */
function withPrerequisites(
  all: readonly Draft[],
  kept: readonly Draft[],
  matched: MatchedTarget | undefined,
): readonly Draft[] {
  const keys = new Map<string, string>();
  for (const { address, key } of matched?.target.testCases ?? []) {
    const id = matched?.matches.get(address)?.live?.id;
    if (id !== undefined) keys.set(id, key);
  }
  const staying = new Set([...keys.values(), ...kept.map(({ key }) => key)]);
  for (const { live, key } of all) keys.set(live.id, key);
  // A prerequisite of a test case that is already declared is itself declared, so these cannot
  // close a cycle.
  const next = new Map(
    all.map(({ key, live }) => [key, keys.get(live.prerequisiteId ?? "") ?? ""]),
  );
  const closing = new Set(circlesIn(next).map((circle) => circle.toSorted(compareText).at(-1)));
  const linked = all.map((draft) => {
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
    if (!staying.has(key)) return noted("the service has one that is left out here.");
    return { ...draft, fields: { ...draft.fields, [PREREQUISITE]: key } };
  });
  return linked.filter(({ key }) => staying.has(key));
}
