// Random projects like those of real teams: a target in several documents, defaults, overrides of
// three stages, anchors and aliases, flow and block style, comments, and texts that YAML or
// interpolation could misread.
import * as fc from "fast-check";
import { type Json, type JsonObject, isArray, isObject } from "../../src/model/json.ts";
import { TEXTS } from "./rich.ts";

export const STAGES = ["a", "b", "c"] as const;
export const KEYS = ["login", "cart", "pay", "late"] as const;

export const PROJECT = `version: 1
service: { baseUrl: "http://127.0.0.1:4010", apiKey: "\${secret:KEY}" }
vars: { team: web, path: /same }
stages: { a: { vars: { where: /a } }, b: { vars: { where: /b } }, c: { vars: { where: /c } } }
`;

const plain = TEXTS.filter((one) => !one.includes("${"));
const text = fc.constantFrom(
  ...plain,
  "$${literal}",
  "on ${stage}",
  "${var:team}-x",
  "${var:where}",
);
const elements = fc.array(
  fc.record({
    interaction: fc.record({ action: fc.constantFrom("CLICK", "FILL"), calledWith: text }),
    selectors: fc.array(fc.record({ selectorType: fc.constant("TEXT"), selector: text }), {
      maxLength: 1,
    }),
  }),
  { minLength: 1, maxLength: 2 },
);

/** Fields of a test case. All of them are optional. */
const fields: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      status: fc.constantFrom("ENABLED", "DISABLED", "DRAFT"),
      runStatus: fc.constantFrom("ON", "OFF"),
      tags: fc.uniqueArray(fc.constantFrom("web", "auth", "a b", "${var:team}"), { maxLength: 3 }),
      folder: fc.option(fc.constantFrom("Carts", "A: new # one")),
      entryPointUrlPath: fc.option(text),
      externalId: fc.option(fc.constantFrom("X-1", "X-${stage}")),
      discovery: fc.record({ prompt: text }),
      elements,
    },
    { requiredKeys: [] },
  )
  .map((value): JsonObject => value);

const overrides = fc.dictionary(
  fc.constantFrom(...STAGES),
  fc.record(
    { defaults: fields, cases: fc.dictionary(fc.constantFrom(...KEYS), fields) },
    { requiredKeys: [] },
  ),
);

/** The values of the documents of one target. */
const values = fc
  .record({
    cases: fc.oneof(
      fc.record({ login: fields, cart: fields, pay: fields, late: fields }),
      fields.map((one) => ({ login: one, cart: {}, pay: {}, late: {} })),
    ),
    defaults: fields,
    overrides,
    moved: fc.boolean(),
    alike: fc.boolean(),
    lonely: fc.option(fc.constantFrom(...STAGES)),
    only: fc.option(fc.shuffledSubarray([...STAGES], { minLength: 1 })),
  })
  .map(
    ({ cases, defaults, overrides: stages, moved, alike, lonely, only }): readonly JsonObject[] => {
      const described = Object.fromEntries(
        Object.entries(cases).map(
          ([key, own]) =>
            [
              key,
              {
                ...(alike && key !== "login" ? cases.cart : { description: `Case ${key}`, ...own }),
                ...(key === "pay" && only !== null ? { onlyStages: only } : {}),
              },
            ] as const,
        ),
      );
      const { late, ...most } = described;
      const inStages = Object.fromEntries(
        STAGES.filter((stage) => stages[stage] !== undefined || stage === lonely).map((stage) => {
          const { defaults: own, cases: some } = stages[stage] ?? {};
          const lone = stage === lonely ? { lonely: { description: "In one stage alone" } } : {};
          return [
            stage,
            {
              ...(own === undefined ? {} : { defaults: { testCases: own } }),
              ...(some === undefined && stage !== lonely
                ? {}
                : { testCases: { ...some, ...lone } }),
            },
          ];
        }),
      );
      const all = { testCases: moved ? most : described, defaults: { testCases: defaults } };
      const head = {
        target: "shop",
        app: "Web Shop",
        environments: { default: { discoveryUrl: "https://shop.example.com" } },
      };
      const last = { target: "shop", testCases: { late: late ?? {} } };
      return moved
        ? [
            { ...head, ...all },
            { ...last, ...(Object.keys(inStages).length === 0 ? {} : { stages: inStages }) },
          ]
        : [
            {
              ...head,
              ...all,
              ...(Object.keys(inStages).length === 0 ? {} : { stages: inStages }),
            },
          ];
    },
  );

