import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { EXIT, type ExitCode, type Given, flagOption, listOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type LoadedProject, loadProject } from "../manifest/load.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type Console, isLogLevel, openConsole } from "./console.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { inlineLittle } from "./engine.ts";

/** A project that is read and resolved, and a console that keeps its secrets. */
export interface Opened {
  readonly ok: true;
  readonly root: string;
  readonly env: World["env"];
  readonly project: LoadedProject;
  readonly console: Console;
}

/** Why there is none; it has been said. */
export interface NotOpened {
  readonly ok: false;
  readonly code: ExitCode;
  readonly diagnostics: readonly Diagnostic[];
  readonly console: Console;
}

export interface OpeningOptions {
  readonly needsApiKey: boolean;
  /** Leaves it to the caller to print what was found: always, or only if there are no errors. */
  readonly leave?: "all" | "warnings";
  /** Whether a project without target documents will do. */
  readonly mayBeEmpty?: boolean;
}

/** What every command does first: finds the folder, the variables and the stage, and reads the manifests. */
export async function openProject(
  given: Given,
  world: World,
  { needsApiKey, leave, mayBeEmpty = false }: OpeningOptions,
): Promise<Opened | NotOpened> {
  inlineLittle();
  const root = projectRoot(given, world);
  const plain = consoleFor(given, world, []);
  const variables = readVariables(given, world, root);
  if ("problem" in variables) {
    sayError(plain, variables.problem);
    return { ok: false, code: EXIT.invalid, diagnostics: [], console: plain };
  }
  const loaded = await loadProject({
    root,
    stage: textOption(given, "stage"),
    env: variables.env,
    allowMissingSecrets: flagOption(given, "allowMissingSecrets"),
    needsApiKey,
    mayBeEmpty,
  });
  const console = consoleFor(given, world, loaded.secrets);
  const left = leave === "all" || (leave === "warnings" && loaded.ok);
  if (!left) sayDiagnostics(console, loaded.diagnostics, loaded.sources);
  if (!loaded.ok) return { ok: false, code: EXIT.invalid, diagnostics: loaded.diagnostics, console };
  return { ok: true, root, env: variables.env, project: loaded, console };
}

export function projectRoot(given: Given, world: World): string {
  return resolve(world.cwd, textOption(given, "chdir") ?? ".");
}

export function consoleFor(given: Given, world: World, secrets: readonly string[]): Console {
  for (const secret of secrets) world.secrets.add(secret);
  const level = textOption(given, "logLevel");
  return openConsole(world, {
    level: isLogLevel(level) ? level : "info",
    noColour: given.options["color"] === false,
  });
}

/** `--dotenv`: what the environment has already wins, and of two files the first. */
export function readVariables(
  given: Given,
  { env, cwd }: World,
  root: string,
): { readonly env: World["env"] } | { readonly problem: string } {
  const all: Record<string, string | undefined> = {};
  for (const file of listOption(given, "dotenv")) {
    try {
      const path = textOption(given, "chdir") === undefined ? resolve(cwd, file) : resolve(root, file);
      for (const [name, value] of Object.entries(parseEnv(readFileSync(path, "utf8")))) all[name] ??= value;
    } catch {
      return { problem: `Cannot read ${file}, which --dotenv names` };
    }
  }
  return { env: { ...all, ...env } };
}
