import type { Kind } from "../model/address.ts";
import { BATCH_GENERATION_FIELDS } from "./batch-generation.ts";
import { ENVIRONMENT_FIELDS } from "./environment.ts";
import type { Field } from "./field.ts";
import { TARGET_FIELDS } from "./target.ts";
import { TEST_CASE_FIELDS } from "./test-case.ts";

const FIELDS: Readonly<Record<Kind, readonly Field<never>[]>> = {
  target: TARGET_FIELDS,
  environment: ENVIRONMENT_FIELDS,
  testCase: TEST_CASE_FIELDS,
  batchGeneration: BATCH_GENERATION_FIELDS,
};

/** The rows of a kind of resource, for what does not read live values. */
export function fieldsOf(kind: Kind): readonly Field<never>[] {
  return FIELDS[kind];
}

/** Keys of a PATCH of which the service generates the test case anew. */
export const GENERATING_KEYS: readonly string[] = fieldsOf("testCase").flatMap(({ generates, update }) =>
  generates === true && update !== undefined ? [update] : [],
);
