import type { World } from "../commands/context.ts";

export type { World };

declare const __TASC_VERSION__: string;

export function realWorld(): World {
  return {
    env: process.env,
    cwd: process.cwd(),
    // Node opens a stream when it is first asked for, which takes as long as all of `--help`.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    now: () => Date.now(),
    random: () => Math.random(),
    version: __TASC_VERSION__,
    secrets: new Set(),
    said: [],
    unwritten: [],
    printed: { documents: 0 },
  };
}
