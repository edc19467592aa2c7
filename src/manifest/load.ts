import type { Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Settings } from "../model/settings.ts";
import type { Document } from "./document.ts";
import { projectFolder } from "./files.ts";
import type { ProjectFolder } from "./files.ts";
import { locate } from "./locate.ts";
import type { Sources } from "./locate.ts";
import { hasErrors } from "./problem.ts";
import { readProject } from "./read-project.ts";
import { resolveProject } from "./resolve-project.ts";
import type { ResolveOptions } from "./resolve-project.ts";

export interface LoadOptions extends ResolveOptions {
  /** The project's folder, for the default of `folder`. */
  readonly root: string;
  /** Whether a project without target documents will do: an import is what writes the first. */
  readonly mayBeEmpty?: boolean;
}

/** A project resolved for one stage, or what keeps it from being so. */
export type Loaded = LoadedProject | LoadFailure;

export interface LoadedProject {
  readonly ok: true;
  readonly settings: Settings;
  readonly desired: Desired;
  /** Warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  /** For `locate`, of diagnostics that later steps make. */
  readonly sources: Sources;
  /** Texts that must not show in any output, from 4 characters up, longest first. */
  readonly secrets: readonly string[];
  /** `tasc.yaml` as it stands in the file. */
  readonly project: Document;
  /** The target documents as they stand in their files, sorted by file. */
  readonly documents: readonly Document[];
}

export interface LoadFailure {
  readonly ok: false;
  /** Every error there is, and the warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
  readonly secrets: readonly string[];
}

/** Reads a project's manifests and resolves them for one stage: read, check, choose, merge, fill in, check again. */
export async function loadProject(
  options: LoadOptions,
  folder: ProjectFolder = projectFolder(options.root),
): Promise<Loaded> {
  const reading = await readProject(folder);
  const resolution = resolveProject(reading, options);
  const found = [...reading.problems, ...resolution.problems];
  const problems = options.mayBeEmpty ? found.filter(({ code }) => code !== "no-manifests") : found;
  const { sources, project, documents } = reading;
  const diagnostics = await locate(problems, sources);
  const { resolved, secrets } = resolution;
  if (resolved === undefined || project === undefined || hasErrors(problems))
    return { ok: false, diagnostics, sources, secrets };
  return { ok: true, ...resolved, diagnostics, sources, secrets, project, documents };
}
