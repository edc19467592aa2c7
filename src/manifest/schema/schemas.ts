import type { JsonObject } from "../../model/json.ts";
import { PROJECT, PROJECT_DEFINITIONS } from "../tables/project.ts";
import { TARGET_DEFINITIONS, TARGET_DOCUMENT } from "../tables/target.ts";
import { planSchema } from "./plan-schema.ts";
import { documentSchema, JSON_DEFINITION } from "./shape-schema.ts";

/** All documents that have a schema; also the arguments of `tasc schema`. */
export const SCHEMA_NAMES = ["project", "target", "plan"] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** A document's JSON Schema, made from the tables. */
export function schemaOf(name: SchemaName): JsonObject {
  switch (name) {
    case "project":
      return documentSchema(
        { $id: "urn:tasc:schema:project:1", title: "tasc project file" },
        PROJECT,
        PROJECT_DEFINITIONS,
      );
    case "target":
      return documentSchema(
        { $id: "urn:tasc:schema:target:1", title: "tasc target document" },
        TARGET_DOCUMENT,
        TARGET_DEFINITIONS,
        JSON_DEFINITION,
      );
    case "plan":
      return planSchema();
  }
}
