import { resolve } from "node:path";
import { type Address, compareText, targetOf } from "../model/address.ts";
import { type Desired, type DesiredResource, knownText, resourcesOf } from "../model/desired.ts";
import { oneLine, warning } from "../model/diagnostic.ts";
import { invalid } from "../model/error.ts";
import { GENERATING_FIELDS } from "../model/fields.ts";
import type { LiveResource, LiveTarget, Reader } from "../model/live.ts";
import type { Change, FieldChange } from "../model/plan.ts";
import type { Settings } from "../model/settings.ts";
import type { State } from "../model/state.ts";
import { SENSITIVE, UNKNOWN } from "../model/value.ts";
import { normalUrl } from "../plan/normalise.ts";
import { fewOf } from "../plan/problem.ts";
import { withRemovedTargets } from "../plan/orphans.ts";
import { type Planned, liveTargets, makePlan } from "../plan/plan.ts";
import { type Refreshed, type RefreshOptions, refresh } from "../plan/refresh.ts";
import { changedFields } from "../plan/staleness.ts";
import { fitsAround } from "../plan/steps.ts";
import { sameService } from "../state/backend.ts";
import { type ReviewOptions, type Survey, checkRequest } from "./survey.ts";
import type { Session } from "./session.ts";
import { type Snapshot, type SnapshotHead, openSnapshot } from "./snapshot.ts";

/**
 * Checks that a snapshot is for the stage and service of these settings.
 * @throws TascError if it is not
 */
function mustFit({ stage, baseUrl }: SnapshotHead, settings: Settings): void {
  if (stage !== settings.stage)
    throw invalid(
      "snapshot",
      `The snapshot is of stage ${stage}, but this plan is for ${settings.stage}`,
      `Its ids are not valid here. Take a snapshot of ${settings.stage}, or plan with --stage ${oneLine(stage)}.`,
    );
  if (!sameService(baseUrl, settings.baseUrl))
    throw invalid(
      "snapshot",
      "The snapshot is from another service",
      `It was taken at ${oneLine(baseUrl)}, and this project's service is ${settings.baseUrl}. Correct service.baseUrl or the variable behind it, or take a snapshot there.`,
    );
}

export function snapshotStates({ states }: SnapshotHead, { targets }: Desired) {
  const isDeclared = ({ target }: State) => targets.some(({ key }) => key === target);
  return {
    states: new Map(states.filter(isDeclared).map((state) => [state.target, state])),
    strays: states.filter((state) => !isDeclared(state)),
  };
}

/** Reads and plans like `survey`, but from a snapshot: without network, key or state. */
export async function surveySnapshot(
  session: Session,
  options: ReviewOptions,
  file: string,
): Promise<Survey> {
  const { settings, desired, disableRemoved, host } = session;
  const snapshot = openSnapshot(resolve(host.cwd, file), file);
  mustFit(snapshot.head, settings);
  const remembered = withRemovedTargets(
    { desired, ...snapshotStates(snapshot.head, desired) },
    disableRemoved,
  );
  const request = checkRequest(options, remembered);
  const { baseUrl } = settings;
  const look = await planFromSnapshot(snapshot, {
    ...request,
    ...remembered,
    baseUrl,
    disableRemoved,
    // What the snapshot redacted, and fingerprints of the accepted steps, cannot be compared.
    steps: session.acceptedSteps({ isOffline: true }),
  });
  return { ...look, request, remembered };
}

/**
 * Plans from a snapshot, with the same function and data as from the service. Without fingerprints,
 * write-only fields are unknown and not changes. What the snapshot hides or has redacted cannot be
 * compared either: fields that only seem to differ are planned again as unknown.
 */
