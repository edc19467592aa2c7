import { hash } from "node:crypto";
import { type Address, targetOf } from "../model/address.ts";
import { cached } from "../model/collections.ts";
import { globTest } from "../model/glob.ts";

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
