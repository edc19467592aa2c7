import type { Kind } from "../model/address.ts";
import {
  BATCH_GENERATION_FIELDS,
  ENVIRONMENT_FIELDS,
  type Field,
  NAME,
  TARGET_FIELDS,
  TEST_CASE_FIELDS,
  URL_TEXT,
} from "../model/fields.ts";
import { type Branches, type ManifestPart, type ObjectShape, type Parts, bare } from "./shape.ts";

/** What manifests need of a row of the field table. */
export type FieldRow = Pick<Field, "name" | "path" | "shape" | "nullable" | "description">;

export type InnerKind = Exclude<Kind, "target">;

/** A kind of resource inside a target: where documents declare it, and its fields. */
export interface SectionRow<K extends InnerKind = InnerKind> {
  readonly kind: K;
  /** The key in documents, in their `defaults` and in their overrides. */
  readonly name: "environments" | "testCases" | "batchGenerations";
  /** One of them, in messages. */
  readonly noun: string;
  readonly fields: readonly FieldRow[];
  readonly description: string;
  readonly itemDescription: string;
}

export const TARGET_ROWS: readonly FieldRow[] = TARGET_FIELDS;

/** What a document says of the target itself, with the keys under which it does. */
export const OWN_FIELDS: readonly Pick<FieldRow, "name" | "path">[] = [
  ...["id", "onlyStages", "onRemove"].map((name) => ({ name, path: [name] })),
  ...TARGET_ROWS,
];
export const TARGET_KEYS: readonly string[] = [...new Set(OWN_FIELDS.map(({ path }) => String(path[0])))];

export const ENVIRONMENTS: SectionRow<"environment"> = {
  kind: "environment",
  name: "environments",
  noun: "environment",
  fields: ENVIRONMENT_FIELDS,
  description:
    "Environments in which the application runs, by key. `default` is the service's DEFAULT environment; all others are ADDITIONAL.",
  itemDescription: "An environment: where the application runs and how the tests access it.",
};

export const TEST_CASES: SectionRow<"testCase"> = {
  kind: "testCase",
  name: "testCases",
  noun: "test case",
  fields: TEST_CASE_FIELDS,
  description: "The target's test cases, by key.",
  itemDescription: "A test case. Only declared fields are managed.",
};

export const BATCH_GENERATIONS: SectionRow<"batchGeneration"> = {
  kind: "batchGeneration",
  name: "batchGenerations",
  noun: "batch generation",
  fields: BATCH_GENERATION_FIELDS,
  description: "Generations of several test cases from one prompt, by key.",
  itemDescription: "A batch generation. It runs once, and again when its content changes.",
};

export const SECTIONS = [ENVIRONMENTS, TEST_CASES, BATCH_GENERATIONS] as const;

/** `onRemove`, of a target and of the project's policy. */
export const ON_REMOVE_PART: ManifestPart = {
  shape: { type: "enum", values: ["ignore", "disable"] },
  open: true,
  description:
    "What happens to a test case that is removed from the manifests: nothing, or its status is set to DISABLED.",
};

/** The parts of objects that group rows with dotted names, `discovery.prompt` for example. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ["discovery", "How the service generates the test case."],
]);

function partsOf(rows: readonly FieldRow[]): Parts {
  const keys = new Set(rows.map(({ path }) => String(path[0])));
  return Object.fromEntries([...keys].map((key) => [key, rowPart(rows, key)]));
}

/** A row as it is, or the rows that share the first step of their path as an object. */
function rowPart(rows: readonly FieldRow[], key: string): ManifestPart {
  const own = rows.filter(({ path }) => path[0] === key);
  const single = own.find(({ path }) => path.length === 1);
  if (single !== undefined) return single;
  const inner = own.map((row) => ({ ...row, path: row.path.slice(1) }));
  return {
    shape: { type: "object", parts: partsOf(inner) },
    description: GROUPS.get(key) ?? `Fields of ${key}.`,
  };
}

function idPart(noun: string): ManifestPart {
  return {
    shape: { type: "uuid" },
    description: `Id of the ${noun} on the service. Binds this address to that resource.`,
  };
}

const ONLY_STAGES: ManifestPart = {
  shape: { type: "list", of: { type: "key" }, unique: true },
  literal: true,
  description: "The stages in which the resource is declared. Default: all stages.",
};

/** The fields of each section; the same parts for its resources and for their defaults. */
const FIELDS: ReadonlyMap<InnerKind, Parts> = new Map(
  SECTIONS.map(({ kind, fields }) => [kind, partsOf(fields)]),
);

