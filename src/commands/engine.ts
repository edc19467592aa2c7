import { setFlagsFromString } from "node:v8";

/** The versions of Node in which the flags are known to be there and to be heeded while a program runs. */
const [OLDEST, NEWEST] = [20, 26];

/**
 * Inlining pays where a program runs for long. In one that is over in a second or two, what is saved by it is less
 * than what compiling costs, and takes the cores from the work itself: without it, a plan of 10,000 test cases takes a
 * seventh less CPU on Node 20, a tenth less on 24 and a twentieth less on 26.
 */
export function inlineLittle(): void {
  set("--max-inlined-bytecode-size-cumulative=100");
  // The parser of HTTP is a WebAssembly module with one huge function. To optimise that takes 30 MiB and more time than a
  // run of seconds can win back.
  set("--wasm-tiering-budget=2000000000");
}

/**
 * Where a program mostly waits for answers, what it does in between is optimised late or not at all: nobody would have
 * the time that this saves, and compiling takes a twelfth of the CPU of an apply.
 */
export function optimiseLate(): void {
  set("--interrupt-budget=200000");
}

/**
 * What is read of manifests stays until the end. A large space for young objects saves no work there and costs a tenth of
 * the memory on Node 20, a third on 24 and a quarter on 26, so it is kept as small as it is by then; and a heap that may
 * double before it is looked through is half empty, so that of a large project grows in small steps: a fifth less memory
 * for 100,000 test cases.
 *
 * @param files as many as are about to be read
 */
export function fitHeapTo(files: number): void {
  set("--semi-space-growth-factor=1");
  if (files > MANY_FILES) set("--heap-growing-percent=10");
}

const MANY_FILES = 20_000;

function set(flag: string): void {
  const major = Number.parseInt(process.versions.node, 10);
  if (major >= OLDEST && major <= NEWEST) setFlagsFromString(flag);
}
