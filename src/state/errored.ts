import { createHash } from "node:crypto";
import { join } from "node:path";
import { jsonIn } from "../model/json.ts";
import { isRecord, isText } from "../model/shape.ts";
import { type State, type StateEvent, areStateEvents } from "../model/state.ts";
import type { StateKey, StateRuntime } from "./backend.ts";
import { checkKey, contentOf, isDocumentKey } from "./document.ts";
import { unsureEvents } from "./events.ts";
import { fileName, makeFolder, readIfThere, removeFile, replaceFile } from "./files.ts";
import { StateFailure, attempt } from "./problem.ts";

/*
 * The events that an apply could not save, because its backend or its lock was lost: `.tasc/errored/STAGE/TARGET.json`. The
 * next run that locks the target takes them in. If another job has worked since then, its records are newer than ours. Then
 * only what it does not know is taken in (ids, generations that ran), and records of fields that both wrote are dropped, so
 * that these fields are sent once more.
 *
 * The events go into the team's state, so a file from a pull request must not be accepted: the file is sealed.
 */

type Sealer = Pick<StateRuntime, "projectFolder" | "seal">;

export function erroredFile(
  { projectFolder }: Pick<StateRuntime, "projectFolder">,
  { stage, target }: StateKey,
): string {
  return join(projectFolder, ".tasc", "errored", fileName(stage), `${fileName(target)}.json`);
}

const FORMAT = "tasc-errored";

/**
 * Writes the unsaved events to a file.
 * @param saved the last saved state, without the events
 * @returns the file's path
 */
export async function writeErrored(world: Sealer, saved: State, events: readonly StateEvent[]) {
  const file = erroredFile(world, saved);
  const { stage, target, service } = saved;
  const content = {
    format: FORMAT,
    version: 1,
    stage,
    target,
    service,
    saved: digestOf(saved),
    events,
  };
  return await attempt(file, async () => {
    await makeFolder(join(file, ".."), world.projectFolder);
    const sealed = { ...content, seal: world.seal?.(JSON.stringify(content)) };
    await replaceFile(file, `${JSON.stringify(sealed, undefined, 2)}\n`);
    return file;
  });
}

/**
 * Records what an earlier run could not save, on top of a state, and removes its file.
 * @returns the file's path, if any
 */
export async function takeInErrored(
  world: Sealer,
  state: State,
  record: (events: readonly StateEvent[]) => Promise<void>,
): Promise<string | undefined> {
  const left = await readErrored(world, state);
  if (left === undefined) return undefined;
  await record(left.events);
  await removeFile(left.file);
  return left.file;
}

/** Reads what an earlier run could not save, as events on top of a state. */
export async function readErrored(
  world: Sealer,
  state: State,
): Promise<{ readonly file: string; readonly events: readonly StateEvent[] } | undefined> {
  const file = erroredFile(world, state);
  const corrupt = (reason: string) => new StateFailure({ kind: "corrupt", where: file, reason });
  const events = await attempt(file, async () => {
    const bytes = await readIfThere(file);
    if (bytes === undefined) return undefined;
    const content = jsonIn(bytes.toString("utf8"));
    if (!isRecord(content) || content["format"] !== FORMAT || !isText(content["saved"]))
      throw corrupt("it is not in the expected format");
    const { seal, ...sealed } = content;
    if (world.seal === undefined || seal !== world.seal(JSON.stringify(sealed)))
      throw corrupt("it was not written with this stage's key, so it may not be tasc's own");
    const { saved, events } = content;
    if (!isDocumentKey(content) || !areStateEvents(events))
      throw corrupt('its "events" are not as tasc writes them');
    checkKey(content, state, file);
    return digestOf(state) === saved ? events : events.flatMap((event) => newTo(state, event));
  });
  return events && { file, events };
}

function digestOf(state: State): string {
  return createHash("sha256").update(contentOf(state)).digest("base64url");
}

/** Returns the parts of an event that the next plan can neither find out by itself nor look up. */
function newTo(state: State, event: StateEvent): readonly StateEvent[] {
  if (event.type === "forgot") return [event];
  if (event.type === "wrote" || event.type === "located") return unrecorded(state, event);
  if (event.type === "batch")
    return state.batchGenerations.get(event.address)?.status === "done" ? [] : [event];
  if (event.type === "folder") return state.folders.has(event.name) ? [] : [event];
  if (event.type !== "bound") return [];
  const binding = state.bindings.get(event.address);
  if (binding?.id === event.id) return unrecorded(state, { ...event, type: "wrote" });
  const isTaken = [...state.bindings.values()].some(({ id }) => id === event.id);
  return binding === undefined && !isTaken ? [event] : [];
}

/**
 * Drops records of fields that both runs wrote differently: who was the last is unknown, so they
 * are sent once more. Keeps `secrets`: a secret of ours may still be shown.
 */
function unrecorded(
  state: State,
  event: Extract<StateEvent, { type: "wrote" | "located" }>,
): readonly StateEvent[] {
  const { address } = event;
  const binding = state.bindings.get(address);
  const differing = <T>(known: Readonly<Record<string, T>> = {}, ours: typeof known) =>
    Object.keys(ours).filter((name) => JSON.stringify(known[name]) !== JSON.stringify(ours[name]));
  if (event.type === "located")
    return unsureEvents(address, [], differing(binding?.locators, event.locators));
  const { fields, secrets = [] } = event;
  return [
    ...unsureEvents(address, differing(binding?.fields, fields)),
    { type: "wrote", address, fields: {}, secrets },
  ];
}
