import { type Address, isAddress } from "./address.ts";
import {
  type Guard,
  type Guarded,
  type Shape,
  isCount,
  isRecord,
  isText,
  isTexts,
  maybe,
  oneOf,
  recordOf,
  shape,
} from "./shape.ts";

/** What tasc remembers of one target in one stage (design contract, section 4). Only `applyEvents` alters a state. */
export interface State {
  /** Made at random with the document, so that a backup can tell which document it is one of. */
  readonly lineage?: string;
  readonly stage: string;
  /** The target's key. */
  readonly target: string;
  /** Base address of the service that the ids belong to. */
  readonly service: string;
  /** Digest that tells whether fingerprints were made with the current key. */
  readonly keyCheck: string | undefined;
  readonly bindings: ReadonlyMap<Address, Binding>;
  /** Folder name → folder id, learnt from answers. */
  readonly folders: ReadonlyMap<string, string>;
  readonly batchGenerations: ReadonlyMap<Address, BatchRecord>;
  readonly intents: ReadonlyMap<Address, Intent>;
  /** An apply that has begun, until its entry in the history is written. */
  readonly run?: RunRecord;
}

export type Fingerprint = string;

const isParts = recordOf(isText);
/** A whole field's fingerprint, or one for each declared part of an object. */
const isFieldRecord = (value: unknown): value is Fingerprint | Guarded<typeof isParts> =>
  isText(value) || isParts(value);
export type FieldRecord = Guarded<typeof isFieldRecord>;
/** Manifest field name → what was last applied. */
const isFields = recordOf(isFieldRecord);

const isLocator = shape({ line: isText, selectors: isText });
export type LocatorRecord = Guarded<typeof isLocator>;
/** Element id → its locator line as last written, and the selectors that the service made of it. */
const isLocators = recordOf(isLocator);

export const isBinding = shape({
  id: isText,
  fields: isFields,
  /** Fields last written with a secret, which the service may still show: hidden until they are written without one. */
  secrets: maybe(isTexts),
  /** A discovery that tasc started and has not seen end: what the service showed of the one before, or nothing. */
  generating: maybe(isText),
  locators: maybe(isLocators),
  /** Bound by an import or by hand, and no apply has taken it up yet: manifests without it have not removed it. */
  imported: maybe(oneOf(true)),
});
export type Binding = Guarded<typeof isBinding>;

/** Fields that were last written with a secret, and elements that the service made from such a prompt: they may quote it. */
export function secretFieldsOf(of: Pick<Binding, "fields" | "secrets">): readonly string[] {
  const { secrets = [] } = of;
  // A binding unpacks its fields whenever it is asked for them.
  const areMade = secrets.includes("discovery.prompt") && of.fields["elements"] === undefined;
  return areMade ? [...secrets, "elements"] : secrets;
}

/**
 * `done`: it ran with this content. `held`: the target was adopted, so nobody knows whether it ran.
 * `uncertain`: a POST was sent and its outcome is not known. `undone`: the user said that it did not run.
 */
export const isBatchRecord = shape({
  status: oneOf("done", "held", "uncertain", "undone"),
  content: maybe(isText),
});
export type BatchRecord = Guarded<typeof isBatchRecord>;

/** A creation that was about to be sent, with what is needed to find out what became of it. */
export const isIntent = shape({
  /** ISO 8601. */
  at: isText,
  /** Ids that bore the same name, external id or app, or stood in the same target, before. */
  existing: isTexts,
  /** Fingerprint of the test case's name or the target's app. */
  name: maybe(isText),
  externalId: maybe(isText),
  /** Fields that the POST carries, to be recorded once what it made is found, and those of them that carry a secret. */
  fields: isFields,
  secrets: maybe(isTexts),
  /** Content of a batch generation. */
  content: maybe(isText),
});
export type Intent = Guarded<typeof isIntent>;

/** What the history tells of an apply. No values. */
export const RUN = {
  /** ISO 8601. */
  at: isText,
  /** `user@host`. */
  who: isText,
  /** Link to the CI job, or the working folder. */
  where: maybe(isText),
  commit: maybe(isText),
  /** Digest of the plan. */
  plan: isText,
};
/** An apply on one target, as its entry in the history will have it. */
export const isRun = shape({ id: isText, ...RUN });
export type RunRecord = Guarded<typeof isRun> & { readonly changes: ReadonlyMap<Address, RunChange> };

/** How many calls the plan lists for a change, and one more where what follows from them is still to be seen. */
const planned = { action: isText, calls: isCount };
/** And how many were answered with success. */
export const isRunChange = shape({ ...planned, answered: isCount });
export type RunChange = Guarded<typeof isRunChange>;
/** Address → what is planned for it. */
const areRunChanges = recordOf(shape(planned));
export type RunChanges = Guarded<typeof areRunChanges>;

const address = isAddress;
/** Names among the fields that carry a secret. */
const secrets = maybe(isTexts);

/**
 * What an apply or a state command found out; `src/state/events.ts` says what follows. An event about an address that is
 * not bound changes nothing, except `bound`, `batch` and `intended`.
 */
const EVENTS = {
  /** With another key than before, all fingerprints go: they can be compared with nothing. Record it first. */
  keyed: { keyCheck: isText },
  /** Binds an address; `fields` replaces what was recorded. Settles an intent of the address. */
  bound: { address, id: isText, fields: isFields, secrets, imported: maybe(oneOf(true)) },
  /** A field's record; it replaces what was recorded for that field, in all its parts. */
  wrote: { address, fields: isFields, secrets },
  forgot: { address, fields: isTexts },
  /** Adds locators to those recorded; with `elements`, the ids of all elements there are, others go. */
  located: { address, locators: isLocators, elements: maybe(isTexts) },
  /** Forgets the binding and the batch record, but no intent: only what became of it settles that. */
  unbound: { address },
  /** Carries all that is known of `from` over to `to`, in place of what was known of `to`. */
  moved: { from: isAddress, to: isAddress },
  folder: { name: isText, id: isText },
  /** Settles an intent of the address: the record says what became of it. */
  batch: { address, record: isBatchRecord },
  intended: { address, intent: isIntent },
  settled: { address },
  /** A discovery has begun; `shown` is what the service showed of the one before. */
  generating: { address, shown: isText },
  generated: { address },
  /** An apply begins; what an earlier one left is in the history by then. */
  began: { run: isRun, changes: areRunChanges },
  /** A call of a change was answered with success. `last`: nothing of the change is left to do. */
  answered: { address, last: maybe(oneOf(true)) },
  /** The run's entry in the history is written. */
  ended: {},
};
type EventType = keyof typeof EVENTS;
export type StateEvent = {
  [T in EventType]: Shape<{ readonly type: Guard<T> } & (typeof EVENTS)[T]>;
}[EventType];

const EVENT_SHAPES = new Map<unknown, Guard<unknown>>(
  Object.entries(EVENTS).map(([type, tests]) => [type, shape({ type: isText, ...tests })]),
);

export function areStateEvents(value: unknown): value is readonly StateEvent[] {
  const isEvent = (one: unknown) => isRecord(one) && EVENT_SHAPES.get(one["type"])?.(one) === true;
  return Array.isArray(value) && value.every(isEvent);
}

export function emptyState(stage: string, target: string, service: string): State {
  return {
    stage,
    target,
    service,
    keyCheck: undefined,
    bindings: new Map(),
    folders: new Map(),
    batchGenerations: new Map(),
    intents: new Map(),
  };
}
