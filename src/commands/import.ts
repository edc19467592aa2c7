import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { STEPS_FOLDER, stepsFile } from "../app/accepted-steps.ts";
import { type NewText, withTexts, writeTexts } from "../edit/edit-files.ts";
import { foldersWith } from "../edit/import/folders.ts";
import { pairTargets } from "../edit/import/pair-targets.ts";
import { type Prepared, prepare } from "../edit/import/prepare.ts";
import { type Folder, type ImportSources, LAYOUTS } from "../edit/import/request.ts";
import { patchOf } from "../edit/patch.ts";
import { nearest } from "../manifest/problem.ts";
import { type ProjectFolder, projectFolder } from "../manifest/files.ts";
import { readProject, resolveProject } from "../manifest/load.ts";
import { SAMPLE } from "../manifest/skeleton.ts";
import { type Address, compareText, isAddress } from "../model/address.ts";
import { fault, inStage, oneLine, wordOf } from "../model/diagnostic.ts";
import { failed, invalid, refuseAll } from "../model/error.ts";
import { type Json, sameJson } from "../model/json.ts";
import { type LiveTarget, sideBySide } from "../model/live.ts";
import { EVERYTHING } from "../plan/scope.ts";
import { secretFields } from "../plan/memory.ts";
import { fileText, stepsOf } from "../plan/steps.ts";
import { safeOutput } from "../render/escape.ts";
import type { View } from "../render/view.ts";
import { count, list as words, nonZero, serviceNoun } from "../model/words.ts";
import { groupBy } from "../model/collections.ts";
import type { Host, Question } from "../app/project.ts";
import type { Session } from "../app/session.ts";
import { contentOf } from "../state/document.ts";
import { applyEvents } from "../state/events.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { inProject } from "./in-project.ts";
import { SERVICE, LOCK_TIMEOUT } from "./shared-options.ts";
import { choice, flag, insideFolder, list, pairs } from "./options.ts";

const OPTIONS = {
  target: list("--target <app-or-id>", "import only this live target; default: all"),
  dir: insideFolder("--dir <dir>", "folder to write the manifests to; default: targets", "targets"),
  layout: choice(
    "--layout <layout>",
    "how to lay out new targets; default: one file, for large targets a file per folder",
    LAYOUTS,
  ),
  into: pairs(
    "--into <key=app-or-id>",
    "use this declared target for a live target in this stage",
    "KEY=APP-or-ID",
    (key) => `names the target ${key} twice`,
  ),
  elements: flag("--elements", "also import the elements of test cases"),
  folder: pairs(
    "--folder <id=name>",
    "name of a folder; the API returns only its id",
    "ID=NAME",
    (id, names) => `gives two names to ${id}: ${names}`,
  ),
  dryRun: flag("--dry-run", "print the manifests and write nothing"),
  ...LOCK_TIMEOUT,
  ...SERVICE,
};

export const command = defineCommand({
  group: "Start",
  summary: "write manifests for live resources that are not declared",
  examples: {
    "tasc import": "write a manifest for each live target",
    "tasc import --target 'Web Shop' --elements": "import one target with its elements",
    "tasc import --stage production": "merge another stage into the manifests",
    "tasc import --layout file-per-folder --dry-run": "preview one file per folder",
  },
  options: OPTIONS,
  run: inProject(importTargets, { targets: "optional" }),
});

/** Writes manifests for live targets, so that a plan right after it is empty. */
async function importTargets(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { into: given, dir, elements, layout, dryRun } = options;
  const { host } = session;
  session.requireFingerprintKey();
  for (const key of given.keys())
    if (!isAddress(`target.${key}`))
      throw invalid("bad-option", `${JSON.stringify(key)}, which --into gives, is not a key`);
  const disk = projectFolder(session.root, session.env.TASC_TRUST);
  // The sample is removed only if it was neither changed nor applied in any stage.
  const { backend } = await session.states();
  const hasSample =
    session.project.sources.get(SAMPLE.file)?.text === SAMPLE.text &&
    !(await sideBySide(session.settings.stages.map((one) => backend.list(one))))
      .flat()
      .includes("shop");
  const folder = hasSample ? withTexts(disk, [{ file: SAMPLE.file, after: undefined }]) : disk;
  const sources = await readSources(session, folder, options.target);
  const { pairs, into } = await pair(sources, given, host);
  const prepared = await prepare({
    ...sources,
    dir,
    layout,
    elements,
    nameFolders: (folders) => nameFolders(folders, options.folder, host),
    folder,
    pairs,
    into,
    holdsSecret: (value: Json) => !sameJson(session.redactor.json(value), value),
  });
  refuse(prepared);
  for (const { app, kind, id, name, reason } of prepared.leftOut) {
    const title = name === undefined ? "" : ` ${JSON.stringify(name)}`;
    const why = inStage(reason, session.namedStage);
    host.say?.(
      "warn",
      `left out  ${serviceNoun(kind)}${title} (${id}) of ${JSON.stringify(app)}: ${why}`,
    );
  }
  const removed = hasSample && prepared.files.length > 0;
  const steps = acceptedTexts(session, prepared);
  if (!dryRun)
    await carryOut(session, prepared, steps, sources.states, removed, options.lockTimeout ?? 0);
  const view = importView(session, prepared, steps, removed, dryRun);
  return dryRun && options.format !== "json" ? { ...view, format: "preview" } : view;
}

