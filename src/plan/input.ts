import { hash } from "node:crypto";
import deepDiff from "deep-diff";
import { type Address, compareText } from "../model/address.ts";
import {
  type Desired,
  type DesiredResource,
  type DesiredTarget,
  originOf,
} from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Compare, Shape } from "../model/fields.ts";
import { globTest } from "../model/glob.ts";
import { type Json, type Path, defined, isArray, sameJson } from "../model/json.ts";
import type { Live } from "../model/live.ts";
import type { BodyValue, FieldChange } from "../model/plan.ts";
import { urlOf } from "../model/shape.ts";
import type { State } from "../model/state.ts";
import { cached } from "../model/collections.ts";
import type { createFingerprinter } from "../state/fingerprint.ts";
import { IdOf, type Value, isLeafObject, isUnknown, reveal } from "../model/value.ts";

/** The generator of the keyed digests that state keeps instead of values. */
export type Fingerprinter = Omit<ReturnType<typeof createFingerprinter>, "seal">;

/** The input of a plan. */
export interface PlanInput {
  readonly desired: Desired;
  readonly live: Live;
  /** By target key; a target without state has no entry. */
  readonly states: ReadonlyMap<string, State>;
  /** States of targets that no manifest declares any more; their bindings are orphaned. */
  readonly strays: readonly State[];
  /**
   * Undefined in a plan without the key. Write-only fields are then unknown and do not become
   * changes.
   */
  readonly fingerprints: Fingerprinter | undefined;
  readonly scope: Scope;
  /** Declared targets that have nothing in scope. */
  readonly elsewhere?: readonly DesiredTarget[] | undefined;
  /** Batch generations to run regardless of state (`apply --run`). */
  readonly run: ReadonlySet<Address>;
  /** Test cases whose prompt is sent regardless of state (`--rediscover`). */
  readonly rediscover: ReadonlySet<Address>;
  readonly baseUrl: string;
  /**
   * Whether the project's policy is `onRemove: disable`; a target's own `onRemove` also applies.
   */
  readonly disableRemoved: boolean;
  /** Milliseconds since 1970; without it, the plan says nothing that depends on the day. */
  readonly now?: number;
}

/** Makes an error of a plan, at the place that declares the resource or one of its fields. */
export function problem(
  code: string,
  resource: DesiredResource,
  summary: string,
  detail: string,
  field: Path = [],
): Diagnostic {
  const { address } = resource;
  return {
    severity: "error",
    code,
    summary,
    detail,
    address,
    ...defined({ origin: originOf(resource, field) }),
  };
}

/** Makes a warning of a plan, from the same arguments as `problem`. */
export function caution(...warning: Parameters<typeof problem>): Diagnostic {
  return { ...problem(...warning), severity: "warning" };
}

/**
 * Sorts the keys of all objects in a value, since their order does not matter. Secrets and
 * placeholders stay the same.
 */
export function ordered(value: Json): Json;
export function ordered(value: BodyValue): BodyValue;
export function ordered(value: BodyValue): BodyValue {
  if (isArray(value)) return value.map((item) => ordered(item));
  if (typeof value !== "object" || value === null || isLeafObject(value) || value instanceof IdOf)
    return value;
  const members = Object.entries(value).toSorted(([a], [b]) => compareText(a, b));
  return Object.fromEntries(members.map(([key, part]) => [key, ordered(part)]));
}

/**
 * Returns the names of a field's parts in the order of its shape, or sorted if the user chooses the
 * names.
 */
export function orderedParts(shape: Shape, names: readonly string[]): readonly string[] {
  if (shape.type !== "object") return names.toSorted(compareText);
  return Object.keys(shape.parts).filter((part) => names.includes(part));
}

/**
 * The part of a project that a command works on: `--only` and `--exclude` take addresses or globs
 * (`*` is any text).
 */
export interface Scope {
  readonly only: readonly string[];
  readonly exclude: readonly string[];
  readonly shard?: Shard | undefined;
}

/** One of `count` parts of a project's targets; `index` starts at 1. */
export type Shard = { readonly index: number; readonly count: number };

export const EVERYTHING: Scope = { only: [], exclude: [] };

export function isEverything({ only, exclude, shard }: Scope): boolean {
  return only.length + exclude.length === 0 && shard === undefined;
}

/** Makes a test whether an address is in a scope; the globs are compiled once. */
export function scopeTest(scope: Scope): (address: Address) => boolean {
  if (isEverything(scope)) return () => true;
  const only = scope.only.map(globTest);
  const exclude = scope.exclude.map(globTest);
  const isOwn = shardTest(scope.shard);
  return (address) =>
    (only.length === 0 || only.some((test) => test(address))) &&
    !exclude.some((test) => test(address)) &&
    isOwn(targetOf(address));
}