/** An id and the stages are each resource's own: they have no defaults. */
function resourcesPart({ kind, noun, description, itemDescription }: SectionRow): ManifestPart {
  const parts = { id: idPart(noun), onlyStages: ONLY_STAGES, ...FIELDS.get(kind) };
  const resource: ObjectShape = { type: "object", description: itemDescription, parts };
  return { shape: { type: "map", of: resource, keys: "logical" }, description };
}

function defaultsPart({ kind, noun }: SectionRow): ManifestPart {
  const shape: ObjectShape = { type: "object", parts: FIELDS.get(kind) ?? {} };
  return { shape, description: `Default values for each ${noun}.` };
}

const TARGET_PARTS: Parts = {
  id: idPart("test target"),
  onlyStages: ONLY_STAGES,
  ...partsOf(TARGET_ROWS),
  onRemove: ON_REMOVE_PART,
};

const DEFAULTS: ManifestPart = {
  shape: {
    type: "object",
    parts: Object.fromEntries(SECTIONS.map((section) => [section.name, defaultsPart(section)])),
  },
  description: "Default values for all resources of a kind.",
};

/** What `tasc.yaml` may hold: one row a setting, as the field table has one a field. */

const BACKENDS = ["local", "postgres", "http"] as const;

export const DEFAULT_CONCURRENCY = 8;
export const DEFAULT_REQUEST_TIMEOUT = "30s";
export const DEFAULT_RETRIES = 5;
export const DEFAULT_MANIFESTS = ["targets/**/*.{yaml,yml}"];

const SERVICE: ObjectShape = {
  type: "object",
  parts: {
    baseUrl: {
      shape: URL_TEXT,
      open: true,
      description: "Base URL of the service, without `/apiKey`. It may include a path.",
    },
    apiKey: {
      shape: NAME,
      secret: true,
      description: "The API key, from `${secret:…}` or `${file:…}`.",
    },
    concurrency: {
      shape: { type: "integer", minimum: 1 },
      default: DEFAULT_CONCURRENCY,
      description: "Maximum number of concurrent requests.",
    },
    requestTimeout: {
      shape: { type: "duration" },
      default: DEFAULT_REQUEST_TIMEOUT,
      description: "Time limit of each request, e.g. `500ms`, `30s` or `2m`.",
    },
    retries: {
      shape: { type: "integer", minimum: 0 },
      default: DEFAULT_RETRIES,
      description: "Maximum number of retries per request after a temporary failure.",
    },
    rateLimit: {
      shape: { type: "rate" },
      description:
        "Maximum rate of requests with one API key, per second, minute or hour, e.g. `20/s` or `600/m`. Jobs whose state is in one PostgreSQL database share it.",
    },
  },
};

/** What each backend needs to know. */
export const STATE_BRANCHES: Branches = {
  key: "backend",
  default: "local",
  of: {
    local: { allowed: ["path"], required: [] },
    postgres: { allowed: ["url", "schema", "table"], required: ["url"] },
    http: {
      allowed: [
        "address",
        "lock",
        "lockAddress",
        "unlockAddress",
        "lockMethod",
        "unlockMethod",
        "updateMethod",
        "username",
        "password",
      ],
      required: ["address"],
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
      secret: true,
      description:
        "Key for the fingerprints in state instead of the stage's API key: a `${secret:…}` of 16 characters or more.",
    },
    path: { shape: NAME, description: "`local`: folder of the state files. Default: `.tasc/state`." },
    url: {
      shape: NAME,
      sensitive: true,
      description: "`postgres`: `postgres://user:password@host:port/database`. It is never printed.",
    },
    schema: { shape: NAME, description: "`postgres`: schema of the tables. Default: `tasc`." },
    table: { shape: NAME, description: "`postgres`: table of the documents. Default: `state`." },
    address: {
      shape: NAME,
      description:
        "`http`: URL of a state document. It must contain `{target}`, and `{stage}` if there are several stages.",
    },
    lock: {
      shape: { type: "boolean" },
      description: "`http`: set to false if the server does not support locks.",
    },
    lockAddress: { shape: NAME, description: "`http`: URL for locking. Default: `address`." },
    unlockAddress: { shape: NAME, description: "`http`: URL for unlocking. Default: `lockAddress`." },
    lockMethod: { shape: NAME, description: "`http`: HTTP method for locking. Default: LOCK." },
    unlockMethod: { shape: NAME, description: "`http`: HTTP method for unlocking. Default: UNLOCK." },
    updateMethod: { shape: NAME, description: "`http`: HTTP method for writing. Default: POST." },
    username: { shape: NAME, description: "`http`: user of basic authentication." },
    password: {
      shape: NAME,
      secret: true,
      description: "`http`: password of basic authentication, from `${secret:…}` or `${file:…}`.",
    },
  },
  branches: STATE_BRANCHES,
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
        "Address globs. A plan that disables, rediscovers or orphans a matching resource is refused.",
    },
    requireTags: {
      shape: { type: "list", of: NAME },
      open: true,
      description: "Tags that every managed test case must have.",
    },
    maxGenerations: {
      shape: { type: "integer", minimum: 0 },
      description:
        "A plan with more rediscoveries, created test cases and batch generations than this is refused.",
    },
    planExpiry: {
      shape: { type: "duration", longestDays: 30 },
      description: "How long a saved plan can be applied, e.g. `24h` or `7d`.",
    },
    sameCommit: {
      shape: { type: "boolean" },
      description: "Whether a saved plan can be applied only at the git commit it was created from.",
    },
    onRemove: { ...ON_REMOVE_PART, default: "ignore" },
  },
};

