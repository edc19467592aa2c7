import { isAddress, targetAddress } from "../../model/address.ts";
import { oneLine } from "../../model/diagnostic.ts";
import { invalid, failed } from "../../model/error.ts";
import { jsonIn } from "../../model/json.ts";
import type { View } from "../../render/view.ts";
import { count, list } from "../../model/words.ts";
import { sideBySide } from "../../state/backend.ts";
import { isRecord } from "../../model/shape.ts";
import { type ParsedDocument, parseDocument } from "../../state/document.ts";
import type { Session } from "../../app/session.ts";
import { type LockedDocument, withDocuments } from "./documents.ts";
import { BACKUP, readText } from "./backup.ts";
import { STATE_EDIT } from "../shared-options.ts";
import { argument, flag } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  file: argument("<file>", "a backup from `tasc state pull`; - reads standard input"),
  force: flag("--force", "overwrite state of another lineage or a higher serial"),
  ...STATE_EDIT,
};

export const command = defineCommand({
  group: "State",
  summary: "restore state from a backup",
  examples: {
    "tasc state push backup.json": "restore a backup that matches the current state",
    "tasc state push backup.json --force": "overwrite newer state",
  },
  options: OPTIONS,
  run: inProject(pushState, STATE_NEEDS),
});

/**
 * Writes the documents of a backup. Each must belong to the current document (same lineage) and
 * must not be older (by its serial); `force` skips both checks. Nothing is written unless all
 * documents may be written.
 */
async function pushState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const backup = readBackup(session, options.file);
  const targets = [...backup.keys()];
  await withDocuments(session, targets, "tasc state push", options, async (...documents) => {
    const next = documents.flatMap((document) => {
      const given = backup.get(document.key.target);
      return given === undefined ? [] : [{ document, ...given }];
    });
    if (!options.force) for (const one of next) refuseForeign(one.document, one);
    await sideBySide(next, async ({ document, state }) => await document.replace(state));
  });
  return {
    json: { stage: session.settings.stage, restored: targets },
    text: [[`Restored the state of ${count(targets.length, "target")}: ${list(targets)}.`]],
  };
}

function refuseForeign(
  { key, stored, serial: now }: LockedDocument,
  { state, serial }: ParsedDocument,
) {
  const force = "To overwrite it anyway:\n  tasc state push FILE --force";
  if (
    stored?.lineage !== undefined &&
    state.lineage !== undefined &&
    stored.lineage !== state.lineage
  )
    throw failed(
      "state-push-lineage",
      `The backup of target ${key.target} is from another document`,
      `${oneLine(`Its lineage is ${state.lineage}; the current state has ${stored.lineage}.`)} Nothing was written. ${force}`,
    );
  if (now !== undefined && serial !== undefined && serial < now)
    throw failed(
      "state-push-serial",
      `The backup of target ${key.target} is older than the current state`,
      `Its serial is ${serial}; the current state has ${now}. Nothing was written. ${force}`,
    );
}

function readBackup(session: Session, file: string): ReadonlyMap<string, ParsedDocument> {
  const root: unknown = jsonIn(readText(session.host, file));
  const { stage } = session.settings;
  const wrong = (detail: string) =>
    invalid("state-push-file", `${file} is not a backup of state`, detail);
  if (
    !isRecord(root) ||
    root["format"] !== BACKUP ||
    root["version"] !== 1 ||
    !isRecord(root["documents"])
  )
    throw wrong("Create one with:\n  tasc state pull");
  if (root["stage"] !== stage)
    throw invalid(
      "state-push-stage",
      `${file} is of stage ${String(root["stage"])}, not of ${stage}`,
    );
  const entries = Object.entries(root["documents"]).map(
    ([target, document]): [string, ParsedDocument] => {
      if (!isAddress(targetAddress(target))) throw wrong(`No target has the key ${target}.`);
      const text = JSON.stringify(document);
      return [target, parseDocument(text, session.stateKey(target), `${file}, document ${target}`)];
    },
  );
  return new Map(entries);
}
