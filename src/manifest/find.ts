import { compareText } from "../model/address.ts";
import type { FolderEntry, ProjectFolder } from "./files.ts";
import { advance, isComplete, isOpen } from "./glob.ts";
import type { Pattern, Progress } from "./glob.ts";

export interface Found {
  /** Sorted, each once. */
  readonly files: readonly string[];
  /** Symbolic links that patterns matched and that lead out of the project, or nowhere. */
  readonly escaping: readonly string[];
}

/**
 * The files that patterns mean. Links are followed inside of the project; what is reached both by a link and
 * without one, or by two links, is found once, under the shorter way to it.
 */
export function findFiles(folder: ProjectFolder, patterns: Iterable<Pattern>): Found {
  const walk = new Walk(folder);
  walk.enter({ path: "", real: "", above: [] }, new Set(patterns));
  return walk.found();
}

/** Where a walk is. `above` are the real paths of the links that it came in by. */
interface Standing {
  readonly path: string;
  readonly real: string;
  readonly above: readonly string[];
}

class Walk {
  readonly #folder: ProjectFolder;
  /** Found without a link on the way, so each once. */
  readonly #plain: string[] = [];
  /** Real path → path as found by a link. */
  readonly #linked = new Map<string, string>();
  readonly #escaping = new Set<string>();

  constructor(folder: ProjectFolder) {
    this.#folder = folder;
  }

  found(): Found {
    return {
      files: this.#files().toSorted(compareText),
      escaping: [...this.#escaping].toSorted(compareText),
    };
  }

  enter(place: Standing, progress: Progress): void {
    for (const entry of this.#folder.list(place.path)) {
      const next = advance(progress, entry.name);
      if (next.size > 0) this.#visit(entry, place, next);
    }
  }

  #visit({ kind, name }: FolderEntry, place: Standing, progress: Progress): void {
    if (kind === "link") this.#follow(inside(place, name), progress);
    else if (kind === "folder" && isOpen(progress)) this.enter(inside(place, name), progress);
    else if (kind === "file" && isComplete(progress)) {
      const path = below(place.path, name);
      if (place.real === place.path) this.#plain.push(path);
      else this.#keep(below(place.real, name), path);
    }
  }

  #follow(place: Standing, progress: Progress): void {
    const { kind, inside: real } = this.#folder.follow(place.path);
    const wanted = kind === "folder" ? isOpen(progress) : isComplete(progress);
    if (!wanted) return;
    if (real === undefined) this.#escaping.add(place.path);
    else if (kind === "file") this.#keep(real, place.path);
    else if (kind === "folder" && !leadsBack(real, place))
      this.enter({ path: place.path, real, above: [...place.above, place.real] }, progress);
  }

  #keep(real: string, path: string): void {
    const known = this.#linked.get(real);
    if (known === undefined || isShorter(path, known)) this.#linked.set(real, path);
  }

  /** Of what was found in several ways, the shortest. */
  #files(): readonly string[] {
    if (this.#linked.size === 0) return this.#plain;
    const files = new Map(this.#plain.map((path) => [path, path]));
    for (const [real, path] of this.#linked) {
      const known = files.get(real);
      if (known === undefined || isShorter(path, known)) files.set(real, path);
    }
    return [...files.values()];
  }
}

function isShorter(path: string, known: string): boolean {
  return path.length < known.length || (path.length === known.length && path < known);
}

function inside({ path, real, above }: Standing, name: string): Standing {
  return { path: below(path, name), real: below(real, name), above };
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Whether following a link to this folder would come by a place where the walk already is. */
function leadsBack(real: string, { real: here, above }: Standing): boolean {
  return real === "" || [here, ...above].some((folder) => `${folder}/`.startsWith(`${real}/`));
}
