import { field, NAME, TEXT, URL_TEXT } from "./field.ts";
import type { Field } from "./field.ts";

const written = { kind: "writeOnly" } as const;

/** service-api.md, operation 11. The interface cannot read a batch generation, so all of it is write-only. */
export const BATCH_GENERATION_FIELDS: readonly Field<never>[] = [
  field("prompt", {
    shape: NAME,
    behaviour: written,
    create: "prompt",
    description: "Prompt that the service generates test cases from.",
  }),
  field("imageUrls", {
    shape: { type: "list", of: URL_TEXT },
    behaviour: written,
    create: "imageUrls",
    description: "Images that go with the prompt.",
  }),
  field("entryPointUrlPath", {
    shape: TEXT,
    nullable: true,
    behaviour: written,
    create: "entryPointUrlPath",
    description: "URL path where the generation starts.",
  }),
  field("environment", {
    shape: { type: "reference", to: "environment" },
    nullable: true,
    behaviour: written,
    create: "environmentId",
    description: "Key of the environment to run in.",
  }),
  field("prerequisite", {
    shape: { type: "reference", to: "testCase" },
    nullable: true,
    behaviour: written,
    create: "prerequisiteId",
    description:
      "Test case that runs before the generation: a key of the same target, or `{ description: … }` of a case that is not managed here.",
  }),
  field("baseUrl", {
    shape: URL_TEXT,
    nullable: true,
    behaviour: written,
    create: "baseUrl",
    description: "Base address for the generation.",
  }),
  field("context", {
    shape: { type: "json" },
    behaviour: written,
    create: "context",
    description: "Trigger context; `source` names the origin.",
  }),
];
