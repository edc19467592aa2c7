import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { nearest } from "../manifest/document.ts";
import type { LockInfo } from "../state/lock.ts";
import { describeHolder } from "../state/problem.ts";
import { sayError } from "./diagnostics.ts";
import { type Access, withStates } from "./state-access.ts";
import { sayStateProblem } from "./states.ts";

/** `tasc state unlock TARGET`: takes a lock away from whoever holds it, and says who that was. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, (access) => unlock(given, access));
}

async function unlock(given: Given, access: Access): Promise<ExitCode> {
  const { console, project } = access.opened;
  const { backend } = access.states;
  const { stage } = project.settings;
  const target = (given.args[0] ?? "").replace(/^target\./, "");
  const freed = await backend.forceUnlock({ stage, target });
  if (!freed.ok) return sayStateProblem(console, freed.problem);
  const holder = freed.value;
  if (holder === undefined && !(await isKnown(target, access))) return EXIT.invalid;
  if (textOption(given, "format") === "json")
    console.json({ target, stage, holder: holder === undefined ? null : holderJson(holder) });
  else if (holder === undefined) console.data(`Target ${target} in stage ${stage} was not locked.\n`);
  else console.data(`Target ${target} in stage ${stage} is unlocked. ${describeHolder(holder)}\n`);
  return EXIT.done;
}

/** Whether there is such a target at all; if not, that is said: most likely it is misspelt. */
async function isKnown(target: string, { opened: { console, project }, states }: Access): Promise<boolean> {
  const { stage } = project.settings;
  const listed = await states.backend.list(stage);
  const stored = listed.ok ? listed.value : [];
  const known = [...project.desired.targets.map(({ key }) => key), ...stored];
  if (known.includes(target)) return true;
  const close = nearest(target, known);
  sayError(
    console,
    `There is no target ${target} in stage ${stage}`,
    `No manifest declares it, and there is no state of it.${close === undefined ? "" : ` Did you mean ${close}?`}`,
  );
  return false;
}

function holderJson({ who, since, why, folder, job, process }: LockInfo) {
  return {
    who,
    since,
    why,
    ...(folder === undefined ? {} : { folder }),
    ...(job === undefined ? {} : { job }),
    ...(process === undefined ? {} : { host: process.host, pid: process.pid }),
  };
}
