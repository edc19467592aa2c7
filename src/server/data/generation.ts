import { type Read, nullable, object } from "../read/reader.ts";
import { integer, oneOf, text, uuid } from "../read/values.ts";

/**
 * A discovery or batch generation that still runs. It is a stored row like any other, made in the transaction that
 * answers its request: so it survives the process, and resumes.
 */
export const generationReader = object((fields) => ({
  id: fields.required("id", uuid),
  testTargetId: fields.required("testTargetId", uuid),
  kind: fields.required("kind", oneOf("discovery", "batch")),
  prompt: fields.required("prompt", text),
  /** Milliseconds since the epoch. */
  dueAt: fields.required("dueAt", integer),
  /** The case a discovery makes the elements of; null for a batch. */
  testCaseId: fields.optional("testCaseId", nullable(uuid)) ?? null,
  entryPointUrlPath: fields.optional("entryPointUrlPath", nullable(text)) ?? null,
  prerequisiteId: fields.optional("prerequisiteId", nullable(uuid)) ?? null,
}));

export type Generation = Read<typeof generationReader>;
