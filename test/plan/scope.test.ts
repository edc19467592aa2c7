import fc from "fast-check";
import { expect, test } from "vitest";
import { type Address, addressOf, targetAddress, targetOf } from "../../src/model/address.ts";
import { globTest } from "../../src/model/glob.ts";
import {
  type Scope,
  type Shard,
  idlePatterns,
  isEverything,
  scopeTest,
  targetInScope,
} from "../../src/plan/scope.ts";

const key = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,8}$/);

function shardOf(target: string, count: number): number {
  const shards = [...Array(count).keys()].map((at): Shard => ({ index: at + 1, count }));
  const own = shards.filter((shard) =>
    scopeTest({ only: [], exclude: [], shard })(targetAddress(target)),
  );
  expect(own).toHaveLength(1);
  return own[0]?.index ?? 0;
}

test("each target is in exactly one shard, and an additional shard only takes targets from others", () => {
  fc.assert(
    fc.property(key, fc.integer({ min: 1, max: 12 }), (target, count) => {
      const [before, after] = [shardOf(target, count), shardOf(target, count + 1)];
      expect([before, count + 1]).toContain(after);
    }),
  );
});

test("shards have similar sizes, and targets stay in their shards", () => {
  const sizes = new Map<number, number>();
  for (let at = 0; at < 1000; at++) {
    const shard = shardOf(`target-${at}`, 4);
    sizes.set(shard, (sizes.get(shard) ?? 0) + 1);
  }
  for (const size of sizes.values()) expect(Math.abs(size - 250)).toBeLessThan(60);
  expect(["shop", "blog", "desk"].map((target) => shardOf(target, 3))).toMatchInlineSnapshot(`
    [
      2,
      2,
      3,
    ]
  `);
});

const addresses: readonly Address[] = ["shop", "blog"].flatMap((name) => [
  targetAddress(name),
  addressOf("environment", name, "default"),
  ...["login", "cart"].map((one) => addressOf("testCase", name, one)),
]);
const globs = fc.array(
  fc.constantFrom(...addresses, "*.shop*", "testCase.*", "*login", "*", "none.*"),
  { maxLength: 3 },
);
const scopes: fc.Arbitrary<Scope> = fc.record({
  only: globs,
  exclude: globs,
  shard: fc.constantFrom(undefined, { index: 1, count: 2 }, { index: 2, count: 2 }),
});

test("a scope has what a glob of `only` fits, none of `exclude` does, and its shard has", () => {
  fc.assert(
    fc.property(scopes, (scope) => {
      const fits = (patterns: readonly string[], address: Address): boolean =>
        patterns.some((pattern) => globTest(pattern)(address));
      const wanted = addresses.filter(
        (address) =>
          (scope.only.length === 0 || fits(scope.only, address)) &&
          !fits(scope.exclude, address) &&
          (!scope.shard || shardOf(targetOf(address), 2) === scope.shard.index),
      );
      expect(addresses.filter(scopeTest(scope))).toEqual(wanted);
      expect(targetInScope(scope, addresses)).toBe(wanted.length > 0);
      const idle = [...scope.only, ...scope.exclude].filter(
        (pattern) => !addresses.some((address) => fits([pattern], address)),
      );
      expect(idlePatterns(scope, addresses.values())).toEqual(idle);
      const parts = [...scope.only, ...scope.exclude, ...(scope.shard ? [scope.shard] : [])];
      expect(isEverything(scope)).toBe(parts.length === 0);
    }),
  );
});
