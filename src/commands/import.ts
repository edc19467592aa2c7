import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readerOf } from "../app/service.ts";
import { type Session, serviceError, withSession } from "../app/session.ts";
import { type NewText, withoutFile, writeTexts } from "../edit/edit-files.ts";
import {
  type FolderNames,
  type FolderSources,
  folderNames,
  idleFolders,
  nameClashes,
  unknownFolders,
  unnamedFolders,
} from "../edit/import-declare.ts";
import { type MergeSources, type Pairs, pairTargets } from "../edit/import-merge.ts";
import {
  type Prepared,
  ask,
  chooseTargets,
  fileLine,
  folderQuestion,
  skippedLines,
  prepare,
  previewOf,
  readArguments,
  survey,
  targetQuestion,
  unnamedLine,
} from "../edit/import.ts";
import { patchOf } from "../edit/patch.ts";
import { nearest } from "../manifest/problem.ts";
import { type ProjectFolder, projectFolder } from "../manifest/files.ts";
import { readProject, resolveProject } from "../manifest/load.ts";
import { EXIT, type ExitCode, TascError, stop } from "../model/error.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import { EVERYTHING } from "../plan/input.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import { SAMPLE_FILE, SAMPLE_TARGET } from "./init.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc import`: writes manifests for live targets, such that a plan right after it is empty. */
export async function run(options: OptionsOf<"import">, context: Context): Promise<ExitCode> {
  const given = readArguments(options);
  return withSession(
    options,
    context.host,
    async (session) => {
      const { folder, hasSample } = await folderOf(session);
      const found = await lookAround(session, folder, options.target);
      const pairs = await pair(found, given.into, context);
      const prepared = await prepare(found, {
        dir: given.dir,
        split: options.split ?? "target",
        elements: options.elements,
        nameFolders: (sources) => nameFolders(sources, given.folders, context),
        folder,
        ...pairs,
        holdsSecret: (value: Json) => !sameJson(session.redactor.json(value), value),
      });
      refuse(prepared);
      for (const line of skippedLines(prepared.leftOut)) context.console.say("warn", line);
      const { files, texts } = prepared;
      const isSampleGone = hasSample && files.length > 0;
      if (!options.dryRun) await carryOut(session, prepared, isSampleGone, options.lockTimeout ?? 0);
      if (options.dryRun && options.format !== "json")
        context.console.data([...texts.map(patchOf), previewOf(files)].join(""));
      else context.console.show(importView(session, prepared, isSampleGone, options.dryRun), options.format);
      return EXIT.done;
    },
    { mayBeEmpty: true },
  );
}

/** The project's folder, without the sample of `tasc init` where nobody has changed or applied that. */
async function folderOf(
  session: Session,
): Promise<{ readonly folder: ProjectFolder; readonly hasSample: boolean }> {
  const folder = projectFolder(session.root, session.env.TASC_TRUST);
  const hasSample =
    session.project.sources.get(SAMPLE_FILE)?.text === SAMPLE_TARGET &&
    (await session.readStates(["shop"])).size === 0;
  return { folder: hasSample ? withoutFile(folder, SAMPLE_FILE) : folder, hasSample };
}

async function lookAround(
  session: Session,
  folder: ProjectFolder,
  wishes: readonly string[],
): Promise<MergeSources> {
  const { settings, env } = session;
  const reading = await readProject(folder);
  const resolve = { env, stage: settings.stage };
  const desired = resolveProject(reading, resolve).resolved?.desired ?? session.desired;
  const declared = desired.targets.map(({ key }) => key);
  const { states, strays } = await session.remembered();
  const all = new Map([...states, ...strays.map((state) => [state.target, state] as const)]);
  const reader = readerOf(session.client());
  const targets = await reader.listTargets();
  if (!targets.ok) throw serviceError(targets.failure);
  const found = await survey(
    reader,
    targets.value,
    chosenOf(targets.value, wishes),
    {
      desired,
      states: new Map([...all].filter(([key]) => declared.includes(key))),
      strays: [...all.values()].filter(({ target }) => !declared.includes(target)),
      fingerprints: session.fingerprints,
      scope: EVERYTHING,
      run: new Set(),
      rediscover: new Set(),
      baseUrl: settings.baseUrl,
      disableRemoved: session.disableRemoved,
    },
    { reading: { ...reading, project: session.project.project }, resolve, stages: settings.stages },
  );
  if (!found.ok) throw serviceError(found.failure);
  return found.value;
}

function chosenOf(targets: readonly LiveTarget[], wishes: readonly string[]): readonly LiveTarget[] {
  const { chosen, unknown } = chooseTargets(targets, wishes);
  if (unknown.length === 0) return chosen;
  const apps = targets.map(({ app }) => app);
  throw new TascError(
    "invalid",
    unknown.map((wish) => {
      const close = nearest(wish, apps);
      return {
        severity: "error",
        code: "unknown-target",
        summary: `No live test target has the app or id ${JSON.stringify(wish)}`,
        detail: close === undefined ? "" : `Did you mean ${JSON.stringify(close)}?`,
      };
    }),
  );
}

