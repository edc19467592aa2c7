import type { DesiredResource } from "./desired.ts";
import type { JsonObject } from "./json.ts";
import type { Acceptance } from "./steps.ts";

/**
 * The answers of the service. `undefined` means that the answer did not have the field, `null` that
 * it was null. Enumerations are plain strings, because the service may know values that
 * service-api.md does not list.
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
  /** Whether it has elements, where these were dropped; undefined if the answer did not show them. */
  readonly hasSteps?: boolean | undefined;
  /** As the service writes it; used where no history tells when a test case last changed. */
  readonly updatedAt?: string | undefined;
  /** The resource that is equal to it, and the only one that it can belong to. */
  readonly asDeclared?: DesiredResource<"testCase"> | undefined;
  /**
   * Present if most other fields were dropped, as it is as declared: the declared fields that the
   * answer did not show.
   */
  readonly hidden?: readonly string[] | undefined;
  /** With `policy.steps`, how its steps are; the steps themselves are then dropped. */
  readonly acceptance?: Acceptance | undefined;
}

/** A live resource of any kind; fields of other kinds are absent. */
export interface LiveResource
  extends
    Partial<Omit<LiveTarget, "id">>,
    Partial<Omit<LiveEnvironment, "id" | "type">>,
    Partial<Omit<LiveTestCase, "id">> {
  readonly id: string;
}

/** service-api.md, "Test case", field `discovery`; absent and null mean the same. */
export interface LiveDiscovery {
  readonly status: string | undefined;
  readonly freePrompt: string | undefined;
  readonly abortCause: string | undefined;
  /** When it last changed, as the service writes it. */
  readonly updatedAt?: string | undefined;
  readonly message: string | undefined;
}

/**
 * service-api.md, "Test case element", read according to its shape in the field table; sorted by
 * `index`.
 */
export interface LiveElement {
  readonly id: string | undefined;
  /** The live values of the parts that a manifest can declare, under the names of the manifest. */
  readonly parts: JsonObject;
  /** The element as received: a PATCH of all elements must send undeclared parts back. */
  readonly raw: JsonObject;
}

/** Everything that a plan read: all targets, and the test cases of the managed ones. */
export interface Live {
  readonly targets: readonly LiveTarget[];
  /** By target id; a target that was not read has no entry. */
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
}

/** The source that a refresh reads from: the client or a snapshot. */
export interface Reader {
  listTargets(): Promise<readonly LiveTarget[]>;
  /** @param keep reduces each test case, as it arrives, to the parts to keep */
  listTestCases(
    targetId: string,
    keep: (testCase: LiveTestCase) => LiveTestCase,
  ): Promise<readonly LiveTestCase[]>;
}

/**
 * Targets whose state is written at once, and about how many resources they may have: what is
 * written of all of them would take much memory.
 */
const [BATCH, MOST] = [32, 6000] as const;

/**
 * Does some work for each item, a few at once. If several of a batch fail, the first one counts.
 * @param sizeOf number of resources of an item
 */
export async function inBatches<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let batch: Promise<void>[] = [];
  let size = 0;
  for (const item of items) {
    if (batch.length === BATCH || size >= MOST) {
      await sideBySide(batch);
      batch = [];
      size = 0;
    }
    size += sizeOf(item);
    batch.push(work(item));
  }
  await sideBySide(batch);
}

/**
 * Waits for concurrent reads. If several fail, it always throws the error of the first in the list.
 */
export async function sideBySide<T>(reads: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(reads);
  return Promise.all(reads);
}
