// Programs that some tests need and npm does not provide: a browser, two shells and pre-commit.
// `npm run test:setup` installs them on a Debian system, e.g. in a container. On other systems, or
// without it, the tests that need them are skipped.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const PROGRAMS = ["chromium", "zsh", "fish", "pre-commit"];

/** Reports in one line which programs are missing. */
export function reportMissingPrograms() {
  const left = missing();
  if (left.length > 0)
    console.error(
      `Not installed: ${left.join(", ")}. Tests that need them are skipped (npm run test:setup).`,
    );
}

function missing() {
  return PROGRAMS.filter((program) => !found(program));
}

function found(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function install(programs) {
  const options = {
    stdio: "ignore",
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  };
  const get = ["install", "-y", "-qq", "--no-install-recommends", ...programs];
  if (spawnSync("apt-get", get, options).status === 0) return;
  // A new container has no package lists yet.
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", get, options);
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const programs = missing();
  if (programs.length > 0 && process.getuid?.() === 0 && found("apt-get")) install(programs);
  reportMissingPrograms();
}