/**
 * Makes a test whether a target is in a shard, by rendezvous hashing: the shard with the highest
 * digest gets it. So a target keeps its shard when other targets change, and another number of
 * shards moves as few targets as possible.
 */
function shardTest(shard: Shard | undefined): (target: string) => boolean {
  if (shard === undefined) return () => true;
  const known = new Map<string, boolean>();
  const isOwn = (target: string): boolean => {
    const digests = [...Array(shard.count).keys()].map((at) =>
      hash("sha256", `${at + 1}\0${target}`),
    );
    const highest = digests.reduce(
      (best, digest, at) => (digest > (digests[best] ?? "") ? at : best),
      0,
    );
    return highest === shard.index - 1;
  };
  return (target) => cached(known, target, () => isOwn(target));
}

/** Returns the patterns of a scope that match no address; they are most likely typing errors. */
export function idlePatterns(scope: Scope, addresses: Iterable<Address>): readonly string[] {
  const known = [...addresses];
  return [...scope.only, ...scope.exclude].filter((pattern) => !known.some(globTest(pattern)));
}

/** Whether any of a target's addresses is in scope; a plan does not read other targets. */
export function targetInScope(scope: Scope, addresses: Iterable<Address>): boolean {
  const test = scopeTest(scope);
  for (const address of addresses) if (test(address)) return true;
  return false;
}

export function targetOf(address: Address): string {
  return address.split(".", 2)[1] ?? "";
}

/** Returns a declared value for a body, if it is known and not null; a secret stays wrapped. */
export function sendable(resource: DesiredResource, field: string): Value | undefined {
  const value = resource.fields[field];
  return value === undefined || value === null || isUnknown(value) ? undefined : value;
}

/** Returns a declared name, prompt, URL or other text, if it is known. */
export function knownText(resource: DesiredResource, field: string): string | undefined {
  const value = sendable(resource, field);
  const plain = value === undefined ? undefined : reveal(value);
  return typeof plain === "string" ? plain : undefined;
}

/** Whether a declared value means the same as the live one. */
export function sameAsLive(compare: Compare, declared: Value, live: Json): boolean {
  if (declared === live) return true;
  const isPlain = typeof declared !== "object" || declared === null;
  if (isPlain && (typeof live !== "object" || live === null) && compare !== "url") return false;
  // Fast path: lists in the same order need no sorting.
  if (isArray(declared) && isArray(live) && declared.length === live.length)
    if (declared.every((item, at) => item === live[at])) return true;
  return sameJson(normalise(compare, reveal(declared)), normalise(compare, live));
}

/** Returns one form for all values with the same meaning, for comparisons and fingerprints. */
export function normalise(compare: Compare, value: Json): Json {
  if (compare === "set" && isArray(value))
    return [...new Set(value.map(String))].toSorted(compareText);
  if (compare === "url" && value === "") return null;
  return compare === "url" && typeof value === "string" ? normalUrl(value) : value;
}

/**
 * Normalises a URL: a service may return `https://shop.example.com` as `https://shop.example.com/`.
 */
export function normalUrl(text: string): string {
  return urlOf(text)?.href ?? text;
}

/**
 * A place where two pieces of plain data differ; `before` or `after` is absent if that side has no
 * value there.
 */
export type Difference = Pick<FieldChange, "path" | "before" | "after">;

/**
 * Returns the places where two unequal pieces of plain data differ, in the order of their paths.
 */
export function differences(before: Json, after: Json): readonly Difference[] {
  const found = deepDiff.diff<Json, Json>(before, after) ?? [];
  // The library reports the additional items of a longer list from its end.
  return found.map(difference).toSorted(({ path: a }, { path: b }) => {
    const at = a.findIndex((part, nth) => part !== b[nth]);
    const [left, right] = [a[at], b[at]];
    // Object keys keep their order.
    return typeof left === "number" && typeof right === "number" ? left - right : 0;
  });
}

function difference(found: deepDiff.Diff<Json, Json>): Difference {
  const path =
    found.path?.map((part: unknown) => (typeof part === "number" ? part : String(part))) ?? [];
  if (found.kind === "A") return { ...difference(found.item), path: [...path, found.index] };
  const [before, after] = [
    "lhs" in found ? found.lhs : undefined,
    "rhs" in found ? found.rhs : undefined,
  ];
  return defined({ path, before, after });
}

/**
 * Maximum number of addresses or ids in one message: each of thousands may get a message that lists
 * all others.
 */
const MOST_NAMED = 20;

export function fewOf(all: readonly string[], joint = ", "): string {
  const more = all.length - MOST_NAMED;
  return `${all.slice(0, MOST_NAMED).join(joint)}${more > 0 ? ` and ${more} more` : ""}`;
}
