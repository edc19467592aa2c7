import type { Kind } from "./address.ts";
import type { Json, Path } from "./json.ts";
import type { LiveResource } from "./live.ts";

/** The field table: the only place that defines the properties of manifest fields. */

/** The allowed values of a field or part, apart from null. */
export type Shape =
  | { readonly type: "string"; readonly minLength?: number }
  | { readonly type: "url" }
  /** A day, `2026-12-15`. */
  | { readonly type: "date" }
  | { readonly type: "integer"; readonly minimum?: number }
  | { readonly type: "boolean" }
  | { readonly type: "enum"; readonly values: readonly string[] }
  | { readonly type: "list"; readonly of: Shape; readonly unique?: true }
  | ObjectShape
  /** A map with keys that the user chooses. */
  | { readonly type: "map"; readonly of: Shape; readonly sensitive?: true }
  /** Any JSON object; service-api.md does not specify its contents. */
  | { readonly type: "json" }
  /**
   * A key of the same target, or `{ description }` of an unmanaged test case. Sent by id, or by
   * name if `by` says so.
   */
  | { readonly type: "reference"; readonly to: "environment" | "testCase"; readonly by?: "name" };

export interface ObjectShape {
  readonly type: "object";
  readonly parts: Readonly<Record<string, Part>>;
  readonly required?: readonly string[];
}

/** A part of an object-shaped field. */
export interface Part {
  readonly shape: Shape;
  readonly nullable?: true;
  /** The service never shows it. */
  readonly writeOnly?: true;
  /** Its value may only come from `${secret:…}` or `${file:…}`, and is never shown. */
  readonly secret?: true;
  readonly description: string;
}

/**
 * How values are compared. An empty URL equals null; folders are written by name, read by id;
 * elements by position.
 */
export type Compare = "plain" | "url" | "set" | "folder" | "elements";

export interface Field {
  /** The dotted path in the manifest; state keeps the field's record under the same name. */
  readonly name: string;
  readonly path: Path;
  readonly shape: Shape;
  /** Whether the API allows null in a PATCH. */
  readonly nullable: boolean;
  /**
   * Returns the live value, or `undefined` if the answer does not have it. A field without `read`
   * is write-only.
   */
  readonly read?: (live: LiveResource) => Json | undefined;
  readonly compare: Compare;
  /** Key in the body of the creating POST, if the POST carries the field. */
  readonly create?: string;
  /**
   * Key in the body of a PATCH. Without it, the field is fixed after creation, and a difference is
   * only a warning.
   */
  readonly update?: string;
  /** Whether `promote` copies it from stage to stage (design contract, section 7). */
  readonly promoted?: true;
  /**
   * How the field identifies a test case: as its name, its id in another system, or the content it
   * is generated from.
   */
  readonly recognizedBy?: "name" | "id" | "content";
  /** Whether writing the field makes the service regenerate the test case. */
  readonly generates?: true;
  /** The values that take a test case out of runs and into them. */
  readonly off?: string;
  readonly on?: string;
  /** Only tasc reads it: it is neither sent nor compared, recorded, imported or promoted. */
  readonly local?: true;
  readonly description: string;
}

/** Makes a row of the field table. @param more its properties that differ from the defaults */
function field(
  name: string,
  shape: Shape,
  description: string,
  more: Partial<Omit<Field, "name" | "path" | "shape" | "description">>,
): Field {
  return {
    nullable: false,
    compare: "plain",
    ...more,
    name,
    path: name.split("."),
    shape,
    description,
  };
}

/** Whether a readable field can only be set at creation. */
export function isFixed({ read, update }: Field): boolean {
  return read !== undefined && update === undefined;
}

/** Returns the same key for the bodies of a creation and a PATCH. */
function sentAs(key: string): { readonly create: string; readonly update: string } {
  return { create: key, update: key };
}

/** Makes a secret text part. @param what names it in the description */
function secretPart(what: string): Part {
  return {
    shape: TEXT,
    secret: true,
    description: `${what}, from \`\${secret:…}\` or \`\${file:…}\`.`,
  };
}

function object(parts: ObjectShape["parts"], required?: readonly string[]): ObjectShape {
  return { type: "object", parts, ...(required === undefined ? {} : { required }) };
}

const TEXT: Shape = { type: "string" };
export const NAME: Shape = { type: "string", minLength: 1 };
export const URL_TEXT: Shape = { type: "url" };

/** The fields of a target: service-api.md, "Test target" and operations 2 and 4. */
export const TARGET_FIELDS: readonly Field[] = [
  field(
    "app",
    NAME,
    "App or project name on the service. Also used to match an existing target on first apply.",
    { read: (live) => live.app, ...sentAs("app") },
  ),
  field(
    "testIdAttribute",
    TEXT,
    "Attribute that the service uses to locate elements, e.g. `data-testid`.",
    {
      update: "testIdAttribute",
    },
  ),
  field(
    "timeoutPerStep",
    { type: "integer", minimum: 0 },
    "Time limit of each step. The API does not document the unit.",
    { update: "timeoutPerStep" },
  ),
  field(
    "trackerIntegration",
    object({
      domain: { shape: URL_TEXT, description: "URL of the test-management tracker." },
      username: { shape: TEXT, description: "User that the service signs in as." },
      projectId: {
        shape: TEXT,
        description: "Project in the tracker. Quote it if it is a number.",
      },
      apiKey: secretPart("The tracker's API key"),
    }),
    "Integration with an external test-management tracker. All declared parts are sent together.",
    { update: "trackerIntegration" },
  ),
];

