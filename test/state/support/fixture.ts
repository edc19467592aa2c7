import type { Backend, StateKey, StateRuntime } from "../../../src/state/backend.ts";

/** A state backend for one test, with operations that only a test may use. */
export interface Fixture {
  /** Opens a backend as a separate process would. */
  open(over?: Partial<StateRuntime>): Promise<Backend>;
  world(over?: Partial<StateRuntime>): Promise<StateRuntime>;
  /** The stored text of the document; `undefined` if there is none. */
  text(key: StateKey): Promise<string | undefined>;
  /** Stores a text as the document, ignoring all locks. */
  put(key: StateKey, text: string): Promise<void>;
  dispose(): Promise<void>;
}
