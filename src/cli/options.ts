import * as groups from "../commands/options.ts";
import type { OptionSpec, Raw } from "../commands/options.ts";

/* For commands that still read their options by name; each goes to `commands/options.ts` with its command. */
export type Given = Raw;
export type { OptionSpec };

export function textOption({ options }: Given, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function flagOption({ options }: Given, name: string): boolean {
  return options[name] === true;
}

export function listOption({ options }: Given, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export const GLOBAL_OPTIONS: readonly OptionSpec[] = Object.values(groups.GLOBAL);
export const SERVICE_OPTIONS: readonly OptionSpec[] = Object.values(groups.SERVICE);
export const SCOPE_OPTIONS: readonly OptionSpec[] = Object.values(groups.SCOPE);
export const TWO_STAGES: readonly OptionSpec[] = Object.values(groups.TWO_STAGES);
export const MISSING_SECRETS: OptionSpec = groups.MISSING_SECRETS.allowMissingSecrets;
export const LOCK_TIMEOUT: OptionSpec = groups.LOCK_TIMEOUT.lockTimeout;

export { EXIT, type ExitCode } from "../model/error.ts";
