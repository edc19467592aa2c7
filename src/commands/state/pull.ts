import { parseJson } from "../../model/json.ts";
import { writeJson } from "../../render/json.ts";
import type { View } from "../../render/view.ts";
import { formatDocument } from "../../state/document.ts";
import type { Session } from "../../app/session.ts";
import { mustKnowTarget, serialOf } from "./documents.ts";
import { BACKUP } from "./backup.ts";
import { INSECURE } from "../shared-options.ts";
import { choice, text } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  target: text("--target <key>", "key of a target; default: all targets of the stage"),
  format: choice("--format <format>", "output format", ["json"]),
  ...INSECURE,
};

export const command = defineCommand({
  group: "State",
  summary: "print the state of a stage as one JSON object",
  examples: { "tasc state pull --stage staging > backup.json": "save a backup" },
  options: OPTIONS,
  run: inProject(pullState, STATE_NEEDS),
});

async function pullState(session: Session, { target }: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { stage, baseUrl } = session.settings;
  const { backend } = await session.states();
  const targets = target === undefined ? await backend.list(stage) : [target];
  const stored = await backend.readAll(targets.map((key) => session.stateKey(key)));
  if (target !== undefined && stored.size === 0) await mustKnowTarget(session, target);
  // A secret may equal a stage or the key of a target. If these were redacted, the backup could not
  // be restored.
  const documents = [...stored].map(([target, { state, revision }]): [string, object] => {
    const document = session.redactor.json(parseJson(formatDocument(state, serialOf(revision))));
    return [target, Object.assign({}, document, { stage, target })];
  });
  const service = session.redactor.text(baseUrl);
  const backup = {
    format: BACKUP,
    version: 1,
    stage,
    service,
    documents: Object.fromEntries(documents),
  };
  return { json: null, text: [], format: "backup", documents: { backup: [writeJson(backup)] } };
}
