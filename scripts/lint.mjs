// Finds mistakes (oxlint), unused code (knip), imports against the order of the folders, and
// outdated words, and checks the format (prettier). oxlint and knip are fetched from the registry
// on demand: with their packages for other platforms in the lock file, `npm ci` of npm 11 rejects
// the file as incomplete.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const OXLINT = ["--package=oxlint@1.94.0", "--package=oxlint-tsgolint@7.0.2007"];
const KNIP = ["--package=knip@6.44.2"];

/** Imports run downwards only. The local service does not import the client. */
const FOLDERS = [
  ["cli"],
  ["commands"],
  ["index.ts"],
  ["app"],
  ["edit"],
  ["inspect"],
  ["render"],
  ["apply"],
  ["plan"],
  ["manifest"],
  ["state"],
  ["service", "server"],
  ["files"],
  ["model"],
];

/** Folders above others that do not import them: an edit returns data, and renders nothing. */
const APART = [["edit", "render"]];

const WORDS =
  /\b(mend(s|ed|ing)?|anew|befalls?|whither|all the same|at hand|lets? through|besides|is told (of|that)|what is live|(?<!there )is no (?!longer|more|less|other|such|one|need|way|reason)[a-z]+)\b/i;
const TEXTS = [
  "src",
  "docs",
  "examples",
  "schemas",
  "action.yml",
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
];

const programs = [
  ["npm", "exec", "--yes", ...OXLINT, "--", "oxlint", "--type-aware", "--deny-warnings"],
  ["npm", "exec", "--yes", ...KNIP, "--", "knip"],
  ["npm", "exec", "--no", "--", "prettier", "--check", "."],
].map(([program, ...args]) => spawnSync(program, args, { stdio: "inherit" }).status === 0);
const problems = [...upwardImports(), ...oddWords()];
for (const problem of problems) console.error(problem);
process.exitCode = programs.every(Boolean) && problems.length === 0 ? 0 : 1;

function upwardImports() {
  const rank = (path) => FOLDERS.findIndex((names) => names.includes(path.split("/")[0]));
  return files("src").flatMap((file) => {
    const from = relative("src", file);
    const own = rank(from);
    if (own === -1)
      return [`${file}: ${from.split("/")[0]} is not a folder of the order in scripts/lint.mjs`];
    return [...readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].flatMap(
      ([, path]) => {
        const to = relative("src", resolve(file, "..", path));
        const [above, below] = [from, to].map((one) => one.split("/")[0]);
        const isApart = APART.some(([one, other]) => one === above && other === below);
        return above === below || to.startsWith("..") || (rank(to) > own && !isApart)
          ? []
          : [`${file}: imports ${to} against the order of the folders`];
      },
    );
  });
}

function oddWords() {
  return TEXTS.flatMap(files).flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, at) => {
        const [word] = WORDS.exec(line) ?? [];
        return word === undefined
          ? []
          : [`${file}:${at + 1}: say it in plain words, without "${word}"`];
      }),
  );
}

/** The text files of a folder, or the file itself. */
function files(path) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|md|ya?ml|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("generated"));
}
