import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { PROJECT_FILE, readDocuments } from "../manifest/document.ts";
import { type ProjectFolder, projectFolder } from "../manifest/files.ts";
import { loadProject } from "../manifest/load.ts";
import { nearest } from "../manifest/problem.ts";
import { decodedText } from "../manifest/yaml/text.ts";
import { type Address, type AddressParts, isAddress, parseAddress, targetAddress } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { stop } from "../model/error.ts";
import { type JsonObject, isObject, parseJson } from "../model/json.ts";
import type { StateSettings } from "../model/settings.ts";
import { type State, emptyState } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import type { Fingerprinter } from "../plan/input.ts";
import { batchContent } from "../plan/resources.ts";
import { type Backend, type DocumentKey, NO_DOCUMENT, sideBySide } from "../state/backend.ts";
import { STATE_FOLDER, readConfig } from "../state/config.ts";
import {
  type ParsedDocument,
  formatDocument,
  isRecord,
  isText,
  parseDocument,
  parseJson as jsonIn,
} from "../state/document.ts";
import { fileName, makeFolder, replaceFile } from "../state/files.ts";
import { explainTakeover } from "../state/problem.ts";
import { lockDocuments, openBackend, unlockAll } from "../state/session.ts";
import type { Host, Session } from "./session.ts";

/** What the commands that edit state work with, beside the project. */
export interface EditOptions {
  readonly lockTimeout?: number | undefined;
}

export interface NamedAddress {
  readonly address: Address;
  readonly parts: AddressParts;
}

/** An address from the command line. */
export function readAddress(text: string): NamedAddress {
  const parts = parseAddress(text);
  if (isAddress(text) && parts !== undefined) return { address: text, parts };
  throw stop(
    "invalid",
    "not-an-address",
    `${text} is not an address`,
    "Addresses look like target.shop, environment.shop.preview, testCase.shop.login or batchGeneration.shop.spring.",
  );
}

/** A target's document under lock. An edit reads it, and writes it whole or not at all. */
export interface LockedDocument {
  readonly key: DocumentKey;
  /** Nothing where there is no document yet. */
  readonly stored: State | undefined;
  /** What is stored, or an empty state. */
  readonly state: State;
  /** Counts the document's versions, where the backend does. */
  readonly serial: number | undefined;
  readonly replace: (state: State) => Promise<void>;
}

/** Does the work while the documents of these targets are locked; it gets them in the order of the targets. */
export async function withDocuments<T>(
  session: Session,
  targets: readonly string[],
  why: string,
  { lockTimeout = 0 }: EditOptions,
  work: (documents: readonly LockedDocument[]) => Promise<T>,
): Promise<T> {
  const { backend, world } = await session.states();
  const keys = targets.map((target) => session.stateKey(target));
  const locks = await lockDocuments(backend, keys, world, { timeout: lockTimeout, why });
  try {
    const all = await backend.readAll(keys);
    const documents = locks.map((lock) => {
      const { key } = lock;
      if (lock.takenOver !== undefined) session.host.warn([explainTakeover(key, lock.takenOver)]);
      const { state: stored, revision } = all.get(key.target) ?? {};
      return {
        key,
        stored,
        state: stored ?? emptyState(key.stage, key.target, key.service),
        serial: serialOf(revision),
        replace: async (next: State) => {
          const lineage = next.lineage ?? stored?.lineage ?? world.newId();
          await lock.write({ ...next, lineage }, revision ?? NO_DOCUMENT);
        },
      };
    });
    const place = ({ key }: LockedDocument) => targets.indexOf(key.target);
    return await work(documents.toSorted((a, b) => place(a) - place(b)));
  } finally {
    await unlockAll(locks);
  }
}

function serialOf(revision: string | undefined): number | undefined {
  return revision !== undefined && /^\d{1,15}$/.test(revision) ? Number(revision) : undefined;
}

/** Does the work while one target's document is locked. */
export async function withDocument<T>(
  session: Session,
  target: string,
  why: string,
  options: EditOptions,
  work: (document: LockedDocument) => Promise<T>,
): Promise<T> {
  return await withDocuments(session, [target], why, options, async ([document]) => {
    if (document === undefined) throw new TypeError(`the document of ${target} was not locked`);
    return await work(document);
  });
}

/** The digest that a batch generation's record has of its content; none without the key or a secret. */
export function contentOf(
  resource: DesiredResource,
  fingerprints: Fingerprinter | undefined,
): { readonly content?: string } {
  if (fingerprints === undefined || Object.values(resource.fields).some(isUnknown)) return {};
  return { content: batchContent(fingerprints, resource) };
}

export function declaredTarget({ desired }: Session, key: string): DesiredTarget | undefined {
  return desired.targets.find((target) => target.key === key);
}

