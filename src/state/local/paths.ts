import { join } from "node:path";
import type { StateKey } from "../problem.ts";

/** The files of one document. */
export interface StatePaths {
  readonly folder: string;
  readonly document: string;
  readonly journal: string;
  readonly lock: string;
}

const DOCUMENT = ".json";
const JOURNAL = ".journal";

export function pathsOf(root: string, { stage, target }: StateKey): StatePaths {
  const folder = stageFolder(root, stage);
  const base = join(folder, fileName(target));
  return { folder, document: base + DOCUMENT, journal: base + JOURNAL, lock: `${base}.lock` };
}

export function stageFolder(root: string, stage: string): string {
  return join(root, fileName(stage));
}

/** The target that a file of a stage's folder tells of; `undefined` for locks and what is not ours. */
export function targetOf(file: string): string | undefined {
  const ending = [DOCUMENT, JOURNAL].find((one) => file.endsWith(one));
  if (ending === undefined) return undefined;
  const name = file.slice(0, -ending.length);
  const target = decode(name);
  return target !== undefined && fileName(target) === name ? target : undefined;
}

/** A key is a file name as it is; a stage may be called anything, and must not lead out of the folder. */
function fileName(key: string): string {
  return encodeURIComponent(key).replace(/^\./, "%2E");
}

function decode(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