const username: Part = { shape: TEXT, description: "User name." };
const password = secretPart("Password");

/**
 * service-api.md, "Environment" and operations 5 and 6. The list of targets shows only the type and
 * the URL.
 */
export const ENVIRONMENT_FIELDS: readonly Field[] = [
  field("name", NAME, "Name on the service. Default on creation: the environment's key.", {
    nullable: true,
    ...sentAs("name"),
  }),
  field(
    "discoveryUrl",
    URL_TEXT,
    "URL of the application. Also used to match an existing additional environment on first apply.",
    {
      nullable: true,
      read: (live) => live.discoveryUrl,
      compare: "url",
      ...sentAs("discoveryUrl"),
    },
  ),
  field(
    "testAccount",
    object({
      username,
      password,
      otpInitializerKey: secretPart("Key of the one-time-password generator"),
    }),
    "Account used by the tests to sign in. All declared parts are sent together; null removes it.",
    { nullable: true, ...sentAs("testAccount") },
  ),
  field(
    "basicAuth",
    object({ username, password }),
    "HTTP basic authentication of the environment. All declared parts are sent together; null removes it.",
    { nullable: true, ...sentAs("basicAuth") },
  ),
  field("privateLocationName", NAME, "Name of the private location that runs the tests.", {
    nullable: true,
    ...sentAs("privateLocationName"),
  }),
  field(
    "additionalHeaderFields",
    { type: "map", of: TEXT, sensitive: true },
    "Extra HTTP header fields, name to value. Values are never printed. All are sent together; null removes them.",
    { nullable: true, ...sentAs("additionalHeaderFields") },
  ),
];

/** The statuses that an update accepts: service-api.md, "States and transitions". */
export const STATUSES = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;
/** The status of a live test case that counts as removed. */
export const DELETED = "DELETED";

const calledWith: Part = { shape: TEXT, description: "Argument of the step." };

const SELECTOR = object(
  {
    selectorType: { shape: NAME, description: "Selector type, e.g. `TEXT`." },
    selector: { shape: TEXT, description: "Selector value." },
    options: {
      shape: { type: "json" },
      description: "Options of the selector; may include a `name`.",
    },
  },
  ["selectorType", "selector"],
);

const INTERACTION = object(
  { action: { shape: NAME, description: "Action to perform, e.g. `EXTRACT`." }, calledWith },
  ["action"],
);

const ASSERTION = object(
  { expectation: { shape: NAME, description: "Expected condition, e.g. `VISIBLE`." }, calledWith },
  ["expectation"],
);

/**
 * service-api.md, "Test case element". Operation 9 writes `locatorLine`; the other handling follows
 * from the shapes.
 */
export const ELEMENT = object({
  interaction: { shape: INTERACTION, nullable: true, description: "What this step does." },
  assertion: { shape: ASSERTION, nullable: true, description: "What this step checks." },
  selectors: {
    shape: { type: "list", of: SELECTOR },
    description: "How the service finds the element.",
  },
  locatorLine: {
    shape: NAME,
    writeOnly: true,
    description: "A locator that the service converts to selectors. Use it instead of `selectors`.",
  },
  ignoreFailure: {
    shape: { type: "boolean" },
    description: "Whether the run continues when this step fails.",
  },
});

export const ELEMENTS = field(
  "elements",
  { type: "list", of: ELEMENT },
  "The test's steps, in order. Omitted parts keep their current values.",
  {
    read: (live) => (live.elements ?? []).map(({ parts }) => parts),
    compare: "elements",
    update: "elements",
    promoted: true,
  },
);

