import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { targetOf } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { oneLine, warning } from "../model/diagnostic.ts";
import { failed } from "../model/error.ts";
import { jsonIn } from "../model/json.ts";
import { sideBySide } from "../model/live.ts";
import { isRecord, isText } from "../model/shape.ts";
import type { Plan } from "../model/plan.ts";
import type { Settings } from "../model/settings.ts";
import type { State } from "../model/state.ts";
import { pendingMoves } from "../plan/match.ts";
import type { Redactor } from "../render/redact.ts";
import type { Backend, StateRuntime } from "../state/backend.ts";
import { STATE_FOLDER } from "../state/config.ts";
import { applyEvents } from "../state/events.ts";
import { fileName, makeFolder, replaceFile } from "../state/files.ts";
import { openBackend } from "../state/locked.ts";
import { StateFailure } from "../state/problem.ts";
import type { Host } from "./project.ts";

/*
 * Warns of an empty backend if the project had state elsewhere: otherwise, all would silently be
 * matched by name, and write-only fields sent again. State files are found directly; another
 * backend is noted in a small file, fit for git.
 */

/** What a note needs of a session. */
interface Noting {
  readonly root: string;
  readonly settings: Settings;
  readonly redactor: Redactor;
  readonly host: Pick<Host, "warn">;
}

function noteFile({ root, settings: { stage } }: Noting): string {
  return join(root, ".tasc", "backend", `${fileName(stage)}.json`);
}

async function readNote(noting: Noting): Promise<Readonly<Record<string, unknown>>> {
  const noted = jsonIn(await readFile(noteFile(noting), "utf8").catch(() => ""));
  return isRecord(noted) ? noted : {};
}

/** Returns where a backend keeps state, without any secrets in its address. */
function placeOf({ redactor }: Noting, { place }: Backend): string | undefined {
  return place === undefined ? undefined : redactor.text(place);
}

/** Notes where the stage's state is, for a later run that finds another backend in tasc.yaml. */
export async function noteBackend(noting: Noting, used: Backend): Promise<void> {
  const place = placeOf(noting, used);
  if (place === undefined || (await readNote(noting))["place"] === place) return;
  const { backend } = noting.settings.state;
  const text = `${JSON.stringify({ backend, place }, undefined, 2)}\n`;
  const file = noteFile(noting);
  // Errors are ignored, because the file is only used for a warning, and the project may be
  // read-only.
  await makeFolder(dirname(file), noting.root)
    .then(() => replaceFile(file, text))
    .catch(() => {});
}

/** Opens the state of the project's own folder, where it is without a `state:` section. */
function openFiles(world: StateRuntime): Promise<Backend> {
  return openBackend({ backend: "local", path: STATE_FOLDER }, world);
}

/** Warns if the stage's backend, which has no state, is not the one of before. */
export async function warnOfOldState(
  noting: Noting,
  { backend, world }: { readonly backend: Backend; readonly world: StateRuntime },
): Promise<void> {
  const { stage, state } = noting.settings;
  const { place, backend: kind } = await readNote(noting);
  const isElsewhere = state.backend !== "local" || state.options["path"] !== undefined;
  const isLocal = isElsewhere && (await (await openFiles(world)).list(stage)).length > 0;
  if (!isLocal && (!isText(place) || place === placeOf(noting, backend))) return;
  noting.host.warn([
    warning(
      "state-not-migrated",
      `The ${state.backend} backend has no state of stage "${stage}", but ${isLocal ? ".tasc/state has" : `it was in ${oneLine(String(place))} before`}`,
      `Without state, resources are matched by name, write-only fields are sent again, and batch generations are held. ${
        isLocal
          ? `An apply refuses to create what that state binds, unless it is given --new-state. To copy the state:\n  echo 'backend: local' | tasc state migrate --from-config -`
          : `To copy it, write the previous \`state:\` section (backend: ${oneLine(String(kind))}) into a file:\n  tasc state migrate --from-config FILE`
      }`,
    ),
  ]);
}

/** A project's session, as far as the state that it had before needs it. */
interface Migrating {
  readonly settings: Pick<Settings, "stage" | "state" | "baseUrl">;
  readonly desired: Desired;
  readonly states: () => Promise<{ readonly world: StateRuntime }>;
}

/**
 * Refuses creations of addresses that the state in the project's own folder binds, where the
 * stage's backend has no document of their target: the service cannot delete what would be doubled.
 * State of another service binds nothing here.
 * @param withoutState keys of the targets of which the backend has no document
 * @throws TascError
 */
export async function refuseDoubles(
  session: Migrating,
  { changes }: Plan,
  withoutState: ReadonlySet<string>,
): Promise<void> {
  const created = changes.flatMap(({ action, address }) => (action === "create" ? [address] : []));
  const targets = session.desired.targets.filter(
    ({ key }) => withoutState.has(key) && created.some((address) => targetOf(address) === key),
  );
  if (targets.length === 0) return;
  const { stage, state, baseUrl: service } = session.settings;
  const local = await openFiles((await session.states()).world);
  const orNone = (error: unknown): ReadonlyMap<string, { readonly state: State }> => {
    if (error instanceof StateFailure && error.problem.kind === "other-service") return new Map();
    throw error;
  };
  const known = await sideBySide(
    targets.map(async ({ key, moved }) => {
      const read = await local.readAll([{ stage, target: key, service }]).catch(orNone);
      const before = read.get(key)?.state;
      const now = before && applyEvents(before, pendingMoves(moved, before));
      return [...(now?.bindings.keys() ?? []), ...(now?.intents.keys() ?? [])];
    }),
  );
  const bound = new Set(known.flat());
  const doubled = created.filter((address) => bound.has(address));
  if (doubled.length === 0) return;
  const rest = doubled.length > MOST_NAMED ? ` and ${doubled.length - MOST_NAMED} more` : "";
  throw failed(
    "state-not-migrated",
    `Nothing was applied: state in ${STATE_FOLDER} binds what this plan would create`,
    `${doubled.slice(0, MOST_NAMED).join(", ")}${rest}: the ${state.backend} backend of tasc.yaml has no state of the target, and creating it again would leave two that cannot be deleted. Copy the state first, from a file that says \`backend: local\`:\n  tasc state migrate --from-config FILE\nOr, if the backend is meant to start without state:\n  tasc apply --new-state`,
  );
}

/** Maximum number of addresses that a message names. */
const MOST_NAMED = 5;
