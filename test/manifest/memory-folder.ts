import type {
  Destination,
  FileRead,
  FolderEntry,
  ProjectFolder,
} from "../../src/manifest/files.ts";
import { decodeUtf8, decodedText } from "../../src/manifest/yaml/text.ts";

/**
 * A symbolic link in a folder in memory. It points to a path in the folder, or outside
 * (`undefined`).
 */
export class Link {
  readonly to: string | undefined;

  constructor(to: string | undefined) {
    this.to = to;
  }
}

export type MemoryFiles = Readonly<Record<string, string | Uint8Array | Link>>;

/** A project folder in memory, from its files by path. */
export function memoryFolder(files: MemoryFiles): ProjectFolder {
  return {
    list: (folder) => entriesOf(files, real(files, folder) ?? folder),
    read: (file) => readIn(files, real(files, file) ?? file),
    follow: (path) => destination(files, path),
  };
}

/** The path with all links resolved; `undefined` if one of them leaves the folder. */
function real(files: MemoryFiles, path: string): string | undefined {
  let walked = "";
  for (const step of path.split("/").filter((name) => name !== "" && name !== ".")) {
    if (step === "..") {
      walked = walked.split("/").slice(0, -1).join("/");
      continue;
    }
    walked = walked === "" ? step : `${walked}/${step}`;
    const entry = files[walked];
    if (!(entry instanceof Link)) continue;
    if (entry.to === undefined) return undefined;
    walked = entry.to;
  }
  return walked;
}

function entriesOf(files: MemoryFiles, folder: string): FolderEntry[] {
  const start = folder === "" ? "" : `${folder}/`;
  const names = new Map<string, FolderEntry["kind"]>();
  for (const [path, content] of Object.entries(files)) {
    if (!path.startsWith(start)) continue;
    const [name = "", ...rest] = path.slice(start.length).split("/");
    names.set(name, rest.length > 0 ? "folder" : content instanceof Link ? "link" : "file");
  }
  return [...names].map(([name, kind]) => ({ name, kind }));
}

function readIn(files: MemoryFiles, path: string): FileRead {
  const content = files[path];
  if (content === undefined || content instanceof Link)
    return { ok: false, missing: true, reason: "There is no such file." };
  return typeof content === "string" ? decodedText(content) : decodeUtf8(content);
}

function destination(files: MemoryFiles, path: string): Destination {
  const inside = real(files, path);
  if (inside === undefined) return { kind: "file", inside };
  if (files[inside] !== undefined) return { kind: "file", inside };
  return entriesOf(files, inside).length > 0
    ? { kind: "folder", inside }
    : { kind: "nothing", inside: undefined };
}
