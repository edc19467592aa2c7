import { isAbsolute, posix } from "node:path";

/** What the command line says of an import. */
export interface ImportArguments {
  /** From the project's folder on, with forward slashes; empty for that itself. */
  readonly dir: string;
  readonly split: "target" | "folder";
  /** Folder id → name. */
  readonly folders: ReadonlyMap<string, string>;
}

export interface GivenArguments {
  readonly dir: string | undefined;
  readonly split: string | undefined;
  readonly folders: readonly string[];
}

/** Reads the options of an import; a text says what is wrong with them. */
export function readArguments({ dir, split, folders }: GivenArguments): ImportArguments | string {
  const inside = insideOf(dir ?? "targets");
  if (inside === undefined) return `--dir ${dir ?? ""} is not a folder inside of the project`;
  const names = new Map<string, string>();
  for (const text of folders) {
    const at = text.indexOf("=");
    const id = text.slice(0, Math.max(at, 0)).trim();
    const name = text.slice(at + 1).trim();
    if (id === "" || name === "") return `--folder takes ID=NAME, and not ${JSON.stringify(text)}`;
    if ((names.get(id) ?? name) !== name) return `--folder gives two names to ${id}`;
    names.set(id, name);
  }
  return { dir: inside, split: split === "folder" ? "folder" : "target", folders: names };
}

function insideOf(dir: string): string | undefined {
  if (isAbsolute(dir) || /^[A-Za-z]:/.test(dir)) return undefined;
  const normal = posix.normalize(dir.replaceAll("\\", "/")).replace(/\/$/, "");
  if (normal === ".." || normal.startsWith("../") || normal.startsWith("/")) return undefined;
  return normal === "." ? "" : normal;
}
