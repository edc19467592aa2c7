import type { Kind } from "./address.ts";
import type { Json, Path } from "./json.ts";
import type { LiveResource } from "./live.ts";

/** The field table: all that tasc knows of each manifest field, here and nowhere else. */

/** What a value may look like, apart from null. */
export type Shape =
  | { readonly type: "string"; readonly minLength?: number }
  | { readonly type: "url" }
  | { readonly type: "integer"; readonly minimum?: number }
  | { readonly type: "boolean" }
  | { readonly type: "enum"; readonly values: readonly string[] }
  | { readonly type: "list"; readonly of: Shape; readonly unique?: true }
  | ObjectShape
  /** A map with keys of the user's own choice. */
  | { readonly type: "map"; readonly of: Shape; readonly sensitive?: true }
  /** Any JSON object; service-api.md does not show more. */
  | { readonly type: "json" }
  /** A key of the same target, or `{ description }` of a test case that nothing here manages; sent by id, or by name. */
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
  /** Its value comes from `${secret:…}` or `${file:…}` alone and never shows. */
  readonly secret?: true;
  readonly description: string;
}

/** What counts as equal. A folder is written by its name and read as an id; elements compare by position, as declared. */
export type Compare = "plain" | "url" | "set" | "folder" | "elements";

export interface Field {
  /** The dotted path in the manifest; also the name under which state keeps its record. */
  readonly name: string;
  readonly path: Path;
  readonly shape: Shape;
  /** Whether the interface lets a PATCH set it to null. */
  readonly nullable: boolean;
  /** The live value; `undefined` where an answer does not show it. A field without it is write-only. */
  readonly read?: (live: LiveResource) => Json | undefined;
  readonly compare: Compare;
  /** Key in the body of the creating POST, where that carries the field. */
  readonly create?: string;
  /** Key in the body of a PATCH. Without one the field is fixed after creation: a difference is worth a warning. */
  readonly update?: string;
  /** Whether `promote` carries it from stage to stage (design contract, section 7). */
  readonly promoted?: true;
  /** What tells a test case from others: its name, its id elsewhere, or what it is generated from. */
  readonly recognizedBy?: "name" | "id" | "content";
  /** Whether the service regenerates the test case when it is written. */
  readonly generates?: true;
  readonly description: string;
}

/** A row from what is particular about it. */
function field(
  name: string,
  row: Omit<Field, "name" | "path" | "nullable" | "compare"> & Partial<Pick<Field, "nullable" | "compare">>,
): Field {
  return { nullable: false, compare: "plain", ...row, name, path: name.split(".") };
}

/** Whether only a creation sets a field that the service may show. */
export function isFixed({ read, update }: Field): boolean {
  return read !== undefined && update === undefined;
}

/** The key in the bodies of creation and PATCH alike. */
function sentAs(key: string): { readonly create: string; readonly update: string } {
  return { create: key, update: key };
}

function object(parts: ObjectShape["parts"], required?: readonly string[]): ObjectShape {
  return { type: "object", parts, ...(required === undefined ? {} : { required }) };
}

const TEXT: Shape = { type: "string" };
export const NAME: Shape = { type: "string", minLength: 1 };
export const URL_TEXT: Shape = { type: "url" };

/** service-api.md, "Test target" and operations 2 and 4. */
export const TARGET_FIELDS: readonly Field[] = [
  field("app", {
    shape: NAME,
    read: (live) => live.app,
    ...sentAs("app"),
    description: "App or project name on the service. Also used to match an existing target on first apply.",
  }),
  field("testIdAttribute", {
    shape: TEXT,
    update: "testIdAttribute",
    description: "Attribute that the service uses to locate elements, e.g. `data-testid`.",
  }),
  field("timeoutPerStep", {
    shape: { type: "integer", minimum: 0 },
    update: "timeoutPerStep",
    description: "Time limit of each step. The API does not document the unit.",
  }),
  field("trackerIntegration", {
    shape: object({
      domain: { shape: URL_TEXT, description: "URL of the test-management tracker." },
      username: { shape: TEXT, description: "User that the service signs in as." },
      projectId: { shape: TEXT, description: "Project in the tracker. Quote it if it is a number." },
      apiKey: {
        shape: TEXT,
        secret: true,
        description: "The tracker's API key, from `${secret:…}` or `${file:…}`.",
      },
    }),
    update: "trackerIntegration",
    description:
      "Integration with an external test-management tracker. All declared parts are sent together.",
  }),
];

