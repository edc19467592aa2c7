import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { nearest } from "../manifest/document.ts";
import { describe, knownAddresses, renderRemembered } from "../state/correct.ts";
import { sayError } from "./diagnostics.ts";
import { type Access, readAddress, readState, withStates } from "./state-access.ts";

/** `tasc state show ADDRESS`: what state remembers of one address. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, (access) => show(given, access));
}

async function show(given: Given, access: Access): Promise<ExitCode> {
  const { console, project } = access.opened;
  const named = readAddress(given.args[0], console);
  if (named === undefined) return EXIT.invalid;
  const read = await readState(access, named.parts.target);
  if (!read.ok) return read.code;
  const remembered = read.value && describe(read.value, named.address);
  if (remembered === undefined) {
    const close = nearest(named.address, read.value === undefined ? [] : knownAddresses(read.value));
    sayError(
      console,
      `State knows nothing of ${named.address} in stage ${project.settings.stage}`,
      `${close === undefined ? "" : `Did you mean ${close}? `}What is known:\n  tasc state list`,
    );
    return EXIT.invalid;
  }
  if (textOption(given, "format") === "json") console.json(remembered);
  else console.data(renderRemembered(remembered, console.style.stdout));
  return EXIT.done;
}
