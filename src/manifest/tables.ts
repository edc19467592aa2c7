import type { Kind } from "../model/address.ts";
import { STEPS_POLICIES } from "../model/settings.ts";
import {
  BATCH_GENERATION_FIELDS,
  ENVIRONMENT_FIELDS,
  type Field,
  NAME,
  TARGET_FIELDS,
  TEST_CASE_FIELDS,
  URL_TEXT,
} from "../model/fields.ts";
import { QUARANTINE_NOTES, RULE_SUBJECTS } from "../model/settings.ts";
import { groupBy } from "../model/collections.ts";
import { serviceNoun } from "../model/words.ts";
import {
  type Branches,
  type ManifestPart,
  type ManifestShape,
  type ObjectShape,
  type Parts,
  bare,
} from "./shape.ts";

export type InnerKind = Exclude<Kind, "target">;

/** A kind of resource inside a target: where documents declare it, and its fields. */
export interface SectionRow<K extends InnerKind = InnerKind> {
  readonly kind: K;
  /** The key in documents, in their `defaults` and in their overrides. */
  readonly name: "environments" | "testCases" | "batchGenerations";
  readonly fields: readonly Field[];
  readonly description: string;
  readonly itemDescription: string;
}

/** The fields that a document declares for the target itself, and their paths. */
export const OWN_FIELDS: readonly Pick<Field, "name" | "path">[] = [
  ...["id", "onlyStages", "onRemove"].map((name) => ({ name, path: [name] })),
  ...TARGET_FIELDS,
];
export const TARGET_KEYS: readonly string[] = [
  ...new Set(OWN_FIELDS.map(({ path }) => String(path[0]))),
];

export const ENVIRONMENTS: SectionRow<"environment"> = {
  kind: "environment",
  name: "environments",
  fields: ENVIRONMENT_FIELDS,
  description:
    "Environments in which the application runs, by key. `default` is the service's DEFAULT environment; all others are ADDITIONAL.",
  itemDescription: "An environment: where the application runs and how the tests access it.",
};

export const TEST_CASES: SectionRow<"testCase"> = {
  kind: "testCase",
  name: "testCases",
  fields: TEST_CASE_FIELDS,
  description: "The target's test cases, by key.",
  itemDescription: "A test case. Only declared fields are managed.",
};

export const BATCH_GENERATIONS: SectionRow<"batchGeneration"> = {
  kind: "batchGeneration",
  name: "batchGenerations",
  fields: BATCH_GENERATION_FIELDS,
  description: "Generations of several test cases from one prompt, by key.",
  itemDescription: "A batch generation. It runs once, and again when its content changes.",
};

export const SECTIONS = [ENVIRONMENTS, TEST_CASES, BATCH_GENERATIONS] as const;

/** `onRemove`, of a target and of the project's policy. */
export const ON_REMOVE_PART: ManifestPart = part(
  { type: "enum", values: ["ignore", "disable"] },
  "What happens to a test case that is removed from the manifests: nothing, or its status is set to DISABLED.",
  { open: true },
);

function part(
  shape: ManifestShape,
  description: string,
  more: Omit<ManifestPart, "shape" | "description"> = {},
): ManifestPart {
  return { shape, description, ...more };
}

/** Turns rows into parts. Rows with the same first step, as for `discovery`, become one object. */
function partsOf(rows: readonly Field[]): Parts {
  const parts = [...groupBy(rows, ({ path }) => String(path[0]))].map(
    ([key, own]): [string, ManifestPart] => {
      const [row] = own;
      if (row?.path.length === 1) return [key, row];
      const inner = Object.fromEntries(own.map((one) => [String(one.path[1]), one]));
      return [
        key,
        part({ type: "object", parts: inner }, "How the service generates the test case."),
      ];
    },
  );
  return Object.fromEntries(parts);
}

function idPart(kind: Kind): ManifestPart {
  return part(
    { type: "uuid" },
    `Id of the ${serviceNoun(kind)} on the service. Binds this address to that resource.`,
  );
}

const ONLY_STAGES: ManifestPart = part(
  { type: "list", of: { type: "key" }, unique: true },
  "The stages in which the resource is declared. Default: all stages.",
  { literal: true },
);

