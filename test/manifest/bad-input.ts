import { expect, test } from "vitest";
import { ENV, errors } from "./loading.ts";
import type { MemoryFiles } from "./memory-folder.ts";

/** A rule, an input that breaks it, and all errors that the user sees. */
export interface BadInput {
  readonly rule: string;
  /** `targets/shop.yaml`. */
  readonly document?: string;
  /** `tasc.yaml`; by default a small valid one. */
  readonly project?: string;
  readonly files?: MemoryFiles;
  readonly env?: Readonly<Record<string, string>>;
  readonly stage?: string;
  readonly errors: readonly string[];
}

/** Defines one test for each row, named after its rule. */
export function testBadInputs(rows: readonly BadInput[]): void {
  for (const { rule, document, project, files, env = ENV, stage, errors: expected } of rows)
    test(rule, async () => {
      const all = {
        ...(project === undefined ? {} : { "tasc.yaml": project }),
        ...(document === undefined ? {} : { "targets/shop.yaml": document }),
        ...files,
      };
      expect(await errors(all, { env, stage })).toEqual(expected);
    });
}