async function readSources(session: Session, folder: ProjectFolder, wanted: readonly string[]) {
  const { settings, env } = session;
  const reading = { ...(await readProject(folder)), project: session.project.project };
  const resolve = { env, stage: settings.stage };
  const { states, strays } = await session.remembered();
  const client = session.client();
  const targets = await client.listTargets();
  // A name that may be a former secret is redacted.
  const secrets = secretFields([...states.values(), ...strays]);
  const hide = (id: string, field: string, name = ""): unknown =>
    secrets.get(id)?.includes(field) === true && session.host.secrets.add(name);
  for (const { id, app } of targets) hide(id, "app", app);
  const chosen = chosenOf(targets, wanted);
  const lists = chosen.map(async ({ id }) => {
    const testCases = await client.listTestCases(id, (testCase) => testCase);
    for (const one of testCases) hide(one.id, "description", one.description);
    return [id, testCases] as const;
  });
  const testCases = new Map(await sideBySide(lists));
  return {
    reading,
    resolve,
    stages: settings.stages,
    desired: resolveProject(reading, resolve).resolved?.desired ?? session.desired,
    states: new Map([...states, ...strays.map((state) => [state.target, state] as const)]),
    base: {
      live: { targets, testCases },
      fingerprints: session.fingerprints,
      scope: EVERYTHING,
      run: new Set<Address>(),
      rediscover: new Set<Address>(),
      baseUrl: settings.baseUrl,
      disableRemoved: session.disableRemoved,
    },
    chosen,
  };
}

function chosenOf(
  targets: readonly LiveTarget[],
  wanted: readonly string[],
): readonly LiveTarget[] {
  const means = (word: string) => (target: LiveTarget) => word === target.id || word === target.app;
  const unknown = wanted.filter((word) => !targets.some(means(word)));
  const apps = targets.map(({ app }) => app);
  refuseAll(
    unknown.map((word) => {
      const close = nearest(word, apps);
      const hint = close === undefined ? "" : `Did you mean ${JSON.stringify(close)}?`;
      return fault(
        "unknown-target",
        `No live test target has the app or id ${JSON.stringify(word)}`,
        hint,
      );
    }),
  );
  return targets.filter(
    (target) => wanted.length === 0 || wanted.some((word) => means(word)(target)),
  );
}

/**
 * Decides which declared target each live one is in this stage. Asks if that is unclear; refuses if
 * there is no answer.
 */
async function pair(sources: ImportSources, into: ReadonlyMap<string, string>, host: Host) {
  const given = [...into].map(([key, live]): [string, string] => {
    const meant = sources.chosen.filter(({ id, app }) => id === live || app === live);
    const [only] = meant;
    if (only !== undefined && meant.length === 1) return [only.id, key];
    throw invalid(
      "unknown-target",
      `${only === undefined ? "No" : "More than one"} imported target has the app or id ${JSON.stringify(live)}, which --into names`,
      meant.map(({ id, app }) => `${id}  ${JSON.stringify(app)}`).join("\n"),
    );
  });
  const found = pairTargets(sources, new Map(given));
  const questions = found.unclear.map(({ live: { id, app }, keys }) => ({
    id,
    keys,
    text: `The live target ${JSON.stringify(app)} (${id}) may be ${keys.map((key) => `target.${key}`).join(" or ")}.`,
    prompt: "Key of the target that it is (a new key for a target of its own): ",
  }));
  const answers = (await host.ask?.(questions)) ?? new Map<string, string>();
  const open = questions.filter(({ id }) => !answers.has(id));
  refuseAll(
    open.map(({ id, keys, text }) =>
      fault(
        "unclear-target",
        text,
        `Nothing was written. Choose one of them, or pass a new key for a separate target, for example:\n  tasc import --into ${keys[0] ?? "KEY"}=${wordOf(id, "ID")}`,
      ),
    ),
  );
  const all = new Map([...given, ...answers]);
  const { pairs } = answers.size === 0 ? found : pairTargets(sources, all);
  return { pairs, into: all };
}

