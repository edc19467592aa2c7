import * as fc from "fast-check";
import type { Desired, DesiredFields, DesiredTarget } from "../../src/model/desired.ts";
import { Secret, type Value } from "../../src/model/value.ts";
import { project, target } from "../plan/build.ts";
import type { Knobs } from "./memory-service.ts";

/**
 * Projects, and services for them. All revisions of a project draw from the same few keys, names
 * and values, so that resources of one revision exist in another, with some changes.
 */

/** Part of every secret, so that a search for it finds a leak. */
export const MARK = "s3cret";

export const CASE_KEYS = ["c0", "c1", "c2", "c3", "c4"] as const;
export const ENVIRONMENT_KEYS = ["e1", "e2"] as const;
/** A test case that no manifest declares but that prerequisites may name. */
export const OUTSIDE = "Outside";

const secret = fc.constantFrom("a", "b").map((which) => new Secret(`${MARK}-${which}`));

/** A record in which each field may be missing. */
function sparse(
  fields: Readonly<Record<string, fc.Arbitrary<Value>>>,
): fc.Arbitrary<DesiredFields> {
  return fc.record(fields, { requiredKeys: [] }).map(definedOf);
}

function orNull<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null, freq: 4 });
}

export const knobs: fc.Arbitrary<Knobs> = fc.record({
  discovery: fc.constantFrom("with prompt", "without prompt", "null"),
  patchAnswer: fc.constantFrom("resource", "nothing"),
  folderInPatchAnswer: fc.boolean(),
  elementIdsInPatchAnswer: fc.boolean(),
  postAnswer: fc.oneof({ weight: 3, arbitrary: fc.constant("ids") }, fc.constant("nothing")),
  environmentsInTargetAnswer: fc.boolean(),
  trailingSlash: fc.boolean(),
  omitsNulls: fc.boolean(),
  made: fc.record({
    status: fc.constantFrom("DRAFT", "ENABLED"),
    runStatus: fc.constantFrom("ON", "OFF"),
    elements: fc.nat(2),
  }),
  generation: fc.constant("at once"),
  firstIndex: fc.constantFrom(0, 1),
} as const);

const called = fc.constantFrom("made 0", "made 1", "x", "y");

const interaction = sparse({ calledWith: called }).chain((parts) =>
  fc.constantFrom("CLICK", "TYPE").map((action): DesiredFields => ({ ...parts, action })),
);

const selector = sparse({
  options: fc.constantFrom({}, { name: "n", exact: true }),
}).chain((parts) =>
  fc
    .constantFrom("TEXT", "ROLE")
    .map((selectorType): DesiredFields => ({ ...parts, selectorType, selector: "Total" })),
);

const found: fc.Arbitrary<DesiredFields> = fc.oneof(
  fc.constant({}),
  fc.array(selector, { maxLength: 2 }).map((selectors) => ({ selectors })),
  fc.constantFrom("getByText('a')", "getByText('bb')").map((locatorLine) => ({ locatorLine })),
);

const element: fc.Arbitrary<DesiredFields> = fc
  .tuple(
    sparse({
      interaction: orNull(interaction),
      assertion: fc.constantFrom<Value>(null, { expectation: "VISIBLE" }),
      ignoreFailure: fc.boolean(),
    }),
    found,
  )
  .map(([parts, by]) => definedOf({ ...parts, ...by }));

/** Removes the keys without a value. */
function definedOf(fields: Readonly<Record<string, Value | undefined>>): DesiredFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/**
 * A secret of one revision is a secret in all, because tasc cannot know that an undeclared value
 * was secret. So the prompt of one test case and a step of another are always secret.
 */
function promptOf(key: string): fc.Arbitrary<Value> {
  return key === "c1" ? secret : fc.constantFrom("p", "q");
}

function elementsOf(key: string): fc.Arbitrary<Value> {
  const steps = fc.array(element, { maxLength: 3 });
  if (key !== "c2") return steps;
  return fc
    .tuple(steps, secret)
    .map(([others, calledWith]) => [...others, { interaction: { action: "TYPE", calledWith } }]);
}

function testCase(key: string): fc.Arbitrary<DesiredFields> {
  const description = fc.constantFrom(`Case ${key}`, `Case ${key}`, `Case ${key} renamed`);
  const others = sparse({
    externalId: orNull(fc.constant(`X-${key}`)),
    status: fc.constantFrom("ENABLED", "DISABLED", "DRAFT"),
    runStatus: fc.constantFrom("ON", "OFF"),
    interactionStatus: fc.constantFrom("NEW", "APPROVED"),
    tags: fc.subarray(["smoke", "web", "auth"]),
    folder: orNull(fc.constantFrom("Auth", "Cart")),
    entryPointUrlPath: orNull(fc.constantFrom("/a", "/b")),
    "discovery.type": fc.constantFrom("LOGIN", "COOKIE_BANNER"),
    elements: elementsOf(key),
  });
  return fc.tuple(others, description, promptOf(key)).map(([fields, name, prompt]) => ({
    ...fields,
    description: name,
    "discovery.prompt": prompt,
  }));
}

