import type { LiveTestCase } from "../model/live.ts";
import { field, NAME, readable, TEXT } from "./field.ts";
import type { Field, Part, Shape } from "./field.ts";

/** service-api.md, "States and transitions": what an update accepts. */
export const STATUSES = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;
/** A live case with this status counts as gone. */
export const DELETED = "DELETED";

const calledWith: Part = { shape: TEXT, description: "What the step is called with." };

const SELECTOR: Shape = {
  type: "object",
  parts: {
    selectorType: { shape: NAME, description: "How the element is found, `TEXT` for example." },
    selector: { shape: TEXT, description: "What it is found by." },
    options: { shape: { type: "json" }, description: "Options of the selector; they may carry a `name`." },
  },
  required: ["selectorType", "selector"],
};

/** service-api.md, "Test case element"; `locatorLine` is written by operation 9. */
export const ELEMENT: Shape = {
  type: "object",
  parts: {
    interaction: {
      shape: {
        type: "object",
        parts: {
          action: { shape: NAME, description: "What is done, `EXTRACT` for example." },
          calledWith,
        },
        required: ["action"],
      },
      nullable: true,
      description: "What this step does.",
    },
    assertion: {
      shape: {
        type: "object",
        parts: {
          expectation: { shape: NAME, description: "What must hold, `VISIBLE` for example." },
          calledWith,
        },
        required: ["expectation"],
      },
      nullable: true,
      description: "What this step checks.",
    },
    selectors: { shape: { type: "list", of: SELECTOR }, description: "How the service finds the element." },
    locatorLine: {
      shape: NAME,
      description: "A locator that the service turns into selectors; in place of `selectors`.",
    },
    ignoreFailure: {
      shape: { type: "boolean" },
      description: "Whether the run goes on when this step fails.",
    },
  },
};

/** service-api.md, "Test case" and operations 8, 9 and 10. */
export const TEST_CASE_FIELDS: readonly Field<LiveTestCase>[] = [
  field("description", {
    shape: NAME,
    behaviour: readable((live) => live.description),
    create: "name",
    update: "description",
    description: "The test case's name on the service. One that is not bound yet is found by it.",
  }),
  field("externalId", {
    shape: NAME,
    nullable: true,
    behaviour: readable((live) => live.externalId ?? null),
    create: "externalId",
    update: "externalId",
    description: "Id in another system. One that is not bound yet is found by it first.",
  }),
  field("status", {
    shape: { type: "enum", values: STATUSES },
    behaviour: readable((live) => live.status),
    update: "status",
    promoted: true,
    description: "Whether the test case is in use.",
  }),
  field("runStatus", {
    shape: { type: "enum", values: ["ON", "OFF"] },
    behaviour: readable((live) => live.runStatus),
    update: "runStatus",
    promoted: true,
    description: "Whether runs include the test case.",
  }),
  field("interactionStatus", {
    shape: { type: "enum", values: ["NEW", "EDITED", "APPROVED", "REJECTED"] },
    behaviour: { kind: "writeOnly" },
    update: "interactionStatus",
    description: "Review state of the test case's interactions.",
  }),
  field("tags", {
    shape: { type: "list", of: NAME },
    behaviour: readable((live) => [...(live.tags ?? [])], "set"),
    create: "tagNames",
    update: "assignedTagNames",
    promoted: true,
    description: "Tag names. The order does not count; the list replaces the default's.",
  }),
  field("folder", {
    shape: NAME,
    nullable: true,
    behaviour: { kind: "indirect", readId: (live) => live.folderId ?? null },
    create: "folderName",
    update: "folderName",
    promoted: true,
    description: "Name of the folder; null for none.",
  }),
  field("entryPointUrlPath", {
    shape: TEXT,
    nullable: true,
    behaviour: readable((live) => live.entryPointUrlPath ?? null),
    create: "entryPointUrlPath",
    update: "entryPointUrlPath",
    promoted: true,
    description: "URL path where the test starts.",
  }),
  field("discovery.prompt", {
    shape: NAME,
    behaviour: readable((live) => live.discovery?.freePrompt),
    create: "prompt",
    update: "createBackendDiscoveryPrompt",
    promoted: true,
    generates: true,
    description: "Prompt that the service generates the test case from. A change makes it generate again.",
  }),
  field("discovery.type", {
    shape: { type: "enum", values: ["LOGIN", "COOKIE_BANNER"] },
    behaviour: { kind: "fixed", read: (live) => live.type ?? undefined },
    create: "type",
    description: "Kind of discovery. It is fixed once the test case is made.",
  }),
  field("discovery.prerequisite", {
    shape: { type: "reference", to: "testCase" },
    behaviour: { kind: "fixed", read: (live) => live.prerequisiteId },
    create: "prerequisiteName",
    description:
      "Test case that runs before this one: a key of the same target, or `{ description: … }` of a case that is not managed here. It is fixed once the test case is made.",
  }),
  field("elements", {
    shape: { type: "list", of: ELEMENT },
    behaviour: { kind: "elements", read: (live) => live.elements ?? [] },
    update: "elements",
    promoted: true,
    description: "The test's steps, in order. Parts that are left out keep their live values.",
  }),
];
