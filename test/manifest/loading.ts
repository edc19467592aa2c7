import {
  type Loaded,
  type LoadedProject,
  type ResolveOptions,
  loadProject,
} from "../../src/manifest/load.ts";
import type { DesiredTarget } from "../../src/model/desired.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import { type MemoryFiles, memoryFolder } from "./memory-folder.ts";

export const PROJECT = `version: 1
service: { baseUrl: "http://127.0.0.1:4010", apiKey: "\${secret:KEY}" }
`;

export const ENV = { KEY: "the-api-key" };

/**
 * Loads a project from its files. By default, `tasc.yaml` and the environment are small valid ones.
 */
export function load(files: MemoryFiles, options: Partial<ResolveOptions> = {}): Promise<Loaded> {
  return loadProject(
    { root: "", env: ENV, ...options },
    memoryFolder({ "tasc.yaml": PROJECT, ...files }),
  );
}

/** Loads a valid project. Throws if it has errors. */
export async function loaded(
  files: MemoryFiles,
  options: Partial<ResolveOptions> = {},
): Promise<LoadedProject> {
  const result = await load(files, options);
  if (!result.ok)
    throw new Error(`the project should load:\n${show(result.diagnostics).join("\n")}`);
  return result;
}

/** Loads a project of one target document. */
export async function target(
  document: string,
  options: Partial<ResolveOptions> & { readonly files?: MemoryFiles } = {},
): Promise<DesiredTarget> {
  const { desired } = await loaded({ "targets/shop.yaml": document, ...options.files }, options);
  const [only] = desired.targets;
  if (only === undefined) throw new Error("there should be a target");
  return only;
}

/** The errors of a project, as the user sees them. Throws if it has no errors. */
export async function errors(
  files: MemoryFiles,
  options: Partial<ResolveOptions> = {},
): Promise<readonly string[]> {
  const result = await load(files, options);
  if (result.ok) throw new Error("the project should not load");
  return show(result.diagnostics);
}

/** `file:line:column code: summary / detail`. */
export function show(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, summary, detail, place }) => {
    const where = place === undefined ? "nowhere" : `${place.file}:${place.line}:${place.column}`;
    return `${where} ${severity === "warning" ? "warning " : ""}${code}: ${summary} / ${detail}`;
  });
}
