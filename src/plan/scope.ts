import { parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import { stop } from "../model/error.ts";
import { compileGlob } from "../model/glob.ts";

/** What `--only` and `--exclude` leave of a project: addresses, or globs in which `*` stands for any text. */
export interface Scope {
  readonly only: readonly string[];
  readonly exclude: readonly string[];
}

export const EVERYTHING: Scope = { only: [], exclude: [] };

/** A test for addresses from a scope, its globs compiled once. */
export function scopeTest(scope: Scope): (address: Address) => boolean {
  const only = scope.only.map(globTest);
  const exclude = scope.exclude.map(globTest);
  return (address) =>
    (only.length === 0 || only.some((test) => test(address))) && !exclude.some((test) => test(address));
}

/** Whether an address matches a glob: `*` is any text, `?` one character, `{a,b}` either. @throws TascError */
export function globTest(source: string): (address: string) => boolean {
  const glob = compileGlob(source);
  if ("fault" in glob) throw stop("invalid", "bad-glob", `The glob \`${source}\` cannot be used: ${glob.fault}`);
  return glob.test;
}

/** The patterns of a scope that fit none of the addresses: most likely typing errors. */
export function idlePatterns(scope: Scope, addresses: Iterable<Address>): readonly string[] {
  const known = [...addresses];
  return [...scope.only, ...scope.exclude].filter((pattern) => !known.some(globTest(pattern)));
}

/** Whether anything of a target can be in scope, so that a plan need not read the others. */
export function targetInScope(scope: Scope, addresses: Iterable<Address>): boolean {
  const test = scopeTest(scope);
  for (const address of addresses) if (test(address)) return true;
  return false;
}

export function targetOf(address: Address): string {
  const parts = parseAddress(address);
  if (parts === undefined) throw new TypeError(`not an address: ${address}`);
  return parts.target;
}