const FIELDS: ReadonlyMap<InnerKind, Parts> = new Map(
  SECTIONS.map(({ kind, fields }) => [kind, partsOf(fields)]),
);

/**
 * Returns the part of a section. Unlike the fields, `id` and `onlyStages` of a resource have no
 * defaults.
 */
function resourcesPart({ kind, description, itemDescription }: SectionRow): ManifestPart {
  const parts = { id: idPart(kind), onlyStages: ONLY_STAGES, ...FIELDS.get(kind) };
  const resource: ObjectShape = { type: "object", description: itemDescription, parts };
  return part({ type: "map", of: resource, keys: "logical" }, description);
}

const DEFAULTS: ManifestPart = part(
  {
    type: "object",
    parts: Object.fromEntries(
      SECTIONS.map(({ kind, name }) => [
        name,
        part(
          { type: "object", parts: FIELDS.get(kind) ?? {} },
          `Default values for each ${serviceNoun(kind)}.`,
        ),
      ]),
    ),
  },
  "Default values for all resources of a kind.",
);

/* The settings of `tasc.yaml`, one row each, like the rows of the field table. */

export const DEFAULT_MANIFESTS = ["targets/**/*.{yaml,yml}"];

export const SERVICE: ObjectShape = {
  type: "object",
  parts: {
    baseUrl: part(URL_TEXT, "Base URL of the service, without `/apiKey`. It may include a path.", {
      open: true,
    }),
    apiKey: part(NAME, "The API key, from `${secret:…}` or `${file:…}`.", { secret: true }),
    concurrency: part({ type: "integer", minimum: 1 }, "Maximum number of concurrent requests.", {
      default: 8,
    }),
    requestTimeout: part(
      { type: "duration" },
      "Time limit of each request, e.g. `500ms`, `30s` or `2m`.",
      {
        default: "30s",
      },
    ),
    retries: part(
      { type: "integer", minimum: 0 },
      "Maximum number of retries per request after a temporary failure.",
      { default: 5 },
    ),
    rateLimit: part(
      { type: "rate" },
      "Maximum rate of requests with one API key, per second, minute or hour, e.g. `20/s` or `600/m`. Jobs whose state is in one PostgreSQL database share it.",
    ),
  },
};

/** The options of each backend. */
const BACKENDS: Readonly<Record<string, Parts>> = {
  local: { path: part(NAME, "`local`: folder of the state files. Default: `.tasc/state`.") },
  postgres: {
    url: part(
      NAME,
      "`postgres`: `postgres://user:password@host:port/database`. It is never printed.",
      {
        sensitive: true,
      },
    ),
    schema: part(NAME, "`postgres`: schema of the tables. Default: `tasc`."),
    table: part(NAME, "`postgres`: table of the documents. Default: `state`."),
    owner: part(
      NAME,
      "`postgres`: role that owns the schema and its tables, if it is neither tasc's own role nor one that it is a member of.",
    ),
  },
  http: {
    address: part(
      NAME,
      "`http`: URL of a state document. It must contain `{target}`, and `{stage}` if there are several stages.",
    ),
    lock: part({ type: "boolean" }, "`http`: set to false if the server does not support locks."),
    lockAddress: part(NAME, "`http`: URL for locking. Default: `address`."),
    unlockAddress: part(NAME, "`http`: URL for unlocking. Default: `lockAddress`."),
    lockMethod: part(NAME, "`http`: HTTP method for locking. Default: LOCK."),
    unlockMethod: part(NAME, "`http`: HTTP method for unlocking. Default: UNLOCK."),
    updateMethod: part(NAME, "`http`: HTTP method for writing. Default: POST."),
    username: part(NAME, "`http`: user of basic authentication."),
    password: part(
      NAME,
      "`http`: password of basic authentication, from `${secret:…}` or `${file:…}`.",
      {
        secret: true,
      },
    ),
  },
};

export const STATE_BRANCHES: Branches = {
  key: "backend",
  default: "local",
  of: BACKENDS,
  required: { postgres: ["url"], http: ["address"] },
};

