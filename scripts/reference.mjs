// Writes docs/reference/commands.md from the command table and the field table.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs", "reference", "commands.md");
const folder = mkdtempSync(join(root, "node_modules", ".reference-"));
try {
  const build = await rolldown({
    cwd: root,
    input: "src/reference/reference.ts",
    platform: "node",
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "reference.mjs" });
  const { referenceText } = await import(join(folder, "reference.mjs"));
  const options = await resolveConfig(file);
  writeFileSync(file, await format(referenceText(), { ...options, filepath: file }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