/**
 * Names folders from state, from other stages, from the command line, and by asking the person at
 * the terminal.
 */
async function nameFolders(
  folders: readonly Folder[],
  given: ReadonlyMap<string, string>,
  host: Host,
) {
  const unknown = [...given.keys()].filter((id) => !folders.some((folder) => folder.id === id));
  refuseAll(
    unknown.map((id) =>
      fault("unknown-folder", `No test case of these targets is in a folder ${id}`),
    ),
  );
  for (const [id, name] of given)
    if (!folders.some((folder) => folder.id === id && folder.fresh.length > 0))
      host.say?.(
        "warn",
        `Folder ${id} is recorded as ${JSON.stringify(name)}. Its test cases are already declared, so no file changes; the folder is managed where they have \`folder: ${name}\`.`,
      );
  const questions = unnamedIn(foldersWith(given, folders)).map((folder): Question => ({
    id: folder.id,
    text: `${folder.apps.join(", ")}: the folder with ${hintOf(folder)} (id ${folder.id}).`,
    prompt: "Its name (leave empty to skip): ",
  }));
  const answers = (await host.ask?.(questions)) ?? [];
  const named = foldersWith(new Map([...given, ...answers]), folders);
  // Two folders of one target cannot have the same name, neither in state nor on the service.
  const withName = named.filter(({ name }) => name !== undefined);
  const clashes = [
    ...groupBy(withName, ({ target, name }) => JSON.stringify([target.id, name])).values(),
  ];
  const twice = clashes.filter((own) => own.length > 1);
  refuseAll(
    twice.map((own) => {
      const ids = own.map(({ id }) => id).toSorted(compareText);
      const summary = `Two folders cannot both be ${JSON.stringify(own[0]?.name)}: ${ids.join(" and ")}`;
      return fault("folder-name-taken", summary);
    }),
  );
  const assumed = named
    .filter((folder) => folder.assumed)
    .map(
      ({ id, name, target }) =>
        `  ${oneLine(id)}  ${oneLine(target.app)}: ${oneLine(name ?? "")}\n`,
    );
  if (assumed.length > 0)
    host.say?.(
      "warn",
      `The API returns folders by id only, so these are taken to be named as in the other stages:\n${assumed.join("")}Where a name is another one here, import with --folder ID=NAME`,
    );
  const unnamed = unnamedIn(named).map(
    (folder) => `  ${oneLine(folder.id)}  ${oneLine(folder.apps.join(", "))}: ${hintOf(folder)}\n`,
  );
  if (unnamed.length > 0)
    host.say?.(
      "warn",
      `The API returns these folders by id only, so they are not declared:\n${unnamed.join("")}To name one while importing, add --folder ID=NAME`,
    );
  return named;
}

/** Names some test cases of a folder: people who know its name recognise it by them. */
function hintOf({ testCases }: ReturnType<typeof unnamedIn>[number]): string {
  const examples = testCases.slice(0, 3).map((name) => JSON.stringify(name));
  const more = testCases.length > 3 ? [`${testCases.length - 3} more`] : [];
  return words([...examples, ...more]);
}

/**
 * Returns the folders without a name that contain new test cases, by app, the largest first. Two
 * targets may show the same folder.
 */
function unnamedIn(folders: readonly Folder[]) {
  const open = folders.filter(({ name, fresh }) => name === undefined && fresh.length > 0);
  return [...groupBy(open, ({ id }) => id)]
    .map(([id, own]) => ({
      id,
      apps: [...new Set(own.map(({ target }) => target.app))],
      testCases: own.flatMap(({ fresh }) => fresh),
    }))
    .toSorted(
      (a, b) =>
        compareText(a.apps.join(), b.apps.join()) ||
        b.testCases.length - a.testCases.length ||
        compareText(a.id, b.id),
    );
}

