// Writes docs/reference/commands.md from the command table and the field table, errors.md from the
// error catalogue, the commands of docs/agents.md, and the package's skill from that page.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  const { agentsText, commandSpecs, errorsText, referenceText, skillText } = await import(
    join(folder, "reference.mjs")
  );
  const commands = await commandSpecs();
  const page = agentsText(readFileSync(join(root, "docs/agents.md"), "utf8"), commands);
  mkdirSync(join(root, "skills/tasc"), { recursive: true });
  for (const [name, text] of [
    ["docs/reference/commands.md", referenceText(commands)],
    ["docs/reference/errors.md", errorsText()],
    ["docs/agents.md", page],
    ["skills/tasc/SKILL.md", skillText(page)],
  ]) {
    const file = join(root, name);
    const options = await resolveConfig(file);
    writeFileSync(file, await format(text, { ...options, filepath: file }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
