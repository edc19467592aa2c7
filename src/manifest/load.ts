import { posix } from "node:path";
import type { Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { invalid } from "../model/error.ts";
import { type Json, type Path, defined, isArray, isObject } from "../model/json.ts";
import type { Rule, Settings } from "../model/settings.ts";
import { checkDocument } from "./check/document.ts";
import { checkTargets } from "./check/rules.ts";
import { type Document, PROJECT_FILE, readDocuments } from "./document.ts";
import {
  type ManifestProblem,
  type SourceText,
  type Sources,
  didYouMean,
  hasErrors,
  locate,
  manifestProblem,
  nearest,
} from "./problem.ts";
import { type ProjectFolder, projectFolder } from "./files.ts";
import { HIDDEN, findManifests } from "./find-manifests.ts";
import { type EnvironmentVariables, Interpolator, type TextFile } from "./interpolation.ts";
import { findTemplates } from "./template.ts";
import * as accept from "./schema/generated/accept.js";
import { type ManifestPart, entryOf, itemOf } from "./shape.ts";
import { resolveSettings } from "./settings.ts";
import { chooseStage, settingsLayers, stagesOf, variablesOf } from "./stages.ts";
import { DOCUMENTS, type DocumentKind } from "./tables.ts";
import { checkRemovals, removalsOf } from "./removed.ts";
import { findDuplicates, groupByTarget, resolveTarget } from "./target.ts";
import type { TrustOf } from "./trust.ts";

export interface LoadOptions extends ResolveOptions {
  readonly root: string;
  /**
   * `optional`: a project may have no target documents, because an import writes the first.
   * `unread`: none are read.
   */
  readonly targets?: "optional" | "unread";
  /**
   * Whether the texts of manifests are kept, as editing requires. Otherwise they are read again to
   * show a place.
   */
  readonly texts?: boolean;
  /** Called before each file is read, with the number of files read and known so far. */
  readonly reading?: ((read: number, files: number) => void) | undefined;
}

export type Loaded =
  | LoadedProject
  | ({ readonly ok: false } & Pick<LoadedProject, "diagnostics" | "sources" | "secrets">);

type Resolved = { readonly settings: Settings; readonly desired: Desired };

export interface LoadedProject extends Resolved {
  readonly ok: true;
  /** Warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
  /** Texts that must not show in any output, from 4 characters up, longest first. */
  readonly secrets: readonly string[];
  readonly project: Document;
  /**
   * The target documents as they are in their files, sorted by file; empty if texts are not kept.
   */
  readonly documents: readonly Document[];
  /** The number of target documents. */
  readonly count: number;
}

/**
 * Reads a project's manifests and resolves them for one stage: read, check, choose, merge, fill in,
 * check again.
 */
export async function loadProject(
  options: LoadOptions,
  folder: ProjectFolder = projectFolder(options.root, options.env.TASC_TRUST),
): Promise<Loaded> {
  const reading = await readProject(folder, options);
  const resolution = resolveProject(reading, options);
  const rules = resolution.resolved?.settings.policy.rules ?? [];
  const found = [
    ...reading.problems,
    ...resolution.problems,
    ...(rules.length === 0 ? [] : await ruleProblems(rules)),
  ];
  const problems =
    options.targets === "optional" ? found.filter(({ code }) => code !== "no-manifests") : found;
  const { sources, project, documents } = reading;
  const diagnostics = await locate(problems, sources);
  const { resolved, secrets } = resolution;
  if (resolved === undefined || project === undefined || hasErrors(problems))
    return { ok: false, diagnostics, sources, secrets };
  // Documents are kept for editing, which needs their texts. Without texts, their values remain in
  // the resources' layers.
  const kept = options.texts === false ? [] : documents;
  const count = documents.length;
  return { ok: true, ...resolved, diagnostics, sources, secrets, project, documents: kept, count };
}

/**
 * Returns the mistakes in the project's own rules. Their language is loaded only if there are any.
 * @throws TascError for a mistake in the trust file
 */
async function ruleProblems(rules: readonly Rule[]): Promise<readonly ManifestProblem[]> {
  const { faultsIn } = await import("./cel.ts");
  return faultsIn(rules).map(({ rule, key, summary, word, known }) => {
    const detail = didYouMean(nearest(word, known)).trim();
    if (rule.origin === undefined)
      throw invalid(
        "bad-trust-file",
        `The trust file's rule ${rule.name} cannot be used`,
        `\`${key}\`: ${summary}. ${detail}`,
      );
    const origin = { ...rule.origin, path: [...rule.origin.path, key] };
    const within = rule[key]?.includes(word) === true && word !== "" ? word : undefined;
    const title = `Rule \`${rule.name}\`: ${summary}`;
    return manifestProblem("bad-rule", origin, title, detail, defined({ within }));
  });
}

/**
 * A project as read from its folder: each document is checked, but nothing is chosen, merged or
 * filled in yet.
 */
export interface ProjectReading {
  /** `tasc.yaml`; `undefined` if too little of it is valid to continue. */
  readonly project: Document | undefined;
  /** The target documents, sorted by file, without their invalid parts. */
  readonly documents: readonly Document[];
  /** The files that `${file:…}` names, by the path as written. */
  readonly textFiles: ReadonlyMap<string, TextFile>;
  readonly sources: Sources;
  readonly problems: readonly ManifestProblem[];
  /** Whether all resources were read. If not, a reference to a missing one is not an error. */
  readonly complete: boolean;
  readonly trust: TrustOf;
  readonly isCommitted: (file: string) => boolean;
}

/**
 * Reads `tasc.yaml` and all target documents: the only function that reads manifests from the disk.
 */
export async function readProject(
  folder: ProjectFolder,
  { texts = true, reading, targets }: Pick<LoadOptions, "texts" | "reading" | "targets"> = {},
): Promise<ProjectReading> {
  const trust: TrustOf = (await folder.trust?.()) ?? (() => ({}));
  const problems = problemsOfAccess(folder);
  const documents: Document[] = [];
  const sources = new Map<string, SourceText>();
  const filesNamed = new Set<string>();
  let project: Document | undefined;
  let stages: readonly string[] | undefined;
  let complete = true;
  const add = (found: readonly ManifestProblem[]) =>
    found.forEach((problem) => problems.push(problem));
  const checked = (kind: DocumentKind, given: Document): Document => {
    const document = withoutExtensions(given, DOCUMENTS[kind]);
    const templates = findTemplates(document);
    add(checkDocument(kind, document, templates, stages));
    for (const { template } of templates)
      for (const part of template.parts) if (part.kind === "file") filesNamed.add(part.name);
    const { file, root, bom, value } = document;
    return texts ? document : { file, text: "", bom, root, value };
  };
  // `tasc.yaml` is first and adds the others. They are read one after the other, so that each text
  // can be freed.
  const files = problems.length > 0 ? [] : [PROJECT_FILE];
  for (const [at, file] of files.entries()) {
    reading?.(at, files.length);
    const kind: DocumentKind = file === PROJECT_FILE ? "project" : "target";
    const accepts = kind === "project" ? accept.project : accept.target;
    const pending = readDocuments(folder, file);
    const read = pending instanceof Promise ? await pending : pending;
    if (texts && read.source !== undefined) sources.set(file, read.source);
    add(read.problems);
    complete &&= read.problems.length === 0;
    for (let document of read.documents) {
      if (!accepts(document.value)) {
        // Loaded for the first document whose shape has a mistake.
        const { explainShape } = await import("./check/shape.ts");
        const explained = explainShape(kind, document);
        add(explained.problems);
        complete &&= !explained.lossy;
        ({ document } = explained);
      }
      if (kind === "target") documents.push(checked(kind, document));
      else project = checked(kind, document);
    }
    if (kind === "target" || project === undefined) continue;
    stages = complete ? stagesOf(project) : undefined;
    if (targets === "unread") continue;
    const found = findManifests(folder, project, complete);
    if (!complete) project = undefined;
    add(found.problems);
    complete &&= found.problems.length === 0;
    for (const manifest of found.files) files.push(manifest);
  }
  for (const target of groupByTarget(documents)) add(findDuplicates(target, stages ?? []));
  if (project !== undefined) add(checkRemovals(project, documents));
  const hidden = ownAmong(folder, files, problems);
  const isShown = ({ file }: { readonly file: string }): boolean => !hidden.has(file);
  // To find places, a text that is not kept is read again. A file that was refused before it was
  // read is not shown.
  const sourceOf = (file: string): SourceText | undefined => {
    if (hidden.has(file)) return undefined;
    const read = texts || !files.includes(file) ? undefined : folder.read(file);
    return read?.ok === true ? { file, text: read.text } : sources.get(file);
  };
  return {
    project: project && isShown(project) ? project : undefined,
    documents: hidden.size === 0 ? documents : documents.filter(isShown),
    textFiles: readTextFiles(folder, [...filesNamed]),
    sources: { get: sourceOf },
    problems: [...problems.filter(({ origin }) => isShown(origin)), ...[...hidden].map(notShown)],
    complete: complete && hidden.size === 0,
    trust,
    isCommitted: folder.isCommitted ?? (() => false),
  };
}

/**
 * Returns faulty manifests that the job wrote: a secret file may be named as a manifest to show its
 * lines in errors.
 */
function ownAmong(
  folder: ProjectFolder,
  files: readonly string[],
  problems: readonly ManifestProblem[],
) {
  const named = new Set(
    problems.map(({ severity, origin }) => severity === "error" && origin.file),
  );
  const wrong = files.filter((file) => named.has(file));
  const placeOf = (file: string): string => folder.follow(file).inside ?? file;
  const own = folder.ownOf?.(wrong.map(placeOf));
  return new Set(wrong.filter((file) => own?.has(placeOf(file))));
}

function notShown(file: string): ManifestProblem {
  const detail = "It may be the job's secret. Commit it, or validate without the trust file.";
  return manifestProblem(
    "untrusted",
    { file, path: [] },
    "The mistakes in this file are not shown",
    detail,
  );
}

/**
 * Returns why `tasc.yaml` is not read: it is missing, or errors in it would show lines of another
 * file.
 */
function problemsOfAccess(folder: ProjectFolder): ManifestProblem[] {
  const own = folder.read(PROJECT_FILE);
  const origin = { file: PROJECT_FILE, path: [] };
  if (!own.ok) {
    const detail = folder.list("").some(({ name }) => name === "tasc.yml")
      ? "There is a tasc.yml. Rename it to tasc.yaml."
      : "Run tasc from a project folder, use `--chdir DIR`, or create a project:\n  tasc init";
    return own.missing
      ? [{ ...manifestProblem("no-project", origin, "There is no tasc.yaml here", ""), detail }]
      : [];
  }
  const { inside } = folder.follow(PROJECT_FILE);
  if (inside !== undefined && !HIDDEN.test(inside)) return [];
  const summary = `${PROJECT_FILE} is a symbolic link out of the project folder, or to a hidden file`;
  return [manifestProblem("escaping-link", origin, summary, "Replace it with a file.")];
}

/** Removes keys that begin with `x-`. They contain anchors and have no meaning of their own. */
function withoutExtensions(document: Document, root: ManifestPart): Document {
  if (!document.text.includes("x-") && !document.text.includes("\\")) return document;
  const value = ownPartsOf(document.value, root);
  return isObject(value) ? { ...document, value } : document;
}

/**
 * Removes `x-` keys at all levels, but not from maps whose keys are data of the service, e.g.
 * headers.
 */
function ownPartsOf(value: Json, part: ManifestPart | undefined): Json {
  if (part === undefined) return value;
  if (isArray(value)) return value.map((item) => ownPartsOf(item, itemOf(part)));
  const { shape } = part;
  const isData = shape.type === "json" || (shape.type === "map" && shape.keys === undefined);
  if (!isObject(value) || isData) return value;
  const own = Object.entries(value).filter(([key]) => !key.startsWith("x-"));
  return Object.fromEntries(
    own.map(([key, inner]) => [key, ownPartsOf(inner, entryOf(part, key))]),
  );
}

export interface ResolveOptions {
  readonly stage?: string | undefined;
  readonly env: EnvironmentVariables;
  readonly allowMissingSecrets?: boolean;
  /** `false` if the service is never called: the API key may then be missing. */
  readonly needsApiKey?: boolean;
}

export interface Resolution {
  /** Unset if no stage could be chosen. Only usable if no problem is an error. */
  readonly resolved?: Resolved;
  readonly problems: readonly ManifestProblem[];
  /** All texts found that must not show, from 4 characters up, longest first. */
  readonly secrets: readonly string[];
}

/** Resolves a project for one stage. Pure: the same reading can be resolved for several stages. */
export function resolveProject(reading: ProjectReading, options: ResolveOptions): Resolution {
  const { project, textFiles: files } = reading;
  if (project === undefined) return { problems: [], secrets: [] };
  const stage = chooseStage(project, options.stage, options.env.TASC_STAGE);
  if (typeof stage !== "string") return { problems: [stage], secrets: [] };
  const { env, allowMissingSecrets = false, needsApiKey = true } = options;
  const sourcesOf = (one: string) => {
    const [layers, trust] = [settingsLayers(project, one), reading.trust(one, one === stage)];
    const given = { stage: one, vars: variablesOf(layers), readable: trust.variables };
    return {
      layers,
      trust,
      interpolator: new Interpolator({ ...given, env, files, allowMissingSecrets }),
    };
  };
  const own = sourcesOf(stage);
  const problems: ManifestProblem[] = [];
  const settings = resolveSettings({
    ...own,
    sourcesOf,
    stage,
    stages: stagesOf(project),
    needsApiKey,
    isInvalid: (path) => isInvalid(project, path, reading.problems),
    isCommitted: reading.isCommitted,
    report: (problem) => problems.push(problem),
  });
  const { layers, interpolator } = own;
  const request = { stage, interpolator, onRemove: settings.policy.onRemove, settings: layers };
  const targets = groupByTarget(reading.documents).flatMap(
    (target) => resolveTarget(target, request, problems) ?? [],
  );
  for (const problem of checkTargets(targets, reading.complete)) problems.push(problem);
  // Shorter texts are half of every output, and the name of the stage, which is a usual value of a
  // header, must stay.
  const secrets = [...interpolator.secrets]
    .filter((text) => text.length >= SHORTEST_SECRET && text !== stage)
    .toSorted((a, b) => b.length - a.length);
  const removed = removalsOf(project, reading.documents);
  return {
    resolved: {
      settings,
      desired: { stage, targets, ...(removed.length === 0 ? {} : { removed }) },
    },
    problems: distinct(problems),
    secrets,
  };
}

const SHORTEST_SECRET = 4;

/** Whether a problem of `tasc.yaml` is at a path, or above it, for the project or for any stage. */
function isInvalid({ file }: Document, path: Path, problems: readonly ManifestProblem[]): boolean {
  return problems.some(({ origin }) => {
    const inside = origin.path[0] === "stages" ? origin.path.slice(2) : origin.path;
    const above = inside.length > 0 && inside.every((step, at) => step === path[at]);
    return origin.file === file && above;
  });
}

/** Removes duplicates: a wrong default or variable is found once for each resource that uses it. */
function distinct(problems: readonly ManifestProblem[]): readonly ManifestProblem[] {
  const known = new Set<string>();
  return problems.filter(({ code, summary, origin: { file, path }, within = "" }) => {
    const before = known.size;
    return known.add(JSON.stringify([file, path, code, summary, within])).size > before;
  });
}

/**
 * Reads the files that `${file:…}` names. A file that the job wrote is secret, wherever a manifest
 * names it.
 */
function readTextFiles(
  folder: ProjectFolder,
  paths: readonly string[],
): ReadonlyMap<string, TextFile> {
  const files = paths.map((path) => [path, readTextFile(folder, path)] as const);
  const placeOf = (path: string): string => stepsOf(path).join("/");
  const own = folder.ownOf?.(
    files.flatMap(([path, file]) => ("text" in file ? [placeOf(path)] : [])),
  );
  return new Map(
    files.map(([path, file]) => [
      path,
      own?.has(placeOf(path)) === true ? { ...file, own: true } : file,
    ]),
  );
}

/**
 * Reads a file that `${file:…}` names. A failure is a problem only in the stages that use the file.
 * Line ends are unified, because git may change them on this machine, and a prompt would then count
 * as changed.
 */
function readTextFile(folder: ProjectFolder, path: string): TextFile {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(path) || stepsOf(path)[0] === "..")
    return {
      fault: "The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
    };
  const steps = stepsOf(path);
  const hidden = steps.find((step) => step.startsWith("."));
  if (hidden !== undefined)
    return {
      fault: `Hidden files such as \`${hidden}\` often contain credentials. Choose another file.`,
    };
  const { kind, inside } = folder.follow(path);
  if (kind !== "nothing" && inside !== steps.join("/"))
    return {
      fault: "It is a symbolic link, or its path contains one. Use the path of the file itself.",
    };
  const read = folder.read(path);
  return read.ok
    ? { text: read.text.replaceAll("\r\n", "\n").replace(/\n$/, "") }
    : { fault: read.reason, missing: read.missing };
}

/** Returns the names on a path without `.` and `..`; a `..` that leads above the start remains. */
function stepsOf(path: string): readonly string[] {
  const steps = posix.normalize(path.replaceAll("\\", "/")).split("/");
  return steps.filter((step) => step !== "" && step !== ".");
}
