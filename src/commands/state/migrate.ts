import { PROJECT_FILE, readDocuments } from "../../manifest/document.ts";
import { type ProjectFolder, projectFolder } from "../../manifest/files.ts";
import { loadProject } from "../../manifest/load.ts";
import { decodedText } from "../../manifest/yaml/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { invalid, failed } from "../../model/error.ts";
import { isObject } from "../../model/json.ts";
import type { StateSettings } from "../../model/settings.ts";
import type { State } from "../../model/state.ts";
import type { View } from "../../render/view.ts";
import { count } from "../../model/words.ts";
import { sideBySide } from "../../state/backend.ts";
import { readConfig } from "../../state/config.ts";
import { contentOf } from "../../state/document.ts";
import { lockDocuments, openBackend, unlockAll } from "../../state/locked.ts";
import type { Session } from "../../app/session.ts";
import { withDocuments } from "./documents.ts";
import { readText } from "./backup.ts";
import { STATE_EDIT } from "../shared-options.ts";
import { text } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  fromConfig: text(
    "--from-config <file>",
    "file with the old `state:` section as YAML; - reads standard input",
  ),
  ...STATE_EDIT,
};

export const command = defineCommand({
  group: "State",
  summary: "copy state from another backend to the one in tasc.yaml",
  examples: {
    "tasc state migrate --from-config old-state.yaml": "copy the state; run once per stage",
    "echo 'backend: local' | tasc state migrate --from-config -": "copy state from local files",
  },
  options: OPTIONS,
  run: inProject(migrateState, STATE_NEEDS),
});

/**
 * Copies the stage's documents, with locks on both sides, and reads back each document that was
 * written.
 */
async function migrateState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { fromConfig } = options;
  if (fromConfig === undefined)
    throw invalid(
      "missing-option",
      "--from-config is missing",
      "Pass a file with the old `state:` section of tasc.yaml, or - for standard input.",
    );
  const { copied, same } = await migrate(session, fromConfig, options);
  const { stage, state } = session.settings;
  const already =
    same.length === 0 ? "" : ` ${count(same.length, "target")} had been copied before.`;
  const lines = [
    `Copied and verified the state of ${count(copied.length, "target")} of stage ${stage} to the ${state.backend} backend.${already}`,
    "The old backend was not changed. tasc.yaml now names the new one, so all further runs use it: commit it, and remove the old state once all stages are migrated.",
  ];
  return { json: { stage, copied, same }, text: [lines] };
}

/**
 * @returns the targets that were copied, and those that had been copied before with the same
 * content
 */
async function migrate(session: Session, file: string, options: OptionsOf<typeof OPTIONS>) {
  const { stage } = session.settings;
  const settings = await readSection(session, file);
  const { world } = await session.states();
  const why = "tasc state migrate";
  const from = await openBackend(readConfig(settings, { insecure: true }), world);
  try {
    const listed = await from.list(stage);
    const targets = [
      ...new Set([...listed, ...session.desired.targets.map(({ key }) => key)]),
    ].toSorted();
    const found = await from.readAll(targets.map((target) => session.stateKey(target)));
    const present = [...found.keys()].map((target) => session.stateKey(target));
    const locks = await lockDocuments(from, present, world, {
      timeout: options.lockTimeout ?? 0,
      why,
    });
    try {
      // Read again, now with the locks.
      const states = await from.readAll(present);
      const isCopy = (there: State | undefined, target: string) => {
        const original = states.get(target)?.state;
        return (
          there !== undefined && original !== undefined && contentOf(there) === contentOf(original)
        );
      };
      const copied = await withDocuments(
        session,
        [...states.keys()],
        why,
        options,
        async (...documents) => {
          const open = documents.filter(({ stored, key }) => !isCopy(stored, key.target));
          const other = open.find(({ stored }) => stored !== undefined);
          if (other !== undefined)
            throw failed(
              "state-migrate-taken",
              `The backend in tasc.yaml has different state for target ${other.key.target}`,
              "Nothing was copied. Compare both with `tasc state pull`, decide which one to keep, and remove the other.",
            );
          return await sideBySide(open, async ({ key: { target }, state, replace }) => {
            await replace(states.get(target)?.state ?? state);
            return target;
          });
        },
      );
      const written = await session.readStates([...states.keys()]);
      for (const target of states.keys())
        if (!isCopy(written.get(target), target))
          throw failed(
            "state-migrate-verify",
            `The copy of target ${target} differs from the original`,
          );
      return { copied, same: [...states.keys()].filter((target) => !copied.includes(target)) };
    } finally {
      await unlockAll(locks);
    }
  } finally {
    await from.close();
  }
}

/**
 * Reads a separate `state:` section in place of that of tasc.yaml, with the same limits. Ignores
 * its fingerprint key.
 */
async function readSection(session: Session, file: string): Promise<StateSettings> {
  const { root, env, settings, host } = session;
  const project = session.project.project.value;
  const folder = projectFolder(root, env.TASC_TRUST);
  const holding = (text: string): ProjectFolder => ({
    ...folder,
    list: () => [],
    read: (path) => (path === PROJECT_FILE ? decodedText(text) : folder.read(path)),
  });
  const wrong = (problems: readonly Pick<Diagnostic, "summary" | "detail">[]) =>
    invalid(
      "state-migrate-config",
      `${file} is not a state section`,
      `${problems.map(({ summary, detail }) => `${summary}. ${detail}`.trim()).join("\n")}\nIt must contain the previous \`state:\` section of tasc.yaml, e.g.\nbackend: local`,
    );
  const { documents, problems } = await readDocuments(holding(readText(host, file)), PROJECT_FILE);
  const value = documents[0]?.value;
  if (value === undefined || problems.length > 0) throw wrong(problems);
  const section = value.state ?? value;
  const state = isObject(section) ? { ...section, fingerprintKey: undefined } : section;
  const stages = Object.entries(isObject(project.stages) ? project.stages : {}).map(
    ([stage, own]): [string, object] => [stage, isObject(own) ? { ...own, state: undefined } : {}],
  );
  // Undefined values are left out of the text.
  const text = JSON.stringify({
    ...project,
    manifests: undefined,
    state,
    stages: stages.length === 0 ? undefined : Object.fromEntries(stages),
  });
  const options = {
    root,
    env,
    stage: settings.stage,
    needsApiKey: false,
    targets: "optional",
  } as const;
  const loaded = await loadProject(options, holding(text));
  for (const secret of loaded.secrets) host.secrets.add(secret);
  if (loaded.ok) return loaded.settings.state;
  throw wrong(loaded.diagnostics);
}
