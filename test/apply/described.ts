import { type Json, isArray, isObject } from "../../src/model/json.ts";

/** Thrown for a body that service-api.md does not describe, so that the test fails. */
export class Undescribed extends Error {}

type Check = (value: Json, where: string) => void;

function refuse(value: Json, where: string, wanted: string): never {
  throw new Undescribed(`${where} is ${JSON.stringify(value)}, and the text has ${wanted}`);
}

const text: Check = (value, where) => {
  if (typeof value !== "string") refuse(value, where, "a string");
};
const url: Check = (value, where) => {
  if (typeof value !== "string" || !URL.canParse(value)) refuse(value, where, "a URL");
};
const integer: Check = (value, where) => {
  if (!Number.isInteger(value)) refuse(value, where, "an integer");
};
const flag: Check = (value, where) => {
  if (typeof value !== "boolean") refuse(value, where, "a boolean");
};
const anObject: Check = (value, where) => {
  if (!isObject(value)) refuse(value, where, "an object");
};
const orNull =
  (check: Check): Check =>
  (value, where) => {
    if (value !== null) check(value, where);
  };
const oneOf =
  (...values: readonly string[]): Check =>
  (value, where) => {
    if (typeof value !== "string" || !values.includes(value))
      refuse(value, where, values.join(", "));
  };
const list =
  (of: Check): Check =>
  (value, where) => {
    if (!isArray(value)) refuse(value, where, "an array");
    else value.forEach((item, at) => of(item, `${where}[${at}]`));
  };

function object(keys: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, where) => {
    if (!isObject(value)) return refuse(value, where, "an object");
    for (const key of required)
      if (value[key] === undefined) refuse(null, `${where}.${key}`, "it required");
    for (const [key, part] of Object.entries(value)) {
      const check = keys[key];
      if (check === undefined) refuse(part, `${where}.${key}`, "no such key");
      else check(part, `${where}.${key}`);
    }
  };
}

const element = object({
  id: text,
  index: integer,
  interaction: orNull(
    object({ id: text, action: text, calledWith: text, testCaseElementId: text }),
  ),
  assertion: orNull(
    object({ id: text, expectation: text, calledWith: text, testCaseElementId: text }),
  ),
  selectors: list(
    object({
      id: text,
      index: integer,
      selector: text,
      selectorType: text,
      options: anObject,
      testCaseElementId: text,
    }),
  ),
  testCaseId: text,
  ignoreFailure: flag,
});

const testAccount = orNull(object({ username: text, password: text, otpInitializerKey: text }));
const basicAuth = orNull(object({ username: text, password: text }));

/** Bodies of the operations 2, 4, 5, 6, 8, 9, 10 and 11. */
export const BODIES = {
  createTarget: object({ testTarget: object({ app: text, discoveryUrl: url }) }, ["testTarget"]),
  patchTarget: object({
    app: text,
    testIdAttribute: text,
    timeoutPerStep: integer,
    trackerIntegration: object({ domain: url, username: text, projectId: text, apiKey: text }),
  }),
  createEnvironment: object({
    name: text,
    discoveryUrl: url,
    testAccount,
    basicAuth,
    privateLocationName: text,
    additionalHeaderFields: orNull(anObject),
  }),
  patchEnvironment: object({
    name: orNull(text),
    discoveryUrl: orNull(url),
    testAccount,
    basicAuth,
    privateLocationName: orNull(text),
    additionalHeaderFields: orNull(anObject),
  }),
  patchTestCase: object({
    elements: list(element),
    description: text,
    entryPointUrlPath: orNull(text),
    status: oneOf("ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"),
    runStatus: oneOf("ON", "OFF"),
    folderName: orNull(text),
    interactionStatus: oneOf("NEW", "EDITED", "APPROVED", "REJECTED"),
    createBackendDiscoveryPrompt: text,
    assignedTagNames: list(text),
    externalId: orNull(text),
  }),
  patchElement: object({ locatorLine: text }, ["locatorLine"]),
  createDiscovery: object(
    {
      name: text,
      prompt: text,
      entryPointUrlPath: text,
      prerequisiteName: text,
      externalId: text,
      tagNames: list(text),
      folderName: text,
      type: oneOf("LOGIN", "COOKIE_BANNER"),
    },
    ["name", "prompt"],
  ),
  createBatchGeneration: object({
    prompt: text,
    imageUrls: list(text),
    entryPointUrlPath: orNull(text),
    environmentId: orNull(text),
    prerequisiteId: orNull(text),
    baseUrl: orNull(text),
    context: anObject,
  }),
} as const;

export type Operation = keyof typeof BODIES;

const RESOURCE_OPERATIONS: Readonly<Record<string, Operation>> = {
  "POST /": "createTarget",
  "PATCH /*": "patchTarget",
  "POST /*/environments": "createEnvironment",
  "PATCH /*/environments/*": "patchEnvironment",
  "PATCH /*/test-cases/*": "patchTestCase",
  "PATCH /*/test-cases/*/elements/*": "patchElement",
  "POST /*/discoveries": "createDiscovery",
  "POST /*/batch-generations": "createBatchGeneration",
};

/**
 * Returns the operation of a call; every other segment of the path is an id.
 * @throws Undescribed
 */
export function operationOf(method: string, path: readonly string[]): Operation {
  const [apiKey, version, targets, ...rest] = path;
  if (apiKey !== "apiKey" || version !== "v3" || targets !== "test-targets")
    throw new Undescribed(`no operation has the path ${path.join("/")}`);
  const pattern = `${method} /${rest.map((segment, at) => (at % 2 === 0 ? "*" : segment)).join("/")}`;
  const operation = RESOURCE_OPERATIONS[pattern];
  if (operation === undefined) throw new Undescribed(`no operation is ${pattern}`);
  return operation;
}
