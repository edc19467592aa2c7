import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Look } from "../look/look.ts";
import type { Desired } from "../model/desired.ts";
import type { State } from "../model/state.ts";
import { type Remembered, withLeft } from "../plan/orphans.ts";
import { connect } from "./connect.ts";
import { disablesRemoved, lookAround } from "./look.ts";
import { type Opened, openProject } from "./opening.ts";
import { type PlanRequest, checkRequest } from "./request.ts";
import { type OrCode, openStates, readStates, readStrays } from "./states.ts";

/** Manifests, state and service, read and compared: what all commands that only look begin with. */
export interface Survey extends Look {
  readonly opened: Opened;
  /** What the command line asks for beyond what the manifests say. */
  readonly request: PlanRequest;
  /** By target key. */
  readonly states: ReadonlyMap<string, State>;
}

/** Reads and plans; what keeps it from that is said. @param narrow cuts the command line's options down further */
export async function survey(
  given: Given,
  world: World,
  narrow: (given: Given) => Given = (same) => same,
): Promise<OrCode<Survey>> {
  const opened = await openProject(given, world, { needsApiKey: true, leave: "warnings" });
  return opened.ok ? surveyOpened(opened, narrow(given), world) : opened;
}

/** The same for a project that is open already. */
export async function surveyOpened(opened: Opened, given: Given, world: World): Promise<OrCode<Survey>> {
  const remembered = await readRemembered(opened, world);
  if (!remembered.ok) return remembered;
  const { desired, states, strays } = remembered.value;
  const { project, console } = opened;
  const request = checkRequest(given, desired, [...states.values(), ...strays], console);
  if (!request.ok) return request;
  const connected = connect(given, world, project.settings, console);
  if (!connected.ok) return connected;
  try {
    const look = await lookAround(opened, connected.client, remembered.value, request.value);
    return look.ok ? { ok: true, value: { ...look.value, opened, request: request.value, states } } : look;
  } finally {
    await connected.client.close();
  }
}

/** Reads the stage's states, without a lock, and lets go of where they are kept. */
export async function readRemembered(opened: Opened, world: World): Promise<OrCode<Remembered>> {
  const states = await openStates(opened, world);
  if (!states.ok) return states;
  const { desired, settings } = opened.project;
  const targets = targetKeys(desired);
  try {
    const read = await readStates(states.value, targets, opened.console);
    if (!read.ok) return read;
    const strays = await readStrays(states.value, targets, opened.console);
    if (!strays.ok) return strays;
    const remembered = { desired, states: read.value, strays: strays.value };
    return { ok: true, value: withLeft(remembered, disablesRemoved(settings)) };
  } finally {
    await states.value.backend.close();
  }
}

function targetKeys({ targets }: Desired): readonly string[] {
  return targets.map(({ key }) => key);
}
