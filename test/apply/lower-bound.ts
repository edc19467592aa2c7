import type { DesiredResource, DesiredTarget } from "../../src/model/desired.ts";
import { type Json, type JsonObject, isArray, isObject, sameJson } from "../../src/model/json.ts";
import type { State } from "../../src/model/state.ts";
import { fingerprints } from "../plan/build.ts";
import type {
  MemoryService,
  StoredElement,
  StoredEnvironment,
  StoredTarget,
  StoredTestCase,
} from "./memory-service.ts";
import { plain } from "./scene.ts";

/**
 * The number of writes that an apply needs, computed from the service's own store: no plan, no live
 * types, no diff.
 */
export interface Bound {
  readonly post: number;
  readonly patch: readonly [least: number, most: number];
}

const NOTHING: Bound = { post: 0, patch: [0, 0] };

function sum(bounds: readonly Bound[]): Bound {
  return bounds.reduce(
    (a, b) => ({
      post: a.post + b.post,
      patch: [a.patch[0] + b.patch[0], a.patch[1] + b.patch[1]],
    }),
    NOTHING,
  );
}

function patches(least: number, most = least): Bound {
  return { post: 0, patch: [least, most] };
}

/** @param ran contents of the batch generations that are known to have run, by address. */
export function lowerBound(
  targets: readonly DesiredTarget[],
  service: MemoryService,
  states: ReadonlyMap<string, State>,
  ran: ReadonlyMap<string, string>,
): Bound {
  return sum(
    targets.map((target) => boundOfTarget({ target, service, state: states.get(target.key), ran })),
  );
}

interface Case {
  readonly target: DesiredTarget;
  readonly service: MemoryService;
  readonly state: State | undefined;
  readonly ran: ReadonlyMap<string, string>;
}

function boundOfTarget(at: Case): Bound {
  const { target, service, state } = at;
  const wanted = plain(target.fields);
  const id = state?.bindings.get(target.address)?.id;
  const live =
    service.targets.find((one) => one.id === id) ??
    service.targets.find((one) => one.app === wanted["app"]);
  if (live === undefined) return boundOfNewTarget(at);
  const { app, ...settings } = wanted;
  return sum([
    patches(Number(app !== live.app || hiddenDiffer(at, target, live.id, settings, live.settings))),
    ...target.environments.map((environment) => boundOfEnvironment(at, environment, live)),
    boundOfTestCases(at, live),
    ...target.batchGenerations.map((batch) => boundOfBatch(at, batch, live)),
    boundOfOrphans(at, live),
  ]);
}

