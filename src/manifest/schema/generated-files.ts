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
  return SCHEMA_NAMES.flatMap((name) => {
    const schema = schemaOf(name);
    return [
      { path: `schemas/${name}.schema.json`, text: `${JSON.stringify(schema, null, 2)}\n` },
      { path: `src/manifest/schema/generated/${name}.js`, text: validatorSource(schema) },
    ];
  });
}
