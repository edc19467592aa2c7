import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, type JsonObject, isArray, isObject, parseJson } from "../../src/model/json.ts";
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

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.reduce(
    (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size,
    0,
  );
}

/** Uses the whole interface, and calls that the types must reject. */
const CONSUMER = `
import { apply, loadProject, plan, render, TascError } from "@tasc/cli";
import type { ApplyOutcome, Diagnostic, Plan, Project, RenderFormat } from "@tasc/cli";

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

/** A program without the types of Node and without those of a browser. */
const ALONE = `
import { apply, loadProject, plan, type ApplyOptions } from "@tasc/cli";

const loaded = await loadProject(".", { env: { A: "b" } });
const listen = (type: "abort", listener: () => void): void => listener();
const signal: ApplyOptions["signal"] = { aborted: false, addEventListener: listen, removeEventListener: listen };
if (loaded.ok && signal) await apply(await plan(loaded.project), { signal });
`;

describe("the package", () => {
  test("contains the needed files and nothing else", () => {
    const files = readdirSync(join(packed.project, "node_modules", "@tasc", "cli"), {
      recursive: true,
      withFileTypes: true,
    })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).split("node_modules/@tasc/cli/")[1] ?? "");
    const rest = files
      .filter(
        (name) =>
          !/^(dist\/(chunks\/.*\.cjs|types\/.*\.d\.ts)|docs\/.*\.(md|svg)|schemas\/\w+\.schema\.json)$/.test(
            name,
          ),
      )
      .toSorted();
    expect(rest).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist/THIRD-PARTY-LICENSES.txt",
      "dist/commands.json",
      "dist/help.txt",
      "dist/index.mjs",
      "dist/library.cjs",
      "dist/sbom.cdx.json",
      "dist/tasc.cjs",
      "dist/version.txt",
      "examples/gitlab/tasc-approval.mjs",
      "examples/gitlab/tasc-drift.mjs",
      "examples/gitlab/tasc-note.mjs",
      "package.json",
      "skills/tasc/SKILL.md",
    ]);
    const built = readdirSync("dist", { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(files.filter((name) => name.startsWith("dist/")).toSorted()).toEqual(built.toSorted());
    expect(files.filter((name) => name.startsWith("dist/types/")).length).toBeLessThan(40);
    expect(object(parseJson(readFileSync("package.json", "utf8")))["dependencies"]).toBeUndefined();
  });

  test.skipIf(process.getBuiltinModule("node:sqlite") !== undefined)(
    "names the command that installs the database driver if Node has no SQLite",
    { meta: { needs: "a Node without SQLite, e.g. 20" } },
    async () => {
      const tasc = join(packed.project, "node_modules", "@tasc", "cli", "dist", "tasc.cjs");
      const manifest = join(packed.project, "package.json");
      const serve = async () =>
        await run(process.execPath, [tasc, "serve", "--port", "0"], packed.project);
      // npm's folder for global packages is not a project.
      const globally = await serve();
      expect(globally.output).toContain("run `npm install --global libsql`, or use Node 22.13");
      writeFileSync(manifest, "{}");
      const { code, output } = await serve();
      rmSync(manifest);
      expect(output).toContain("run `npm install --save-dev libsql`, or use Node 22.13");
      expect(code).toBe(1);
    },
  );

  test("installs from its tarball, locally and globally, without other packages and below 2.5 MB", async () => {
    const here = join(packed.project, "installed");
    const globally = join(packed.project, "global");
    for (const folder of [here, globally]) mkdirSync(folder);
    writeFileSync(join(here, "package.json"), "{}");
    const npm = [
      "install",
      "--offline",
      "--no-audit",
      "--no-fund",
      "--cache",
      join(packed.project, "cache"),
      "--no-update-notifier",
    ];
    expect(await run("npm", [...npm, packed.tarball], here)).toMatchObject({ code: 0 });
    expect(readdirSync(join(here, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(
      ["@tasc"],
    );
    expect(sizeOf(join(here, "node_modules"))).toBeLessThan(2_500_000);
    const local = await run(join(here, "node_modules", ".bin", "tasc"), ["--version"], here);
    expect(local.output).toMatch(/^\d+\.\d+\.\d+\n$/);
    const all = await run("npm", [...npm, "--global", "--prefix", globally, packed.tarball], here);
    expect(all).toMatchObject({ code: 0 });
    expect((await run(join(globally, "bin", "tasc"), ["--version"], here)).output).toBe(
      local.output,
    );
  });

  test("names every bundled package with its licence", () => {
    const dist = join(packed.project, "node_modules", "@tasc", "cli", "dist");
    const licences = readFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), "utf8");
    const { components } = object(parseJson(readFileSync(join(dist, "sbom.cdx.json"), "utf8")));
    if (!isArray(components)) throw new TypeError("no components");
    const names = components.map((one) => {
      const { name, version } = object(one);
      return typeof name === "string" && typeof version === "string" ? `${name} ${version}` : "";
    });
    for (const name of ["undici", "yaml", "commander"])
      expect(names.join("\n")).toMatch(new RegExp(`^${name} `, "m"));
    expect(licences.match(/^[@\w][\w/@-]* \d+\.\d+\.\d+\S*(?= \()/gm)).toEqual(names);
    expect(licences).toContain("Permission is hereby granted, free of charge");
  });

  test("is built only from packages with a hash in the lock file", () => {
    const { packages } = object(parseJson(readFileSync("package-lock.json", "utf8")));
    for (const [path, one] of Object.entries(object(packages ?? null)))
      if (path !== "") expect(object(one)["integrity"], path).toMatch(/^sha512-/);
  });

  test("has types that a strict project can use", async () => {
    writeFileSync(join(packed.project, "consumer.mts"), CONSUMER);
    const strict = [
      "--strict",
      "--exactOptionalPropertyTypes",
      "--noUncheckedIndexedAccess",
      "--noEmit",
    ];
    const { code, output } = await run(
      program("tsc"),
      [...strict, "--module", "nodenext", "--target", "es2023", "--types", "node", "consumer.mts"],
      packed.project,
    );
    expect(output).toBe("");
    expect(code).toBe(0);
  });

  test("has types that need neither Node's nor a browser's", async () => {
    writeFileSync(join(packed.project, "alone.mts"), ALONE);
    const options = ["--strict", "--noEmit", "--module", "nodenext", "--types", ""];
    const { output } = await run(
      program("tsc"),
      [...options, "--target", "es2023", "--lib", "es2023", "alone.mts"],
      packed.project,
    );
    expect(output).toBe("");
  });

  test("refuses to start under Bun, in one sentence", async () => {
    const shim = join(packed.project, "bun.cjs");
    const versions = "{ ...process.versions, bun: '1.4.5' }";
    writeFileSync(shim, `Object.defineProperty(process, "versions", { value: ${versions} });`);
    const tasc = join(packed.project, "node_modules", "@tasc", "cli", "dist", "tasc.cjs");
    const args = ["--require", shim, tasc, "plan"];
    const { code, output } = await run(process.execPath, args, packed.project);
    expect(output).toMatch(
      /^Error: tasc needs Node 20\.19 or later and does not work under Bun 1\.4\.5; .*\n?$/,
    );
    expect(code).toBe(1);
  });

  test("passes publint and attw", async () => {
    const lint = await run(program("publint"), ["run", packed.tarball, "--strict"], packed.project);
    expect(lint.output).toContain("All good");
    const types = await run(
      program("attw"),
      [packed.tarball, "--profile", "esm-only"],
      packed.project,
    );
    expect(types.output).toMatch(/node16 \(from ESM\) │ 🟢 \(ESM\)/);
    expect(types.code).toBe(0);
  });

  test("allows importing the schemas and requiring the library", async () => {
    const script = `const { title } = require("@tasc/cli/schemas/plan.schema.json");
      console.log(typeof title, Object.keys(require("@tasc/cli")).sort().join());`;
    const { output } = await run(process.execPath, ["-e", script], packed.project);
    expect(output).toContain("string RENDER_FORMATS,TascError,apply,loadProject,plan,render");
  });
});