/** Which declared target each live one is in this stage; what is unclear is asked, or else refused. */
async function pair(
  found: MergeSources,
  into: ReadonlyMap<string, string>,
  { world, console }: Context,
): Promise<{ readonly pairs: Pairs; readonly into: Pairs }> {
  const byId = new Map<string, string>();
  for (const [live, key] of into) {
    const meant = found.chosen.filter(({ id, app }) => id === live || app === live);
    if (meant.length !== 1)
      throw stop(
        "invalid",
        "unknown-target",
        `${meant.length === 0 ? "No" : "More than one"} imported target has the app or id ${JSON.stringify(live)}, which --into names`,
        meant.map(({ id, app }) => `${id}  ${app}`).join("\n"),
      );
    byId.set(meant[0]?.id ?? "", key);
  }
  const first = pairTargets(found, byId);
  const terminal = { ...world, say: (text: string) => console.say("error", text) };
  const answers = await ask(first.unclear.map(targetQuestion), terminal);
  const open = first.unclear.filter(({ live }) => !answers.has(live.id));
  if (open.length > 0)
    throw new TascError(
      "invalid",
      open.map((one) => ({
        severity: "error",
        code: "unclear-target",
        summary: targetQuestion(one).text,
        detail: `Nothing was written. Choose one of them, or pass a new key for a separate target, for example:\n  tasc import --into ${one.keys[0] ?? "KEY"}=${one.live.id}`,
      })),
    );
  const all = new Map([...byId, ...answers]);
  return { pairs: pairTargets(found, all).pairs, into: all };
}

/** The names of folders: from state, from other stages, from the command line, and from the person at the terminal. */
async function nameFolders(
  sources: FolderSources,
  given: ReadonlyMap<string, string>,
  { world, console }: Context,
): Promise<FolderNames> {
  const unknown = unknownFolders(sources, given);
  if (unknown.length > 0)
    throw invalid(
      "unknown-folder",
      unknown.map((id) => `No test case of these targets is in a folder ${id}`),
    );
  for (const id of idleFolders(sources, given))
    console.say(
      "warn",
      `Folder ${id} is recorded as ${JSON.stringify(given.get(id))}. Its test cases are already declared, so no file changes; the folder is managed where they have \`folder: ${given.get(id) ?? ""}\`.`,
    );
  const open = unnamedFolders(sources, folderNames(sources, given));
  const terminal = { ...world, say: (text: string) => console.say("error", text) };
  const answers = await ask(open.map(folderQuestion), terminal);
  const names = folderNames(sources, new Map([...given, ...answers]));
  const clashes = nameClashes(names);
  if (clashes.length > 0)
    throw invalid(
      "folder-name-taken",
      clashes.map(
        ({ name, ids }) => `Two folders cannot both be ${JSON.stringify(name)}: ${ids.join(" and ")}`,
      ),
    );
  const unnamed = unnamedFolders(sources, names);
  if (unnamed.length > 0) console.say("warn", unnamedLine(unnamed));
  return names;
}

function invalid(code: string, summaries: readonly string[]): TascError {
  return new TascError(
    "invalid",
    summaries.map((summary) => ({ severity: "error", code, summary, detail: "" })),
  );
}

function refuse({ problems, unmatched }: Prepared): void {
  const strange = unmatched.map((file) => ({
    severity: "error" as const,
    code: "file-not-matched",
    summary: `${file} would not be loaded as a manifest of this project`,
    detail:
      "No pattern under `manifests` in tasc.yaml matches it. Use --dir with a folder that a pattern matches, or add a pattern.",
  }));
  if (strange.length + problems.length === 0) return;
  const head = {
    severity: "error" as const,
    code: "import-invalid",
    summary: "Nothing was written: the project would not load with the new manifests",
    detail: "",
  };
  throw new TascError("invalid", [...strange, ...(problems.length > 0 ? [head, ...problems] : [])]);
}

/** State first: what it learns is true whatever becomes of the files. */
async function carryOut(
  session: Session,
  { files, texts, learnt }: Prepared,
  isSampleGone: boolean,
  timeout: number,
): Promise<void> {
  const added = files.map(({ file, text }): NewText => ({
    file,
    bom: false,
    before: undefined,
    after: text,
  }));
  await session.withLocks([...learnt.keys()], { timeout, why: "tasc import" }, async (states) => {
    for (const [target, events] of learnt) await states.get(target)?.record(events);
    const sample = join(session.root, SAMPLE_FILE);
    if (isSampleGone) rmSync(sample);
    try {
      writeTexts(session.root, [...texts, ...added]);
    } catch (error) {
      if (isSampleGone) writeFileSync(sample, SAMPLE_TARGET, { flag: "wx" });
      throw error;
    }
  });
}

/** What was written and what was left out; of a dry run with the texts. */
function importView(
  { settings: { stage, baseUrl } }: Session,
  { files, texts, leftOut }: Prepared,
  isSampleGone: boolean,
  dryRun: boolean,
): View {
  const lines = [
    ...(isSampleGone ? [`removed  ${SAMPLE_FILE}  (the unchanged sample of tasc init)`] : []),
    ...texts.map(({ file }) => `merged  ${file}`),
    ...files.map(fileLine),
  ];
  const json = {
    formatVersion: "1.0",
    stage,
    baseUrl,
    written: !dryRun && files.length + texts.length > 0,
    files: [
      ...(isSampleGone ? [{ file: SAMPLE_FILE, change: "removed" }] : []),
      ...texts.map((text) => ({
        file: text.file,
        change: "merged",
        diff: dryRun ? patchOf(text) : undefined,
      })),
      ...files.map(({ file, environments, testCases, text }) => ({
        file,
        change: "added",
        environments,
        testCases,
        text: dryRun ? text : undefined,
      })),
    ],
    leftOut: leftOut.map(({ app, kind, id, name, reason }) => ({ app, kind, id, name, reason })),
  };
  const nothing = "Nothing to import: everything on the service is already declared.";
  return { json, text: [lines.length === 0 ? [nothing] : lines] };
}
