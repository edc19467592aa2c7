import { expect } from "vitest";
import { type Address, addressOf, targetAddress } from "../../src/model/address.ts";
import type {
  Desired,
  DesiredFields,
  DesiredResource,
  DesiredTarget,
  Move,
} from "../../src/model/desired.ts";
import { type JsonObject, isArray, isObject } from "../../src/model/json.ts";
import { element as readElement } from "../../src/service/answers.ts";
import type {
  Live,
  LiveElement,
  LiveEnvironment,
  LiveTarget,
  LiveTestCase,
} from "../../src/model/live.ts";
import { Later, type PlanJson } from "../../src/model/plan.ts";
import { type State, type StateEvent, emptyState } from "../../src/model/state.ts";
import { Secret } from "../../src/model/value.ts";
import type { PlanInput } from "../../src/plan/input.ts";
import { type Planned, makePlan } from "../../src/plan/plan.ts";
import { planJson } from "../../src/render/json.ts";
import { applyEvents } from "../../src/state/events.ts";
import { createFingerprinter } from "../../src/state/fingerprint.ts";

// What is made when it is read is equal if what is made is.
expect.addEqualityTesters([
  function (one, other) {
    if (!(one instanceof Later) || !(other instanceof Later)) return undefined;
    return this.equals(one.read(), other.read());
  },
]);

/**
 * Builders with defaults, so that a test names only relevant parts. The target is always `shop`,
 * with the live id `T`.
 */
export const BASE_URL = "http://127.0.0.1:4010";
export const fingerprints = createFingerprinter(new Secret("key of the stage"), "staging");

export function resource<K extends "environment" | "testCase" | "batchGeneration">(
  kind: K,
  key: string,
  fields: DesiredFields,
  id?: string,
  within = "shop",
): DesiredResource<K> {
  const address = addressOf(kind, within, key);
  return { kind, key, address, fields, layers: [], ...(id === undefined ? {} : { id }) };
}

export interface TargetParts {
  readonly fields?: DesiredFields;
  readonly environments?: Readonly<Record<string, DesiredFields>>;
  readonly testCases?: Readonly<Record<string, DesiredFields>>;
  readonly batchGenerations?: Readonly<Record<string, DesiredFields>>;
  readonly ids?: Readonly<Record<string, string>>;
  readonly onRemove?: "ignore" | "disable";
  readonly moved?: readonly (readonly [Address, Address])[];
}

export function target(parts: TargetParts, name = "shop"): DesiredTarget {
  const all = <K extends "environment" | "testCase" | "batchGeneration">(
    kind: K,
    fields: Readonly<Record<string, DesiredFields>> = {},
  ): DesiredResource<K>[] =>
    Object.entries(fields)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, own]) => resource(kind, key, own, parts.ids?.[key], name));
  return {
    kind: "target",
    key: name,
    address: targetAddress(name),
    fields: parts.fields ?? { app: "Shop" },
    layers: [],
    onRemove: parts.onRemove ?? "ignore",
    environments: all("environment", parts.environments),
    testCases: all("testCase", parts.testCases),
    batchGenerations: all("batchGeneration", parts.batchGenerations),
    moved: (parts.moved ?? []).map(([from, to]): Move => ({
      from,
      to,
      origin: { file: "targets/shop.yaml", path: [] },
    })),
  };
}

export function liveTarget(environments: readonly Partial<LiveEnvironment>[] = []): LiveTarget {
  return {
    id: "T",
    app: "Shop",
    environments: environments.map((environment, at) => ({
      id: `E${at}`,
      type: "ADDITIONAL",
      discoveryUrl: undefined,
      ...environment,
    })),
  };
}

export function liveCase(id: string, fields: Partial<LiveTestCase> = {}): LiveTestCase {
  return {
    id,
    description: id,
    status: "ENABLED",
    runStatus: "ON",
    type: null,
    entryPointUrlPath: null,
    folderId: null,
    externalId: null,
    tags: [],
    prerequisiteId: null,
    elements: [],
    discovery: undefined,
    ...fields,
  };
}

export function liveElement(id: string, index: number, parts: JsonObject = {}): LiveElement {
  const { interaction, assertion, selectors, ...rest } = parts;
  return readElement({
    ...rest,
    id,
    index,
    interaction: isObject(interaction) ? { id: `${id}-i`, ...interaction } : null,
    assertion: isObject(assertion) ? { id: `${id}-a`, ...assertion } : null,
    selectors: (isArray(selectors) ? selectors.filter(isObject) : []).map((selector, at) => ({
      id: `${id}-s${at}`,
      index: at,
      ...selector,
      scrollStateId: "list only",
    })),
    scrollState: { y: 1 },
  });
}

export interface Situation {
  readonly declared: TargetParts;
  /** If missing, the target is not live. */
  readonly live?:
    { readonly target?: LiveTarget; readonly testCases?: readonly LiveTestCase[] } | undefined;
  readonly state?: readonly StateEvent[];
  readonly input?: Partial<PlanInput>;
}

export function planInput({ declared, live, state, input }: Situation): PlanInput {
  const desired = project(target(declared));
  const targets = live === undefined ? [] : [live.target ?? liveTarget()];
  const whole: Live = { targets, testCases: new Map([["T", live?.testCases ?? []]]) };
  return {
    desired,
    live: whole,
    states: state === undefined ? new Map() : new Map([["shop", stateOf(state)]]),
    strays: [],
    fingerprints,
    scope: { only: [], exclude: [] },
    run: new Set(),
    rediscover: new Set(),
    baseUrl: BASE_URL,
    disableRemoved: false,
    ...input,
  };
}

/** A project with the given targets. */
export function project(...targets: readonly DesiredTarget[]): Desired {
  return { stage: "default", targets };
}

export function stateOf(events: readonly StateEvent[]): State {
  const start = { ...emptyState("default", "shop", BASE_URL), keyCheck: fingerprints.keyCheck };
  return applyEvents(start, events);
}

export function planOf(situation: Situation): Planned {
  return makePlan(planInput(situation));
}

/** The public form, as users and scripts see it. */
export function publicPlan(situation: Situation): PlanJson {
  return planJson(planOf(situation).plan, {
    tool: "tasc 1.0.0",
    createdAt: "2026-01-01T00:00:00.000Z",
  });
}

/** Returns the CPU time of some work, in microseconds: a wait or other work beside it adds little. */
export function cpuTime(work: () => unknown): number {
  const started = process.cpuUsage();
  work();
  return process.cpuUsage(started).user;
}
