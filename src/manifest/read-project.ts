import { checkProject, checkTargetDocument } from "./check/document.ts";
import type { CheckedDocument } from "./check/shape.ts";
import { type Document, PROJECT_FILE, type SourceText, readDocuments } from "./document.ts";
import type { ProjectFolder } from "./files.ts";
import { findManifests } from "./find-manifests.ts";
import { type Sources, sourcesByFile } from "./locate.ts";
import { type ManifestProblem, manifestError } from "./problem.ts";
import { accepts as acceptsProject } from "./schema/generated/project-acceptor.js";
import { accepts as acceptsTarget } from "./schema/generated/target-acceptor.js";
import { stagesOf } from "./settings/stage.ts";
import { findDuplicates } from "./target/duplicates.ts";
import { groupByTarget } from "./target/group.ts";
import { type FoundTemplate, findTemplates } from "./template/find.ts";
import type { TextFile } from "./template/surroundings.ts";
import { filesNamed, readTextFiles } from "./text-files.ts";

/** A project as it was read from its folder: checked by itself, but nothing is chosen, merged or filled in yet. */
export interface ProjectReading {
  /** `tasc.yaml`; `undefined` where too little of it can be used to go on. */
  readonly project: Document | undefined;
  /** The target documents, sorted by file, without what is wrong in them. */
  readonly documents: readonly Document[];
  /** What `${file:…}` names, by the path as written. */
  readonly textFiles: ReadonlyMap<string, TextFile>;
  /** Every file that was read, for places in it. */
  readonly sources: Sources;
  readonly problems: readonly ManifestProblem[];
  /** Whether all resources are there; if not, a reference to one that is missing proves nothing. */
  readonly complete: boolean;
}

/** Reads `tasc.yaml` and all target documents. The only function that reads manifests from the disk. */
export async function readProject(folder: ProjectFolder): Promise<ProjectReading> {
  const { project, usable, templates, sources, problems } = await readProjectFile(folder);
  if (project === undefined)
    return {
      project,
      documents: [],
      textFiles: new Map(),
      sources: sourcesByFile(sources),
      problems,
      complete: false,
    };
  const found = findManifests(folder, project, usable);
  const targets = await readTargets(folder, found.files, usable ? stagesOf(project) : undefined);
  return {
    project: usable ? project : undefined,
    documents: targets.documents,
    textFiles: readTextFiles(folder, filesNamed([...templates, ...targets.templates])),
    sources: sourcesByFile([...sources, ...targets.sources]),
    problems: [...problems, ...found.problems, ...targets.problems],
    complete: found.problems.length === 0 && targets.complete,
  };
}

interface ProjectFile extends Pick<ProjectReading, "project" | "problems"> {
  readonly sources: readonly SourceText[];
  /** Whether the stages are known for sure. */
  readonly usable: boolean;
  readonly templates: readonly FoundTemplate[];
}

async function readProjectFile(folder: ProjectFolder): Promise<ProjectFile> {
  const nothing = { project: undefined, usable: false, templates: [] };
  const read = folder.read(PROJECT_FILE);
  if (!read.ok && read.missing) return { ...nothing, sources: [], problems: [noProject(folder)] };
  const { documents, sources, problems } = await readDocuments(folder, [PROJECT_FILE]);
  const [document] = documents;
  if (document === undefined) return { ...nothing, sources, problems };
  const checked = acceptsProject(document.value)
    ? whole(document)
    : await checkCarefully("project", document);
  const project = checked.document;
  const templates = findTemplates(project);
  return {
    project,
    usable: !checked.lossy && problems.length === 0,
    templates,
    sources,
    problems: [...problems, ...checked.problems, ...checkProject(project, templates)],
  };
}

interface TargetFiles extends Pick<ProjectReading, "documents" | "problems" | "complete"> {
  readonly sources: readonly SourceText[];
  readonly templates: readonly FoundTemplate[];
}

/** `stages` are those of the project, where they are known. */
async function readTargets(
  folder: ProjectFolder,
  files: readonly string[],
  stages: readonly string[] | undefined,
): Promise<TargetFiles> {
  const read = await readDocuments(folder, files);
  const documents: Document[] = [];
  const templates: FoundTemplate[] = [];
  const problems = [...read.problems];
  let complete = problems.length === 0;
  for (const raw of read.documents) {
    const checked = acceptsTarget(raw.value) ? whole(raw) : await checkCarefully("target", raw);
    const { document, problems: ofShape, lossy } = checked;
    const found = findTemplates(document);
    documents.push(document);
    for (const template of found) templates.push(template);
    for (const problem of ofShape) problems.push(problem);
    for (const problem of checkTargetDocument(document, found, stages)) problems.push(problem);
    complete &&= !lossy;
  }
  for (const target of groupByTarget(documents)) problems.push(...findDuplicates(target, stages ?? []));
  return { documents, templates, sources: read.sources, problems, complete };
}

/** A document in whose shape nothing is wrong. */
function whole(document: Document): CheckedDocument {
  return { document, problems: NONE, lossy: false };
}

const NONE: readonly ManifestProblem[] = [];

/** What finds the mistakes in a document's shape, and explains them, is loaded for the first that has any. */
async function checkCarefully(kind: "project" | "target", document: Document): Promise<CheckedDocument> {
  const { checkProjectShape, checkTargetShape } = await import("./check/shape.ts");
  return kind === "project" ? checkProjectShape(document) : checkTargetShape(document);
}

function noProject(folder: ProjectFolder): ManifestProblem {
  const misnamed = folder.list("").some(({ name }) => name === "tasc.yml");
  return manifestError(
    "no-project",
    { file: PROJECT_FILE, path: [] },
    "There is no tasc.yaml here",
    misnamed
      ? "There is a tasc.yml. Rename it to tasc.yaml."
      : "It makes a folder a project. Run tasc in the project's folder, name that by `--chdir DIR`, or make one:\n  tasc init",
  );
}
