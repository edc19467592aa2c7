import { realpathSync, statSync } from "node:fs";

/**
 * Where a file goes that is written beside its place and then put there: to what a link leads to, and never in place
 * of a device or a folder.
 *
 * @throws the system's error where the place cannot be looked at, and one with the code ENOTFILE
 */
export function destinationOf(path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return path;
    throw error;
  }
  if (statSync(real).isFile()) return real;
  throw Object.assign(new Error("it is no file"), { code: "ENOTFILE" });
}
