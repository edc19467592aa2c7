// `--format json`: every command that prints has it, and what it prints fits its schema, also when it fails.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { type CommandSpec, type Raw } from "../../src/commands/options.ts";
import { COMMANDS } from "../../src/commands/table.ts";
import { type Json, isObject, parseJson } from "../../src/model/json.ts";
import { COOKIE, LOGIN, type Scene, TARGET, appliedScene, at, textAt } from "../look/scene.ts";

const ajv = new Ajv2020({ allowUnionTypes: true, strictRequired: false, strictTypes: false });
const schemas = parseJson(readFileSync("schemas/views.schema.json", "utf8"));
if (!isObject(schemas)) throw new Error("no schemas");
ajv.addSchema(schemas, "views");

function expectFits(definition: string, value: Json): void {
  const validate = ajv.getSchema(`views#/$defs/${definition}`);
  expect(validate?.(value), `${definition}: ${ajv.errorsText(validate?.errors)}`).toBe(true);
}

interface Leaf {
  readonly words: readonly string[];
  readonly spec: CommandSpec;
}

function leaves(specs: readonly CommandSpec[], above: readonly string[] = []): readonly Leaf[] {
  return specs.flatMap((spec) => {
    const words = [...above, spec.name];
    return spec.commands === undefined ? [{ words, spec }] : leaves(spec.commands, words);
  });
}

function formats({ spec }: Leaf): readonly string[] {
  return spec.options?.find(({ flags }) => flags.startsWith("--format "))?.choices ?? [];
}

const ALL = leaves(COMMANDS);
const WITH_JSON = ALL.filter((leaf) => formats(leaf).includes("json"));

/** They print no result of their own: files, a document of another kind, or what was done. */
const WITHOUT: Readonly<Record<string, string>> = {
  init: "writes files",
  new: "writes files",
  fmt: "writes files",
  import: "writes files",
  schema: "prints a JSON Schema",
  snapshot: "prints JSON",
  serve: "runs until it is stopped",
  completion: "prints a script",
  "state mv": "changes state",
  "state rm": "changes state",
  "state bind": "changes state",
  "state mark": "changes state",
  "state push": "changes state",
  "state migrate": "changes state",
};

test("every command that prints a result has it", () => {
  const without = ALL.filter((leaf) => !formats(leaf).includes("json")).map(({ words }) => words.join(" "));
  expect(without.filter((name) => WITHOUT[name] === undefined)).toEqual([]);
});

describe.concurrent("a failure is one object that says what would help", () => {
  const applied = appliedScene();

  // `commands` needs nothing that could be missing.
  const needing = WITH_JSON.filter(({ spec }) => spec.name !== "commands");

  test.each(needing.map((leaf) => [leaf.words.join(" "), leaf] as const))(
    "of tasc %s without a project",
    async (_, { words, spec }) => {
      await applied(async (stage) => {
        const folder = mkdtempSync(join(tmpdir(), "tasc-json-"));
        try {
          const args = (spec.args ?? []).filter(({ name }) => name.startsWith("<")).map(argument);
          const ran = await stage.run([...words, ...args, "--format", "json", "--chdir", folder]);
          // That something is wrong is the very result of these.
          const [name = ""] = words;
          if (name === "doctor" || name === "validate") return expectFits(name, parseJson(ran.stdout));
          // An apply prints an event a line.
          const lines = words[0] === "apply" ? ran.stdout.trimEnd().split("\n") : [ran.stdout];
          const failure = parseJson(lines.at(-1) ?? "");
          expect(ran.code).toBeGreaterThan(0);
          expectFits("failure", failure);
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      });
    },
  );
});

function argument({ choices }: NonNullable<CommandSpec["args"]>[number]): Raw["args"][number] {
  return choices?.[0] ?? "testCase.shop.login";
}

describe.concurrent("a result fits its schema", () => {
  const applied = appliedScene();
  const print = async (stage: Scene, ...args: readonly string[]): Promise<Json> =>
    parseJson((await stage.run([...args, "--json"])).stdout);

  test.each([
    ["drift", ["drift"]],
    ["explain", ["explain", "testCase.shop.login"]],
    ["code", ["explain", "unknown-key"]],
    ["graph", ["graph"]],
    ["doctor", ["doctor"]],
    ["notifications", ["notifications"]],
  ])("of tasc %s", async (definition, args) => {
    await applied(async (stage) => {
      await stage.edit(LOGIN, { status: "DISABLED" });
      const value = await print(stage, ...args);
      expectFits(definition, value);
      expectWrong(definition, value);
    });
  });

  test("of tasc reports", async () => {
    await applied(async (stage) => {
      const begun = await stage.control("POST", "/reports", { testTargetId: TARGET, testCaseIds: [COOKIE] });
      const list = await print(stage, "reports", "list");
      expectFits("reports", list);
      expect(at(list, "reports", 0, "id")).toBe(textAt(begun, "id"));
      expectFits("report", await print(stage, "reports", "show", textAt(begun, "id")));
    });
  });
});

/** A schema that takes anything shows nothing. */
function expectWrong(definition: string, value: Json): void {
  if (!isObject(value)) throw new Error("no object");
  const [, ...rest] = Object.entries(value);
  expect(ajv.getSchema(`views#/$defs/${definition}`)?.(Object.fromEntries(rest))).toBe(false);
}