function refuse({ problems, unmatched }: Prepared): void {
  const head = fault(
    "import-invalid",
    "Nothing was written: the project would not load with the new manifests",
  );
  const faults = unmatched.map((file) =>
    fault(
      "file-not-matched",
      `${file} would not be loaded as a manifest of this project`,
      "No pattern under `manifests` in tasc.yaml matches it. Use --dir with a folder that a pattern matches, or add a pattern.",
    ),
  );
  refuseAll(problems.length > 0 ? [...faults, head, ...problems] : faults);
}

/**
 * Returns the files of accepted steps of the new test cases, where the policy asks for them: what an
 * import takes over counts as accepted. An existing file is kept, since it says what a person has
 * accepted.
 */
function acceptedTexts(session: Session, { generated }: Prepared): readonly NewText[] {
  const { words } = session.acceptedSteps() ?? {};
  if (words === undefined) return [];
  return generated.flatMap(({ address, live }) => {
    const file = stepsFile(session.settings.stage, address);
    const steps = stepsOf(live, words);
    if (steps.length === 0 || existsSync(join(session.root, file))) return [];
    return [{ file, bom: false, before: undefined, after: fileText(address, steps) }];
  });
}

/** Writes state first: what it learns is true even if the files cannot be written. */
async function carryOut(
  session: Session,
  { files, texts, learnt }: Prepared,
  steps: readonly NewText[],
  read: ImportSources["states"],
  removed: boolean,
  timeout: number,
): Promise<void> {
  const sample = join(session.root, SAMPLE.file);
  await session.withLocks([...learnt.keys()], { timeout, why: "tasc import" }, async (states) => {
    for (const [target, { isNew, state }] of states) {
      const before = read.get(target);
      // Taking the lock has ended a run that was cut off, so the earlier state is compared as if it
      // had ended, too.
      const ended = before && contentOf(applyEvents(before, [{ type: "ended" }]));
      if ((isNew ? undefined : contentOf(state)) !== ended)
        throw failed(
          "import-state-changed",
          `State of target ${target} changed while tasc was importing`,
          "Nothing was written. Import again.",
        );
    }
    for (const [target, events] of learnt) await states.get(target)?.record(events);
    if (removed) rmSync(sample);
    try {
      writeTexts(session.root, [...texts, ...files, ...steps]);
    } catch (error) {
      if (removed) writeFileSync(sample, SAMPLE.text, { flag: "wx" });
      throw error;
    }
  });
}

function importView(
  { settings: { stage, baseUrl } }: Session,
  { files, texts, leftOut }: Prepared,
  steps: readonly NewText[],
  removed: boolean,
  dryRun: boolean,
): View {
  const lines = [
    ...(removed ? [`removed  ${SAMPLE.file}  (the unchanged sample of tasc init)`] : []),
    ...texts.map(({ file }) => `merged  ${file}`),
    ...files.map(({ file, environments, testCases }) => {
      const held = nonZero(count(environments, "environment"), count(testCases, "test case"));
      return `wrote  ${file}${held.length === 0 ? "" : `  (${held.join(", ")})`}`;
    }),
    ...(steps.length === 0
      ? []
      : [
          `wrote  ${STEPS_FOLDER}/${stage}/  (accepted steps of ${count(steps.length, "test case")})`,
        ]),
  ];
  const json = {
    formatVersion: "1.0",
    stage,
    baseUrl,
    written: !dryRun && files.length + texts.length > 0,
    files: [
      ...(removed ? [{ file: SAMPLE.file, change: "removed" }] : []),
      ...texts.map((text) => ({
        file: text.file,
        change: "merged",
        diff: dryRun ? patchOf(text) : undefined,
      })),
      ...files.map(({ file, environments, testCases, after }) => ({
        file,
        change: "added",
        environments,
        testCases,
        text: dryRun ? after : undefined,
      })),
      ...steps.map(({ file, after }) => ({
        file,
        change: "added",
        text: dryRun ? after : undefined,
      })),
    ],
    leftOut: leftOut.map(({ app, kind, id, name, reason }) => ({ app, kind, id, name, reason })),
  };
  const nothing = "Nothing to import: everything on the service is already declared.";
  // A stream of documents that YAML readers can split again.
  const added = files.map(({ file, after }) => `--- # ${file}\n${after}`);
  const escape = (text: string): string => safeOutput(text, { colour: false });
  const preview = [...texts.map(patchOf), ...added].map((text) => ({ text, escape }));
  return { json, text: [lines.length === 0 ? [nothing] : lines], documents: { preview } };
}
