import { type Address, compareText, isAddress, parseAddress } from "../model/address.ts";
import { fieldsOf } from "../model/fields.ts";
import { defined } from "../model/json.ts";
import {
  type Binding,
  type RunChange,
  type RunRecord,
  type State,
  type StateEvent,
  secretFieldsOf,
} from "../model/state.ts";
import { packed } from "./binding.ts";

/*
 * Applies events to a state. Only this module alters a state, so that a document and the journal on top of it always agree.
 * It accepts every event, because an event has already happened, and is deterministic to the byte. Maps are copied once per
 * call, and only if an event changes them: an apply records tens of thousands of events, over maps of that size.
 */

/** Returns the state after the events, applied in order. Does not alter its arguments. */
export function applyEvents(state: State, events: readonly StateEvent[]): State {
  if (events.length === 0) return state;
  const draft = openDraft(state);
  for (const event of events) change(draft, event);
  const { run: _, ...rest } = state;
  return {
    ...rest,
    keyCheck: draft.keyCheck,
    bindings: draft.bindings.current,
    folders: draft.folders.current,
    batchGenerations: draft.batchGenerations.current,
    intents: draft.intents.current,
    ...(draft.run === undefined ? {} : { run: { ...draft.run, changes: draft.changes.current } }),
  };
}

/** The record of a prompt of which it is unknown whether it was sent last. It equals no digest. */
const UNSURE = "";

/**
 * Returns the events that record that the live values of these fields, and of these elements'
 * locators, are unknown, so that the next plan writes them again. A prompt needs a record for that,
 * because without one it counts as never managed, and is not sent.
 * @param elements ids of elements
 */
export function unsureEvents(
  address: Address,
  names: readonly string[],
  elements: readonly string[] = [],
): readonly StateEvent[] {
  const generates = (name: string) =>
    fieldsOf("testCase").some((field) => field.name === name && field.generates);
  const prompts = names.filter(generates).map((name) => [name, UNSURE] as const);
  const locators = elements.map((id) => [id, { line: UNSURE, selectors: UNSURE }] as const);
  return [
    { type: "forgot", address, fields: names },
    ...(prompts.length === 0
      ? []
      : [{ type: "wrote", address, fields: Object.fromEntries(prompts) } as const]),
    ...(locators.length === 0
      ? []
      : [{ type: "located", address, locators: Object.fromEntries(locators) } as const]),
  ];
}

type MutableState = ReturnType<typeof openDraft>;

function openDraft(state: State) {
  const run: Omit<RunRecord, "changes"> | undefined = state.run;
  return {
    keyCheck: state.keyCheck,
    bindings: new LazyCopy(state.bindings),
    folders: new LazyCopy(state.folders),
    batchGenerations: new LazyCopy(state.batchGenerations),
    intents: new LazyCopy(state.intents),
    run,
    changes: new LazyCopy(state.run?.changes ?? new Map<Address, RunChange>()),
  };
}

function change(draft: MutableState, event: StateEvent): void {
  switch (event.type) {
    case "keyed":
      return key(draft, event.keyCheck);
    case "bound": {
      const before = draft.bindings.current.get(event.address);
      // A generation that ran on another live target may never have run on this one.
      if (
        before !== undefined &&
        before.id !== event.id &&
        parseAddress(event.address)?.kind === "target"
      )
        draft.batchGenerations.convert((record) => ({ ...record, status: "held" }));
      draft.bindings.set(event.address, packed(bind(before, event)));
      return draft.intents.delete(event.address);
    }
    // A secret that was written earlier may still be shown, until a `bound` event says otherwise.
    case "wrote":
      return alter(draft, event.address, (binding) => {
        const secrets = [...secretFieldsOf(binding), ...(event.secrets ?? [])];
        return withSecrets({ ...binding, fields: { ...binding.fields, ...event.fields } }, secrets);
      });
    // Keeps `secrets`: dropping a record does not change what the service shows.
    case "forgot":
      return alter(draft, event.address, (binding) => ({
        ...binding,
        fields: keep(binding.fields, (name) => !event.fields.includes(name)),
      }));
    case "located":
      return alter(draft, event.address, (binding) => locate(binding, event));
    case "unbound":
      draft.bindings.delete(event.address);
      if (parseAddress(event.address)?.kind === "target") draft.folders.clear();
      return draft.batchGenerations.delete(event.address);
    case "moved":
      draft.bindings.move(event.from, event.to);
      draft.batchGenerations.move(event.from, event.to);
      return draft.intents.move(event.from, event.to);
    case "folder":
      return nameFolder(draft, event.name, event.id);
    case "batch":
      draft.batchGenerations.set(event.address, event.record);
      return draft.intents.delete(event.address);
    case "intended":
      return draft.intents.set(event.address, event.intent);
    case "settled":
      return draft.intents.delete(event.address);
    case "generating":
      return alter(draft, event.address, (binding) => ({ ...binding, generating: event.shown }));
    case "generated":
      return alter(draft, event.address, (binding) => {
        const { generating: _, failed: _before, ...rest } = binding;
        return { ...rest, ...defined({ failed: event.failed }) };
      });
    case "began":
      draft.run = event.run;
      draft.changes = new LazyCopy(plannedChanges(event.changes));
      return;
    case "answered":
      return countAnswer(draft, event);
    case "ended":
      draft.run = undefined;
      return;
  }
}

