import { randomBytes } from "node:crypto";
import { type WriteFileOptions, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import plan from "../../schemas/plan.schema.json" with { type: "json" };
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { projectRoot } from "../app/project.ts";
import { projectFolder } from "../manifest/files.ts";
import { patternsOf } from "../manifest/find-manifests.ts";
import { readProject } from "../manifest/load.ts";
import { SAMPLE } from "../manifest/skeleton.ts";
import { DEFAULT_MANIFESTS } from "../manifest/tables.ts";
import { EXIT, failed, invalid } from "../model/error.ts";
import { type Json, isObject, parseJson } from "../model/json.ts";
import { writeJson } from "../render/json.ts";
import { refuseLinks } from "../render/output-file.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";
import ignoreText from "./templates/gitignore.txt?raw";
import trustText from "./templates/tasc-trust.yaml?raw";
import projectText from "./templates/tasc.yaml?raw";

/**
 * `tasc init`: writes a project. Existing files are kept, except that .gitignore gets the entries
 * for secret files.
 */
export async function init(options: OptionsOf<"init">, { host, console }: Context): Promise<View> {
  const root = resolve(host.cwd, options.chdir ?? ".");
  const files: readonly (readonly [file: string, text: string, mode?: number])[] = [
    ["tasc.yaml", projectText],
    [SAMPLE.file, SAMPLE.text],
    [".gitignore", ignoreText],
    ["fingerprint.key", `${randomBytes(32).toString("base64")}\n`, 0o600],
    ["tasc-trust.yaml", trustText],
    [".tasc/schemas/project.schema.json", writeJson(project)],
    [".tasc/schemas/target.schema.json", writeJson(target)],
  ];
  if (existsSync(join(root, "tasc.yaml")))
    throw failed(
      "project-exists",
      "This folder already contains a project",
      "tasc.yaml exists and was not changed. Use --chdir to choose another folder.",
    );
  const written: string[] = [];
  const kept: string[] = [];
  // Read before anything is written: if this fails, init can run again, which it refuses once
  // tasc.yaml is written.
  const ignored = textOf(join(root, ".gitignore"));
  for (const [file, text, mode = 0o666] of files) {
    const isAdded = file === ".gitignore" && ignored?.includes(text) === false;
    if (existsSync(join(root, file)) && !isAdded) {
      console.say("warn", `kept   ${file}, which already existed`);
      kept.push(file);
      continue;
    }
    writeText(root, file, isAdded ? `\n${text}` : text, { flag: isAdded ? "a" : "wx", mode });
    written.push(file);
  }
  const next = [
    "Next, in another terminal:  tasc serve",
    "Then:                       TASC_API_KEY=KEY tasc plan, with the key that it prints",
  ];
  return { json: { written, kept }, text: [written.map((file) => `wrote  ${file}`), next] };
}

const SCHEMAS = { project, target, plan };

export async function schema(options: OptionsOf<"schema">, { console, host }: Context) {
  const { which, install } = options;
  if ((which === undefined) !== (install !== undefined))
    throw invalid(
      "bad-arguments",
      which === undefined
        ? "The name of the schema is missing"
        : "--install takes no schema: it installs those of manifests",
      "tasc schema project|target|plan\ntasc schema --install vscode",
    );
  if (which === undefined) return installForVscode(projectRoot(options, host));
  console.document(writeJson(SCHEMAS[which]));
  return EXIT.done;
}

const SCHEMA_FILES = {
  project: ".vscode/tasc/project.schema.json",
  target: ".vscode/tasc/target.schema.json",
} as const;

/** The VS Code settings of a folder, which the YAML extension reads, too. */
const SETTINGS_FILE = ".vscode/settings.json";

const KEY = "yaml.schemas";

async function installForVscode(root: string): Promise<View> {
  const files: { readonly file: string; readonly written: boolean }[] = [];
  const { project: file } = await readProject(projectFolder(root));
  const manifests = file === undefined ? DEFAULT_MANIFESTS : patternsOf(file);
  const before = textOf(join(root, SETTINGS_FILE));
  put(SCHEMA_FILES.project, writeJson(project));
  put(SCHEMA_FILES.target, writeJson(target));
  put(SETTINGS_FILE, mergeSettings(before, manifests));
  const namesOf = (written: boolean): readonly string[] =>
    files.filter((one) => one.written === written).map(({ file }) => file);
  return {
    json: { written: namesOf(true), kept: namesOf(false) },
    text: [files.map(({ file, written }) => `${written ? "wrote" : "kept "}  ${file}`)],
  };

  function put(file: string, text: string): void {
    const written = textOf(join(root, file)) !== text;
    files.push({ file, written });
    if (written) writeText(root, file, text);
  }
}

/** Returns a file's text; undefined if there is no such file. */
function textOf(path: string): string | undefined {
  return existsSync(path) ? unlessRefused(path, () => readFileSync(path, "utf8")) : undefined;
}

function writeText(root: string, file: string, text: string, how?: WriteFileOptions): void {
  const path = join(root, file);
  unlessRefused(path, () => {
    refuseLinks(path, root);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, how);
  });
}

/** Adds the path to a system error, whose message may not contain it. @throws TascError */
function unlessRefused<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const why = `${error.message}. Check the permissions, and that nothing else has this name.`;
    throw failed("unwritable", `${path} cannot be written`, why);
  }
}

/**
 * Adds tasc's schemas to the settings.
 * @throws TascError if the file cannot be rewritten without a loss
 */
export function mergeSettings(before: string | undefined, manifests: readonly string[]): string {
  const own = {
    [`./${SCHEMA_FILES.project}`]: ["tasc.yaml"],
    [`./${SCHEMA_FILES.target}`]: manifests,
  };
  const keep = (why: string): Error =>
    failed(
      "settings-kept",
      `${SETTINGS_FILE} stays as it is: ${why}`,
      `It was left unchanged so that nothing is lost. Add this to it:\n${JSON.stringify({ [KEY]: own }, null, 2)}`,
    );
  let settings: Json = {};
  try {
    if (before !== undefined && before.trim() !== "") settings = parseJson(before);
  } catch {
    settings = null;
  }
  if (!isObject(settings)) throw keep("it contains comments, or is not a JSON object");
  const present = settings[KEY] ?? {};
  if (!isObject(present)) throw keep(`its \`${KEY}\` is not a map`);
  const indent = /^([ \t]+)\S/m.exec(before ?? "")?.[1] ?? "  ";
  return `${JSON.stringify({ ...settings, [KEY]: { ...present, ...own } }, null, indent)}\n`;
}
