import { SCHEMA_NAMES, schemaOf } from "./schemas.ts";
import { validatorSource } from "./standalone.ts";

/** A file of the repository that is made and not written. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The schemas as editors and `tasc schema` use them, and the validators made of them. */
export function generatedFiles(): readonly GeneratedFile[] {
  const generated = "src/manifest/schema/generated";
  return SCHEMA_NAMES.flatMap((name) => [
    { path: `schemas/${name}.schema.json`, text: `${JSON.stringify(schemaOf(name), null, 2)}\n` },
    { path: `${generated}/${name}.js`, text: validatorSource(schemaOf(name)) },
  ]);
}
