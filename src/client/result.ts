import type { Failure } from "./failure.ts";

/** What went right, or the one thing that went wrong. Nothing here is thrown for what a service or network can do. */
export type Result<T, F = Failure> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: F };

export function good<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function bad<F>(failure: F): { readonly ok: false; readonly failure: F } {
  return { ok: false, failure };
}
