import type { Origin } from "../../model/diagnostic.ts";

import type { Scalar } from "../shape/convert.ts";

/** The values of environment variables, as the process or a `--dotenv` file gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What `${file:…}` reads: a file's text without one trailing newline, or why there is none. */
export type TextFile =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** An entry of `vars`, as it stands in the document. */
export interface Variable {
  readonly value: Scalar;
  readonly origin: Origin;
}

/** All that the interpolations of one stage draw on. */
export interface Surroundings {
  readonly stage: string;
  readonly env: Environment;
  /** By path as the manifest writes it. */
  readonly files: ReadonlyMap<string, TextFile>;
  readonly vars: ReadonlyMap<string, Variable>;
  /** A missing secret is then unknown, with a warning, and no error. */
  readonly allowMissingSecrets: boolean;
}