/** @throws TascError where no manifest declares the target and there is no state of it */
export async function mustKnowTarget(session: Session, target: string): Promise<void> {
  const { stage } = session.settings;
  const { backend } = await session.states();
  const known = [...session.desired.targets.map(({ key }) => key), ...(await backend.list(stage))];
  if (known.includes(target)) return;
  const close = nearest(target, known);
  throw stop(
    "invalid",
    "unknown-target",
    `There is no target ${target} in stage ${stage}`,
    `No manifest declares it and state does not contain it.${close === undefined ? "" : ` Did you mean ${close}?`}`,
  );
}

/* Backups: the documents of a stage as one JSON object. */

const BACKUP = "tasc-state-backup";

/** The documents of a stage, or of one target, as one JSON object. */
export async function pullStates(session: Session, target: string | undefined): Promise<JsonObject> {
  const { stage, baseUrl } = session.settings;
  const { backend } = await session.states();
  const targets = target === undefined ? await backend.list(stage) : [target];
  const stored = await backend.readAll(targets.map((key) => session.stateKey(key)));
  if (target !== undefined && stored.size === 0) await mustKnowTarget(session, target);
  const documents = Object.fromEntries(
    [...stored].map(([key, { state, revision }]) => [
      key,
      parseJson(formatDocument(state, serialOf(revision))),
    ]),
  );
  return { format: BACKUP, version: 1, stage, service: baseUrl, documents };
}

/**
 * Writes the documents of a backup. Each must be of the document that is there now, by its lineage, and not older than
 * it, by its serial; `force` leaves that out. Nothing is written unless all may be.
 */
export async function pushStates(
  session: Session,
  file: string,
  { force, ...options }: EditOptions & { readonly force: boolean },
): Promise<readonly string[]> {
  const backup = readBackup(session, file);
  return await withDocuments(session, [...backup.keys()], "tasc state push", options, async (documents) => {
    const next = documents.flatMap((document) => {
      const given = backup.get(document.key.target);
      return given === undefined ? [] : [{ document, ...given }];
    });
    if (!force) for (const { document, state, serial } of next) refuseForeign(document, state, serial);
    await sideBySide(next, async ({ document, state }) => await document.replace(state));
    return next.map(({ document }) => document.key.target);
  });
}

function refuseForeign(
  { key, stored, serial: now }: LockedDocument,
  state: State,
  serial: number | undefined,
) {
  const force = "To overwrite it anyway:\n  tasc state push FILE --force";
  if (stored?.lineage !== undefined && state.lineage !== undefined && stored.lineage !== state.lineage)
    throw stop(
      "failed",
      "state-push-lineage",
      `The backup of target ${key.target} is from another document`,
      `Its lineage is ${state.lineage}; the current state has ${stored.lineage}. Nothing was written. ${force}`,
    );
  if (now !== undefined && serial !== undefined && serial < now)
    throw stop(
      "failed",
      "state-push-serial",
      `The backup of target ${key.target} is older than the current state`,
      `Its serial is ${serial}; the current state has ${now}. Nothing was written. ${force}`,
    );
}

function readBackup(session: Session, file: string): ReadonlyMap<string, ParsedDocument> {
  const root = jsonIn(readText(session.host, file));
  const { stage } = session.settings;
  if (!isRecord(root) || root["format"] !== BACKUP || root["version"] !== 1 || !isRecord(root["documents"]))
    throw stop(
      "invalid",
      "state-push-file",
      `${file} is not a backup of state`,
      "Create one with:\n  tasc state pull",
    );
  if (root["stage"] !== stage)
    throw stop(
      "invalid",
      "state-push-stage",
      `${file} is of stage ${String(root["stage"])}, not of ${stage}`,
    );
  const entries = Object.entries(root["documents"]).map(([target, document]): [string, ParsedDocument] => {
    if (!isAddress(targetAddress(target)))
      throw stop(
        "invalid",
        "state-push-file",
        `${file} is not a backup of state`,
        `No target has the key ${target}.`,
      );
    const text = JSON.stringify(document);
    return [target, parseDocument(text, session.stateKey(target), `${file}, document ${target}`)];
  });
  return new Map(entries);
}

function readText({ cwd }: Host, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : resolve(cwd, file), "utf8");
  } catch {
    throw stop("invalid", "unreadable-file", `Cannot read ${file}`);
  }
}

/* Migration: from the backend of an old `state:` section to that of tasc.yaml. */

/**
 * Copies the stage's documents, under the locks of both sides, and reads back each that was written.
 *
 * @returns which were copied, and which were there already with the same content
 */