const username: Part = { shape: TEXT, description: "User name." };
const password: Part = {
  shape: TEXT,
  secret: true,
  description: "Password, from `${secret:…}` or `${file:…}`.",
};

/** service-api.md, "Environment" and operations 5 and 6. The list of targets shows nothing but type and URL. */
export const ENVIRONMENT_FIELDS: readonly Field[] = [
  field("name", {
    shape: NAME,
    nullable: true,
    ...sentAs("name"),
    description: "Name on the service. Default on creation: the environment's key.",
  }),
  field("discoveryUrl", {
    shape: URL_TEXT,
    nullable: true,
    read: (live) => live.discoveryUrl,
    compare: "url",
    ...sentAs("discoveryUrl"),
    description:
      "URL of the application. Also used to match an existing additional environment on first apply.",
  }),
  field("testAccount", {
    shape: object({
      username,
      password,
      otpInitializerKey: {
        shape: TEXT,
        secret: true,
        description: "Key of the one-time-password generator, from `${secret:…}` or `${file:…}`.",
      },
    }),
    nullable: true,
    ...sentAs("testAccount"),
    description:
      "Account used by the tests to sign in. All declared parts are sent together; null removes it.",
  }),
  field("basicAuth", {
    shape: object({ username, password }),
    nullable: true,
    ...sentAs("basicAuth"),
    description:
      "HTTP basic authentication of the environment. All declared parts are sent together; null removes it.",
  }),
  field("privateLocationName", {
    shape: NAME,
    nullable: true,
    ...sentAs("privateLocationName"),
    description: "Name of the private location that runs the tests.",
  }),
  field("additionalHeaderFields", {
    shape: { type: "map", of: TEXT, sensitive: true },
    nullable: true,
    ...sentAs("additionalHeaderFields"),
    description:
      "Extra HTTP header fields, name to value. Values are never printed. All are sent together; null removes them.",
  }),
];

/** service-api.md, "States and transitions": what an update accepts. */
export const STATUSES = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;
/** A live case with this status counts as gone. */
export const DELETED = "DELETED";

const calledWith: Part = { shape: TEXT, description: "Argument of the step." };

