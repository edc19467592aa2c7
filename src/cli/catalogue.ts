import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandSpec } from "../commands/spec.ts";

/** Returns the specifications of all commands, which the build has written to its folder. */
export function readCatalogue(folder: string): readonly CommandSpec[] {
  const specs: unknown = JSON.parse(readFileSync(join(folder, "commands.json"), "utf8"));
  if (isCatalogue(specs)) return specs;
  throw new Error(`${folder} is not a complete installation`);
}

function isCatalogue(value: unknown): value is readonly CommandSpec[] {
  return Array.isArray(value);
}
