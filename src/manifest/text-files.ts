import type { ProjectFolder } from "./files.ts";
import type { FoundTemplate } from "./template/find.ts";
import type { TextFile } from "./template/surroundings.ts";

/** The paths of all `${file:…}` in templates. */
export function filesNamed(templates: Iterable<FoundTemplate>): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const { template } of templates)
    for (const part of template.parts) if (part.kind === "file") paths.add(part.path);
  return paths;
}

/** Reads what `${file:…}` names. What cannot be had is a problem only for the stage that uses it. */
export function readTextFiles(folder: ProjectFolder, paths: Iterable<string>): ReadonlyMap<string, TextFile> {
  return new Map([...paths].map((path) => [path, readTextFile(folder, path)]));
}

function readTextFile(folder: ProjectFolder, path: string): TextFile {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(path) || leaves(path))
    return failed(
      "The path leads out of the project folder. Give one inside of it, from tasc.yaml's folder on.",
    );
  const { kind, inside } = folder.follow(path);
  if (kind !== "nothing" && inside === undefined)
    return failed("A symbolic link leads out of the project folder.");
  const read = folder.read(path);
  if (!read.ok) return failed(read.reason);
  const { decoded } = read;
  if (!decoded.ok) return failed("It is not UTF-8 text.");
  return { ok: true, text: decoded.text.replace(/\r?\n$/, "") };
}

/** Whether a path climbs above where it starts; `a/../b` does not. */
function leaves(path: string): boolean {
  let depth = 0;
  for (const step of path.split(/[/\\]/)) {
    if (step === "..") depth--;
    else if (step !== "" && step !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}

function failed(reason: string): TextFile {
  return { ok: false, reason };
}
