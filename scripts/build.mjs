// Builds the executable and the library into dist/, or into the given folder. The code is split
// where commands load their own code; code that the executable and the library share is in common
// chunks.
import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import "./generate.mjs";
import { writeThirdParty } from "./third-party.mjs";
import { writeTypes } from "./types.mjs";
import { withTexts } from "./with-texts.mjs";

const root = join(import.meta.dirname, "..");
const target = resolve(process.argv[2] ?? join(root, "dist"));
// A folder of this name is replaced. Anything else, e.g. a device, is a mistake.
if ((await stat(target).catch(() => undefined))?.isDirectory() === false)
  throw new Error(`${target} is not a folder`);
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

// Modules that packages load and tasc never uses. Commander's child processes, for subcommands that
// are separate programs, would take a tenth of the time of `--help`. undici's HTTP/2 is never
// offered to a server.
const UNUSED = { "node:child_process": "/commander/", "./client-h2.js": "/undici/" };
const NOTHING = "\0nothing";
const withoutUnused = {
  name: "without-unused",
  resolveId: (source, importer) =>
    source in UNUSED && importer?.includes(UNUSED[source]) ? NOTHING : undefined,
  load: (id) => (id === NOTHING ? "module.exports = {};" : undefined),
};

// Few runs need these packages, so each one is in its own file, which is loaded on use.
const RARE = ["fast-string-width"];
const IMPORT = new RegExp(`import (\\w+) from "(${RARE.join("|")})";`);
const loadedWhereUsed = {
  name: "loaded-where-used",
  resolveId: (source) =>
    RARE.some((name) => source === `./${name}.cjs`)
      ? { id: source, external: "absolute" }
      : undefined,
  transform: {
    filter: { code: IMPORT },
    handler(code) {
      const [line, name, from] = IMPORT.exec(code);
      return code
        .replace(line, "")
        .replaceAll(new RegExp(`\\b${name}\\b`, "g"), `require("./${from}.cjs")`);
    },
  },
};

const build = await rolldown({
  cwd: root,
  input: {
    tasc: "src/cli/main.ts",
    library: "src/index.ts",
    // An entry of its own keeps its name and all that it exports, which tests call without a process.
    "chunks/run": "src/cli/run.ts",
    help: "scripts/help.ts",
    ...Object.fromEntries(RARE.map((name) => [`chunks/${name}`, name])),
  },
  platform: "node",
  // Only `tasc serve` on Node 20 loads it, from the user's own installation.
  external: ["libsql"],
  plugins: [withoutUnused, loadedWhereUsed, withTexts],
  transform: { define: { __TASC_VERSION__: JSON.stringify(version) } },
  onLog: (level, log, report) => report(log.code === "UNRESOLVED_IMPORT" ? "error" : level, log),
});

const libraryModule = `import library from "./library.cjs";
export const { loadProject, plan, apply, render, RENDER_FORMATS, TascError } = library;
`;

// Built in a new folder that then replaces the last one, so that a failed build leaves the last one
// unchanged.
const fresh = await mkdtemp(`${target}-`);
try {
  const { output } = await build.write({
    dir: fresh,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    codeSplitting: {
      // Code for the command line, for output and for manifests. A part has its own file if it
      // costs more than the code around it that is not needed.
      groups: [
        {
          name: "base",
          test: /src\/(commands\/options|render\/(formats|terminal))\.ts$/,
          priority: 3,
        },
        {
          name: "context",
          test: /src\/(commands\/(command|context)|model\/(collections|fields|words)|render\/words)\.ts$/,
          priority: 2,
        },
        { name: "project", test: /src\/app\/project\.ts$/, priority: 1 },
      ],
    },
    banner: (chunk) => (chunk.name === "tasc" && chunk.isEntry ? "#!/usr/bin/env node" : ""),
    minify: true,
    comments: { legal: false },
  });
  await writeFile(join(fresh, "index.mjs"), libraryModule);
  writeTypes(join(fresh, "types"));
  writeThirdParty(
    root,
    fresh,
    output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : [])),
  );
  const { readyTexts } = createRequire(import.meta.url)(join(fresh, "help.cjs"));
  for (const [name, text] of Object.entries(await readyTexts(version)))
    await writeFile(join(fresh, name), text);
  await rm(join(fresh, "help.cjs"));
  await chmod(join(fresh, "tasc.cjs"), 0o755);
  await chmod(fresh, 0o755);
  await rm(target, { recursive: true, force: true });
  await rename(fresh, target);
} finally {
  await rm(fresh, { recursive: true, force: true });
}
