import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SCHEMA_FILES, SETTINGS_FILE, mergeSettings, settingsToAdd } from "../app/editor.ts";
import { projectFolder } from "../manifest/files.ts";
import { patternsOf } from "../manifest/find-manifests.ts";
import { readProject } from "../manifest/load.ts";
import { DEFAULT_MANIFESTS } from "../manifest/tables.ts";
import { stop } from "../model/error.ts";
import { writeJson } from "../render/json.ts";
import { refuseLinks } from "../render/output-file.ts";
import type { View } from "../render/view.ts";

export interface InstallOptions {
  readonly root: string;
  readonly schemas: { readonly project: unknown; readonly target: unknown };
}

/** `tasc schema --install vscode`. @throws TascError with what keeps it from writing */
export async function installForVscode(options: InstallOptions): Promise<View> {
  try {
    return await install(options);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw stop("failed", "schemas-unwritable", "The schemas cannot be installed", `${error.message}.`);
  }
}

/** Puts the schemas into the project, and names them in the editor's settings. */
async function install({ root, schemas }: InstallOptions): Promise<View> {
  const { project } = await readProject(projectFolder(root));
  const manifests = project === undefined ? DEFAULT_MANIFESTS : patternsOf(project);
  const before = textOf(join(root, SETTINGS_FILE));
  const merged = mergeSettings(before, manifests);
  const files: { readonly file: string; readonly written: boolean }[] = [];
  put(SCHEMA_FILES.project, writeJson(schemas.project));
  put(SCHEMA_FILES.target, writeJson(schemas.target));
  if (!merged.ok)
    throw stop(
      "failed",
      "settings-kept",
      `${SETTINGS_FILE} stays as it is: ${merged.why}`,
      `It was left unchanged so that nothing is lost. Add this to it:\n${settingsToAdd(manifests)}`,
    );
  put(SETTINGS_FILE, merged.text);
  return {
    json: {
      written: files.flatMap(({ file, written }) => (written ? [file] : [])),
      kept: files.flatMap(({ file, written }) => (written ? [] : [file])),
    },
    text: [files.map(({ file, written }) => `${written ? "wrote" : "kept "}  ${file}`)],
  };

  function put(file: string, text: string): void {
    const path = join(root, file);
    refuseLinks(path, root);
    const written = textOf(path) !== text;
    files.push({ file, written });
    if (!written) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** A file's text; nothing where there is none. @throws what else keeps it from being read */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
