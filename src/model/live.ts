import type { DesiredResource } from "./desired.ts";
import type { JsonObject } from "./json.ts";

/**
 * What the service showed. `undefined` means that the answer did not show it, `null` that it showed null. Enumerations are
 * plain strings, since the service may know values that the text does not list.
 */

/** service-api.md, "Test target". */
export interface LiveTarget {
  readonly id: string;
  readonly app: string;
  readonly environments: readonly LiveEnvironment[];
}

/** An item of a test target's `environments`. */
export interface LiveEnvironment {
  readonly id: string;
  readonly type: string | undefined;
  readonly discoveryUrl: string | undefined;
}

/** service-api.md, "Test case", list shape. */
export interface LiveTestCase {
  readonly id: string;
  readonly description?: string | undefined;
  readonly status?: string | undefined;
  readonly runStatus?: string | undefined;
  readonly type?: string | null | undefined;
  readonly entryPointUrlPath?: string | null | undefined;
  readonly folderId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly prerequisiteId?: string | null | undefined;
  readonly elements?: readonly LiveElement[] | undefined;
  readonly discovery?: LiveDiscovery | undefined;
  /** Bound to it, and found to be like it; where only the plan is needed, it holds what tells it from others alone. */
  readonly asDeclared?: DesiredResource<"testCase"> | undefined;
}

/** A live resource of any kind: what its kind does not have is absent. */
export interface LiveResource
  extends
    Partial<Omit<LiveTarget, "id">>,
    Partial<Omit<LiveEnvironment, "id" | "type">>,
    Partial<Omit<LiveTestCase, "id">> {
  readonly id: string;
}

/** service-api.md, "Test case", field `discovery`; absent and null mean the same to us. */
export interface LiveDiscovery {
  readonly status: string | undefined;
  readonly freePrompt: string | undefined;
  readonly abortCause: string | undefined;
  /** When it last changed, as the service writes it. */
  readonly updatedAt?: string | undefined;
  readonly message: string | undefined;
}

/** service-api.md, "Test case element", read by the field table's shape of it; sorted by `index`. */
export interface LiveElement {
  readonly id: string | undefined;
  /** What it shows of each part that a manifest can declare, in the manifest's words. */
  readonly parts: JsonObject;
  /** As it came: a PATCH of all elements must send back what is not declared. */
  readonly raw: JsonObject;
}

/** Everything that one plan read: all targets, and the test cases of those that are managed. */
export interface Live {
  readonly targets: readonly LiveTarget[];
  /** By target id; a target that was not read has no entry. */
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
}

/** What a look at the service needs to read; the client gives it, or a snapshot. */
export interface Reader {
  listTargets(): Promise<readonly LiveTarget[]>;
  /** @param keep what to hold on to of each test case as it comes */
  listTestCases(
    targetId: string,
    keep: (testCase: LiveTestCase) => LiveTestCase,
  ): Promise<readonly LiveTestCase[]>;
}

/** Reads side by side. Where several fail, it is always the same failure that is thrown: the first in their order. */
export async function sideBySide<T>(reads: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(reads);
  return Promise.all(reads);
}