type EventOf<T extends StateEvent["type"]> = Extract<StateEvent, { type: T }>;

/**
 * Records the key. Fingerprints of an old key equal none of the new one, so they are dropped:
 * otherwise a batch generation would look changed, and a creation would look as if it had made
 * nothing.
 */
function key(draft: MutableState, keyCheck: string): void {
  const rekeyed = draft.keyCheck !== undefined && draft.keyCheck !== keyCheck;
  draft.keyCheck = keyCheck;
  if (!rekeyed) return;
  draft.bindings.convert((binding) => {
    const { locators: _, ...rest } = binding;
    return { ...rest, fields: {} };
  });
  draft.batchGenerations.convert(({ status }) => ({ status }));
  draft.intents.convert(({ at, existing, secrets }) =>
    defined({ at, existing, fields: {}, secrets }),
  );
}

/**
 * Returns the binding after a `bound` event. Locators and shown secrets belong to one live
 * resource, so another id drops them. For the fields that the event records, the event itself says
 * which may show a secret.
 */
function bind(before: Binding | undefined, event: EventOf<"bound">): Binding {
  const { id, fields, secrets = [], imported } = event;
  if (before?.id !== id) return withSecrets({ id, fields, ...defined({ imported }) }, secrets);
  const others = secretFieldsOf(before).filter((name) => !Object.hasOwn(fields, name));
  const { imported: was, ...rest } = before;
  const still = defined({ imported: imported && was });
  return withSecrets({ ...rest, fields, ...still }, [...others, ...secrets]);
}

function withSecrets(binding: Binding, names: readonly string[]): Binding {
  const { secrets: _, ...rest } = binding;
  const all = new Set(names);
  return all.size === 0 ? rest : { ...rest, secrets: [...all].toSorted(compareText) };
}

function alter(
  draft: MutableState,
  address: Address,
  alteration: (binding: Binding) => Binding,
): void {
  const binding = draft.bindings.current.get(address);
  if (binding !== undefined) draft.bindings.set(address, alteration(binding));
}

function locate(binding: Binding, event: EventOf<"located">): Binding {
  const { locators: before, ...rest } = binding;
  const all = { ...before, ...event.locators };
  const known = event.elements && new Set(event.elements);
  const locators = known === undefined ? all : keep(all, (id) => known.has(id));
  return Object.keys(locators).length > 0 ? { ...rest, locators } : rest;
}

function plannedChanges(changes: EventOf<"began">["changes"]): ReadonlyMap<Address, RunChange> {
  const entries = Object.entries(changes).flatMap(([address, { action, calls }]) =>
    isAddress(address) ? [[address, { action, calls, answered: 0 }] as const] : [],
  );
  return new Map(entries);
}

/**
 * Counts an answered call. A change that the plan does not list is a patch after the discovery of
 * an earlier apply.
 */
function countAnswer({ run, changes }: MutableState, { address, last }: EventOf<"answered">): void {
  if (run === undefined) return;
  const change = changes.current.get(address) ?? { action: "update", calls: 1, answered: 0 };
  changes.set(address, { ...change, answered: last === true ? change.calls : change.answered + 1 });
}

/** Records a folder. It has only one name, so a new name means that it was renamed. */
function nameFolder(draft: MutableState, name: string, id: string): void {
  if (draft.folders.current.get(name) === id) return;
  for (const [other, itsId] of draft.folders.current) if (itsId === id) draft.folders.delete(other);
  draft.folders.set(name, id);
}

function keep<V>(
  record: Readonly<Record<string, V>>,
  isKept: (name: string) => boolean,
): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => isKept(name)));
}

/**
 * A map that is copied before its first change, so that other users of the original do not see
 * changes.
 */
class LazyCopy<K extends string, V> {
  /** Do not hand it out before the last change: it is changed in place. */
  current: ReadonlyMap<K, V>;
  #copy: Map<K, V> | undefined;

  constructor(map: ReadonlyMap<K, V>) {
    this.current = map;
  }

  set(key: K, value: V): void {
    this.current = this.#copy ??= new Map(this.current);
    this.#copy.set(key, value);
  }

  delete(key: K): void {
    if (!this.current.has(key)) return;
    this.current = this.#copy ??= new Map(this.current);
    this.#copy.delete(key);
  }

  clear(): void {
    if (this.current.size > 0) this.current = this.#copy = new Map();
  }

  move(from: K, to: K): void {
    const value = this.current.get(from);
    if (value === undefined) return;
    this.delete(from);
    this.set(to, value);
  }

  convert(change: (value: V) => V): void {
    for (const [key, value] of this.current) this.set(key, change(value));
  }
}
