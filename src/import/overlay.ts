import { decodedText } from "../yaml/utf8.ts";
import type { FolderEntry, ProjectFolder } from "../manifest/files.ts";

/** A project folder as it will be once some new files stand in it. */
export function withFiles(
  folder: ProjectFolder,
  files: readonly { readonly file: string; readonly text: string }[],
): ProjectFolder {
  const texts = new Map(files.map(({ file, text }) => [file, text]));
  const added = entriesByFolder([...texts.keys()]);
  return {
    list: (path) => {
      const there = folder.list(path);
      const known = new Set(there.map(({ name }) => name));
      const own = [...(added.get(path) ?? [])].map(([name, kind]): FolderEntry => ({ name, kind }));
      return [...there, ...own.filter(({ name }) => !known.has(name))];
    },
    read: (file) => {
      const text = texts.get(file);
      return text === undefined ? folder.read(file) : { ok: true, decoded: decodedText(text) };
    },
    follow: (path) => (texts.has(path) ? { kind: "file", inside: path } : folder.follow(path)),
  };
}

/** What files add to each folder: themselves, and the folders on the way to them. */
function entriesByFolder(
  files: readonly string[],
): ReadonlyMap<string, ReadonlyMap<string, "file" | "folder">> {
  const entries = new Map<string, Map<string, "file" | "folder">>();
  for (const file of files) {
    const steps = file.split("/");
    for (const [at, name] of steps.entries()) {
      const folder = steps.slice(0, at).join("/");
      const own = entries.get(folder) ?? new Map<string, "file" | "folder">();
      entries.set(folder, own.set(name, at === steps.length - 1 ? "file" : "folder"));
    }
  }
  return entries;
}
