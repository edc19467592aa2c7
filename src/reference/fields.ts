import { KINDS, type Kind } from "../model/address.ts";
import {
  type Behaviour,
  type Compare,
  type Field,
  type Part,
  type Shape,
  fieldsOf,
} from "../model/fields.ts";
import { code, table } from "./table.ts";

const TITLES: Readonly<Record<Kind, string>> = {
  target: "Target",
  environment: "Environment (`environments.KEY`)",
  testCase: "Test case (`testCases.KEY`)",
  batchGeneration: "Batch generation (`batchGenerations.KEY`)",
};

const HEAD = ["field", "type", "null", "secret", "written by", "compared", "promoted", "meaning"];

/** Every field of the field table. */
export function fieldReference(): string {
  return [
    "## Fields",
    "`written by`: the calls that carry a field. `compared`: with the live value, or, where the service does not show it, with what was last written. A field that is left out is not touched; `null` clears it where the column says yes. `promoted`: `tasc promote` carries it from stage to stage.",
    ...KINDS.flatMap((kind) => [
      `### ${TITLES[kind]}`,
      table(
        HEAD,
        fieldsOf(kind).flatMap((field) => fieldRows(field)),
      ),
    ]),
  ].join("\n\n");
}

function fieldRows(field: Field<never>): readonly (readonly string[])[] {
  const { name, shape, nullable, behaviour, promoted, description } = field;
  const secret = shape.type === "map" && shape.sensitive === true ? "values" : "";
  return [
    [
      code(name),
      typeText(shape),
      yes(nullable),
      secret,
      written(field),
      compared(behaviour),
      yes(promoted === true),
      description,
    ],
    ...partRows(name, shape),
  ];
}

/** The parts of an object share the rest with it. */
function partRows(above: string, shape: Shape): readonly (readonly string[])[] {
  if (shape.type === "list") return partRows(`${above}[]`, shape.of);
  if (shape.type !== "object") return [];
  return Object.entries(shape.parts).flatMap(([key, part]: readonly [string, Part]) => {
    const name = `${above}.${key}`;
    const { nullable, secret, description } = part;
    return [
      [
        code(name),
        typeText(part.shape),
        yes(nullable === true),
        yes(secret === true),
        "",
        "",
        "",
        description,
      ],
      ...partRows(name, part.shape),
    ];
  });
}

function typeText(shape: Shape): string {
  switch (shape.type) {
    case "string":
      return shape.minLength === undefined ? "text" : "text, not empty";
    case "url":
      return "URL";
    case "integer":
      return shape.minimum === undefined ? "integer" : `integer from ${shape.minimum}`;
    case "enum":
      return shape.values.map(code).join(", ");
    case "list":
      return `list of ${typeText(shape.of)}`;
    case "map":
      return `map of ${typeText(shape.of)}`;
    case "json":
      return "any map";
    case "reference":
      return `key of ${shape.to === "testCase" ? "a test case" : "an environment"}`;
    case "boolean":
    case "object":
      return shape.type;
  }
}

function written({ create, update, generates }: Field<never>): string {
  const calls = [create === undefined ? [] : ["POST"], update === undefined ? [] : ["PATCH"]].flat();
  return `${calls.join(", ")}${generates === true ? ", generates anew" : ""}`;
}

const COMPARISONS: Readonly<Record<Compare, string>> = {
  plain: "live value",
  url: "live value, as a URL",
  set: "live value, as a set",
};

const BEHAVIOURS: Readonly<Record<Exclude<Behaviour<never>["kind"], "readable">, string>> = {
  elements: "live elements, by position",
  indirect: "live id, learnt by name",
  writeOnly: "last write",
  fixed: "fixed after creation: a difference warns",
};

function compared(behaviour: Behaviour<never>): string {
  return behaviour.kind === "readable" ? COMPARISONS[behaviour.compare] : BEHAVIOURS[behaviour.kind];
}

function yes(is: boolean): string {
  return is ? "yes" : "";
}
