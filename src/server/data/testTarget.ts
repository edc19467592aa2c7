import { type Read, list, nullable, object } from "../read/reader.ts";
import { dateTime, integer, text, uuid, webUrl } from "../read/values.ts";
import type { World } from "./world.ts";

/** "trackerIntegration fields" (Test target). All optional: which are required is not shown. */
export const trackerIntegration = object((fields) => ({
  domain: fields.optional("domain", webUrl),
  username: fields.optional("username", text),
  projectId: fields.optional("projectId", text),
  apiKey: fields.optional("apiKey", text),
}));

/** A test target as stored: what answers show, and what can only be written (Test target). */
export const testTargetReader = (world: World) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    app: fields.required("app", text),
    tags: fields.optional("tags", list(nullable(text))) ?? [],
    testIdAttribute: fields.optional("testIdAttribute", text),
    trackerIntegration: fields.optional("trackerIntegration", trackerIntegration),
    timeoutPerStep: fields.optional("timeoutPerStep", integer),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

export type TestTarget = Read<ReturnType<typeof testTargetReader>>;