export const STATE: ObjectShape = {
  type: "object",
  parts: {
    backend: part(
      { type: "enum", values: Object.keys(BACKENDS) },
      "Where state is kept: in files of the project, in PostgreSQL, or behind Terraform's HTTP protocol.",
      { open: true, default: "local" },
    ),
    fingerprintKey: part(
      NAME,
      "Key for the fingerprints in state instead of the stage's API key: a `${secret:…}` of 16 characters or more.",
      { secret: true },
    ),
    ...BACKENDS.local,
    ...BACKENDS.postgres,
    ...BACKENDS.http,
  },
  branches: STATE_BRANCHES,
};

const EXPRESSION: ManifestShape = { type: "string", minLength: 1 };

const RULE: ObjectShape = {
  type: "object",
  description: "A rule of the project's own, in CEL (https://cel.dev).",
  parts: {
    name: part(
      { type: "key" },
      "Name of the rule, for messages and `--override-policy NAME`, e.g. `team-tag`.",
      { literal: true },
    ),
    for: part(
      { type: "enum", values: RULE_SUBJECTS },
      "What the rule looks at: each resource of a kind, each change of a plan, or the plan's counts.",
      { literal: true },
    ),
    when: part(
      EXPRESSION,
      'The rule applies only where this is true, e.g. `status == "ENABLED"`.',
      {
        literal: true,
      },
    ),
    require: part(EXPRESSION, 'What must be true, e.g. `tags.exists(t, t.startsWith("team:"))`.', {
      literal: true,
    }),
    message: part(NAME, "What to do, for the person who breaks the rule.", { literal: true }),
    level: part(
      { type: "enum", values: ["warn", "deny"] },
      "`deny` refuses the plan, `warn` only tells.",
      { literal: true, default: "deny" },
    ),
  },
  required: ["name", "for", "require"],
};

export const POLICY: ObjectShape = {
  type: "object",
  parts: {
    maxChanges: part(
      { type: "integer", minimum: 0 },
      "A plan with more changes than this is refused.",
    ),
    maxDisabledPercent: part(
      { type: "number", minimum: 0, maximum: 100 },
      "A plan that disables or switches off a larger share of a target's managed live test cases is refused.",
    ),
    protected: part(
      { type: "list", of: NAME },
      "Address globs. A plan that disables, rediscovers or orphans a matching resource is refused.",
      { open: true },
    ),
    requireTags: part({ type: "list", of: NAME }, "Tags that every managed test case must have.", {
      open: true,
    }),
    maxGenerations: part(
      { type: "integer", minimum: 0 },
      "A plan with more rediscoveries, created test cases and batch generations than this is refused.",
    ),
    planExpiry: part(
      { type: "duration", longestDays: 30 },
      "How long a saved plan can be applied, e.g. `24h` or `7d`.",
    ),
    sameCommit: part(
      { type: "boolean" },
      "Whether a saved plan can be applied only at the git commit it was created from.",
    ),
    onRemove: { ...ON_REMOVE_PART, default: "ignore" },
    quarantine: part(
      {
        type: "object",
        parts: {
          maxDays: part(
            { type: "integer", minimum: 0 },
            "A quarantine that ends later than this many days from today is refused.",
          ),
          maxPercent: part(
            { type: "number", minimum: 0, maximum: 100 },
            "Refused if a larger share of a target's declared test cases is in quarantine.",
          ),
          require: part(
            { type: "list", of: { type: "enum", values: QUARANTINE_NOTES } },
            "What every quarantine must say in addition to `until` and `reason`.",
            { open: true },
          ),
        },
      },
      "Limits for the quarantine of test cases.",
    ),
    offNeedsReason: part(
      { type: "boolean" },
      "Whether `status: DISABLED` and `runStatus: OFF` need a `reason` beside them.",
    ),
    rules: part(
      { type: "list", of: RULE },
      "Rules of the project's own. Those of a stage and of the trust file apply as well.",
    ),
    passedIn: part(
      {
        type: "object",
        parts: {
          stage: part({ type: "key" }, "The stage in which test cases must have passed.", {
            open: true,
          }),
          passes: part(
            { type: "integer", minimum: 1 },
            "How many of the last results must be PASSED, in each browser and breakpoint.",
            { default: 1 },
          ),
          soak: part(
            { type: "duration", longestDays: 90, least: 0 },
            "Minimum age of the oldest of these results, e.g. `24h`.",
            { default: "0s" },
          ),
          except: part({ type: "list", of: NAME }, "Address globs that the rule does not judge.", {
            open: true,
          }),
        },
        required: ["stage"],
      },
      "What a plan creates, switches on, or changes in prompt, elements or entry point must have passed in another stage.",
    ),
    steps: part(
      { type: "enum", values: STEPS_POLICIES },
      "Whether generated steps are compared with those that `tasc steps accept` wrote: `report` shows differences, `reviewed` also keeps test cases off until their steps are accepted.",
      { default: "off" },
    ),
  },
};

