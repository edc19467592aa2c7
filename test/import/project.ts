import { foldersWith } from "../../src/edit/import/folders.ts";
import { pairTargets } from "../../src/edit/import/pair-targets.ts";
import { type Prepared, prepare } from "../../src/edit/import/prepare.ts";
import type { ImportSources, Layout } from "../../src/edit/import/request.ts";
import {
  type LoadedProject,
  loadProject,
  readProject,
  resolveProject,
} from "../../src/manifest/load.ts";
import { hasErrors } from "../../src/manifest/problem.ts";
import { cached } from "../../src/model/collections.ts";
import type { Json } from "../../src/model/json.ts";
import type { LiveTarget, LiveTestCase, Reader } from "../../src/model/live.ts";
import { type State, emptyState } from "../../src/model/state.ts";
import { Secret } from "../../src/model/value.ts";
import { EVERYTHING } from "../../src/plan/scope.ts";
import { type Refreshed, refresh } from "../../src/plan/refresh.ts";
import { applyEvents } from "../../src/state/events.ts";
import { createFingerprinter } from "../../src/state/fingerprint.ts";
import { memoryFolder } from "../manifest/memory-folder.ts";

/** A project, its state and its service in memory. */
export interface World {
  readonly files: Readonly<Record<string, string>>;
  readonly states: ReadonlyMap<string, State>;
  readonly targets: readonly LiveTarget[];
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
  /** By default, the only stage of the project. */
  readonly stage?: string;
}

export interface Options {
  readonly elements?: boolean;
  readonly layout?: Layout | undefined;
  readonly dir?: string;
  readonly folders?: ReadonlyMap<string, string>;
  readonly secrets?: readonly string[];
  /** Live id → key of its target. */
  readonly into?: ReadonlyMap<string, string>;
}

export const PROJECT = `version: 1
service: { baseUrl: "http://127.0.0.1:4010", apiKey: "\${secret:KEY}" }
`;
const BASE_URL = "http://127.0.0.1:4010";
const ENV = { KEY: "the-api-key" };
const fingerprints = createFingerprinter(new Secret("the-api-key"), "staging");

export function emptyProject(
  targets: readonly LiveTarget[],
  testCases: World["testCases"],
  files: World["files"] = { "tasc.yaml": PROJECT },
): World {
  return { files, states: new Map(), targets, testCases };
}

function readerOf({ targets, testCases }: World): Reader {
  return {
    listTargets: () => Promise.resolve(targets),
    listTestCases: (id, keep) => Promise.resolve((testCases.get(id) ?? []).map(keep)),
  };
}

function declaredBy(world: World, { desired }: Pick<LoadedProject, "desired">) {
  const keys = new Set(desired.targets.map(({ key }) => key));
  return {
    desired,
    states: new Map([...world.states].filter(([key]) => keys.has(key))),
    strays: [...world.states].flatMap(([key, state]) => (keys.has(key) ? [] : [state])),
    fingerprints,
    scope: EVERYTHING,
    run: new Set<never>(),
    rediscover: new Set<never>(),
    baseUrl: BASE_URL,
    disableRemoved: false,
  };
}

/** The changes that an import would make. */
export async function prepared(world: World, options: Options = {}): Promise<Prepared> {
  const folder = memoryFolder(world.files);
  const resolve = { env: ENV, ...(world.stage === undefined ? {} : { stage: world.stage }) };
  const reading = await readProject(folder);
  const { resolved, problems } = resolveProject(reading, resolve);
  const { project } = reading;
  const wrong = [...reading.problems, ...problems].filter(({ code }) => code !== "no-manifests");
  if (project === undefined || resolved === undefined || hasErrors(wrong))
    throw new Error(`the project should load: ${JSON.stringify(wrong)}`);
  const { targets, testCases, states } = world;
  const { desired, strays: _, states: __, ...base } = declaredBy(world, resolved);
  const sources: ImportSources = {
    reading: { ...reading, project },
    resolve,
    stages: resolved.settings.stages,
    desired,
    states,
    base: { ...base, live: { targets, testCases } },
    chosen: targets,
  };
  const { secrets = [], into = new Map<string, string>() } = options;
  const { pairs, unclear } = pairTargets(sources, into);
  // A user would be asked. Here, each unclear target becomes a new target.
  if (unclear.length > 0 && options.into === undefined)
    return await prepared(world, {
      ...options,
      into: new Map(unclear.map(({ live }) => [live.id, ""])),
    });
  return await prepare({
    ...sources,
    dir: options.dir ?? "targets",
    layout: options.layout,
    elements: options.elements ?? true,
    nameFolders: (folders) => Promise.resolve(foldersWith(options.folders ?? new Map(), folders)),
    folder,
    pairs,
    holdsSecret: (value: Json) => secrets.some((secret) => JSON.stringify(value).includes(secret)),
  });
}

/** The world after an import. */
export function after(world: World, { files, texts, learnt }: Prepared): World {
  for (const { file } of files)
    if (world.files[file] !== undefined) throw new Error(`${file} is overwritten`);
  const states = new Map(world.states);
  for (const [target, events] of learnt) {
    const before = states.get(target) ?? emptyState(world.stage ?? "default", target, BASE_URL);
    states.set(target, applyEvents(before, events));
  }
  const written = Object.fromEntries([...texts, ...files].map((one) => [one.file, one.after]));
  return { ...world, files: { ...world.files, ...written }, states };
}

/** Plans as `tasc plan` does, once for each world. */
export function plan(world: World): Promise<Refreshed> {
  return cached(plans, world, () => planOnce(world));
}

const plans = new WeakMap<World, Promise<Refreshed>>();

async function planOnce(world: World): Promise<Refreshed> {
  const resolve = { env: ENV, ...(world.stage === undefined ? {} : { stage: world.stage }) };
  const loaded = await loadProject({ root: "", ...resolve }, memoryFolder(world.files));
  if (!loaded.ok)
    throw new Error(
      `the project should load: ${JSON.stringify(loaded.diagnostics, null, 1)}\n${shown(world)}`,
    );
  return refresh(readerOf(world), declaredBy(world, loaded));
}

export function shown({ files }: World): string {
  return Object.entries(files)
    .map(([file, text]) => `--- # ${file}\n${text}`)
    .join("");
}
