import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Address } from "../model/address.ts";
import { type State, emptyState } from "../model/state.ts";
import { count } from "../render/words.ts";
import { type LockedDocument, forgetAddress, forgetTarget, knownAddresses } from "../state/edit.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics } from "./diagnostics.ts";
import { type NamedAddress, readAddress, saveCorrection, underLock, withStates } from "./state-access.ts";

/** `tasc state rm ADDRESS`: forgets it. The service is not called. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, async (access) => {
    const { console } = access.opened;
    const named = readAddress(given.args[0], console);
    if (named === undefined) return EXIT.invalid;
    return await underLock(given, access, [named.parts.target], "tasc state rm", async (documents) => {
      const [document] = documents;
      return document === undefined ? EXIT.failed : await forget(document, named, console);
    });
  });
}

async function forget(
  document: LockedDocument,
  { address, parts }: NamedAddress,
  console: Console,
): Promise<ExitCode> {
  const { key } = document;
  const state = document.state ?? emptyState(key.stage, key.target, key.service);
  const whole = parts.kind === "target";
  const correction = whole ? forgetTarget(state, address) : forgetAddress(state, address);
  const gone = whole ? knownAddresses(state) : [address];
  if (correction.ok) sayConsequences(state, gone, console);
  const done = whole
    ? `${address} is forgotten, with all that is in it (${count(gone.length, "address", "addresses")}).`
    : `${address} is forgotten.`;
  return await saveCorrection(document, correction, console, `${done} The service was not called.`);
}

/** What the next apply does for want of what is forgotten now. */
function sayConsequences(state: State, gone: readonly Address[], console: Console): void {
  const open = gone.filter((address) => state.intents.has(address));
  for (const address of open)
    sayDiagnostics(console, [
      {
        severity: "warning",
        code: "intent-forgotten",
        summary: `A creation of ${address} was cut off, and nobody has looked what it made`,
        detail: "The next apply looks for it by name only. See that it does not make it a second time.",
      },
    ]);
  const last = gone.length === knownAddresses(state).length;
  const ran = last ? [] : gone.filter((address) => state.batchGenerations.has(address));
  for (const address of ran)
    sayDiagnostics(console, [
      {
        severity: "warning",
        code: "batch-forgotten",
        summary: `${address} counts as never run from now on`,
        detail: `The next apply runs it if a manifest declares it. If it ran and is not to run again:\n  tasc state mark ${address} done`,
      },
    ]);
}