const VARS: ManifestPart = {
  shape: { type: "map", of: { type: "scalar" }, keys: "logical" },
  description: "Values for `${var:name}`. They may contain interpolations.",
};

/** What the project sets and each stage may override. */
export const OVERRIDABLE: ObjectShape = {
  type: "object",
  description:
    "Overrides for one stage. Maps merge key by key; strings, numbers and lists replace. A policy can only become stricter.",
  parts: {
    service: { shape: SERVICE, description: "Connection to the service." },
    state: { shape: STATE, description: "Where state is kept." },
    vars: VARS,
    policy: { shape: POLICY, description: "Limits for plans." },
    defaults: {
      ...DEFAULTS,
      description: "Default values for the resources of all targets. Defaults of a target take precedence.",
    },
  },
};

/** `tasc.yaml` as a whole. */
export const PROJECT: ObjectShape = {
  type: "object",
  description: "A project: the service, the stages and the location of the target documents.",
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
        "Glob patterns of the target documents, relative to the project folder: `*`, `**`, `?`, `{a,b}`, `[a-c]`. Default: `targets/**/*.{yaml,yml}`.",
    },
    ...OVERRIDABLE.parts,
    defaultStage: {
      shape: { type: "key" },
      literal: true,
      description: "The stage to use without `--stage` and TASC_STAGE.",
    },
    stages: {
      shape: { type: "map", of: OVERRIDABLE, keys: "logical" },
      description: "The stages and their overrides. Default: one stage named `default`.",
    },
  },
  required: ["version"],
};

const OVERRIDABLE_IN_TARGET: ObjectShape = {
  type: "object",
  description: "Overrides for one stage. It may also add resources that exist only in that stage.",
  parts: {
    ...TARGET_PARTS,
    // As people read it: where it runs, what holds for all tests, the tests.
    environments: resourcesPart(ENVIRONMENTS),
    defaults: DEFAULTS,
    testCases: resourcesPart(TEST_CASES),
    batchGenerations: resourcesPart(BATCH_GENERATIONS),
  },
};

const MOVE: ObjectShape = {
  type: "object",
  description: "A renamed address.",
  parts: {
    from: { shape: { type: "address" }, literal: true, description: "The old address." },
    to: { shape: { type: "address" }, literal: true, description: "The new address." },
  },
  required: ["from", "to"],
};

export const TARGET_DOCUMENT: ObjectShape = {
  type: "object",
  description: "A test target and its resources. Several documents can contribute to one target.",
  parts: {
    target: {
      shape: { type: "key" },
      literal: true,
      description: "Logical key of the target: letters, digits, `_` and `-`.",
    },
    ...OVERRIDABLE_IN_TARGET.parts,
    stages: {
      shape: { type: "map", of: OVERRIDABLE_IN_TARGET, keys: "logical" },
      description: "Overrides by stage. Maps merge key by key; strings, numbers and lists replace.",
    },
    moved: {
      shape: { type: "list", of: MOVE },
      description: "Renamed addresses. Keeps the existing resource when an address is renamed.",
    },
  },
  required: ["target"],
};

/** The two kinds of document, as the part that the whole of one is. */
export const DOCUMENTS = { project: bare(PROJECT), target: bare(TARGET_DOCUMENT) };
export type DocumentKind = keyof typeof DOCUMENTS;
