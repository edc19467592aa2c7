import type { Address } from "../model/address.ts";
import type { Layer } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import type { Json, Path } from "../model/json.ts";
import type { Draft } from "./draft.ts";

/** What a command does to the manifests, and what it must leave: plain data, without any secret. */
export interface Rewriting {
  readonly changes: readonly Rewritten[];
  readonly left: readonly Left[];
}

/** A field whose value in the manifests changes. */
export interface Rewritten {
  readonly address: Address;
  readonly path: Path;
  readonly sensitive?: true;
  /** Absent where nothing was declared, and where it must not show. */
  readonly before?: Json;
  /** Absent where nothing is declared any more, and where it must not show. */
  readonly after?: Json;
  readonly layer: Layer["kind"];
  readonly origin: Origin;
  /** Other stages that resolve to another value by it. */
  readonly alsoStages?: readonly string[];
}

/** What differs and stays as it is. Without a path it is the resource as a whole. */
export interface Left {
  readonly address: Address;
  readonly path?: Path;
  /** One sentence. */
  readonly reason: string;
  readonly origin?: Origin;
}

/** A rewriting, and the manifests as it leaves them. */
export interface Rewrite extends Rewriting {
  readonly draft: Draft;
}
