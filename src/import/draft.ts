import type { JsonObject } from "../model/json.ts";
import type { KnownTarget } from "./known.ts";

/** What an import adds of one live target, before it is laid out in files. */
export interface Draft {
  readonly liveId: string;
  readonly key: string;
  /** Nothing for a target that neither manifests nor state know. */
  readonly known: KnownTarget | undefined;
  /** The target itself; nothing where a manifest declares it already. */
  readonly target: Entry | undefined;
  /** Sorted by key, as are the test cases. */
  readonly environments: readonly Entry[];
  readonly testCases: readonly Entry[];
}

/** A resource to declare. */
export interface Entry {
  readonly id: string;
  readonly key: string;
  /** Whether it must be bound by `id:`, since nothing that it declares finds it and no other. */
  readonly bind: boolean;
  /** In the form of a document. */
  readonly fields: JsonObject;
  /** What could not be declared, and why; each a line of a comment. */
  readonly notes: readonly string[];
  /** A test case's folder on the service. */
  readonly folderId: string | null;
}

/** Something live of which nothing is written, and why. */
export interface LeftOut {
  /** The target's app. */
  readonly app: string;
  readonly kind: "target" | "environment" | "testCase";
  readonly id: string;
  readonly name: string | undefined;
  readonly reason: string;
}

export interface Composed {
  /** Sorted by key; those with nothing to add are not among them. */
  readonly drafts: readonly Draft[];
  readonly leftOut: readonly LeftOut[];
}

export function isEmpty({ target, environments, testCases }: Draft): boolean {
  return target === undefined && environments.length === 0 && testCases.length === 0;
}
