// Laws of correcting state by hand: for any state, nothing is lost, duplicated or shown by mistake.
import fc from "fast-check";
import { expect, describe as group, test } from "vitest";
import { describe } from "../../src/commands/state/show.ts";
import { type Address, addressOf, targetAddress } from "../../src/model/address.ts";
import { type State, type StateEvent, emptyState } from "../../src/model/state.ts";
import { formatDocument } from "../../src/state/document.ts";
import {
  bindAddress,
  forgetAddress,
  knownAddresses,
  knows,
  moveAddress,
  moveTarget,
} from "../../src/state/edit.ts";
import { applyEvents } from "../../src/state/events.ts";

const keys = ["a", "b", "c", "d", "default"] as const;
const shopCase = (key: string): Address => addressOf("testCase", "shop", key);
const key = fc.constantFrom(...keys);
const fingerprint = fc.stringMatching(/^FP[a-z]{8}$/);
const address: fc.Arbitrary<Address> = fc.oneof(
  key.map(shopCase),
  key.map((name) => addressOf("environment", "shop", name)),
  fc.constant(targetAddress("shop")),
);
const batch = key.map((name) => addressOf("batchGeneration", "shop", name));

const event: fc.Arbitrary<StateEvent> = fc.oneof(
  fc.record({
    type: fc.constant("bound" as const),
    address,
    id: fc.uuid(),
    fields: fc.dictionary(
      fc.constantFrom("status", "tags", "account"),
      fc.oneof(fingerprint, fc.dictionary(fc.constantFrom("username", "password"), fingerprint)),
    ),
  }),
  fc.record({
    type: fc.constant("located" as const),
    address,
    locators: fc.dictionary(fc.uuid(), fc.record({ line: fingerprint, selectors: fingerprint })),
  }),
  fc.record({ type: fc.constant("folder" as const), name: fc.string(), id: fc.uuid() }),
  fc.record({
    type: fc.constant("batch" as const),
    address: batch,
    record: fc.record({ status: fc.constantFrom("done", "held", "undone"), content: fingerprint }),
  }),
  fc.record({
    type: fc.constant("intended" as const),
    address: fc.oneof(address, batch),
    intent: fc.record({
      at: fc.constant("2030-01-01T00:00:00Z"),
      existing: fc.array(fc.uuid(), { maxLength: 2 }),
      name: fingerprint,
      fields: fc.dictionary(fc.constantFrom("prompt"), fingerprint),
    }),
  }),
);

const state = fc
  .array(event, { maxLength: 20 })
  .map((events) =>
    applyEvents(emptyState("staging", "shop", "https://service.example.com"), events),
  );

/** The error of a refused edit. */
function refused(edit: () => State): unknown {
  try {
    edit();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The state document as text, independent of the order of its events. */
const text = (one: State): string => formatDocument(one);

group("mv", () => {
  test("there and back restores the state", () => {
    fc.assert(
      fc.property(state, fc.oneof(address, batch), (before, from) => {
        const to = addressOf("testCase", "shop", "elsewhere");
        fc.pre(knows(before, from) && from !== targetAddress("shop"));
        const there = moveAddress(before, from, to);
        expect(knows(there, from)).toBe(false);
        expect(text(moveAddress(there, to, from))).toBe(text(before));
      }),
    );
  });

  test("rejects a new address that state already knows", () => {
    fc.assert(
      fc.property(state, fc.oneof(address, batch), fc.oneof(address, batch), (before, from, to) => {
        fc.pre(knows(before, from) && knows(before, to));
        expect(refused(() => moveAddress(before, from, to))).toMatchObject({ reason: "failed" });
      }),
    );
  });

  test("of a target moves all its addresses, and the move back restores the state", () => {
    fc.assert(
      fc.property(state, (before) => {
        fc.pre(knownAddresses(before).length > 0);
        const there = moveTarget(before, "web", undefined);
        expect(knownAddresses(there)).toEqual(
          knownAddresses(before).map((one) => one.replace("shop", "web")),
        );
        expect(text(moveTarget(there, "shop", undefined))).toBe(text(before));
      }),
    );
  });

  test("of a target completes an interrupted move, but does not overwrite different state", () => {
    fc.assert(
      fc.property(state, state, (before, other) => {
        fc.pre(knownAddresses(before).length > 0);
        const half = moveTarget(before, "web", undefined);
        expect(text(moveTarget(before, "web", half))).toBe(text(half));
        const there =
          knownAddresses(other).length > 0 ? moveTarget(other, "web", undefined) : undefined;
        fc.pre(there !== undefined && text(there) !== text(half));
        expect(refused(() => moveTarget(before, "web", there))).toMatchObject({ reason: "failed" });
      }),
    );
  });
});

group("rm", () => {
  test("removes everything about the address and keeps all other addresses unchanged", () => {
    fc.assert(
      fc.property(state, fc.oneof(address, batch), (before, gone) => {
        fc.pre(knows(before, gone) && gone !== targetAddress("shop"));
        const after = forgetAddress(before, gone);
        expect(knownAddresses(after)).toEqual(knownAddresses(before).filter((one) => one !== gone));
        for (const one of knownAddresses(after))
          expect(describe(after, one)).toMatchObject(facts(before, one));
        expect(refused(() => forgetAddress(after, gone))).toMatchObject({ reason: "invalid" });
      }),
    );
  });

  test("of a target leaves empty state", () => {
    fc.assert(
      fc.property(state, (before) => {
        fc.pre(knownAddresses(before).length > 0);
        const after = forgetAddress(before, targetAddress("shop"));
        expect(text(after)).toBe(
          text(emptyState("staging", "shop", "https://service.example.com")),
        );
      }),
    );
  });

  /** Without the target's number of addresses, which changes with other addresses. */
  function facts(before: State, one: Address) {
    const { addresses: _, ...own } = describe(before, one) ?? { addresses: 0 };
    return own;
  }
});

group("bind", () => {
  test("binds the id without recorded fields, and rejects a second address for the same id", () => {
    fc.assert(
      fc.property(state, address, fc.uuid(), (before, bound, id) => {
        fc.pre([...before.bindings.values()].every((binding) => binding.id !== id));
        const after = bindAddress(before, bound, id, []);
        expect(after.bindings.get(bound)).toEqual({ id, fields: {}, imported: true });
        expect(after.intents.has(bound)).toBe(false);
        for (const other of knownAddresses(after))
          if (other !== bound && after.bindings.has(other))
            expect(refused(() => bindAddress(after, other, id, []))).toMatchObject({
              reason: "failed",
            });
      }),
    );
  });

  test("with the same id again removes its recorded fields and locator lines", () => {
    fc.assert(
      fc.property(state, address, (before, bound) => {
        const id = before.bindings.get(bound)?.id;
        fc.pre(
          id !== undefined &&
            [...before.bindings.values()].filter((one) => one.id === id).length === 1,
        );
        const after = bindAddress(before, bound, id ?? "", []);
        expect(after.bindings.get(bound)).toEqual({ id, fields: {}, imported: true });
      }),
    );
  });
});

group("show", () => {
  test("shows no fingerprint", () => {
    fc.assert(
      fc.property(state, (one) => {
        for (const known of knownAddresses(one))
          expect(JSON.stringify({ ...describe(one, known), folders: {} })).not.toMatch(
            /FP[a-z]{8}/,
          );
      }),
    );
  });
});
