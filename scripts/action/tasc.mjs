// Runs tasc: the executable of the input `executable`, otherwise the one that this checkout builds.
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { input } from "./runner.mjs";

const BUILT = join(import.meta.dirname, "..", "..", "dist", "tasc.cjs");
/** A plan of a hundred thousand test cases is long. */
const MOST_OUTPUT = 1 << 30;

/** The folder of the project. */
export function projectFolder(env) {
  return resolve(env.GITHUB_WORKSPACE || ".", input(env, "WORKING_DIRECTORY"));
}

/**
 * Whether that folder is in its place: a branch may have replaced it by a link to another project.
 */
export function isInPlace(env) {
  const [workspace, folder] = [resolve(env.GITHUB_WORKSPACE || "."), projectFolder(env)];
  if (!existsSync(folder)) return true;
  return realpathSync(folder) === join(realpathSync(workspace), relative(workspace, folder));
}

/** Runs one command in the project's folder, never with a project of a parent folder. */
export function tasc(env, args) {
  const named = input(env, "EXECUTABLE");
  const [program, first] =
    named === "" || /\.[cm]?js$/.test(named)
      ? [process.execPath, [named === "" ? BUILT : resolve(named)]]
      : [named, []];
  const ran = spawnSync(program, [...first, ...args, "--chdir=."], {
    cwd: projectFolder(env),
    env: { ...withoutInputs(env), NO_COLOR: "1" },
    encoding: "utf8",
    maxBuffer: MOST_OUTPUT,
  });
  if (ran.error !== undefined) throw ran.error;
  return { code: ran.status ?? 1, stdout: ran.stdout, stderr: ran.stderr };
}

/**
 * The manifests of a pull request can read variables, so the action's own token must not be among
 * them.
 */
function withoutInputs(env) {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:INPUT|ACTIONS)_/i.test(name)),
  );
}
