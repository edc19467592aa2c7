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

/**
 * What tasc remembers of one target in one stage (design contract, section 4). Only `applyEvents`
 * changes a state.
 */
export interface State {
  /** A random id, created with the document, that shows which document a backup belongs to. */
  readonly lineage?: string;
  readonly stage: string;
  /** The target's key. */
  readonly target: string;
  /** Base address of the service that the ids belong to. */
  readonly service: string;
  /** Digest that shows whether the fingerprints were made with the current key. */
  readonly keyCheck: string | undefined;
  readonly bindings: ReadonlyMap<Address, Binding>;
  /** Folder name → folder id, as seen in answers. */
  readonly folders: ReadonlyMap<string, string>;
  readonly batchGenerations: ReadonlyMap<Address, BatchRecord>;
  readonly intents: ReadonlyMap<Address, Intent>;
  /** An apply that has begun and whose entry in the history is not written yet. */
  readonly run?: RunRecord;
}

export type Fingerprint = string;

const isParts = recordOf(isText);
/** The fingerprint of a whole field, or one for each declared part of an object. */
const isFieldRecord = (value: unknown): value is Fingerprint | Guarded<typeof isParts> =>
  isText(value) || isParts(value);
export type FieldRecord = Guarded<typeof isFieldRecord>;
/** Manifest field name → fingerprint of the value last applied. */
const isFields = recordOf(isFieldRecord);

const isLocator = shape({ line: isText, selectors: isText });
export type LocatorRecord = Guarded<typeof isLocator>;
/**
 * Element id → digests of its last written locator line and of the selectors that the service made
 * from it.
 */
const isLocators = recordOf(isLocator);

export const isBinding = shape({
  id: isText,
  fields: isFields,
  /**
   * Fields last written with a secret that the service may still show. They stay hidden until
   * written without one.
   */
  secrets: maybe(isTexts),
  /**
   * Set while a discovery that tasc started has not ended: the mark of the discovery before it, or
   * an empty text.
   */
  generating: maybe(isText),
  /**
   * Set after a discovery of tasc failed, until one succeeds: the mark of the failed one, or an
   * empty text.
   */
  failed: maybe(isText),
  locators: maybe(isLocators),
  /**
   * Bound by an import or by hand, but not applied yet: a manifest that lacks it has not removed
   * it.
   */
  imported: maybe(oneOf(true)),
});
export type Binding = Guarded<typeof isBinding>;

/**
 * Returns fields last written with a secret, plus `elements` generated from a secret prompt, which
 * may quote it.
 */
export function secretFieldsOf(of: Pick<Binding, "fields" | "secrets">): readonly string[] {
  const { secrets = [] } = of;
  // `fields` is not destructured, because a packed binding unpacks it at every access.
  const areGenerated = secrets.includes("discovery.prompt") && of.fields["elements"] === undefined;
  return areGenerated ? [...secrets, "elements"] : secrets;
}

/**
 * `done`: it ran with this content. `held`: the target was adopted, so it is unknown whether it
 * ran. `uncertain`: a POST was sent and its outcome is unknown. `undone`: the user said that it did
 * not run.
 */
export const isBatchRecord = shape({
  status: oneOf("done", "held", "uncertain", "undone"),
  content: maybe(isText),
});
export type BatchRecord = Guarded<typeof isBatchRecord>;

/**
 * A creation that was about to be sent, with the data needed to find out later whether it
 * succeeded.
 */
export const isIntent = shape({
  /** ISO 8601. */
  at: isText,
  /**
   * Older ids that could be mistaken for it: same name, external id or app; for an environment, all
   * of its target.
   */
  existing: isTexts,
  /** Fingerprint of the name: a test case's description, a target's app or an environment's URL. */
  name: maybe(isText),
  externalId: maybe(isText),
  /**
   * Fields that the POST carries, recorded once the created resource is found; `secrets` are those
   * with a secret.
   */
  fields: isFields,
  secrets: maybe(isTexts),
  /** Content of a batch generation. */
  content: maybe(isText),
});
export type Intent = Guarded<typeof isIntent>;

/** The data of an apply in the history. It contains no values. */
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
/** An apply on one target, as recorded in the history. */
export const isRun = shape({ id: isText, ...RUN });
export type RunRecord = Guarded<typeof isRun> & {
  readonly changes: ReadonlyMap<Address, RunChange>;
};

/**
 * `calls`: the number of calls that the plan lists for a change, plus one if something follows
 * them.
 */
const planned = { action: isText, calls: isCount };
/** `answered`: the number of calls that succeeded. */
export const isRunChange = shape({ ...planned, answered: isCount });
export type RunChange = Guarded<typeof isRunChange>;
/** Address → planned change. */
const areRunChanges = recordOf(shape(planned));
export type RunChanges = Guarded<typeof areRunChanges>;

const address = isAddress;
/** Names of the fields that carry a secret. */
const secrets = maybe(isTexts);

/**
 * Events from an apply or a state command; `src/state/events.ts` applies them. An event about an
 * address that is not bound changes nothing, except `bound`, `batch` and `intended`.
 */
const EVENTS = {
  /**
   * If the key has changed, this removes all fingerprints, because nothing can be compared with
   * them. Record it first.
   */
  keyed: { keyCheck: isText },
  /** Binds an address; `fields` replaces the records. It also settles an intent of the address. */
  bound: { address, id: isText, fields: isFields, secrets, imported: maybe(oneOf(true)) },
  /** Replaces the records of these fields, including all of their parts. */
  wrote: { address, fields: isFields, secrets },
  forgot: { address, fields: isTexts },
  /**
   * Adds locators. `elements` has the ids of all existing elements; locators of other elements are
   * removed.
   */
  located: { address, locators: isLocators, elements: maybe(isTexts) },
  /**
   * Removes the binding and the batch record, and of a target its folders, but not an intent: only
   * the outcome of the creation settles that.
   */
  unbound: { address },
  /** Moves the records of `from` to `to`, where they replace existing ones. */
  moved: { from: isAddress, to: isAddress },
  folder: { name: isText, id: isText },
  /**
   * Records a batch generation. It also settles an intent of the address, because the record says
   * what happened.
   */
  batch: { address, record: isBatchRecord },
  intended: { address, intent: isIntent },
  settled: { address },
  /** A discovery has begun; `shown` is the mark of the discovery before it. */
  generating: { address, shown: isText },
  /** It has ended; `failed`: badly, with this mark. */
  generated: { address, failed: maybe(isText) },
  /** An apply begins; the run of an earlier, interrupted apply is in the history by then. */
  began: { run: isRun, changes: areRunChanges },
  /** A call of a change succeeded. `last`: the change is complete. */
  answered: { address, last: maybe(oneOf(true)) },
  /** The run's entry in the history has been written. */
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
