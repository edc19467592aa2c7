import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { invalid } from "../../model/error.ts";
import type { Host } from "../../app/project.ts";

export const BACKUP = "tasc-state-backup";

export function readText({ cwd }: Host, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : resolve(cwd, file), "utf8");
  } catch {
    throw invalid("unreadable-file", `Cannot read ${file}`);
  }
}
