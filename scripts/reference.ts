import { GLOBAL, type OptionSpec } from "../src/commands/options.ts";
import type { CommandSpec } from "../src/commands/spec.ts";
import { EXIT } from "../src/model/error.ts";
import { KINDS, type Kind } from "../src/model/address.ts";
import { ERROR_CODES } from "../src/model/error-codes.ts";
import {
  type Compare,
  type Field,
  type Part,
  type Shape,
  fieldsOf,
  isFixed,
} from "../src/model/fields.ts";

export { commandSpecs } from "../src/commands/table.ts";

/** A table in Markdown. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "done",
  failed:
    "a call or change failed, the plan has errors, a policy or an answer refused it, the state is unreadable",
  changes: "there are changes (`--detailed-exitcode`)",
  invalid: "the manifests or the arguments are wrong",
  stale: "the saved plan is stale",
  locked: "the state is locked",
  unreachable: "the service refused the key or cannot be reached",
  interrupted: "interrupted",
};

/** The exit codes as a table; the README has the same table. */
export function exitCodeTable(): string {
  const meanings = new Map(Object.entries(MEANINGS));
  const rows = Object.entries(EXIT).map(([name, code]) => [String(code), meanings.get(name) ?? ""]);
  return table(["code", "meaning"], rows);
}

const TITLES: Readonly<Record<Kind, string>> = {
  target: "Target",
  environment: "Environment (`environments.KEY`)",
  testCase: "Test case (`testCases.KEY`)",
  batchGeneration: "Batch generation (`batchGenerations.KEY`)",
};

const HEAD = ["field", "type", "null", "secret", "written by", "compared", "promoted", "meaning"];

