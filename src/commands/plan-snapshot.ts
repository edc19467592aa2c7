import { resolve } from "node:path";
import { EXIT, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { withLeft } from "../plan/orphans.ts";
import {
  type SnapshotProblem,
  lookAtSnapshot,
  mismatch,
  openSnapshot,
  snapshotStates,
} from "../service/snapshot.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import { disablesRemoved } from "./look.ts";
import { openProject } from "./opening.ts";
import { checkRequest } from "./request.ts";
import type { OrCode } from "./states.ts";
import type { Survey } from "./survey.ts";

/** As `survey`, from a snapshot: without network, key or state. */
export async function surveySnapshot(given: Given, world: World, file: string): Promise<OrCode<Survey>> {
  const opened = await openProject(given, world, { needsApiKey: false, leave: "warnings" });
  if (!opened.ok) return opened;
  const { project, console } = opened;
  const { settings, desired } = project;
  const snapshot = openSnapshot(resolve(world.cwd, file), file);
  if (!snapshot.ok) return refuse(console, snapshot.failure);
  const other = mismatch(snapshot.value.head, settings);
  if (other !== undefined) return refuse(console, other);
  const disableRemoved = disablesRemoved(settings);
  const remembered = withLeft({ desired, ...snapshotStates(snapshot.value.head, desired) }, disableRemoved);
  const { states, strays } = remembered;
  const request = checkRequest(given, remembered.desired, [...states.values(), ...strays], console);
  if (!request.ok) return request;
  const look = await lookAtSnapshot(snapshot.value, {
    ...request.value,
    ...remembered,
    baseUrl: settings.baseUrl,
    disableRemoved,
  });
  if (!look.ok) return refuse(console, look.failure);
  return { ok: true, value: { ...look.value, opened, request: request.value, states } };
}

function refuse(
  console: Console,
  { summary, detail }: SnapshotProblem,
): { readonly ok: false; readonly code: typeof EXIT.invalid } {
  sayError(console, summary, detail);
  return { ok: false, code: EXIT.invalid };
}
