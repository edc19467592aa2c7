// Writes the JSON Schemas and their validators from the field table.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(root, "node_modules", ".generate-"));
try {
  const build = await rolldown({
    cwd: root,
    input: "scripts/schemas.ts",
    platform: "node",
    external: [/^ajv/],
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "generate.mjs" });
  process.chdir(root);
  await import(join(folder, "generate.mjs"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
