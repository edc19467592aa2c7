import type { Address } from "./address.ts";

/**
 * What tasc remembers of one target in one stage (design contract, section 4). No values stand here: a
 * `Fingerprint` is a keyed digest, useless without the stage's API key.
 *
 * The document is a fold over events: `applyEvents` is the only place that alters a state, so that a journal of
 * events appended during an apply and the document folded from it cannot tell two stories.
 */
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

/** A whole field's fingerprint, or one for each declared part of an object. */
export type FieldRecord = Fingerprint | { readonly [part: string]: Fingerprint };

export interface Binding {
  readonly id: string;
  /** Manifest field name → what was last applied. */
  readonly fields: Readonly<Record<string, FieldRecord>>;
  /**
   * Fields that were last written with a secret in them. The service may still show it after the secret was rotated or
   * taken out of the manifest, so the live values of these fields stay hidden until they are written without one.
   */
  readonly secrets?: readonly string[];
  /**
   * A discovery that tasc started and has not seen end: what the service showed of the one before, or nothing. So an
   * apply with `--wait` can go on waiting for what an earlier one started.
   */
  readonly generating?: string;
  /** Element id → its locator line as last written, and the selectors that the service made of it. */
  readonly locators?: Readonly<Record<string, LocatorRecord>>;
}

export interface LocatorRecord {
  readonly line: Fingerprint;
  readonly selectors: Fingerprint;
}

/**
 * `done`: it ran with this content. `held`: the target was adopted, so nobody knows whether it ran.
 * `uncertain`: a POST was sent and its outcome is not known. `undone`: the user said that it did not run.
 */
export interface BatchRecord {
  readonly status: "done" | "held" | "uncertain" | "undone";
  readonly content?: Fingerprint;
}

/** A creation that was about to be sent, with what is needed to find out what became of it. */
export interface Intent {
  /** ISO 8601. */
  readonly at: string;
  /** Ids that bore the same name, external id or app, or stood in the same target, before. */
  readonly existing: readonly string[];
  /** Fingerprint of the test case's name or the target's app. */
  readonly name?: Fingerprint;
  readonly externalId?: Fingerprint;
  /** Fields that the POST carries, to be recorded once what it made is found. */
  readonly fields: Readonly<Record<string, FieldRecord>>;
  /** Those of them that carry a secret. */
  readonly secrets?: readonly string[];
  /** Content of a batch generation. */
  readonly content?: Fingerprint;
}

/** An apply on one target, as its entry in the history will have it. No values. */
export interface RunRecord {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** `user@host`. */
  readonly who: string;
  /** Link to the CI job, or the working folder. */
  readonly where?: string;
  readonly commit?: string;
  /** Digest of the plan. */
  readonly plan: string;
  readonly changes: ReadonlyMap<Address, RunChange>;
}

export interface RunChange {
  readonly action: string;
  /** Calls that the plan lists for it, and one more where what follows from them is still to be seen. */
  readonly calls: number;
  /** Calls that were answered with success. */
  readonly answered: number;
}

/** Address → what is planned for it. */
export type RunChanges = Readonly<Record<string, Pick<RunChange, "action" | "calls">>>;

/**
 * What an apply or a state command found out; `src/state/events.ts` says in full what follows from each.
 * An event about an address that is not bound changes nothing, except `bound`, `batch` and `intended`.
 */
export type StateEvent =
  /** With another key than before, all fingerprints go: they can be compared with nothing. Record it first. */
  | { readonly type: "keyed"; readonly keyCheck: string }
  /** Binds an address; `fields` replaces what was recorded. Settles an intent of the address. */
  | {
      readonly type: "bound";
      readonly address: Address;
      readonly id: string;
      readonly fields: Binding["fields"];
      /** Names among `fields` that carry a secret. */
      readonly secrets?: readonly string[];
    }
  /** A field's record; it replaces what was recorded for that field, in all its parts. */
  | {
      readonly type: "wrote";
      readonly address: Address;
      readonly fields: Binding["fields"];
      /** As for `bound`. */
      readonly secrets?: readonly string[];
    }
  | { readonly type: "forgot"; readonly address: Address; readonly fields: readonly string[] }
  /** Adds locators to those recorded; with `elements`, the ids of all elements there are, others go. */
  | {
      readonly type: "located";
      readonly address: Address;
      readonly locators: Readonly<Record<string, LocatorRecord>>;
      readonly elements?: readonly string[];
      /** A line carries a secret. */
      readonly secret?: true;
    }
  /** Forgets the binding and the batch record, but no intent: only what became of it settles that. */
  | { readonly type: "unbound"; readonly address: Address }
  /** Carries all that is known of `from` over to `to`, in place of what was known of `to`. */
  | { readonly type: "moved"; readonly from: Address; readonly to: Address }
  | { readonly type: "folder"; readonly name: string; readonly id: string }
  /** Settles an intent of the address: the record says what became of it. */
  | { readonly type: "batch"; readonly address: Address; readonly record: BatchRecord }
  | { readonly type: "intended"; readonly address: Address; readonly intent: Intent }
  | { readonly type: "settled"; readonly address: Address }
  /** A discovery has begun; `shown` is what the service showed of the one before. */
  | { readonly type: "generating"; readonly address: Address; readonly shown: string }
  | { readonly type: "generated"; readonly address: Address }
  /** An apply begins; what an earlier one left is in the history by then. */
  | { readonly type: "began"; readonly run: Omit<RunRecord, "changes">; readonly changes: RunChanges }
  /** A call of a change was answered with success. `last`: nothing of the change is left to do. */
  | { readonly type: "answered"; readonly address: Address; readonly last?: true }
  /** The run's entry in the history is written. */
  | { readonly type: "ended" };

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
