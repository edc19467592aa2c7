import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, type JsonObject, isObject, parseJson } from "../../src/model/json.ts";
import { type Packed, pack, run } from "./package.ts";

let packed: Packed;
beforeAll(async () => {
  packed = await pack();
});
afterAll(() => packed.remove());

const program = (name: string): string => resolve("node_modules", ".bin", name);

function object(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new TypeError("no object");
  return value;
}

/** Uses all of the interface, and what it must refuse. */
const CONSUMER = `
import { apply, loadProject, plan, render, TascError } from "tasc";
import type { ApplyOutcome, Diagnostic, Plan, Project, RenderFormat } from "tasc";

const loaded = await loadProject(".", { stage: "staging", env: { A: undefined } });
if (!loaded.ok) throw new Error(loaded.diagnostics.map(({ summary }: Diagnostic) => summary).join());
const project: Project = loaded.project;
const made: Plan = await plan(project, { only: ["target.shop"], overridePolicy: ["maxChanges"], retries: 1 });
const creates: number = made.summary.create;
const format: RenderFormat = "html";
const text: string = await render(made, format, { verbose: true });
const outcome: ApplyOutcome = await apply(made, {
  signal: AbortSignal.timeout(1),
  onEvent(event) {
    if (event.type === "changeFailed") console.log(event.failure.summary, creates, text);
  },
});
for (const { address, reason } of outcome.skipped) console.log(address.length, reason.kind);
try {
  // @ts-expect-error -- no such format
  await render(made, "pdf");
  // @ts-expect-error -- a plan is needed
  await apply(project);
} catch (error) {
  if (error instanceof TascError && error.reason === "stale") console.log(error.diagnostics.length);
}
`;

describe("the package", () => {
  test("holds what is needed and nothing else", () => {
    const files = readdirSync(join(packed.project, "node_modules", "tasc"), {
      recursive: true,
      withFileTypes: true,
    })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).split("node_modules/tasc/")[1] ?? "");
    const rest = files.filter((name) => !/^dist\/(chunks\/.*\.cjs|types\/.*\.d\.ts)$/.test(name)).toSorted();
    expect(rest).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist/index.mjs",
      "dist/library.cjs",
      "dist/tasc.cjs",
      "package.json",
      "schemas/plan.schema.json",
      "schemas/project.schema.json",
      "schemas/target.schema.json",
    ]);
    expect(files.filter((name) => name.startsWith("dist/types/")).length).toBeLessThan(40);
    expect(object(parseJson(readFileSync("package.json", "utf8")))["dependencies"]).toBeUndefined();
  });

  test.skipIf(process.getBuiltinModule("node:sqlite") !== undefined)(
    "says what to install where Node has no SQLite",
    async () => {
      const tasc = join(packed.project, "node_modules", "tasc", "dist", "tasc.cjs");
      const { code, output } = await run(process.execPath, [tasc, "serve", "--port", "0"], packed.project);
      expect(output).toContain("run `npm install libsql`, or use Node 22.13 or later");
      expect(code).toBe(1);
    },
  );

  test("gives types that a strict project can use", async () => {
    writeFileSync(join(packed.project, "consumer.mts"), CONSUMER);
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
    const { code, output } = await run(
      program("tsc"),
      [...strict, "--module", "nodenext", "--target", "es2023", "--types", "node", "consumer.mts"],
      packed.project,
    );
    expect(output).toBe("");
    expect(code).toBe(0);
  });

  test("passes the checks for packages", async () => {
    const lint = await run(program("publint"), ["run", packed.tarball, "--strict"], packed.project);
    expect(lint.output).toContain("All good");
    const types = await run(program("attw"), [packed.tarball, "--profile", "esm-only"], packed.project);
    expect(types.output).toMatch(/node16 \(from ESM\) │ 🟢 \(ESM\)/);
    expect(types.code).toBe(0);
  });

  test("lets the schemas be imported, and the library be required", async () => {
    const script = `const { title } = require("tasc/schemas/plan.schema.json");
      console.log(typeof title, Object.keys(require("tasc")).sort().join());`;
    const { output } = await run(process.execPath, ["-e", script], packed.project);
    expect(output).toContain("string RENDER_FORMATS,TascError,apply,loadProject,plan,render");
  });
});
