// Builds dist/: the executable, cut where commands load what they run, and the library.
import { chmod, readFile, rm } from "node:fs/promises";
import { rolldown } from "rolldown";

const { version } = JSON.parse(await readFile("package.json", "utf8"));

const shared = {
  platform: "node",
  // The one dependency with a native part; it is loaded only by `tasc serve`.
  external: ["libsql"],
  transform: { define: { __TASC_VERSION__: JSON.stringify(version) } },
};

await rm("dist", { recursive: true, force: true });

const executable = await rolldown({ ...shared, input: { tasc: "src/cli/main.ts" } });
await executable.write({
  dir: "dist",
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "chunks/[name]-[hash].cjs",
  banner: (chunk) => (chunk.isEntry ? "#!/usr/bin/env node" : ""),
  minify: true,
  comments: { legal: false },
});
await chmod("dist/tasc.cjs", 0o755);
