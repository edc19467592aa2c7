// Writes docs/reference/commands.md from the command table and the field table, and errors.md from
// the error catalogue.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { rolldown } from "rolldown";
import { withTexts } from "./with-texts.mjs";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(root, "node_modules", ".reference-"));
try {
  const build = await rolldown({
    cwd: root,
    input: "scripts/reference.ts",
    platform: "node",
    external: ["libsql"],
    plugins: [withTexts],
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "reference.mjs" });
  const { commandSpecs, errorsText, referenceText } = await import(join(folder, "reference.mjs"));
  for (const [name, text] of [
    ["commands.md", referenceText(await commandSpecs())],
    ["errors.md", errorsText()],
  ]) {
    const file = join(root, "docs", "reference", name);
    const options = await resolveConfig(file);
    writeFileSync(file, await format(text, { ...options, filepath: file }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
