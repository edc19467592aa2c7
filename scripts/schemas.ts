import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedFiles } from "./schema-files.ts";

/** Writes the JSON Schemas and their validators into the repository: run it in its root. */
for (const { path, text } of generatedFiles()) {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}