/** Every field of the field table. */
function fieldReference(): string {
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

function fieldRows(field: Field): readonly (readonly string[])[] {
  const { name, shape, nullable, promoted, description } = field;
  const secret = shape.type === "map" && shape.sensitive === true ? "values" : "";
  return [
    [
      code(name),
      typeText(shape),
      yes(nullable),
      secret,
      written(field),
      compared(field),
      yes(promoted === true),
      description,
    ],
    ...partRows(name, shape),
  ];
}

/** The parts of an object; an empty column has the value of the object. */
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
    case "date":
      return "date";
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

function written({ create, update, generates, local }: Field): string {
  if (local) return "no call: only tasc reads it";
  const calls = [
    create === undefined ? [] : ["POST"],
    update === undefined ? [] : ["PATCH"],
  ].flat();
  return `${calls.join(", ")}${generates === true ? ", regenerates" : ""}`;
}

const COMPARISONS: Readonly<Record<Compare, string>> = {
  plain: "live value",
  url: "live value, as a URL; empty is none",
  set: "live value, as a set",
  folder: "live id, learnt by name",
  elements: "live elements, by position",
};

function compared(field: Field): string {
  if (field.local) return "";
  if (field.read === undefined) return "last write";
  return isFixed(field) ? "fixed after creation: a difference warns" : COMPARISONS[field.compare];
}

function yes(is: boolean): string {
  return is ? "yes" : "";
}

/** Every command of the command table, with its options and examples. */
function commandReference(commands: readonly CommandSpec[]): string {
  return [
    "## Commands",
    "Every command takes these:",
    optionTable(Object.values(GLOBAL)),
    ...commands.flatMap((spec) => section(spec, "tasc")),
  ].join("\n\n");
}

function section(spec: CommandSpec, above: string): readonly string[] {
  const name = `${above} ${spec.name}`;
  const { args = [], options = [], commands = [], examples } = spec;
  const children = commands.flatMap((child) => section(child, name));
  const synopsis = [
    name,
    ...args.map(({ flags }) => flags),
    ...(options.length > 0 ? ["[options]"] : []),
  ];
  return [
    `### ${name}`,
    `${sentence(spec.summary)}.`,
    ...(spec.options === undefined ? [] : [fence("text", synopsis.join(" "))]),
    ...(args.length === 0 ? [] : [argumentTable(args)]),
    ...(options.length === 0 ? [] : [optionTable(options)]),
    fence(
      "sh",
      Object.entries(examples)
        .map(([command, does]) => `${command}   # ${does}`)
        .join("\n"),
    ),
    ...children,
  ];
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(({ flags, description, choices, repeatable }) => [
    code(flags),
    [description, ...chosen(choices), ...(repeatable === undefined ? [] : ["repeatable"])].join(
      "; ",
    ),
  ]);
  return table(["option", "meaning"], rows);
}

function argumentTable(args: NonNullable<CommandSpec["args"]>): string {
  const rows = args.map(({ flags, description, choices }) => [
    code(flags),
    [description, ...chosen(choices)].join("; "),
  ]);
  return table(["argument", "meaning"], rows);
}

function chosen(choices: readonly string[] | undefined): readonly string[] {
  return choices === undefined ? [] : [`one of ${choices.map(code).join(", ")}`];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** docs/reference.md, from the tables that the program itself reads; prettier then formats it. */
export function referenceText(commands: readonly CommandSpec[]): string {
  return [
    "# Reference",
    "<!-- Written by `npm run generate` from the command table and the field table. -->",
    "[Commands](#commands), [exit codes](#exit-codes), [fields](#fields). The whole form of `tasc.yaml` and of target documents is in the JSON Schemas: `tasc schema project`, `tasc schema target`.",
    commandReference(commands),
    "## Exit codes",
    exitCodeTable(),
    fieldReference(),
    "",
  ].join("\n\n");
}

/** docs/reference/errors.md: every code of the catalogue. */
export function errorsText(): string {
  const rows = [...ERROR_CODES].map(([word, [title, explanation, remedy]]) =>
    [`## ${code(word)}`, `**${title}.** ${explanation} ${remedy}`].join("\n\n"),
  );
  return [
    "<!-- Written by `npm run generate` from src/model/error-codes.ts. -->",
    "# Errors",
    "Every error and warning has a stable code. With `--format json` it is the `code` of a diagnostic; `tasc explain CODE` prints the entry. Each entry says what the code means and what to do next. `yaml` stands for all codes `yaml-…`, and `http` for all `http-STATUS`.",
    ...rows,
  ].join("\n\n");
}

const COMMANDS = /(<!-- commands: .* -->\n)[^]*?(<!-- end of commands -->)/;

/** The page for coding agents with the current list of commands. */
export function agentsText(page: string, commands: readonly CommandSpec[]): string {
  const rows = commands.flatMap(({ name, group, summary, commands: inner = [] }) => [
    ...(summary === "" ? [] : [`| ${group} | \`tasc ${name}\` | ${summary} |`]),
    ...inner.map((one) => `| ${group} | \`tasc ${name} ${one.name}\` | ${one.summary} |`),
  ]);
  const table = ["", "| group | command | use it to |", "| --- | --- | --- |", ...rows, "", ""];
  return page.replace(COMMANDS, (_, begin: string, end: string) =>
    [begin, table.join("\n"), end].join(""),
  );
}

const SKILL_HEAD = `---
name: tasc
description: >-
  Change, check, plan and hand over the tests of a hosted end-to-end test service with tasc (Test Automation Service as
  Code). Use it in a repository with a tasc.yaml: to edit test cases, targets, environments or stages, to read a plan or
  drift, to promote or pull, or to explain an error of tasc.
---

`;

/** The skill in the package: the same page, for an agent that reads it away from the manual. */
export function skillText(page: string): string {
  const body = page
    .replace(/^# .*\n/, "# tasc\n")
    .replaceAll(/<!--.*-->\n/g, "")
    .replaceAll(/^```sh exit=\d+$/gm, "```sh")
    .replaceAll(/\]\((?!https?:)([^)]+)\)/g, "](../../docs/$1)");
  return `${SKILL_HEAD}${body}`;
}