export async function migrateStates(session: Session, file: string, options: EditOptions) {
  const { stage } = session.settings;
  const settings = await readSection(session, file);
  const { world, backend } = await session.states();
  const why = "tasc state migrate";
  const from = await openBackend(readConfig(settings, { insecure: true }), world);
  try {
    const listed = await from.list(stage);
    const targets = [...new Set([...listed, ...session.desired.targets.map(({ key }) => key)])].toSorted();
    const found = await from.readAll(targets.map((target) => session.stateKey(target)));
    const present = [...found.keys()].map((target) => session.stateKey(target));
    const locks = await lockDocuments(from, present, world, { timeout: options.lockTimeout ?? 0, why });
    try {
      // Once more, under the locks.
      const states = await from.readAll(present);
      const isCopy = (there: State | undefined, target: string) => {
        const original = states.get(target)?.state;
        return there !== undefined && original !== undefined && textOf(there) === textOf(original);
      };
      const copied = await withDocuments(session, [...states.keys()], why, options, async (documents) => {
        const open = documents.filter(({ stored, key }) => !isCopy(stored, key.target));
        const other = open.find(({ stored }) => stored !== undefined);
        if (other !== undefined)
          throw stop(
            "failed",
            "state-migrate-taken",
            `The backend in tasc.yaml has different state for target ${other.key.target}`,
            "Nothing was copied. Compare both with `tasc state pull`, decide which one to keep, and remove the other.",
          );
        const opened = open.map(({ key }) => key.target);
        await backend.register?.(stage, opened);
        await sideBySide(
          open,
          async ({ key, state, replace }) => await replace(states.get(key.target)?.state ?? state),
        );
        return opened;
      });
      const written = await session.readStates([...states.keys()]);
      for (const target of states.keys())
        if (!isCopy(written.get(target), target))
          throw stop(
            "failed",
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

/** What is compared: a document without a lineage gets one when it is written. */
function textOf(state: State): string {
  const { lineage: _, ...rest } = state;
  return formatDocument(rest);
}

/**
 * A `state:` section of its own, read as that of tasc.yaml is: it is put in its place, so that the same schema, stage,
 * variables and limits of the trust file hold for it. What it says of fingerprints does not matter.
 */
async function readSection(session: Session, file: string): Promise<StateSettings> {
  const { root, env, settings, host } = session;
  const project = session.project.project.value;
  const folder = projectFolder(root, env.TASC_TRUST);
  const holding = (text: string): ProjectFolder => ({
    ...folder,
    list: () => [],
    read: (path) => (path === PROJECT_FILE ? { ok: true, decoded: decodedText(text) } : folder.read(path)),
  });
  const wrong = (problems: readonly Pick<Diagnostic, "summary" | "detail">[]) =>
    stop(
      "invalid",
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
  // What is undefined is left out of the text.
  const text = JSON.stringify({
    ...project,
    manifests: undefined,
    state,
    stages: stages.length === 0 ? undefined : Object.fromEntries(stages),
  });
  const options = { root, env, stage: settings.stage, needsApiKey: false, mayBeEmpty: true };
  const loaded = await loadProject(options, holding(text));
  for (const secret of loaded.secrets) host.secrets.add(secret);
  if (!loaded.ok) throw wrong(loaded.diagnostics);
  return loaded.settings.state;
}

/*
 * An empty backend of a project that had state elsewhere: a new backend, and nothing was migrated. Silence would mean
 * that everything is matched by name and write-only fields are sent again. Files of state tell by themselves; of another
 * backend a small file tells, which is fit to be committed.
 */

function backendFile({ root, settings }: Session): string {
  return join(root, ".tasc", "backend", `${fileName(settings.stage)}.json`);
}

/** Where a backend keeps state, without the secrets that its address may have. */
function placeOf({ redactor }: Session, { place }: Backend): string | undefined {
  return place === undefined ? undefined : redactor.text(place);
}

/** Notes where the stage's state is, for a later run that finds another backend in tasc.yaml. */
export async function noteBackend(session: Session, used: Backend): Promise<void> {
  const file = backendFile(session);
  const place = placeOf(session, used);
  if (place === undefined || (await notedBackend(file))?.["place"] === place) return;
  const { backend } = session.settings.state;
  const text = `${JSON.stringify({ backend, place }, undefined, 2)}\n`;
  // It is there for a warning: a project that cannot be written to does without.
  await makeFolder(dirname(file), session.root)
    .then(() => replaceFile(file, text))
    .catch(() => {});
}

async function notedBackend(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const noted = jsonIn(await readFile(file, "utf8").catch(() => ""));
  return isRecord(noted) ? noted : undefined;
}

export async function warnOfOldState(session: Session): Promise<void> {
  const { settings, host } = session;
  const { world, backend } = await session.states();
  const noted = await notedBackend(backendFile(session));
  const { place, backend: kind } = noted ?? {};
  const local = await openBackend({ backend: "local", path: STATE_FOLDER }, world);
  const listed = settings.state.backend === "local" ? [] : await local.list(settings.stage);
  const isLocal = listed.length > 0;
  if (!isLocal && (!isText(place) || place === placeOf(session, backend))) return;
  host.warn([
    {
      severity: "warning",
      code: "state-not-migrated",
      summary: `The ${settings.state.backend} backend has no state of stage "${settings.stage}", but ${isLocal ? ".tasc/state has" : `it was in ${String(place)} before`}`,
      detail: `Without state, resources are matched by name, write-only fields are sent again, and batch generations are held. ${
        isLocal
          ? "To copy it:\n  echo 'backend: local' | tasc state migrate --from-config -"
          : `To copy it, write the previous \`state:\` section (backend: ${String(kind)}) into a file:\n  tasc state migrate --from-config FILE`
      }`,
    },
  ]);
}