function boundOfNewTarget({ target, service }: Case): Bound {
  const { app: _, ...settings } = withoutNulls(plain(target.fields));
  const cases = target.testCases.map((testCase) =>
    boundOfCreation(service, plain(testCase.fields)),
  );
  const environments = target.environments.map(({ key, fields }) => {
    if (key !== "default") return { post: 1, patch: [0, 0] } as const;
    const { discoveryUrl: __, ...rest } = withoutNulls(plain(fields));
    return patches(Number(Object.keys(rest).length > 0));
  });
  return sum([
    { post: 1, patch: [0, 0] },
    patches(Number(Object.keys(settings).length > 0)),
    ...environments,
    ...cases,
    { post: target.batchGenerations.length, patch: [0, 0] },
  ]);
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/**
 * Whether a write-only field must be written: it is not recorded, or the service has another value.
 */
function hiddenDiffer(
  { state }: Case,
  resource: DesiredResource,
  id: string,
  wanted: JsonObject,
  stored: JsonObject,
): boolean {
  const binding = state?.bindings.get(resource.address);
  const known = binding?.id === id ? binding.fields : {};
  return Object.entries(wanted).some(([name, value]) => {
    if (known[name] === undefined) return true;
    const current = stored[name] ?? null;
    if (isObject(value) && isObject(current) && name !== "additionalHeaderFields")
      return Object.entries(value).some(([part, own]) => !sameJson(own, current[part]));
    return !sameJson(value, current);
  });
}

function boundOfEnvironment(at: Case, environment: DesiredResource, live: StoredTarget): Bound {
  const { discoveryUrl, ...hidden } = plain(environment.fields);
  const found = findEnvironment(at, environment, live, discoveryUrl);
  if (found === undefined) return { post: 1, patch: [0, 0] };
  const urlDiffers = !sameUrl(discoveryUrl, found.fields["discoveryUrl"]);
  return patches(
    Number(urlDiffers || hiddenDiffer(at, environment, found.id, hidden, found.fields)),
  );
}

function findEnvironment(
  { target, state }: Case,
  { address, key }: DesiredResource,
  live: StoredTarget,
  url: Json | undefined,
): StoredEnvironment | undefined {
  const boundTo = (one: string): string | undefined =>
    state?.bindings.get(target.environments.find((other) => other.key === one)?.address ?? address)
      ?.id;
  const bound = live.environments.find(({ id }) => id === boundTo(key));
  if (bound !== undefined) return bound;
  if (key === "default") return live.environments.find(({ type }) => type === "DEFAULT");
  const taken = target.environments.map((other) => boundTo(other.key));
  return live.environments.find(
    ({ id, type, fields }) =>
      type === "ADDITIONAL" && !taken.includes(id) && sameUrl(url, fields["discoveryUrl"]),
  );
}

function sameUrl(a: Json | undefined, b: Json | undefined): boolean {
  return typeof a === "string" && typeof b === "string" && new URL(a).href === new URL(b).href;
}

function boundOfBatch(
  { state, ran }: Case,
  { address, fields }: DesiredResource,
  live: StoredTarget,
): Bound {
  const record = state?.batchGenerations.get(address);
  if (record === undefined) return { post: Number((state?.bindings.size ?? 0) > 0), patch: [0, 0] };
  const again = record.status === "done" && ran.get(address) !== contentOf(fields, live.id);
  return { post: Number(again), patch: [0, 0] };
}

/** What a batch generation sends, and to which target: after state was lost it may be another one. */
export function contentOf(fields: DesiredResource["fields"], target: string): string {
  const sent = Object.entries(withoutNulls(plain(fields))).map(
    ([name, value]) => `${name}=${JSON.stringify(value)}`,
  );
  return [target, ...sent.toSorted()].join("&");
}

function boundOfOrphans({ target, state }: Case, live: StoredTarget): Bound {
  if (target.onRemove !== "disable") return NOTHING;
  const declared = new Set<string>(target.testCases.map(({ address }) => address));
  const managed = new Set(
    target.testCases.map((testCase) => findTestCase(target, state, testCase, live)?.id),
  );
  const left = [...(state?.bindings ?? [])].filter(([address, { id }]) => {
    const testCase = live.testCases.find((one) => one.id === id);
    if (testCase === undefined || declared.has(address) || managed.has(id)) return false;
    return !["DELETED", "DISABLED"].includes(testCase.status);
  });
  return patches(left.length);
}

// Test cases

function boundOfCreation({ knobs }: MemoryService, wanted: JsonObject): Bound {
  const elements = Array.from({ length: knobs.made.elements }, (_, nth) => ({
    interaction: { action: "CLICK", calledWith: `made ${nth}` },
    assertion: null,
    selectors: [],
  }));
  const differs =
    typeof wanted["interactionStatus"] === "string" ||
    differsFrom(wanted, "status", knobs.made.status) ||
    differsFrom(wanted, "runStatus", knobs.made.runStatus) ||
    !sameSteps(wanted["elements"], elements);
  return { post: 1, patch: [Number(differs) + lines(wanted), Number(differs) + lines(wanted)] };
}

function differsFrom(wanted: JsonObject, name: string, live: Json): boolean {
  return wanted[name] !== undefined && wanted[name] !== live;
}

function lines(wanted: JsonObject): number {
  return stepsOf(wanted).filter((step) => step["locatorLine"] !== undefined).length;
}

function stepsOf(wanted: JsonObject): readonly JsonObject[] {
  const { elements } = wanted;
  return isArray(elements) ? elements.filter(isObject) : [];
}

type Step = Pick<StoredElement, "interaction" | "assertion" | "selectors"> & {
  ignoreFailure?: boolean | undefined;
};

/** Whether the steps match the declared parts; undeclared parts may have any value. */
function sameSteps(wanted: Json | undefined, steps: readonly Step[]): boolean {
  if (!isArray(wanted)) return true;
  return (
    wanted.length === steps.length &&
    wanted.every((declared, at) => {
      const step = steps[at];
      if (!isObject(declared) || step === undefined) return false;
      return (
        holds(declared["interaction"], step.interaction) &&
        holds(declared["assertion"], step.assertion) &&
        sameSelectors(declared["selectors"], step.selectors) &&
        (declared["ignoreFailure"] === undefined ||
          declared["ignoreFailure"] === (step.ignoreFailure ?? false))
      );
    })
  );
}

function holds(declared: Json | undefined, live: JsonObject | null): boolean {
  if (declared === undefined) return true;
  if (!isObject(declared) || live === null) return declared === live;
  return Object.entries(declared).every(([key, value]) =>
    sameJson(value, live[key] ?? (key === "options" ? {} : null)),
  );
}

function sameSelectors(declared: Json | undefined, live: readonly JsonObject[]): boolean {
  if (!isArray(declared)) return true;
  return (
    declared.length === live.length && declared.every((one, at) => holds(one, live[at] ?? null))
  );
}

function boundOfTestCases(at: Case, live: StoredTarget): Bound {
  const { target, service, state } = at;
  const found = target.testCases.map((testCase) => ({
    testCase,
    wanted: plain(testCase.fields),
    stored: findTestCase(target, state, testCase, live),
  }));
  const told = new Set<Json | undefined>();
  const doubtful = new Map<string, boolean[]>();
  const bounds = found.map(({ testCase, wanted, stored }) => {
    const folder =
      stored === undefined ? "differs" : folderDiffers(at, live, stored, wanted["folder"]);
    if (stored === undefined) {
      told.add(wanted["folder"]);
      return boundOfCreation(service, wanted);
    }
    const bound = boundOfPresent(at, testCase, wanted, stored, folder === "differs");
    const isPatched = bound.patched || folder === "differs";
    if (isPatched && folder !== "same") told.add(wanted["folder"]);
    if (!isPatched && folder === "doubtful" && typeof wanted["folder"] === "string")
      doubtful.set(wanted["folder"], [
        ...(doubtful.get(wanted["folder"]) ?? []),
        stored.folder !== wanted["folder"],
      ]);
    return bound.bound;
  });
  const scouts = [...doubtful].map(([folder, differing]) => {
    const needed = differing.filter(Boolean).length;
    // One test case whose folder is doubtful goes first, and it may be one that needs no change.
    return patches(needed, told.has(folder) || needed === differing.length ? needed : needed + 1);
  });
  const blind = [...doubtful].filter(
    ([folder, differing]) => !told.has(folder) && !differing.includes(true),
  );
  return sum([...bounds, ...scouts, patches(blind.length, 0)]);
}

function findTestCase(
  target: DesiredTarget,
  state: State | undefined,
  testCase: DesiredResource,
  live: StoredTarget,
): StoredTestCase | undefined {
  const present = live.testCases.filter(({ status }) => status !== "DELETED");
  const idOf = ({ address }: DesiredResource): string | undefined =>
    state?.bindings.get(address)?.id;
  const bound = present.find(({ id }) => id === idOf(testCase));
  if (bound !== undefined) return bound;
  const taken = target.testCases.map(idOf);
  const free = present.filter(({ id }) => !taken.includes(id));
  const { description, externalId } = plain(testCase.fields);
  if (typeof externalId !== "string") return free.find((one) => one.description === description);
  const same = present.filter((one) => one.externalId === externalId);
  if (same.length > 0) return free.find((one) => one.externalId === externalId);
  return free.find((one) => one.description === description && one.externalId === null);
}

/** Compares by the folders recorded in state, because the service shows only ids. */
function folderDiffers(
  { state }: Case,
  live: StoredTarget,
  stored: StoredTestCase,
  wanted: Json | undefined,
): "same" | "differs" | "doubtful" {
  if (wanted === undefined) return "same";
  if (typeof wanted !== "string") return stored.folder === null ? "same" : "differs";
  const known = state?.folders ?? new Map<string, string>();
  if (known.has(wanted)) return stored.folder === wanted ? "same" : "differs";
  const liveId = live.folders.get(stored.folder ?? "");
  return stored.folder === null || [...known.values()].includes(liveId ?? "")
    ? "differs"
    : "doubtful";
}

function boundOfPresent(
  at: Case,
  { address }: DesiredResource,
  wanted: JsonObject,
  stored: StoredTestCase,
  folderDiffer: boolean,
): { readonly bound: Bound; readonly patched: boolean } {
  const { service, state } = at;
  const binding = state?.bindings.get(address);
  const known = binding?.id === stored.id ? binding : undefined;
  const differs =
    differsFrom(wanted, "description", stored.description) ||
    differsFrom(wanted, "externalId", stored.externalId) ||
    differsFrom(wanted, "status", stored.status) ||
    differsFrom(wanted, "runStatus", stored.runStatus) ||
    differsFrom(wanted, "entryPointUrlPath", stored.entryPointUrlPath) ||
    tagsDiffer(wanted["tags"], stored.tags) ||
    (wanted["interactionStatus"] !== undefined &&
      (known?.fields["interactionStatus"] === undefined ||
        wanted["interactionStatus"] !== stored.interactionStatus));
  const same = sameSteps(wanted["elements"], stored.elements);
  if (promptDiffers(service, known?.fields["discovery.prompt"], wanted, stored)) {
    const { patch } = boundOfCreation(service, { ...wanted, interactionStatus: null });
    return { bound: patches(1 + patch[0], 1 + patch[1]), patched: true };
  }
  const patched = differs || !same;
  const one = Number(patched || folderDiffer);
  if (!same) return { bound: patches(one, one + lines(wanted)), patched };
  const unwritten = stepsOf(wanted).filter((step, nth) => {
    const element = stored.elements[nth];
    if (step["locatorLine"] === undefined || element === undefined) return false;
    const isKnown = known?.locators?.[element.id] !== undefined;
    return (
      !isKnown ||
      element.line !== step["locatorLine"] ||
      element.madeOfLine !== JSON.stringify(element.selectors)
    );
  });
  return { bound: patches(one + unwritten.length), patched };
}

function tagsDiffer(wanted: Json | undefined, live: readonly string[]): boolean {
  if (!isArray(wanted)) return false;
  const all = new Set([...wanted.map(String), ...live]);
  return [...all].some((tag) => !wanted.includes(tag) || !live.includes(tag));
}

/** If the service shows no prompt, the one recorded at the last write or at the adoption counts. */
function promptDiffers(
  { knobs }: MemoryService,
  record: unknown,
  wanted: JsonObject,
  stored: StoredTestCase,
): boolean {
  const prompt = wanted["discovery.prompt"] ?? null;
  if (knobs.discovery === "with prompt") return prompt !== stored.prompt;
  return (
    record !== undefined && record !== fingerprints.of(`${stored.id}/discovery.prompt`, prompt)
  );
}
