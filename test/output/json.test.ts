// `--format json`: every command has it, and its output matches a schema, also if the command
// fails.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { readCatalogue } from "../../src/cli/catalogue.ts";
import type { CommandSpec } from "../../src/commands/spec.ts";
import { type Json, isArray, isObject, parseJson } from "../../src/model/json.ts";
import {
  COOKIE,
  LOGIN,
  PROJECT,
  type Ran,
  type Scene,
  TARGET,
  appliedScene,
  textAt,
} from "../look/scene.ts";

const ajv = new Ajv2020({
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
  validateFormats: false,
});
for (const name of ["views", "plan", "events"]) {
  const schema = parseJson(readFileSync(`schemas/${name}.schema.json`, "utf8"));
  if (!isObject(schema)) throw new Error("no schema");
  ajv.addSchema(schema, name);
}

/** The schemas of commands whose result is not in `views` under the name of the command. */
const OTHERS: Readonly<Record<string, string>> = {
  plan: "plan",
  show: "plan",
  apply: "events",
  code: "views#/$defs/code",
};

function errorsOf(name: string, value: Json): string {
  const validate = ajv.getSchema(OTHERS[name] ?? `views#/$defs/${name.replace(" ", "-")}`);
  if (validate === undefined) return `there is no schema of ${name}`;
  return validate(value) === true ? "" : `${name}: ${ajv.errorsText(validate.errors)}`;
}

interface Leaf {
  readonly name: string;
  readonly spec: CommandSpec;
}

function leaves(specs: readonly CommandSpec[], above = ""): readonly Leaf[] {
  return specs.flatMap((spec) => {
    const name = `${above}${spec.name}`;
    const own = spec.commands === undefined || spec.options !== undefined ? [{ name, spec }] : [];
    return [...own, ...leaves(spec.commands ?? [], `${name} `)];
  });
}

/** The arguments with which each command has a result. Commands without an entry need none. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  init: ["--chdir", "elsewhere"],
  schema: ["--install", "vscode"],
  new: ["testCase", "shop.more"],
  show: ["plan.json"],
  apply: ["--auto-approve"],
  import: ["--dry-run"],
  pull: ["--dry-run"],
  promote: ["--from", "default", "--to", "next", "--dry-run"],
  diff: ["--from", "default", "--to", "next", "--all"],
  explain: ["testCase.shop.login"],
  snapshot: ["--out", "snapshot.json"],
  "stages retire": ["next", "--auto-approve"],
  "steps accept": ["--all"],
  "state show": ["target.shop"],
  "state mv": ["testCase.shop.login", "testCase.shop.sign-in"],
  "state rm": ["testCase.shop.login"],
  "state bind": ["testCase.shop.login", LOGIN],
  "state mark": ["batchGeneration.shop.spring", "done"],
  "state unlock": ["shop"],
  "state push": ["backup.json"],
  "state migrate": ["--from-config", "old.yaml"],
  "state history": ["shop"],
  completion: ["bash"],
  // An invalid port, because otherwise `serve` would not end.
  serve: ["--port", "none"],
};

/** Prepares the project for a command and returns its arguments. */
async function prepare(name: string, stage: Scene): Promise<readonly string[]> {
  stage.write("tasc.yaml", `${PROJECT}stages: { default: {}, next: {} }\n`);
  if (name === "show") await stage.run(["plan", "--out", "plan.json"]);
  if (name === "state push")
    stage.write("backup.json", (await stage.run(["state", "pull"])).stdout);
  if (name === "state migrate") stage.write("old.yaml", "backend: local\npath: old\n");
  if (name === "reports show" || name === "reports gate") {
    const report = { testTargetId: TARGET, testCaseIds: [COOKIE] };
    const id = textAt(await stage.control("POST", "/reports", report), "id");
    if (name === "reports show") return [id];
    await stage.control("POST", `/reports/${id}/results`, { results: { [COOKIE]: "PASSED" } });
    return ["--report", id];
  }
  return ARGUMENTS[name] ?? [];
}

