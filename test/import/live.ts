import * as fc from "fast-check";
import { type Json, type JsonObject, parseJson } from "../../src/model/json.ts";
import { element as liveElement } from "../../src/service/answers.ts";
import type {
  LiveElement,
  LiveEnvironment,
  LiveTarget,
  LiveTestCase,
} from "../../src/model/live.ts";
import { anyCharacter } from "../any-character.ts";

/** Random live services, with colliding names, texts of all kinds, gaps and unknown values. */
export interface Service {
  readonly targets: readonly LiveTarget[];
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
}

/** Ids by number, so that references between resources are easy to generate. */
export function idOf(kind: number, n: number): string {
  return `${hex(kind, 8)}-0000-4000-8000-${hex(n, 12)}`;
}

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, "0");
}

const NAMES = [
  "Log in",
  "log in",
  "LOG IN!",
  "Log in 0000",
  "log-in-0000",
  "default",
  "constructor",
  "__proto__",
  "🛒",
  "日本語",
  "Überprüfung / Maße",
  'a "quoted" name',
  "${HOME} and $${x} and $name",
  "${env:HOME}",
  "$",
  "",
  " ",
  "a: b # c",
  "- item",
  "~",
  "null",
  "ON",
  "1.0",
  "2024-01-01",
  "line\nbreak\n",
  "\u0000\u0007\u2028\ud800\ufeff",
  "x".repeat(300),
  "con",
];

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 4 });
const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof(arbitrary, arbitrary, fc.constant(null), fc.constant(undefined));

/** `fc.webUrl()` gives the same, but first makes a table of all characters, which takes a second. */
const webUrl = fc
  .tuple(
    fc.constantFrom("http", "https"),
    fc.domain(),
    fc.array(fc.string({ unit: anyCharacter }).map(encodeURIComponent)),
  )
  .map(([scheme, domain, path]) => [`${scheme}://${domain}`, ...path].join("/"));
const url = fc.oneof(
  fc.constantFrom(
    "https://shop.example.com",
    "https://shop.example.com/",
    "https://preview.example.com/a?b=c#d",
    "https://${HOST}/x",
    "http://[bad",
    "not a url",
    "",
    "data:,x",
  ),
  webUrl,
);

const environment: fc.Arbitrary<Omit<LiveEnvironment, "id">> = fc.record({
  type: fc.constantFrom("DEFAULT", "ADDITIONAL", "ADDITIONAL", "ADDITIONAL", "PREVIEW", undefined),
  discoveryUrl: maybe(url),
});

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => plain(value));
const options: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constant({}),
  fc.record({ name: text }),
  fc.dictionary(fc.constantFrom("name", "${x}", "exact", "constructor"), json, {
    noNullPrototype: true,
  }),
);

const selector: fc.Arbitrary<object> = fc.record({
  selectorType: maybe(fc.constantFrom("TEXT", "CSS", "")),
  selector: maybe(text),
  options: maybe(options),
});

const calledWith: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.constant(null),
  fc.constantFrom<Json>(1, true, {}, []),
);

const element: fc.Arbitrary<LiveElement> = fc
  .record({
    id: maybe(fc.uuid()),
    interaction: fc.option(
      fc.record({ action: maybe(fc.constantFrom("EXTRACT", "CLICK", "")), calledWith }),
    ),
    assertion: fc.option(
      fc.record({ expectation: maybe(fc.constantFrom("VISIBLE", "")), calledWith }),
    ),
    selectors: fc.array(selector, { maxLength: 2 }),
    ignoreFailure: maybe(fc.boolean()),
  })
  .map((raw) => liveElement(parseJson(JSON.stringify(raw))));

const testCase: fc.Arbitrary<Omit<LiveTestCase, "id">> = fc.record({
  description: maybe(text),
  status: fc.constantFrom("ENABLED", "DISABLED", "DRAFT", "DELETED", "ARCHIVED", undefined),
  runStatus: fc.constantFrom("ON", "OFF", "PAUSED", undefined),
  type: fc.constantFrom("LOGIN", "COOKIE_BANNER", "E2E", null, undefined),
  entryPointUrlPath: nullable(text),
  folderId: nullable(fc.integer({ min: 1, max: 3 }).map((n) => idOf(9, n))),
  externalId: nullable(fc.constantFrom("X-1", "X-2", "${X}", "", "X-3", "X-4")),
  tags: maybe(fc.array(text, { maxLength: 3 })),
  prerequisiteId: nullable(fc.integer({ min: 0, max: 14 }).map((n) => idOf(3, n))),
  elements: maybe(fc.array(element, { maxLength: 3 })),
  discovery: maybe(
    fc.record({
      status: fc.constant("CREATED"),
      freePrompt: maybe(text),
      abortCause: fc.constant(undefined),
      message: fc.constant(undefined),
    }),
  ),
});

/** A test case without unusual values. */
const ordinary: fc.Arbitrary<Omit<LiveTestCase, "id">> = fc.record({
  description: fc.string({ minLength: 5, maxLength: 12 }),
  status: fc.constantFrom("ENABLED", "DISABLED"),
  runStatus: fc.constantFrom("ON", "OFF"),
  type: fc.constant(null),
  entryPointUrlPath: fc.constant("/login"),
  folderId: fc.constant(null),
  externalId: fc.constant(null),
  tags: fc.constant(["smoke"]),
  prerequisiteId: fc.constant(null),
  elements: fc.constant([]),
  discovery: fc.constant(undefined),
});

const targetParts = fc.record({
  app: fc.constantFrom("Shop", "shop", "Shop", "🛒", "", "Web Shop (${stage})", "con", "Blog"),
  environments: fc.array(environment, { maxLength: 4 }),
  testCases: fc.array(fc.oneof(testCase, testCase, testCase, ordinary), { maxLength: 12 }),
});

export const service: fc.Arbitrary<Service> = fc
  .array(targetParts, { maxLength: 3 })
  .map((parts) => {
    const targets = parts.map(({ app, environments }, t) => ({
      id: idOf(1, t),
      app,
      environments: environments.map((one, e) => ({ id: idOf(2, t * 100 + e), ...one })),
    }));
    const testCases = parts.map(
      ({ testCases: list }, t) =>
        [
          idOf(1, t),
          list.map((one, c) => ({
            id: idOf(3, t * 100 + c),
            ...one,
            prerequisiteId: inTarget(one.prerequisiteId, t),
          })),
        ] as const,
    );
    return { targets, testCases: new Map(testCases) };
  });

/**
 * Prerequisites are generated with ids of the first target. This maps them to ids of their own
 * target.
 */
function inTarget(id: string | null | undefined, target: number): string | null | undefined {
  return typeof id === "string" ? idOf(3, target * 100 + Number.parseInt(id.slice(-12), 16)) : id;
}

function plain(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, plain(own)]));
  return null;
}
