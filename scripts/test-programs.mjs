// Programs that some tests drive, and that npm does not bring: a browser and two shells. On a Debian machine of one's
// own, a container for instance, they are installed; anywhere else the tests that need them are skipped.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const PROGRAMS = ["chromium", "zsh", "fish"];

/** Installs what is missing where that is possible, and says in one line what is missing still. */
export function provideTestPrograms() {
  if (missing().length === 0) return;
  if (process.getuid?.() === 0 && found("apt-get")) install(missing());
  const left = missing();
  if (left.length > 0) console.error(`Not here: ${left.join(", ")}. Tests that need them are skipped.`);
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
  // A fresh container knows no packages yet.
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", get, options);
}
