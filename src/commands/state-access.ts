import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { parseDuration } from "../manifest/shape.ts";
import { type Address, type AddressParts, isAddress, parseAddress } from "../model/address.ts";
import type { State } from "../model/state.ts";
import { type Correction, type LockedDocument, lockDocuments, unlockDocuments } from "../state/edit.ts";
import { type Result, explainTakeover } from "../state/problem.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { type Opened, openProject } from "./opening.ts";
import { type OrCode, type States, openStates, sayStateProblem } from "./states.ts";

/** A project's state in the hands of a command that looks at it or corrects it. */
export interface Access {
  readonly opened: Opened;
  readonly states: States;
}

/**
 * Opens a project's state, and lets go of it after the work. Secrets of the manifests may be missing: whoever corrects
 * state need not have them.
 */
export async function withStates(
  given: Given,
  world: World,
  work: (access: Access) => Promise<ExitCode>,
): Promise<ExitCode> {
  const lenient = { ...given, options: { ...given.options, allowMissingSecrets: true } };
  const opened = await openProject(lenient, world, { needsApiKey: false, leave: "warnings" });
  if (!opened.ok) return opened.code;
  const states = await openStates(opened, world);
  if (!states.ok) return states.code;
  try {
    return await work({ opened, states: states.value });
  } finally {
    await states.value.backend.close();
  }
}

/** Does the work while the targets' documents are locked. What goes wrong with state is said. */
export async function underLock(
  given: Given,
  { opened, states }: Access,
  targets: readonly string[],
  why: string,
  work: (documents: readonly LockedDocument[]) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { console } = opened;
  const text = textOption(given, "lockTimeout");
  const timeout = text === undefined ? 0 : parseDuration(text);
  if (timeout === undefined) {
    sayError(console, "--lock-timeout takes a duration such as 90s or 10m");
    return EXIT.invalid;
  }
  const keys = targets.map((target) => keyOf(states, target));
  const locked = await lockDocuments(states.backend, states.world, keys, { timeout, why });
  if (!locked.ok) return sayStateProblem(console, locked.problem);
  try {
    for (const { key, takenOver } of locked.value)
      if (takenOver !== undefined) sayDiagnostics(console, [explainTakeover(key, takenOver)]);
    return await work(locked.value);
  } finally {
    await unlockDocuments(locked.value);
  }
}

function keyOf({ settings }: States, target: string): LockedDocument["key"] {
  return { stage: settings.stage, target, service: settings.baseUrl };
}

/** A state as it is, without a lock; `undefined` if there is none. */
export async function readState(
  { opened, states }: Access,
  target: string,
): Promise<OrCode<State | undefined>> {
  const stored = await states.backend.read(keyOf(states, target));
  if (!stored.ok) return { ok: false, code: sayStateProblem(opened.console, stored.problem) };
  return { ok: true, value: stored.value?.state };
}

export interface NamedAddress {
  readonly address: Address;
  readonly parts: AddressParts;
}

/** An address from the command line; what is none is said. */
export function readAddress(text: string | undefined, console: Console): NamedAddress | undefined {
  const parts = text === undefined ? undefined : parseAddress(text);
  if (text !== undefined && isAddress(text) && parts !== undefined) return { address: text, parts };
  sayError(
    console,
    `${text ?? ""} is no address`,
    "Addresses look like target.shop, environment.shop.preview, testCase.shop.login or batchGeneration.shop.spring.",
  );
  return undefined;
}

/** Says why a correction was refused. */
export function sayRefusal(
  console: Console,
  { fault, summary, detail }: Correction & { readonly ok: false },
): ExitCode {
  sayError(console, summary, detail);
  return fault === "argument" ? EXIT.invalid : EXIT.failed;
}

/** Writes a document, says what became of it, and gives the exit code. */
export async function saveCorrection(
  document: LockedDocument,
  correction: Correction,
  console: Console,
  done: string,
): Promise<ExitCode> {
  if (!correction.ok) return sayRefusal(console, correction);
  const written = await document.replace(correction.state);
  return sayWritten(written, console, done);
}

export function sayWritten(written: Result<void>, console: Console, done: string): ExitCode {
  if (!written.ok) return sayStateProblem(console, written.problem);
  console.data(`${done}\n`);
  return EXIT.done;
}