const SELECTOR = object(
  {
    selectorType: { shape: NAME, description: "Selector type, e.g. `TEXT`." },
    selector: { shape: TEXT, description: "Selector value." },
    options: { shape: { type: "json" }, description: "Options of the selector; may include a `name`." },
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

/** service-api.md, "Test case element"; `locatorLine` is written by operation 9. The rest follows from the shapes. */
export const ELEMENT = object({
  interaction: { shape: INTERACTION, nullable: true, description: "What this step does." },
  assertion: { shape: ASSERTION, nullable: true, description: "What this step checks." },
  selectors: { shape: { type: "list", of: SELECTOR }, description: "How the service finds the element." },
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

export const ELEMENTS = field("elements", {
  shape: { type: "list", of: ELEMENT },
  read: (live) => (live.elements ?? []).map(({ parts }) => parts),
  compare: "elements",
  update: "elements",
  promoted: true,
  description: "The test's steps, in order. Omitted parts keep their current values.",
});

/** service-api.md, "Test case" and operations 8, 9 and 10. */
export const TEST_CASE_FIELDS: readonly Field[] = [
  field("description", {
    shape: NAME,
    read: (live) => live.description,
    create: "name",
    update: "description",
    recognizedBy: "name",
    description: "Name shown on the service. Also used to match an existing test case on first apply.",
  }),
  field("externalId", {
    shape: NAME,
    nullable: true,
    read: (live) => live.externalId ?? null,
    ...sentAs("externalId"),
    recognizedBy: "id",
    description:
      "Id in another system. Also used to match an existing test case on first apply, before its description.",
  }),
  field("status", {
    shape: { type: "enum", values: STATUSES },
    read: (live) => live.status,
    update: "status",
    promoted: true,
    description: "Whether the test case is in use.",
  }),
  field("runStatus", {
    shape: { type: "enum", values: ["ON", "OFF"] },
    read: (live) => live.runStatus,
    update: "runStatus",
    promoted: true,
    description: "Whether runs include the test case.",
  }),
  field("interactionStatus", {
    shape: { type: "enum", values: ["NEW", "EDITED", "APPROVED", "REJECTED"] },
    update: "interactionStatus",
    description: "Review state of the test case's interactions.",
  }),
  field("tags", {
    shape: { type: "list", of: NAME },
    read: (live) => live.tags ?? [],
    compare: "set",
    create: "tagNames",
    update: "assignedTagNames",
    promoted: true,
    description: "Tag names in any order. The list replaces the default list.",
  }),
  field("folder", {
    shape: NAME,
    nullable: true,
    read: (live) => live.folderId ?? null,
    compare: "folder",
    ...sentAs("folderName"),
    promoted: true,
    description: "Name of the folder; null removes the test case from its folder.",
  }),
  field("entryPointUrlPath", {
    shape: TEXT,
    nullable: true,
    read: (live) => live.entryPointUrlPath ?? null,
    ...sentAs("entryPointUrlPath"),
    promoted: true,
    description: "URL path where the test starts.",
  }),
  field("discovery.prompt", {
    shape: NAME,
    read: (live) => live.discovery?.freePrompt,
    create: "prompt",
    update: "createBackendDiscoveryPrompt",
    promoted: true,
    recognizedBy: "content",
    generates: true,
    description: "Prompt from which the service generates the test case. A change regenerates it.",
  }),
  field("discovery.type", {
    shape: { type: "enum", values: ["LOGIN", "COOKIE_BANNER"] },
    read: (live) => live.type ?? undefined,
    create: "type",
    description: "Kind of discovery. It cannot be changed after creation.",
  }),
  field("discovery.prerequisite", {
    shape: { type: "reference", to: "testCase", by: "name" },
    read: (live) => live.prerequisiteId,
    create: "prerequisiteName",
    description:
      "Test case that runs before this one: a key of the same target, or `{ description: … }` of a test case that is not managed here. It cannot be changed after creation.",
  }),
  ELEMENTS,
];

/** service-api.md, operation 11. The interface cannot read a batch generation, so all of it is write-only. */
export const BATCH_GENERATION_FIELDS: readonly Field[] = [
  field("prompt", {
    shape: NAME,
    create: "prompt",
    description: "Prompt from which the service generates test cases.",
  }),
  field("imageUrls", {
    shape: { type: "list", of: URL_TEXT },
    create: "imageUrls",
    description: "URLs of images for the prompt.",
  }),
  field("entryPointUrlPath", {
    shape: TEXT,
    nullable: true,
    create: "entryPointUrlPath",
    description: "URL path where the generation starts.",
  }),
  field("environment", {
    shape: { type: "reference", to: "environment" },
    nullable: true,
    create: "environmentId",
    description: "Key of the environment to run in.",
  }),
  field("prerequisite", {
    shape: { type: "reference", to: "testCase" },
    nullable: true,
    create: "prerequisiteId",
    description:
      "Test case that runs before the generation: a key of the same target, or `{ description: … }` of a test case that is not managed here.",
  }),
  field("baseUrl", {
    shape: URL_TEXT,
    nullable: true,
    create: "baseUrl",
    description: "Base URL for the generation.",
  }),
  field("context", {
    shape: { type: "json" },
    create: "context",
    description: "Trigger context; `source` identifies its origin.",
  }),
];

const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  target: TARGET_FIELDS,
  environment: ENVIRONMENT_FIELDS,
  testCase: TEST_CASE_FIELDS,
  batchGeneration: BATCH_GENERATION_FIELDS,
};

/** The rows of a kind of resource. */
export function fieldsOf(kind: Kind): readonly Field[] {
  return FIELDS[kind];
}

/** Keys of a PATCH that make the service regenerate the test case. */
export const GENERATING_KEYS: readonly string[] = fieldsOf("testCase").flatMap(({ generates, update }) =>
  generates === true && update !== undefined ? [update] : [],
);