export const OVERRIDABLE: ObjectShape = {
  type: "object",
  description:
    "Overrides for one stage. Maps merge key by key; strings, numbers and lists replace. A policy can only become stricter.",
  parts: {
    service: part(SERVICE, "Connection to the service."),
    state: part(STATE, "Where state is kept."),
    vars: part(
      { type: "map", of: { type: "scalar" }, keys: "logical" },
      "Values for `${var:name}`. They may contain interpolations.",
    ),
    policy: part(POLICY, "Limits for plans."),
    defaults: {
      ...DEFAULTS,
      description:
        "Default values for the resources of all targets. Defaults of a target take precedence.",
    },
  },
};

const REMOVED: ManifestPart = part(
  {
    type: "list",
    of: {
      type: "object",
      description: "An address that no manifest declares any more.",
      parts: {
        address: part(
          { type: "address" },
          "The address. A target includes its environments, test cases and batch generations.",
          { literal: true },
        ),
      },
      required: ["address"],
    },
  },
  "Addresses that state forgets in each stage at its next apply. Nothing changes on the service. An entry that is done may be deleted.",
);

export const PROJECT: ObjectShape = {
  type: "object",
  description: "A project: the service, the stages and the location of the target documents.",
  parts: {
    version: part({ type: "version", version: 1 }, "Version of this file's format.", {
      literal: true,
    }),
    manifests: part(
      { type: "list", of: NAME },
      "Glob patterns of the target documents, relative to the project folder: `*`, `**`, `?`, `{a,b}`, `[a-c]`. Default: `targets/**/*.{yaml,yml}`.",
      { literal: true },
    ),
    ...OVERRIDABLE.parts,
    defaultStage: part({ type: "key" }, "The stage to use without `--stage` and TASC_STAGE.", {
      literal: true,
    }),
    stages: part(
      { type: "map", of: OVERRIDABLE, keys: "logical" },
      "The stages and their overrides. Default: one stage named `default`.",
    ),
    removed: REMOVED,
  },
  required: ["version"],
};

const OVERRIDABLE_IN_TARGET: ObjectShape = {
  type: "object",
  description: "Overrides for one stage. It may also add resources that exist only in that stage.",
  parts: {
    id: idPart("target"),
    onlyStages: ONLY_STAGES,
    ...partsOf(TARGET_FIELDS),
    onRemove: ON_REMOVE_PART,
    // The order that people read in: where it runs, the defaults of all tests, the tests.
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
    from: part({ type: "address" }, "The old address.", { literal: true }),
    to: part({ type: "address" }, "The new address.", { literal: true }),
  },
  required: ["from", "to"],
};

export const TARGET_DOCUMENT: ObjectShape = {
  type: "object",
  description: "A test target and its resources. Several documents can contribute to one target.",
  parts: {
    target: part({ type: "key" }, "Logical key of the target: letters, digits, `_` and `-`.", {
      literal: true,
    }),
    ...OVERRIDABLE_IN_TARGET.parts,
    stages: part(
      { type: "map", of: OVERRIDABLE_IN_TARGET, keys: "logical" },
      "Overrides by stage. Maps merge key by key; strings, numbers and lists replace.",
    ),
    moved: part(
      { type: "list", of: MOVE },
      "Renamed addresses. Keeps the existing resource when an address is renamed.",
    ),
    removed: REMOVED,
  },
  required: ["target"],
};

/** The parts of the two kinds of document as a whole. */
export const DOCUMENTS = { project: bare(PROJECT), target: bare(TARGET_DOCUMENT) };
export type DocumentKind = keyof typeof DOCUMENTS;
