import { closeSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

import { destinationOf } from "../output/destination.ts";

/** Where a snapshot goes, piece by piece. What was written after a mark can be taken back. */
export interface Sink {
  write(text: string): void;
  mark(): number;
  rewind(mark: number): void;
}

/** In memory, for standard output: nothing that a broken try wrote may have left. */
export function memorySink(): Sink & { pieces(): readonly string[] } {
  const pieces: string[] = [];
  return {
    write: (text) => void pieces.push(text),
    mark: () => pieces.length,
    rewind: (mark) => void pieces.splice(mark),
    pieces: () => pieces,
  };
}

export interface FileSink extends Sink {
  /** Puts the file in its place. */
  keep(): void;
  /** Leaves nothing behind; after `keep` it does nothing. */
  drop(): void;
}

/** Characters that are gathered before they are written. */
const BUFFERED = 256 * 1024;

/**
 * A file that is readable for its owner alone from the first moment, and in its place only when it is whole.
 * @throws the system's error where it cannot be written
 */
export function fileSink(path: string): FileSink {
  const destination = destinationOf(path);
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, "wx", 0o600);
  let waiting = "";
  let size = 0;
  let open = true;
  const flush = (): void => {
    const bytes = Buffer.from(waiting);
    waiting = "";
    for (let done = 0; done < bytes.length;)
      done += writeSync(file, bytes, done, bytes.length - done, size + done);
    size += bytes.length;
  };
  const close = (): void => {
    open = false;
    closeSync(file);
  };
  return {
    write(text) {
      waiting += text;
      if (waiting.length > BUFFERED) flush();
    },
    mark() {
      flush();
      return size;
    },
    rewind(mark) {
      waiting = "";
      ftruncateSync(file, mark);
      size = mark;
    },
    keep() {
      flush();
      close();
      renameSync(temporary, destination);
    },
    drop() {
      if (open) close();
      rmSync(temporary, { force: true });
    },
  };
}
