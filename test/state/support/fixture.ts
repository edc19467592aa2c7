import type { Backend, StateKey, StateRuntime } from "../../../src/state/backend.ts";

/** A keeper of documents for one test, and what only a test may do to it. */
export interface Fixture {
  /** A backend as a process of its own would open it. */
  open(over?: Partial<StateRuntime>): Promise<Backend>;
  world(over?: Partial<StateRuntime>): Promise<StateRuntime>;
  /** The document's text as it is kept; `undefined` if there is none. */
  text(key: StateKey): Promise<string | undefined>;
  /** Puts a text in the document's place, past all locks. */
  put(key: StateKey, text: string): Promise<void>;
  dispose(): Promise<void>;
}
