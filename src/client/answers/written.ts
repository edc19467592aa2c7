import type { Json, JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import type { LiveElement, LiveEnvironment, LiveTestCase } from "../../model/live.ts";
import type { Misfit } from "../failure.ts";
import type { Result } from "../result.ts";
import { element, elements } from "./read-element.ts";
import { environment } from "./read-target.ts";
import { anObject, checked, id, lenient, list, nullableText, text, texts } from "./shape.ts";

/**
 * Readers of the answers of writes. A creation must show the id of what it made, or it is not a readable success;
 * the rest of it, and all of an update's answer, is a welcome extra: what does not fit reads as not shown.
 */

export interface CreatedTarget {
  readonly id: string;
  /** The DEFAULT environment is made with the target; undefined where the answer does not show them. */
  readonly environments: readonly LiveEnvironment[] | undefined;
}

/** Operation 2. */
export function readCreatedTarget(answer: Json | undefined): Result<CreatedTarget, Misfit> {
  return checked(() => {
    const fields = anObject(answer);
    return {
      id: id(fields, "id"),
      environments: lenient(() => list(fields, "environments", environment)),
    };
  });
}

/** Operation 5: the new environment's id. */
export function readCreatedEnvironment(answer: Json | undefined): Result<{ readonly id: string }, Misfit> {
  return checked(() => ({ id: id(anObject(answer), "id") }));
}

export interface CreatedDiscovery {
  readonly testCaseId: string;
  readonly discoveryId: string | undefined;
}

/** Operation 10. */
export function readCreatedDiscovery(answer: Json | undefined): Result<CreatedDiscovery, Misfit> {
  return checked(() => {
    const fields = anObject(answer);
    return {
      testCaseId: id(fields, "testCaseId"),
      discoveryId: lenient(() => text(fields, "discoveryId")),
    };
  });
}

/** Operation 11. */
export function readCreatedBatchGeneration(
  answer: Json | undefined,
): Result<{ readonly batchGenerationId: string }, Misfit> {
  return checked(() => ({ batchGenerationId: id(anObject(answer), "batchGenerationId") }));
}

/** What the answer of a test case's update shows; undefined is not shown. */
export interface ShownTestCase extends Pick<
  LiveTestCase,
  | "description"
  | "status"
  | "runStatus"
  | "entryPointUrlPath"
  | "folderId"
  | "externalId"
  | "tags"
  | "elements"
> {
  readonly id: string | undefined;
}

/** Operation 8. @returns undefined when the answer is empty or no object */
export function readUpdatedTestCase(answer: Json | undefined): ShownTestCase | undefined {
  return isObject(answer) ? shownTestCase(answer) : undefined;
}

function shownTestCase(fields: JsonObject): ShownTestCase {
  return {
    id: lenient(() => text(fields, "id")),
    description: lenient(() => text(fields, "description")),
    status: lenient(() => text(fields, "status")),
    runStatus: lenient(() => text(fields, "runStatus")),
    entryPointUrlPath: lenient(() => nullableText(fields, "entryPointUrlPath")),
    folderId: lenient(() => nullableText(fields, "folderId")),
    externalId: lenient(() => nullableText(fields, "externalId")),
    tags: lenient(() => texts(fields, "tags")),
    elements: lenient(() => elements(fields, "elements")),
  };
}

/** Operation 9. @returns undefined when the answer is empty or not an element */
export function readUpdatedElement(answer: Json | undefined): LiveElement | undefined {
  return answer === undefined ? undefined : lenient(() => element(answer));
}

/** Operation 6. @returns undefined when the answer is empty or not an environment */
export function readUpdatedEnvironment(answer: Json | undefined): LiveEnvironment | undefined {
  return answer === undefined ? undefined : lenient(() => environment(answer));
}
