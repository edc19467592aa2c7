import * as fc from "fast-check";
import type { Address } from "../../../src/model/address.ts";
import type { Json } from "../../../src/model/json.ts";
import {
  type BatchRecord,
  type Binding,
  type Intent,
  type State,
  type StateEvent,
  emptyState,
} from "../../../src/model/state.ts";
import { applyEvents } from "../../../src/state/events.ts";
import { anyCharacter } from "../../any-character.ts";
import { SERVICE } from "./numbered.ts";

/** Few addresses and names, so that events affect each other. */
const key = fc.constantFrom("a", "b", "login", "cart-total", "0", "10", "constructor");
export const address: fc.Arbitrary<Address> = fc.oneof(
  fc.constant<Address>("target.shop"),
  key.map((name): Address => `environment.shop.${name}`),
  key.map((name): Address => `testCase.shop.${name}`),
  key.map((name): Address => `batchGeneration.shop.${name}`),
);

const id = fc.constantFrom("id-1", "id-2", "id-3", 'odd "id" \n\u2028');
const fingerprint = fc.stringMatching(/^[\w-]{16}$/);
const name = fc.oneof(
  fc.constantFrom("status", "tags", "discovery.prompt", "__proto__", "1", "Überschrift"),
  fc.string({ maxLength: 8 }),
);

/** An object with own properties, whatever their names. */
function recordOf<V>(value: fc.Arbitrary<V>): fc.Arbitrary<Readonly<Record<string, V>>> {
  return fc
    .array(fc.tuple(name, value), { maxLength: 4 })
    .map((entries): Record<string, V> => Object.fromEntries(entries));
}

const fields: fc.Arbitrary<Binding["fields"]> = recordOf(
  fc.oneof(fingerprint, recordOf(fingerprint)),
);
const locators = recordOf(fc.record({ line: fingerprint, selectors: fingerprint }));

const batch: fc.Arbitrary<BatchRecord> = fc.record(
  {
    status: fc.constantFrom(
      "done" as const,
      "held" as const,
      "uncertain" as const,
      "undone" as const,
    ),
    content: fingerprint,
  },
  { requiredKeys: ["status"] },
);

const intent: fc.Arbitrary<Intent> = fc.record(
  {
    at: fc.constant("2026-01-02T03:04:05.000Z"),
    existing: fc.array(id, { maxLength: 3 }),
    name: fingerprint,
    externalId: fingerprint,
    fields,
    content: fingerprint,
  },
  { requiredKeys: ["at", "existing", "fields"] },
);

export const event: fc.Arbitrary<StateEvent> = fc.oneof(
  fc.record({ type: fc.constant("keyed" as const), keyCheck: fc.constantFrom("key-1", "key-2") }),
  fc.record({ type: fc.constant("bound" as const), address, id, fields }),
  fc.record({ type: fc.constant("wrote" as const), address, fields }),
  fc.record({
    type: fc.constant("forgot" as const),
    address,
    fields: fc.array(name, { maxLength: 3 }),
  }),
  fc.record(
    {
      type: fc.constant("located" as const),
      address,
      locators,
      elements: fc.array(name, { maxLength: 3 }),
    },
    { requiredKeys: ["type", "address", "locators"] },
  ),
  fc.record({ type: fc.constant("unbound" as const), address }),
  fc.record({ type: fc.constant("moved" as const), from: address, to: address }),
  fc.record({ type: fc.constant("folder" as const), name, id }),
  fc.record({ type: fc.constant("batch" as const), address, record: batch }),
  fc.record({ type: fc.constant("intended" as const), address, intent }),
  fc.record({ type: fc.constant("settled" as const), address }),
);

export const events = fc.array(event, { maxLength: 40 });

/** Any state that events can lead to. */
export const state: fc.Arbitrary<State> = events.map((list) =>
  applyEvents(emptyState("staging", "shop", SERVICE), list),
);

/** Plain data; `-0` is left out because JSON does not have it. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.string({ unit: anyCharacter }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