/** The fields of a test case: service-api.md, "Test case" and operations 8, 9 and 10. */
export const TEST_CASE_FIELDS: readonly Field[] = [
  field(
    "description",
    NAME,
    "Name shown on the service. Also used to match an existing test case on first apply.",
    {
      read: (live) => live.description,
      create: "name",
      update: "description",
      recognizedBy: "name",
    },
  ),
  field(
    "externalId",
    NAME,
    "Id in another system. Also used to match an existing test case on first apply, before its description.",
    {
      nullable: true,
      read: (live) => live.externalId ?? null,
      ...sentAs("externalId"),
      recognizedBy: "id",
    },
  ),
  field("status", { type: "enum", values: STATUSES }, "Whether the test case is in use.", {
    read: (live) => live.status,
    update: "status",
    off: "DISABLED",
    on: "ENABLED",
    promoted: true,
  }),
  field(
    "runStatus",
    { type: "enum", values: ["ON", "OFF"] },
    "Whether runs include the test case.",
    {
      read: (live) => live.runStatus,
      update: "runStatus",
      off: "OFF",
      on: "ON",
      promoted: true,
    },
  ),
  field(
    "reason",
    NAME,
    "Why the test case is off; it belongs beside `status: DISABLED` or `runStatus: OFF`. It is never sent.",
    { nullable: true, local: true },
  ),
  field(
    "quarantine",
    object({
      until: {
        shape: { type: "date" },
        description: "Last day, to its end in UTC. From then on its failures count again.",
      },
      reason: { shape: NAME, description: "Why its failures do not count." },
      issue: { shape: NAME, description: "Issue that tracks the repair." },
      owner: { shape: NAME, description: "Person or team that repairs it." },
    }),
    "Until when failures do not count in `reports gate` and `passedIn`. The test case keeps running. It is never sent; null ends it in a stage. `until` and `reason` are required.",
    { nullable: true, local: true },
  ),
  field(
    "interactionStatus",
    { type: "enum", values: ["NEW", "EDITED", "APPROVED", "REJECTED"] },
    "Review state of the test case's interactions.",
    { update: "interactionStatus" },
  ),
  field(
    "tags",
    { type: "list", of: NAME },
    "Tag names in any order. The list replaces the default list.",
    {
      read: (live) => live.tags ?? [],
      compare: "set",
      create: "tagNames",
      update: "assignedTagNames",
      promoted: true,
    },
  ),
  field("folder", NAME, "Name of the folder; null removes the test case from its folder.", {
    nullable: true,
    read: (live) => live.folderId ?? null,
    compare: "folder",
    ...sentAs("folderName"),
    promoted: true,
  }),
  field("entryPointUrlPath", TEXT, "URL path where the test starts.", {
    nullable: true,
    read: (live) => live.entryPointUrlPath ?? null,
    compare: "url",
    ...sentAs("entryPointUrlPath"),
    promoted: true,
  }),
  field(
    "discovery.prompt",
    NAME,
    "Prompt from which the service generates the test case. A change regenerates it.",
    {
      read: (live) => live.discovery?.freePrompt,
      create: "prompt",
      update: "createBackendDiscoveryPrompt",
      promoted: true,
      recognizedBy: "content",
      generates: true,
    },
  ),
  field(
    "discovery.type",
    { type: "enum", values: ["LOGIN", "COOKIE_BANNER"] },
    "Kind of discovery. It cannot be changed after creation.",
    { read: (live) => live.type ?? undefined, create: "type" },
  ),
  field(
    "discovery.prerequisite",
    { type: "reference", to: "testCase", by: "name" },
    "Test case that runs before this one: a key of the same target, or `{ description: … }` of a test case that is not managed here. It cannot be changed after creation.",
    { read: (live) => live.prerequisiteId, create: "prerequisiteName" },
  ),
  ELEMENTS,
];

/**
 * service-api.md, operation 11. The API cannot read a batch generation, so all of its fields are
 * write-only.
 */
export const BATCH_GENERATION_FIELDS: readonly Field[] = [
  field("prompt", NAME, "Prompt from which the service generates test cases.", {
    create: "prompt",
  }),
  field("imageUrls", { type: "list", of: URL_TEXT }, "URLs of images for the prompt.", {
    create: "imageUrls",
  }),
  field("entryPointUrlPath", TEXT, "URL path where the generation starts.", {
    nullable: true,
    create: "entryPointUrlPath",
  }),
  field(
    "environment",
    { type: "reference", to: "environment" },
    "Key of the environment to run in.",
    {
      nullable: true,
      create: "environmentId",
    },
  ),
  field(
    "prerequisite",
    { type: "reference", to: "testCase" },
    "Test case that runs before the generation: a key of the same target, or `{ description: … }` of a test case that is not managed here.",
    { nullable: true, create: "prerequisiteId" },
  ),
  field("baseUrl", URL_TEXT, "Base URL for the generation.", { nullable: true, create: "baseUrl" }),
  field("context", { type: "json" }, "Trigger context; `source` identifies its origin.", {
    create: "context",
  }),
];

const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  target: TARGET_FIELDS,
  environment: ENVIRONMENT_FIELDS,
  testCase: TEST_CASE_FIELDS,
  batchGeneration: BATCH_GENERATION_FIELDS,
};

/** Returns the fields of a kind of resource. */
export function fieldsOf(kind: Kind): readonly Field[] {
  return FIELDS[kind];
}

/** The keys of a PATCH that make the service regenerate the test case. */
export const GENERATING_KEYS: readonly string[] = fieldsOf("testCase").flatMap(
  ({ generates, update }) => (generates === true && update !== undefined ? [update] : []),
);

/** The fields of a test case whose change makes the service regenerate it. */
export const GENERATING_FIELDS: readonly string[] = fieldsOf("testCase").flatMap(
  ({ generates, name }) => (generates === true ? [name] : []),
);
