import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { emptyState } from "../model/state.ts";
import { type LockedDocument, moveAddress, moveTarget } from "../state/edit.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import {
  type Access,
  type NamedAddress,
  readAddress,
  saveCorrection,
  sayRefusal,
  sayWritten,
  underLock,
  withStates,
} from "./state-access.ts";

const WHY = "tasc state mv";

/** `tasc state mv FROM TO`: what is known of one address becomes known of another one. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, async (access) => {
    const { console } = access.opened;
    const from = readAddress(given.args[0], console);
    const to = from && readAddress(given.args[1], console);
    if (from === undefined || to === undefined || !isMove(from, to, console)) return EXIT.invalid;
    return from.parts.kind === "target"
      ? await moveDocument(given, access, from, to)
      : await moveInside(given, access, from, to);
  });
}

function isMove(from: NamedAddress, to: NamedAddress, console: Console): boolean {
  const problem = problemOf(from, to);
  if (problem !== undefined) sayError(console, ...problem);
  return problem === undefined;
}

function problemOf(from: NamedAddress, to: NamedAddress): readonly [string, string] | undefined {
  if (from.address === to.address) return ["Both addresses are the same", "Nothing was moved."];
  if (from.parts.kind !== to.parts.kind)
    return [
      `${from.address} and ${to.address} are of different kinds`,
      "A live resource keeps its kind, so its address does.",
    ];
  if (from.parts.kind !== "target" && from.parts.target !== to.parts.target)
    return [
      `${from.address} and ${to.address} belong to different targets`,
      `On the service it stays in its test target. To give the target another key, with all that is in it:\n  tasc state mv target.${from.parts.target} target.${to.parts.target}`,
    ];
  return undefined;
}

async function moveInside(
  given: Given,
  access: Access,
  from: NamedAddress,
  to: NamedAddress,
): Promise<ExitCode> {
  const { console } = access.opened;
  return await underLock(given, access, [from.parts.target], WHY, async (documents) => {
    const document = documentOf(documents, from.parts.target);
    const correction = moveAddress(stateOf(document), from.address, to.address);
    return await saveCorrection(document, correction, console, `${from.address} is now ${to.address}.`);
  });
}

/**
 * The new document first: cut off in between, everything is known twice and the same command ends it; the other way
 * round it would be lost.
 */
async function moveDocument(
  given: Given,
  access: Access,
  from: NamedAddress,
  to: NamedAddress,
): Promise<ExitCode> {
  const { console } = access.opened;
  const targets = [from.parts.target, to.parts.target];
  return await underLock(given, access, targets, WHY, async (documents) => {
    const old = documentOf(documents, from.parts.target);
    const next = documentOf(documents, to.parts.target);
    const moved = moveTarget(stateOf(old), to.parts.target, next.state);
    if (!moved.ok) return sayRefusal(console, moved);
    const written = await next.replace(moved.state);
    if (!written.ok) return sayWritten(written, console, "");
    const { stage, target, service } = old.key;
    const emptied = await old.replace(emptyState(stage, target, service));
    return sayWritten(emptied, console, `${from.address} is now ${to.address}, with all that is in it.`);
  });
}

function documentOf(documents: readonly LockedDocument[], target: string): LockedDocument {
  const document = documents.find(({ key }) => key.target === target);
  if (document === undefined) throw new TypeError(`the document of ${target} was not locked`);
  return document;
}

function stateOf({ state, key }: LockedDocument) {
  return state ?? emptyState(key.stage, key.target, key.service);
}