export async function planFromSnapshot(
  { reader, head }: Snapshot,
  options: Omit<RefreshOptions, "fingerprints">,
): Promise<Refreshed> {
  const names = new RedactedNames(options);
  const found = await refresh(names.readerOf(reader), { ...options, fingerprints: undefined });
  const hidden = hiddenFields(found);
  const unclear = names.unclear(found.planned);
  const { scope } = options;
  const input = {
    ...found.input,
    desired: withUndefined(found.input.desired, hidden),
    scope: { ...scope, exclude: [...scope.exclude, ...unclear] },
  };
  const planned = hidden.size + unclear.length === 0 ? found.planned : makePlan(input);
  const left =
    unclear.length === 0
      ? ""
      : ` Not planned, because redacted names do not show whether they exist: ${fewOf(unclear)}.`;
  const takenAt = warning(
    "from-snapshot",
    `Planned from a snapshot of ${head.createdAt}`,
    `The service was not called, so later changes are not visible. Write-only and secret fields are not compared, nor is text that was redacted.${left}`,
  );
  const diagnostics = [takenAt, ...planned.plan.diagnostics];
  return {
    input: { ...input, scope },
    planned: { ...planned, plan: { ...planned.plan, diagnostics } },
  };
}

/**
 * Returns the fields that cannot be compared. Creations compare nothing; `--rediscover` sends the
 * prompt in any case.
 */
function hiddenFields({ planned, input }: Refreshed): ReadonlyMap<Address, readonly string[]> {
  const hidden = new Map<Address, readonly string[]>();
  for (const { action, address, fields } of planned.plan.changes) {
    const isForced = input.rediscover.has(address);
    const names = changedFields({ address, fields: fields.filter(isHidden) }).filter(
      (name) => !(isForced && GENERATING_FIELDS.includes(name)),
    );
    if (action !== "create" && names.length > 0) hidden.set(address, names);
  }
  return hidden;
}

function isHidden({ path, before, sensitive }: FieldChange): boolean {
  return sensitive === true || isRedacted(JSON.stringify([path, before ?? null]));
}

function isRedacted(text: string | null | undefined): boolean {
  return text?.includes(SENSITIVE) === true;
}

function withUndefined(desired: Desired, hidden: ReturnType<typeof hiddenFields>): Desired {
  const hide = <R extends DesiredResource>(resource: R): R => {
    const names = hidden.get(resource.address);
    // Others stay the same object, by which their live ones are known to be as declared.
    if (names === undefined) return resource;
    const unknown = Object.fromEntries(names.map((name) => [name, UNKNOWN]));
    return { ...resource, fields: { ...resource.fields, ...unknown } };
  };
  const targets = desired.targets.map((target) => ({
    ...hide(target),
    environments: target.environments.map(hide),
    testCases: target.testCases.map(hide),
  }));
  return { ...desired, targets };
}

/**
 * Finds declared resources that no id binds yet and that may be live under a redacted name. Nothing
 * is planned for them: they may exist, and then the service would show no creation.
 */
class RedactedNames {
  readonly #options: Omit<RefreshOptions, "fingerprints">;
  readonly #unclear = new Set<Address>();
  /** Unclear unless they still have the live resource of this id, to which they are bound. */
  readonly #unless = new Map<Address, string>();
  /** The live resources that may be one of these. */
  readonly #ids = new Set<string>();
  /** The targets that match, by key. */
  #matches: ReturnType<typeof liveTargets> = new Map();

  constructor(options: Omit<RefreshOptions, "fingerprints">) {
    this.#options = options;
  }

  readerOf(reader: Reader): Reader {
    return {
      listTargets: async () => {
        const live = await reader.listTargets();
        this.#look(live);
        return live;
      },
      listTestCases: (targetId, keep) => {
        const cases = this.#within(targetId, "testCases");
        return reader.listTestCases(targetId, (live) => {
          this.#compare(live, cases, ["externalId", "description"]);
          return keep(live);
        });
      },
    };
  }

