import { resolve } from "node:path";
import type { Opened } from "../commands/opening.ts";
import { loadProject as load } from "../manifest/load.ts";
import type { Address } from "../model/address.ts";
import { resourcesOf } from "../model/desired.ts";
import type { DiagnosticJson } from "../model/plan.ts";
import { checkOptions } from "./arguments.ts";
import { projectInsides } from "./inside.ts";
import { publicDiagnostics, silentConsole } from "./silent.ts";

export interface LoadOptions {
  /** Else `TASC_STAGE`, else the project's default. */
  readonly stage?: string;
  /** Variables and secrets; `process.env` unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes a missing secret as unknown and plans nothing from it. Such a project cannot be applied. */
  readonly allowMissingSecrets?: boolean;
}

/** A project read and resolved for one stage. */
export interface Project {
  readonly folder: string;
  readonly stage: string;
  /** All declared stages, in the order of the file. */
  readonly stages: readonly string[];
  readonly baseUrl: string;
  /** Of everything that is declared. */
  readonly addresses: readonly Address[];
}

export type LoadResult =
  | { readonly ok: true; readonly project: Project; readonly diagnostics: readonly DiagnosticJson[] }
  | { readonly ok: false; readonly diagnostics: readonly DiagnosticJson[] };

/**
 * Reads the manifests of a folder and resolves them for one stage.
 * @returns the project and its warnings, or every mistake with file, line and column
 */
export async function loadProject(folder: string, options: LoadOptions = {}): Promise<LoadResult> {
  checkOptions(options, { stage: "text", env: "variables", allowMissingSecrets: "flag" });
  const root = resolve(folder);
  const { stage, env = process.env, allowMissingSecrets = false } = options;
  const loaded = await load({ root, stage, env, allowMissingSecrets, needsApiKey: true });
  const console = silentConsole(loaded.secrets);
  const diagnostics = publicDiagnostics(loaded.diagnostics, console.redactor);
  if (!loaded.ok) return { ok: false, diagnostics };
  const { settings, desired } = loaded;
  const project: Project = {
    folder: root,
    stage: settings.stage,
    stages: settings.stages,
    baseUrl: console.redactor.text(settings.baseUrl),
    addresses: desired.targets.flatMap(resourcesOf).map(({ address }) => address),
  };
  const opened: Opened = { ok: true, root, env, project: loaded, console };
  projectInsides.set(project, { opened, complete: !allowMissingSecrets });
  return { ok: true, project, diagnostics };
}
