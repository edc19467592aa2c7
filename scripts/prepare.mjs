// Builds the contents of the package. npm runs this for a dependency on the git repository, for
// `npm pack` and for `npm publish`, and after `npm ci` in the repository itself.
import { existsSync } from "node:fs";
import { join } from "node:path";

const bundler = join(import.meta.dirname, "..", "node_modules", "rolldown");

if (existsSync(bundler)) await import("./build.mjs");
else if (/^(pack|publish)$/.test(process.env.npm_command ?? "")) {
  console.error("The package cannot be built: run `npm ci` first.");
  process.exitCode = 1;
}
// Otherwise this is an install without development dependencies, which cannot build.
