import type { Json, JsonObject } from "../../model/json.ts";
import type { LiveDiscovery, LiveTestCase } from "../../model/live.ts";
import type { Misfit } from "../failure.ts";
import type { Result } from "../result.ts";
import { elements } from "./read-element.ts";
import { anObject, checked, id, nullableText, object, text, texts } from "./shape.ts";

/** One item of the answer of operation 7 (service-api.md, "Test case", list shape). */
export function readTestCase(item: Json): Result<LiveTestCase, Misfit> {
  return checked(() => testCase(item));
}

function testCase(json: Json): LiveTestCase {
  const fields = anObject(json);
  // Required in the list, and a sign that the list is what it should be; nothing else needs it.
  id(fields, "testTargetId");
  return {
    id: id(fields, "id"),
    description: text(fields, "description"),
    status: text(fields, "status"),
    runStatus: text(fields, "runStatus"),
    type: nullableText(fields, "type"),
    entryPointUrlPath: nullableText(fields, "entryPointUrlPath"),
    folderId: nullableText(fields, "folderId"),
    externalId: nullableText(fields, "externalId"),
    tags: texts(fields, "tags"),
    prerequisiteId: nullableText(fields, "prerequisiteId"),
    elements: elements(fields, "elements"),
    discovery: object(fields, "discovery", discovery),
  };
}

function discovery(fields: JsonObject): LiveDiscovery {
  const updatedAt = text(fields, "updatedAt");
  return {
    ...(updatedAt === undefined ? {} : { updatedAt }),
    status: text(fields, "status"),
    freePrompt: text(fields, "freePrompt"),
    abortCause: text(fields, "abortCause"),
    message: text(fields, "message"),
  };
}
