// Writes the library's declarations: those of its entry, and those that the entry refers to.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");
const ENTRY = "index.d.ts";

/** Writes them into a folder, where `index.d.ts` is the entry. */
export function writeTypes(target) {
  const all = mkdtempSync(join(root, "node_modules", ".types-"));
  try {
    const args = ["-p", "scripts/types.tsconfig.json", "--outDir", all];
    const { status, stdout } = spawnSync(join(root, "node_modules", ".bin", "tsc"), args, {
      cwd: root,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`no declarations:\n${stdout}`);
    const wanted = new Set([join(all, ENTRY)]);
    for (const file of wanted) {
      const text = readFileSync(file, "utf8").replaceAll(
        /(["'])(\.[^"']*)\.ts\1/g,
        (_, quote, path) => {
          wanted.add(join(dirname(file), `${path}.d.ts`));
          return `${quote}${path}.js${quote}`;
        },
      );
      const to = join(target, relative(all, file));
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, text);
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}
