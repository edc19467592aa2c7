import type { Diagnostic, Origin, Severity } from "../model/diagnostic.ts";
import { showPath } from "./words.ts";

/**
 * A problem of a manifest whose line and column are not known yet. They cost a second parse of the file, so they are
 * looked up once, at the end, and for nothing but what is reported.
 */
export interface ManifestProblem extends Omit<Diagnostic, "place"> {
  readonly origin: Origin;
  /** The key of the path's last step is meant, and not the value. */
  readonly at?: "key";
  /** A piece of the value's text that is meant, `${env:HOST}` for example. */
  readonly within?: string;
  /** A second place that belongs to the problem; the detail ends by naming it. */
  readonly related?: Origin;
  /** Line and column, where something else than the path tells them. */
  readonly spot?: { readonly line: number; readonly column: number };
}

type Extras = Partial<Pick<ManifestProblem, "at" | "within" | "related" | "spot" | "address">>;

/** An error at a place of a manifest. The detail begins with the path in the document. */
export function manifestError(
  code: string,
  origin: Origin,
  summary: string,
  detail: string,
  extras: Extras = {},
): ManifestProblem {
  return { severity: "error", code, summary, detail: withPath(origin, detail), origin, ...extras };
}

/** A warning at a place of a manifest, likewise. */
export function manifestWarning(
  code: string,
  origin: Origin,
  summary: string,
  detail: string,
  extras: Extras = {},
): ManifestProblem {
  return { ...manifestError(code, origin, summary, detail, extras), severity: "warning" };
}

function withPath({ path }: Origin, detail: string): string {
  return path.length === 0 ? detail : `At \`${showPath(path)}\`. ${detail}`;
}

/** Whether any of the problems is an error. */
export function hasErrors(problems: readonly { readonly severity: Severity }[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}
