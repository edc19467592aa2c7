// Imports the text of a file as a module, as in Vitest, for every bundle that needs it.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

export const withTexts = {
  name: "with-texts",
  resolveId: (source, importer) =>
    source.endsWith("?raw") ? resolve(dirname(importer ?? "."), source) : undefined,
  load: async (id) =>
    id.endsWith("?raw")
      ? `export default ${JSON.stringify(await readFile(id.slice(0, -"?raw".length), "utf8"))};`
      : undefined,
};