const credentials = sparse({
  testAccount: orNull(
    fc
      .tuple(fc.constantFrom("qa", "qb"), secret)
      .map(([username, password]) => ({ username, password })),
  ),
  basicAuth: orNull(secret.map((password) => ({ username: "gate", password }))),
  privateLocationName: orNull(fc.constantFrom("berlin", "paris")),
  additionalHeaderFields: orNull(
    fc.dictionary(fc.constantFrom("X-A", "X-B"), secret, { maxKeys: 2 }),
  ),
});

function environment(key: string, within: string): fc.Arbitrary<DesiredFields> {
  return fc
    .tuple(
      credentials,
      fc.constantFrom("a", "a", "b"),
      fc.option(fc.constant(`Name of ${key}`), { nil: undefined }),
    )
    .map(([fields, variant, name]) =>
      definedOf({
        ...fields,
        discoveryUrl: `https://${key}-${variant}.${within}.example.com`,
        name,
      }),
    );
}

const settings = sparse({
  testIdAttribute: fc.constantFrom("data-testid", "data-qa"),
  timeoutPerStep: fc.constantFrom(1000, 2000),
  trackerIntegration: secret.map((apiKey) => ({
    domain: "https://t.example.com",
    projectId: "7",
    apiKey,
  })),
});

/**
 * Prerequisites of a target: an order of the test cases, and for each the earlier one that it runs
 * after, if any.
 */
const order = fc.tuple(
  fc.shuffledSubarray([...CASE_KEYS], { minLength: CASE_KEYS.length }),
  fc.tuple(
    ...CASE_KEYS.map(() =>
      fc.option(fc.oneof(fc.nat(4), fc.constant(OUTSIDE)), { nil: undefined }),
    ),
  ),
);

type Order = readonly [readonly string[], readonly (number | string | undefined)[]];

function withPrerequisites(
  cases: Readonly<Record<string, DesiredFields>>,
  [places, wanted]: Order,
): Record<string, DesiredFields> {
  const linked: Record<string, DesiredFields> = {};
  for (const [key, fields] of Object.entries(cases)) {
    const place = places.indexOf(key);
    const before = wanted[place];
    const other = typeof before === "number" && before < place ? places[before] : undefined;
    const prerequisite: Value | undefined =
      before === OUTSIDE
        ? { description: OUTSIDE }
        : other !== undefined && other in cases
          ? other
          : undefined;
    linked[key] = definedOf({ ...fields, "discovery.prerequisite": prerequisite });
  }
  return linked;
}

function batches(
  environments: readonly string[],
  cases: readonly string[],
): fc.Arbitrary<Record<string, DesiredFields>> {
  return some(["b1", "b2"], (key) =>
    fc
      .tuple(
        fc.constantFrom(`spring ${key}`, `summer ${key}`),
        fc.option(fc.constantFrom(null, ...environments), { nil: undefined }),
        fc.option(fc.constantFrom<Value[]>({ description: OUTSIDE }, ...cases), { nil: undefined }),
      )
      .map(([prompt, at, prerequisite]) => definedOf({ prompt, environment: at, prerequisite })),
  );
}

/** A record with most of the keys, each with its own value. */
function some(
  keys: readonly string[],
  valueOf: (key: string) => fc.Arbitrary<DesiredFields>,
): fc.Arbitrary<Record<string, DesiredFields>> {
  const entries = keys.map((key) => fc.option(valueOf(key), { nil: undefined, freq: 3 }));
  return fc.tuple(...entries).map((values) => {
    const present: Record<string, DesiredFields> = {};
    keys.forEach((key, at) => {
      const value = values[at];
      if (value !== undefined) present[key] = value;
    });
    return present;
  });
}

export function desiredTarget(key: string): fc.Arbitrary<DesiredTarget> {
  return fc
    .tuple(
      fc.constantFrom(`App ${key}`, `App ${key}`, `App ${key} renamed`),
      settings,
      environment("default", key),
      some(ENVIRONMENT_KEYS, (own) => environment(own, key)),
      some(CASE_KEYS, testCase),
      order,
      fc.constantFrom("ignore", "disable"),
    )
    .chain(([app, fields, main, others, cases, places, onRemove]) =>
      batches(["default", ...Object.keys(others)], Object.keys(cases)).map((batchGenerations) =>
        target(
          {
            fields: definedOf({ ...fields, app }),
            environments: { ...others, default: main },
            testCases: withPrerequisites(cases, places),
            batchGenerations,
            onRemove,
          } as const,
          key,
        ),
      ),
    );
}

export const desired: fc.Arbitrary<Desired> = fc
  .tuple(desiredTarget("shop"), fc.option(desiredTarget("blog"), { nil: undefined, freq: 2 }))
  .map(([shop, blog]) => (blog === undefined ? project(shop) : project(blog, shop)));
