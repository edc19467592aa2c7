import type { Part, Shape } from "../fields/field.ts";
import { fieldsOf } from "../fields/fields.ts";
import type { Kind } from "../model/address.ts";

/** The lines of a comment that shows how to declare what the interface does not show of a resource. */
export function hintsFor(kind: Kind, owner: readonly string[]): readonly string[] {
  const rows = fieldsOf(kind).filter(({ behaviour }) => behaviour.kind === "writeOnly");
  if (rows.length === 0) return [];
  return [
    kind === "testCase"
      ? "Of test cases the service does not show this, so it is not declared. To manage it, declare in one, for example:"
      : "Not shown by the service, so not declared. To manage it, declare for example:",
    ...rows.map(({ name, shape }) => `  ${name}: ${example({ shape, description: "" }, [...owner, name])}`),
  ];
}

/** A value of a shape in flow style, a secret one by name. */
function example(part: Part, names: readonly string[]): string {
  if (part.secret === true) return `"\${secret:${variableName(names)}}"`;
  return exampleOf(part.shape, names);
}

function exampleOf(shape: Shape, names: readonly string[]): string {
  switch (shape.type) {
    case "string":
      return '"..."';
    case "url":
      return "https://example.com";
    case "integer":
      return "10000";
    case "boolean":
      return "true";
    case "enum":
      return JSON.stringify(shape.values[0] ?? "");
    case "list":
      return `[${exampleOf(shape.of, names)}]`;
    case "object":
      return inBraces(
        Object.entries(shape.parts).map(([key, part]) => `${key}: ${example(part, [...names, key])}`),
      );
    case "map":
      return inBraces([`X-Name: ${exampleOf(shape.of, names)}`]);
    case "json":
      return "{}";
    case "reference":
      return "key";
  }
}

function inBraces(parts: readonly string[]): string {
  return `{ ${parts.join(", ")} }`;
}

/** `shop`, `default`, `testAccount`, `password`: SHOP_DEFAULT_TEST_ACCOUNT_PASSWORD. */
function variableName(names: readonly string[]): string {
  const text = names
    .map((name) => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").replaceAll(/[^A-Za-z0-9]+/g, "_"))
    .join("_")
    .toUpperCase();
  return /^\d/.test(text) ? `_${text}` : text;
}
