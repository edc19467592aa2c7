import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { oneLine, warning } from "../model/diagnostic.ts";
import { jsonIn } from "../model/json.ts";
import { isRecord, isText } from "../model/shape.ts";
import type { Settings } from "../model/settings.ts";
import type { Redactor } from "../render/redact.ts";
import type { Backend, StateRuntime } from "../state/backend.ts";
import { STATE_FOLDER } from "../state/config.ts";
import { fileName, makeFolder, replaceFile } from "../state/files.ts";
import { openBackend } from "../state/locked.ts";
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

/** Warns if the stage's backend, which has no state, is not the one of before. */
export async function warnOfOldState(
  noting: Noting,
  { backend, world }: { readonly backend: Backend; readonly world: StateRuntime },
): Promise<void> {
  const { stage, state } = noting.settings;
  const { place, backend: kind } = await readNote(noting);
  const local = await openBackend({ backend: "local", path: STATE_FOLDER }, world);
  const isLocal = state.backend !== "local" && (await local.list(stage)).length > 0;
  if (!isLocal && (!isText(place) || place === placeOf(noting, backend))) return;
  noting.host.warn([
    warning(
      "state-not-migrated",
      `The ${state.backend} backend has no state of stage "${stage}", but ${isLocal ? ".tasc/state has" : `it was in ${oneLine(String(place))} before`}`,
      `Without state, resources are matched by name, write-only fields are sent again, and batch generations are held. ${
        isLocal
          ? "To copy it:\n  echo 'backend: local' | tasc state migrate --from-config -"
          : `To copy it, write the previous \`state:\` section (backend: ${oneLine(String(kind))}) into a file:\n  tasc state migrate --from-config FILE`
      }`,
    ),
  ]);
}
