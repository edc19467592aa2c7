import fc from "fast-check";
import { expect, test } from "vitest";
import { targetAddress } from "../../src/model/address.ts";
import { type Shard, scopeTest } from "../../src/plan/scope.ts";

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