/** The one value on stdout; for an apply, the last event. */
function resultOf(name: string, { stdout, stderr, code }: Ran): Json {
  const text = name === "apply" ? (stdout.trimEnd().split("\n").at(-1) ?? "") : stdout;
  try {
    return parseJson(text);
  } catch {
    throw new Error(`${name} printed no JSON (exit ${code}):\n${stdout}\n--\n${stderr}`);
  }
}

/** Commands that can also fail with a result. Any other failure is an object with a hint. */
const REFUSALS = ["doctor", "validate"];

function expectFits(name: string, ran: Ran): void {
  const value = resultOf(name, ran);
  const isResult =
    ran.code === 0 || ran.code === 2 || (REFUSALS.includes(name) && errorsOf(name, value) === "");
  expect(
    errorsOf(isResult ? name : "failure", value),
    `${name}: exit ${ran.code}\n${ran.stderr}`,
  ).toBe("");
}

const ALL = leaves(readCatalogue("dist"));
const applied = appliedScene();

describe.concurrent.each(ALL.map(({ name }) => name))("the JSON of tasc %s", (name) => {
  const play = (run: (stage: Scene, tasc: Tasc) => Promise<void>): Promise<void> =>
    applied(async (stage) => {
      const args = await prepare(name, stage);
      await run(stage, (more = [], env = {}) =>
        stage.run([...name.split(" "), ...args, ...more, "--json"], env),
      );
    });

  test("matches the schema of its result", async () => {
    await play(async (_, tasc) => {
      const ran = await tasc();
      expectFits(name, ran);
      if (name === "serve" || name === "state history") return expect(ran.code).toBe(3);
      expect(ran.code, ran.stderr).toBe(0);
      // A schema that accepts anything would prove nothing.
      expect(errorsOf(name, isArray(resultOf(name, ran)) ? [{}] : {})).not.toBe("");
    });
  });

  test.each([
    ["wrong arguments", (_, tasc) => tasc(["--no-such-option"])],
    [
      "a folder without a project",
      (stage, tasc) => {
        mkdirSync(join(stage.dir, "empty"));
        return tasc(["--chdir", "empty"]);
      },
    ],
    [
      "a bad manifest",
      (stage, tasc) => {
        stage.write("targets/shop.yaml", "target: shop\napp: [Web Shop]\n");
        return tasc();
      },
    ],
    ["no service", (_, tasc) => tasc([], { TASC_BASE_URL: "http://127.0.0.1:1" })],
  ] satisfies readonly (readonly [string, (stage: Scene, tasc: Tasc) => Promise<Ran>])[])(
    "matches the schema of a failure or a result with %s",
    async (situation, run) => {
      await play(async (stage, tasc) => {
        const ran = await run(stage, tasc);
        expectFits(name, ran);
        if (situation === "wrong arguments") expect(ran.code).toBe(3);
      });
    },
  );
});

type Tasc = (more?: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>;

describe.concurrent("a result matches its schema", () => {
  test.each([
    ["drift", ["drift"]],
    ["code", ["explain", "unknown-key"]],
    ["apply", ["apply", "--auto-approve"]],
    ["pull", ["pull", "--dry-run"]],
    ["rehearse", ["rehearse"]],
  ])("of tasc %s after a change on the service", async (name, args) => {
    await applied(async (stage) => {
      await stage.edit(LOGIN, { status: "DISABLED" });
      expectFits(name, await stage.run([...args, "--json"]));
    });
  });

  test("of tasc serve that is listening", async () => {
    await applied(async (stage) => {
      const running = stage.start(["serve", "--port", "0", "--data", "data", "--json"]);
      await running.saw(/\}\n/);
      running.child.kill("SIGTERM");
      expectFits("serve", await running.done);
    });
  });
});
