import type { Address } from "../model/address.ts";
import type { Layer } from "../model/desired.ts";
import type { Diagnostic, Origin } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { Action, CallJson, FieldChange } from "../model/plan.ts";

/** Where the values of one address come from, and what follows from them. Plain data, safe to be shown. */
export interface Explanation {
  readonly address: Address;
  readonly stage: string;
  /** The live resource, if one is known. */
  readonly id?: string;
  /** How it is known which live resource is meant, or why none is. */
  readonly found: string;
  /** `unknown` where the service was not asked, `problem` where errors keep it from being decided. */
  readonly action: Action | "none" | "problem" | "unknown";
  readonly why: string;
  readonly calls: readonly CallJson[];
  readonly fields: readonly ExplainedField[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExplainedField {
  readonly name: string;
  /** Lowest layer first. */
  readonly sources: readonly Source[];
  readonly placeholders: readonly Placeholder[];
  /** What it comes to; absent where it is not declared. */
  readonly value?: Json;
  /** The live value; absent where it does not show. */
  readonly live?: Json;
  /** What the service says of it, where it shows no value. */
  readonly liveNote?: string;
  /** What state remembers. */
  readonly remembered: string;
  readonly changes: readonly FieldChange[];
  readonly why: string;
}

/** A layer that gives the field a value. */
export interface Source {
  readonly layer: Layer["kind"];
  readonly origin: Origin;
  /** As it is written, before anything is filled in. */
  readonly written: Json;
  /** Whether it is the one that counts, a part of it, or replaced by a later one. */
  readonly role: "counts" | "merged" | "replaced";
}

/** An interpolation that the value is made of. */
export interface Placeholder {
  /** As it is written. */
  readonly source: string;
  /** Where what it names is defined: a variable. */
  readonly origin?: Origin;
  /** What it stands for, as far as that may show. */
  readonly means: string;
}