  /** Returns these addresses and those whose creation needs one of them, after all was read. */
  unclear({ plan: { changes }, matched }: Planned): readonly Address[] {
    for (const [address, id] of this.#unless)
      if (matched.get(targetOf(address))?.matches.get(address)?.live?.id !== id)
        this.#unclear.add(address);
    // Another address that claims one of them by its other name may be wrong.
    for (const { matches } of this.#ids.size === 0 ? [] : matched.values())
      for (const [address, { live }] of matches)
        if (live !== undefined && this.#ids.has(live.id)) this.#unclear.add(address);
    return this.#withDependents(changes);
  }

  #withDependents(changes: readonly Change[]): readonly Address[] {
    const { size } = this.#unclear;
    for (const { address, dependsOn } of changes)
      if (dependsOn.some((needed) => this.#unclear.has(needed))) this.#unclear.add(address);
    return this.#unclear.size > size
      ? this.#withDependents(changes)
      : [...this.#unclear].toSorted(compareText);
  }

  #look(live: readonly LiveTarget[]): void {
    const { desired, elsewhere = [], states } = this.#options;
    const all = [...desired.targets, ...elsewhere].filter(({ left }) => left !== true);
    const targets = candidates(all, ({ key }) => states.get(key));
    for (const target of live) this.#compare(target, targets, ["app"]);
    // Nothing in a target is known if the target is not.
    for (const target of all)
      if (this.#unclear.has(target.address))
        for (const { address } of resourcesOf(target)) this.#unclear.add(address);
    this.#matches = liveTargets({ ...this.#options, fingerprints: undefined }, live);
    for (const { id, environments } of live) {
      const declared = this.#within(id, "environments");
      for (const one of environments)
        if (one.type === "ADDITIONAL") this.#compare(one, declared, ["discoveryUrl"]);
    }
  }

  /** Returns the declared resources of a live target. */
  #within(targetId: string, kind: "environments" | "testCases"): Candidates {
    const { targets } = this.#options.desired;
    const own = targets.find(({ key }) => this.#matches.get(key)?.id === targetId);
    const all: readonly DesiredResource[] = own?.[kind] ?? [];
    return candidates(all, () => own && this.#matches.get(own.key)?.state);
  }

  #compare<F extends "app" | "discoveryUrl" | "description" | "externalId">(
    live: Pick<LiveResource, "id" | F>,
    { resources, bound, ids }: Candidates,
    fields: readonly F[],
  ): void {
    if (resources.length === 0) return;
    // An id in state decides, but another address may have the same external id, which is an error.
    const isBound = ids.has(live.id);
    for (const field of fields) {
      const shown: string | null | undefined = live[field];
      if (typeof shown !== "string" || !isRedacted(shown)) continue;
      if (isBound && field !== "externalId") continue;
      for (const resource of resources)
        if (fits(shown, knownText(resource, field))) {
          const id = bound.get(resource.address);
          if (id === undefined) this.#unclear.add(resource.address);
          else this.#unless.set(resource.address, id);
          if (!isBound) this.#ids.add(live.id);
        }
    }
  }
}

/** The declared resources that a live one may be, and what binds them. */
interface Candidates {
  readonly resources: readonly DesiredResource[];
  /** The addresses that an id binds, with it. */
  readonly bound: ReadonlyMap<Address, string>;
  readonly ids: ReadonlySet<string>;
}

function candidates<R extends DesiredResource>(
  resources: readonly R[],
  stateOf: (resource: R) => State | undefined,
): Candidates {
  const known = resources.flatMap((one) => {
    const id = one.id ?? stateOf(one)?.bindings.get(one.address)?.id;
    return id === undefined ? [] : [[one.address, id] as const];
  });
  return {
    resources: resources.filter(
      ({ id, kind, key }) => id === undefined && !(kind === "environment" && key === "default"),
    ),
    bound: new Map(known),
    ids: new Set(known.map(([, id]) => id)),
  };
}

/** Whether a declared name may be the one that was redacted. */
function fits(redacted: string, text: string | undefined): boolean {
  return text !== undefined && [text, normalUrl(text)].some((one) => fitsAround(redacted, one));
}
