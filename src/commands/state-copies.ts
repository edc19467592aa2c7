import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { PROJECT_FILE, readDocuments } from "../manifest/document.ts";
import { type ProjectFolder, projectFolder } from "../manifest/files.ts";
import { loadProject } from "../manifest/load.ts";
import { decodedText } from "../manifest/yaml/text.ts";
import { isAddress, targetAddress } from "../model/address.ts";
import { type Diagnostic, oneLine } from "../model/diagnostic.ts";
import { invalid, failed } from "../model/error.ts";
import { isObject, jsonIn, parseJson } from "../model/json.ts";
import type { StateSettings } from "../model/settings.ts";
import type { State } from "../model/state.ts";
import { writeJson } from "../render/json.ts";
import type { View } from "../render/view.ts";
import { count, list } from "../render/words.ts";
import { sideBySide } from "../state/backend.ts";
import { readConfig } from "../state/config.ts";
import { isRecord } from "../model/shape.ts";
import {
  type ParsedDocument,
  contentOf,
  formatDocument,
  parseDocument,
} from "../state/document.ts";
import { lockDocuments, openBackend, unlockAll } from "../state/session.ts";
import type { Host } from "../app/project.ts";
import type { Session } from "../app/session.ts";
import { type LockedDocument, mustKnowTarget, serialOf, withDocuments } from "./state.ts";
import type { OptionsOf } from "./table.ts";

/* Backups: the documents of a stage as one JSON object. */

const BACKUP = "tasc-state-backup";

export async function pullState(
  session: Session,
  { target }: OptionsOf<"state pull">,
): Promise<View> {
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

/**
 * Writes the documents of a backup. Each must belong to the current document (same lineage) and
 * must not be older (by its serial); `force` skips both checks. Nothing is written unless all
 * documents may be written.
 */
export async function pushState(session: Session, options: OptionsOf<"state push">): Promise<View> {
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

function readText({ cwd }: Host, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : resolve(cwd, file), "utf8");
  } catch {
    throw invalid("unreadable-file", `Cannot read ${file}`);
  }
}

/* Migration: from the backend of an old `state:` section to that of tasc.yaml. */

/**
 * Copies the stage's documents, with locks on both sides, and reads back each document that was
 * written.
 */
export async function migrateState(
  session: Session,
  options: OptionsOf<"state migrate">,
): Promise<View> {
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
async function migrate(session: Session, file: string, options: OptionsOf<"state migrate">) {
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
