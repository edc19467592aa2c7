import { NAME, URL_TEXT } from "../../fields/field.ts";
import type { ManifestPart, ObjectShape } from "../shape/shape.ts";

/** What `tasc.yaml` may hold: one row a setting, as the field table has one a field. */

const BACKENDS = ["local", "postgres", "http"] as const;

export const DEFAULT_CONCURRENCY = 8;
export const DEFAULT_REQUEST_TIMEOUT = "30s";
export const DEFAULT_RETRIES = 5;
export const DEFAULT_MANIFESTS = ["targets/**/*.{yaml,yml}"];

/** `onRemove`, of a target and of the project's policy. */
export const ON_REMOVE_PART: ManifestPart = {
  shape: { type: "enum", values: ["ignore", "disable"] },
  open: true,
  description:
    "What happens to a test case that left the manifest: nothing, or its status is set to DISABLED.",
};

const SERVICE: ObjectShape = {
  type: "object",
  parts: {
    baseUrl: {
      shape: URL_TEXT,
      open: true,
      description: "The service's base address: what precedes `/apiKey`. It may carry a path.",
    },
    apiKey: {
      shape: NAME,
      secret: true,
      description: "The API key, from `${secret:…}` or `${file:…}`.",
    },
    concurrency: {
      shape: { type: "integer", minimum: 1 },
      default: DEFAULT_CONCURRENCY,
      description: "Calls in flight at a time, of any kind.",
    },
    requestTimeout: {
      shape: { type: "duration" },
      default: DEFAULT_REQUEST_TIMEOUT,
      description: "Time limit of each call: `500ms`, `30s`, `2m`.",
    },
    retries: {
      shape: { type: "integer", minimum: 0 },
      default: DEFAULT_RETRIES,
      description: "How often a call that failed for a passing reason is sent again, at most.",
    },
  },
};

const STATE: ObjectShape = {
  type: "object",
  parts: {
    backend: {
      shape: { type: "enum", values: BACKENDS },
      open: true,
      default: "local",
      description:
        "Where state is kept: in files of the project, in PostgreSQL, or behind Terraform's HTTP protocol.",
    },
    fingerprintKey: {
      shape: NAME,
      sensitive: true,
      description: "Key for the fingerprints in state, in place of the stage's API key.",
    },
    path: { shape: NAME, description: "`local`: folder of the documents. Left out: `.tasc/state`." },
    url: {
      shape: NAME,
      sensitive: true,
      description: "`postgres`: `postgres://user:password@host:port/database`. It never shows.",
    },
    schema: { shape: NAME, description: "`postgres`: schema of the tables. Left out: `tasc`." },
    table: { shape: NAME, description: "`postgres`: table of the documents. Left out: `state`." },
    address: {
      shape: NAME,
      description:
        "`http`: address of a document, with `{target}` in it, and `{stage}` where there are several.",
    },
    lock: { shape: { type: "boolean" }, description: "`http`: false for a server that knows no locks." },
    lockAddress: { shape: NAME, description: "`http`: address that locks. Left out: `address`." },
    unlockAddress: { shape: NAME, description: "`http`: address that unlocks. Left out: `lockAddress`." },
    lockMethod: { shape: NAME, description: "`http`: method that locks. Left out: LOCK." },
    unlockMethod: { shape: NAME, description: "`http`: method that unlocks. Left out: UNLOCK." },
    updateMethod: { shape: NAME, description: "`http`: method that writes. Left out: POST." },
    username: { shape: NAME, description: "`http`: user of basic authentication." },
    password: {
      shape: NAME,
      secret: true,
      description: "`http`: password of basic authentication, from `${secret:…}` or `${file:…}`.",
    },
  },
};

const POLICY: ObjectShape = {
  type: "object",
  parts: {
    maxChanges: {
      shape: { type: "integer", minimum: 0 },
      description: "A plan with more changes than this is refused.",
    },
    maxDisabledPercent: {
      shape: { type: "number", minimum: 0, maximum: 100 },
      description:
        "A plan that disables or switches off a larger share of a target's managed live test cases is refused.",
    },
    protected: {
      shape: { type: "list", of: NAME },
      open: true,
      description:
        "Globs over addresses. A plan that disables, rediscovers or orphans one of these is refused.",
    },
    requireTags: {
      shape: { type: "list", of: NAME },
      open: true,
      description: "Tags that every managed test case must have.",
    },
    onRemove: { ...ON_REMOVE_PART, default: "ignore" },
  },
};

const VARS: ManifestPart = {
  shape: { type: "map", of: { type: "scalar" }, keys: "logical" },
  description: "Values for `${var:name}`. They may hold interpolations themselves.",
};

/** What the project sets and each stage may override. */
export const OVERRIDABLE: ObjectShape = {
  type: "object",
  description: "What differs in one stage: maps merge key by key, texts, numbers and lists replace.",
  parts: {
    vars: VARS,
    service: { shape: SERVICE, description: "The service, and how it is called." },
    state: { shape: STATE, description: "Where state is kept, and what the backend needs to know." },
    policy: { shape: POLICY, description: "What a plan must keep to." },
  },
};

/** `tasc.yaml` as a whole. */
export const PROJECT: ObjectShape = {
  type: "object",
  description: "A project: the service, the stages, and where the target documents are.",
  parts: {
    version: {
      shape: { type: "version", version: 1 },
      literal: true,
      description: "Version of this file's format.",
    },
    manifests: {
      shape: { type: "list", of: NAME },
      literal: true,
      description:
        "Patterns of the target documents, from the project folder: `*`, `**`, `?`, `{a,b}`, `[a-c]`. Left out: `targets/**/*.{yaml,yml}`.",
    },
    ...OVERRIDABLE.parts,
    defaultStage: {
      shape: { type: "key" },
      literal: true,
      description: "The stage that is meant when neither `--stage` nor TASC_STAGE says so.",
    },
    stages: {
      shape: { type: "map", of: OVERRIDABLE, keys: "logical" },
      description: "The stages, and what each of them overrides. Left out, there is one named `default`.",
    },
  },
  required: ["version"],
};

/** What is defined once and referred to by name. */
export const PROJECT_DEFINITIONS: ReadonlyMap<ManifestPart | ObjectShape, string> = new Map<
  ManifestPart | ObjectShape,
  string
>([[OVERRIDABLE, "stage"], ...Object.entries(OVERRIDABLE.parts).map(([key, part]) => [part, key] as const)]);
