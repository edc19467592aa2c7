import { BATCH_GENERATION_FIELDS } from "../../fields/batch-generation.ts";
import { ENVIRONMENT_FIELDS } from "../../fields/environment.ts";
import type { Field } from "../../fields/field.ts";
import { TARGET_FIELDS } from "../../fields/target.ts";
import { TEST_CASE_FIELDS } from "../../fields/test-case.ts";
import type { Kind } from "../../model/address.ts";

/** What manifests need of a row of the field table. */
export type FieldRow = Pick<Field<never>, "name" | "path" | "shape" | "nullable" | "description">;

export type InnerKind = Exclude<Kind, "target">;

/** A kind of resource inside a target: where documents declare it, and its fields. */
export interface Section<K extends InnerKind = InnerKind> {
  readonly kind: K;
  /** The key in documents, in their `defaults` and in their overrides. */
  readonly name: "environments" | "testCases" | "batchGenerations";
  /** One of them, in messages. */
  readonly noun: string;
  readonly fields: readonly FieldRow[];
  readonly description: string;
  readonly itemDescription: string;
}

export const TARGET_ROWS: readonly FieldRow[] = TARGET_FIELDS;

/** Keys of a document that say something about the target itself. */
export const TARGET_KEYS: readonly string[] = [
  "id",
  "onRemove",
  ...new Set(TARGET_ROWS.map(({ path }) => String(path[0]))),
];

export const ENVIRONMENTS: Section<"environment"> = {
  kind: "environment",
  name: "environments",
  noun: "environment",
  fields: ENVIRONMENT_FIELDS,
  description:
    "Where the application runs, by key. `default` is the service's DEFAULT environment; all others are ADDITIONAL.",
  itemDescription: "An environment: where the application runs, and how the tests get in.",
};

export const TEST_CASES: Section<"testCase"> = {
  kind: "testCase",
  name: "testCases",
  noun: "test case",
  fields: TEST_CASE_FIELDS,
  description: "The target's test cases, by key.",
  itemDescription: "A test case. Only what is declared is managed.",
};

export const BATCH_GENERATIONS: Section<"batchGeneration"> = {
  kind: "batchGeneration",
  name: "batchGenerations",
  noun: "batch generation",
  fields: BATCH_GENERATION_FIELDS,
  description: "Generations of several test cases from one prompt, by key.",
  itemDescription: "A batch generation: it runs once, and again when its content changes.",
};

export const SECTIONS = [ENVIRONMENTS, TEST_CASES, BATCH_GENERATIONS] as const;