/** Files by name. Each document has its own file, or all share one. */
export const project: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .tuple(
    values,
    fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean(),
  )
  .map(([documents, style, end, together]) => {
    const texts = documents.map((value) => new Writer(style).document(value).replaceAll("\n", end));
    const files = together ? [texts.join(`---${end}`)] : texts;
    return Object.fromEntries<string>([
      ["tasc.yaml", PROJECT],
      ...files.map((text, at): [string, string] => [`targets/shop-${at}.yaml`, text]),
    ]);
  });

/** Writes YAML in a style that is derived from a list of numbers. */
class Writer {
  readonly #style: readonly number[];
  #at = 0;
  #comments = 10;
  #names = 0;
  readonly #anchors = new Map<string, string>();

  constructor(style: readonly number[]) {
    this.#style = style;
  }

  document(value: JsonObject): string {
    return `# about the shop\n${this.#map(value, "", 0)}`;
  }

  /** True in about the given percentage of cases. */
  #chance(hundredth: number): boolean {
    const number = this.#style[this.#at++ % this.#style.length] ?? 0;
    return (number + this.#at * 7) % 100 < hundredth;
  }

  #comment(): string {
    return this.#chance(30) ? ` # c${this.#comments++}` : "";
  }

  #map(value: JsonObject, indent: string, depth: number): string {
    const lines = Object.entries(value).map(([key, inner]) => {
      const before = this.#chance(15) ? `${indent}# c${this.#comments++}\n` : "";
      return `${before}${indent}${key}:${this.#inner(inner, indent, depth)}`;
    });
    return lines.join("");
  }

  /** The text after a key and its colon. */
  #inner(value: Json, indent: string, depth: number): string {
    const canShare = depth > 0 && (isArray(value) || typeof value === "string" || isObject(value));
    const known = canShare ? this.#anchors.get(JSON.stringify(value)) : undefined;
    if (known !== undefined && this.#chance(60)) return ` *${known}${this.#comment()}\n`;
    const anchor = canShare && known === undefined && this.#chance(25) ? this.#name(value) : "";
    const isEmpty = (isArray(value) || isObject(value)) && Object.keys(value).length === 0;
    if (typeof value === "string" && /^[a-z].*\n$/s.test(value) && this.#chance(60))
      return `${anchor} |\n${value.replaceAll(/^(?=.)/gm, `${indent}  `)}`;
    const isScalar = !isArray(value) && !isObject(value);
    if (isScalar || isEmpty || (depth > 1 && this.#chance(40)))
      return `${anchor} ${this.#flow(value)}${this.#comment()}\n`;
    const own = `${indent}  `;
    if (isObject(value)) return `${anchor}${this.#comment()}\n${this.#map(value, own, depth + 1)}`;
    const items = isArray(value) ? value : [];
    return `${anchor}${this.#comment()}\n${items.map((item) => `${own}- ${this.#item(item)}${this.#comment()}\n`).join("")}`;
  }

  /** An item of a list in block style. */
  #item(value: Json): string {
    const known = this.#anchors.get(JSON.stringify(value));
    if (known !== undefined && this.#chance(50)) return `*${known}`;
    const anchor = known === undefined && this.#chance(30) ? `${this.#name(value).trim()} ` : "";
    return `${anchor}${this.#flow(value)}`;
  }

  #name(value: Json): string {
    const name = `n${this.#names++}`;
    this.#anchors.set(JSON.stringify(value), name);
    return ` &${name}`;
  }

  #flow(value: Json): string {
    if (isArray(value)) {
      const items = value.map((item) => this.#flow(item));
      // An item after a comment cannot be removed by itself.
      const apart = this.#chance(10) ? `, # c${this.#comments++}\n                  ` : ", ";
      return `[${items.join(apart)}]`;
    }
    if (isObject(value))
      return `{ ${Object.entries(value)
        .map(([key, item]) => `${key}: ${this.#flow(item)}`)
        .join(", ")} }`;
    if (
      typeof value === "string" &&
      /^[A-Za-z][A-Za-z ]*$/.test(value) &&
      !/^(?:on|off|null|true|false)$/i.test(value)
    )
      return this.#chance(50) ? value : this.#chance(50) ? `'${value}'` : JSON.stringify(value);
    return JSON.stringify(value);
  }
}
