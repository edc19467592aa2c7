import { EXIT, type ExitCode, type Given, flagOption, listOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import {
  type FolderNames,
  type FolderSources,
  folderNames,
  idleFolders,
  nameClashes,
  unknownFolders,
  unnamedFolders,
} from "../edit/import-declare.ts";
import { type NewFile, writeNewFiles } from "../edit/import-write.ts";
import {
  type Declared,
  type ImportArguments,
  type Prepared,
  type Survey,
  askForNames,
  chooseTargets,
  fileLine,
  leftOutLines,
  prepare,
  previewOf,
  readArguments,
  survey,
  unnamedLine,
} from "../edit/import.ts";
import { readerOf } from "../look/service.ts";
import { nearest } from "../manifest/document.ts";
import { projectFolder } from "../manifest/files.ts";
import { parseDuration } from "../manifest/shape.ts";
import { type Json, sameJson } from "../model/json.ts";
import { EVERYTHING } from "../plan/input.ts";
import type { Client } from "../service/client.ts";
import { StateFailure } from "../state/problem.ts";
import { connect, refusedByService } from "./connect.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { fingerprinterOf } from "./look.ts";
import { type Opened, openProject } from "./opening.ts";
import {
  type OrCode,
  type States,
  closeSessions,
  openSessions,
  openStates,
  readStates,
  readStrays,
  sayStateProblem,
} from "./states.ts";

/** `tasc import`: writes manifests for live targets, such that a plan right after it is empty. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openProject(given, world, { needsApiKey: true, mayBeEmpty: true });
  if (!opened.ok) return opened.code;
  const request = readRequest(given, opened);
  if (!request.ok) return request.code;
  const states = await openStates(opened, world);
  if (!states.ok) return states.code;
  try {
    return await importInto(given, world, opened, states.value, request.value);
  } catch (error) {
    if (!(error instanceof StateFailure)) throw error;
    return sayStateProblem(opened.console, error.problem);
  } finally {
    await states.value.backend.close();
  }
}

async function importInto(
  given: Given,
  world: World,
  opened: Opened,
  states: States,
  request: Request,
): Promise<ExitCode> {
  const { project, console, root, env } = opened;
  const declared = await readDeclared(opened, states);
  if (!declared.ok) return declared.code;
  const connected = connect(given, world, project.settings, console);
  if (!connected.ok) return connected.code;
  const found = await lookAround(given, connected.client, opened, declared.value);
  await connected.client.close();
  if (!found.ok) return found.code;
  const folders = await nameFolders(found.value, request.folders, opened, world);
  if (!folders.ok) return folders.code;
  const prepared = await prepare(found.value, {
    ...request,
    elements: flagOption(given, "elements"),
    folders: folders.value,
    folder: projectFolder(root),
    resolve: { stage: declared.value.desired.stage, env },
    manyStages: project.settings.stages.length > 1,
    holdsSecret: secretsIn(opened),
  });
  return await carryOut(prepared, request, opened, states);
}

interface Request extends ImportArguments {
  readonly dryRun: boolean;
  readonly lockTimeout: number;
}

function readRequest(given: Given, { console }: Opened): OrCode<Request> {
  const read = readArguments({
    dir: textOption(given, "dir"),
    split: textOption(given, "split"),
    folders: listOption(given, "folder"),
  });
  const timeout = textOption(given, "lockTimeout");
  const lockTimeout = timeout === undefined ? 0 : parseDuration(timeout);
  if (typeof read !== "string" && lockTimeout !== undefined)
    return { ok: true, value: { ...read, lockTimeout, dryRun: flagOption(given, "dryRun") } };
  sayError(console, typeof read === "string" ? read : "--lock-timeout takes a duration such as 90s or 10m");
  return { ok: false, code: EXIT.invalid };
}

async function readDeclared({ project, console }: Opened, states: States): Promise<OrCode<Declared>> {
  const { desired, documents, settings } = project;
  const targets = desired.targets.map(({ key }) => key);
  const own = await readStates(states, targets, console);
  if (!own.ok) return own;
  const strays = await readStrays(states, targets, console);
  if (!strays.ok) return strays;
  return {
    ok: true,
    value: {
      desired,
      documents,
      states: own.value,
      strays: strays.value,
      fingerprints: fingerprinterOf(settings),
      scope: EVERYTHING,
      run: new Set(),
      rediscover: new Set(),
      baseUrl: settings.baseUrl,
      disableRemoved: settings.policy.onRemove === "disable",
    },
  };
}

async function lookAround(
  given: Given,
  client: Client,
  { console }: Opened,
  declared: Declared,
): Promise<OrCode<Survey>> {
  const reader = readerOf(client);
  const targets = await reader.listTargets();
  if (!targets.ok) return { ok: false, code: refusedByService(console, targets.failure) };
  const { chosen, unknown } = chooseTargets(targets.value, listOption(given, "target"));
  for (const wish of unknown) {
    const close = nearest(
      wish,
      targets.value.map(({ app }) => app),
    );
    const hint = close === undefined ? "" : `Did you mean ${JSON.stringify(close)}?`;
    sayError(console, `No live test target has the app or id ${JSON.stringify(wish)}`, hint);
  }
  if (unknown.length > 0) return { ok: false, code: EXIT.invalid };
  const found = await survey(reader, targets.value, chosen, flagOption(given, "elements"), declared);
  return found.ok ? found : { ok: false, code: refusedByService(console, found.failure) };
}

/** The names of folders: from state, from the command line, and from whoever sits at the terminal. */
async function nameFolders(
  found: Survey,
  given: ReadonlyMap<string, string>,
  { console }: Opened,
  world: World,
): Promise<OrCode<FolderNames>> {
  const sources: FolderSources = {
    targets: found.chosen,
    testCases: found.input.live.testCases,
    known: found.known,
  };
  const unknown = unknownFolders(sources, given);
  for (const id of unknown) sayError(console, `No test case of these targets is in a folder ${id}`);
  if (unknown.length > 0) return { ok: false, code: EXIT.invalid };
  for (const id of idleFolders(sources, given)) console.say("warn", idleLine(id, given.get(id) ?? ""));
  const open = unnamedFolders(sources, folderNames(sources, given));
  const say = (text: string): void => console.say("error", text);
  const answers = await askForNames(open, { stdin: world.stdin, stderr: world.stderr, say });
  if (answers === "interrupted") return { ok: false, code: EXIT.interrupted };
  const names = folderNames(sources, new Map([...given, ...answers]));
  const clashes = nameClashes(names);
  for (const { name, ids } of clashes)
    sayError(console, `Two folders cannot both be ${JSON.stringify(name)}: ${ids.join(" and ")}`);
  if (clashes.length > 0) return { ok: false, code: EXIT.invalid };
  const unnamed = unnamedFolders(sources, names);
  if (unnamed.length > 0) console.say("warn", unnamedLine(unnamed));
  return { ok: true, value: names };
}

function idleLine(id: string, name: string): string {
  return `Warning: --folder ${id} is used by nothing new: its test cases are declared already, and a second import changes no file. Declare \`folder: ${name}\` in them.`;
}

function secretsIn({ console: { redactor } }: Opened): (value: Json) => boolean {
  return (value) => !sameJson(redactor.json(value), value);
}

/** Prints the manifests, or teaches state the folders' names and then writes them. */
async function carryOut(
  { files, leftOut, learnt, problems, unmatched }: Prepared,
  { dryRun, lockTimeout }: Request,
  { console, root }: Opened,
  states: States,
): Promise<ExitCode> {
  for (const file of unmatched)
    sayError(
      console,
      `${file} would be no manifest of this project`,
      "No pattern under `manifests` in tasc.yaml matches it. Name a folder that one matches by --dir, or add a pattern.",
    );
  if (problems.length > 0) {
    sayError(console, "Nothing was written: with the new manifests the project would not load");
    sayDiagnostics(console, problems);
  }
  if (unmatched.length > 0 || problems.length > 0) return EXIT.invalid;
  for (const line of leftOutLines(leftOut)) console.say("warn", line);
  if (dryRun) {
    console.data(previewOf(files));
    return EXIT.done;
  }
  const sessions = await openSessions(states, [...learnt.keys()], console, {
    timeout: lockTimeout,
    why: "tasc import",
  });
  if (!sessions.ok) return sessions.code;
  try {
    // First: a plan knows folders by state alone, and what is learnt is true whatever becomes of the files.
    for (const [target, events] of learnt) await sessions.value.get(target)?.record(events);
    return writeFiles(files, root, console);
  } finally {
    await closeSessions(sessions.value);
  }
}

function writeFiles(files: readonly NewFile[], root: string, console: Console): ExitCode {
  const written = writeNewFiles(root, files);
  if (!written.ok) {
    const reason = written.exists
      ? "It has come to be there meanwhile."
      : `The system says ${written.reason}.`;
    sayError(console, `${written.file} cannot be written`, `${reason} Nothing was written.`);
    return EXIT.failed;
  }
  for (const file of files) console.data(`${fileLine(file)}\n`);
  if (files.length === 0) console.data("Nothing to import: what can be declared is declared.\n");
  return EXIT.done;
}
