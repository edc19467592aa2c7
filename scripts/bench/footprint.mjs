// The size of an installation of tasc.
import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, limit } from "./figures.mjs";
import { root } from "./run.mjs";

/**
 * The result of a user's `npm install` of the packed tool; the size excludes the local service's
 * database.
 */
export function footprintRow() {
  return inFolder(async (folder) => {
    const npm = (...args) =>
      execFileSync("npm", args, {
        cwd: folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
    const [{ filename }] = JSON.parse(
      npm("pack", "--json", "--ignore-scripts", "--pack-destination", folder, root),
    );
    writeFileSync(join(folder, "package.json"), "{}");
    npm("install", "--ignore-scripts", "--no-audit", "--no-fund", `./${filename}`);
    const lock = JSON.parse(
      readFileSync(join(folder, "node_modules", ".package-lock.json"), "utf8"),
    );
    const packages = Object.entries(lock.packages);
    const isDatabase = (path) => /node_modules\/(?:@?libsql|@neon-rs|detect-libc)/.test(path);
    const size = packages
      .filter(([path]) => !isDatabase(path))
      .reduce((sum, [path]) => sum + sizeOf(join(folder, path)), 0);
    return [
      limit("packages", packages.length, 25, ""),
      limit("size beside the database", size / 2 ** 20, 2, "MiB"),
      limit(
        "packages with an install script",
        packages.filter(([, one]) => one.hasInstallScript).length,
        0,
        "",
      ),
    ];
  });
}

function sizeOf(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
