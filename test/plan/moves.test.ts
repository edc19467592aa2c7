import { expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { pendingMoves } from "../../src/plan/match.ts";
import { applyEvents } from "../../src/state/events.ts";
import { stateOf, target } from "./build.ts";

const address = (key: string): Address => `testCase.shop.${key}`;

/**
 * Moves as `a>b`, the keys bound before, and the bindings after. Each id is the key that it was
 * first bound to.
 */
const rows: readonly (readonly [
  name: string,
  moves: string,
  before: string,
  after: Record<string, string>,
])[] = [
  ["a move", "a>b", "a", { b: "a" }],
  ["one that is done already", "a>b", "b", { b: "b" }],
  ["one whose new address is taken leaves both", "a>b", "ab", { a: "a", b: "b" }],
  ["a chain makes room first", "a>b b>c", "ab", { b: "a", c: "b" }],
  ["a chain in another order", "b>c a>b", "ab", { b: "a", c: "b" }],
  ["what was left behind goes all the way", "a>b b>c c>d", "a", { d: "a" }],
  ["also in another order", "c>d b>c a>b", "a", { d: "a" }],
  ["also from the middle", "b>c c>d a>b", "ab", { c: "a", d: "b" }],
  ["a whole chain moves by one", "a>b b>c c>d", "abc", { b: "a", c: "b", d: "c" }],
];

test.each(rows)("moved addresses: %s", (_, moves, before, after) => {
  const { moved } = target({
    moved: moves.split(" ").map((move) => {
      const [from = "", to = ""] = move.split(">");
      return [address(from), address(to)] as const;
    }),
  });
  const state = stateOf(
    before
      .split("")
      .map((key) => ({ type: "bound", address: address(key), id: key, fields: {} }) as const),
  );
  const { bindings } = applyEvents(state, pendingMoves(moved, state));
  const bound = [...bindings].map(([at, { id }]) => [at.slice(-1), id] as const);
  expect(Object.fromEntries(bound)).toEqual(after);
  const once = applyEvents(state, pendingMoves(moved, state));
  expect(pendingMoves(moved, once)).toEqual([]);
});

test("a chain of 20,000 moves takes less than 1 s of CPU time", () => {
  const moved = Array.from(
    { length: 20_000 },
    (_, at) => [address(`k${at}`), address(`k${at + 1}`)] as const,
  );
  const state = stateOf([{ type: "bound", address: address("k0"), id: "id", fields: {} }]);
  const started = process.cpuUsage();
  const events = pendingMoves(target({ moved }).moved, state);
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  expect(events).toEqual([{ type: "moved", from: address("k0"), to: address("k20000") }]);
});
