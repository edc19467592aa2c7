import {
  closeSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { failed, isSystemError } from "../model/error.ts";

/**
 * Refuses to write to a symbolic link or, below `root`, through one: a repository could contain
 * links that lead out of it, and another user could create one in a shared folder. With `follow`, a
 * link may lead to another place below `root`, as for manifests. @throws TascError
 */
export function refuseLinks(path: string, root: string, follow = false): void {
  const isInside = isBelow(path, root);
  let place = isInside ? root : dirname(path);
  for (const part of isInside ? relative(root, path).split(sep) : [basename(path)]) {
    place = join(place, part);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    if (!follow || !isBelow(realpathSync(place), realpathSync(root)))
      throw failed(
        "linked-place",
        `${place} is a symbolic link; nothing is written through links`,
        "Replace it with a file or folder of its own, or choose another place.",
      );
  }
}

function isBelow(path: string, root: string): boolean {
  const below = relative(root, path);
  return !isAbsolute(below) && below.split(sep)[0] !== "..";
}

/**
 * Writes a file that only its owner can ever read; it takes its name only when it is complete.
 * Never writes through a link and never replaces a device or a folder. @param code of the error
 * @throws TascError
 */
export async function writeWhole(
  name: string,
  { root, host: { cwd } }: { readonly root: string; readonly host: { readonly cwd: string } },
  code: string,
  work: (write: (piece: string) => void) => Promise<void>,
): Promise<void> {
  const path = resolve(cwd, name);
  const temporary = `${path}.${process.pid}.tmp`;
  const detail =
    "Check that it is not a folder, and that its folder exists, is writable and has space.";
  const refusal = failed(code, `Cannot write ${name}`, detail);
  try {
    // With `--chdir`, the repository can also have links above its project.
    for (const place of [root, cwd]) refuseLinks(path, place);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw refusal;
    const file = openSync(temporary, "wx", 0o600);
    try {
      await work((piece) => writeFileSync(file, piece)).finally(() => closeSync(file));
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
  } catch (error) {
    throw isSystemError(error) ? refusal : error;
  }
}
