import type { Origin } from "../model/diagnostic.ts";
import { isArray } from "../model/json.ts";
import { type Document, PROJECT_FILE } from "./document.ts";
import { type ManifestProblem, manifestProblem } from "./problem.ts";
import { type ProjectFolder, compilePattern, findFiles } from "./files.ts";
import { DEFAULT_MANIFESTS } from "./tables.ts";

export interface FoundManifests {
  readonly files: readonly string[];
  readonly problems: readonly ManifestProblem[];
}

/** The files that `manifests:` means. That there are none is an error, unless the patterns are not `certain`. */
export function findManifests(folder: ProjectFolder, project: Document, certain: boolean): FoundManifests {
  const compiled = patternsOf(project).map(compilePattern);
  const patterns = compiled.flatMap((result) => ("patterns" in result ? result.patterns : []));
  const { files, escaping, hidden } = findFiles(folder, patterns);
  const manifests = files.filter((file) => file !== PROJECT_FILE);
  const problems = [
    ...compiled.flatMap((result, at) => ("fault" in result ? [badPattern(project, at, result.fault)] : [])),
    ...escaping.map((path) => escapingLink(project, path)),
    ...hidden.map((path) => hiddenFile(project, path)),
  ];
  if (manifests.length > 0 || problems.length > 0 || !certain) return { files: manifests, problems };
  return { files: [], problems: [noManifests(project)] };
}

/** The patterns of a project's target documents. */
export function patternsOf(project: Document): readonly string[] {
  const { manifests } = project.value;
  return isArray(manifests) ? manifests.filter((item) => typeof item === "string") : DEFAULT_MANIFESTS;
}

function badPattern(project: Document, at: number, fault: string): ManifestProblem {
  return manifestProblem(
    "bad-pattern",
    { file: project.file, path: ["manifests", at] },
    "The pattern cannot be used",
    `\`${patternsOf(project)[at] ?? ""}\`: ${fault}. A pattern must stay inside the project folder, e.g. \`targets/**/*.yaml\`.`,
  );
}

function escapingLink(project: Document, path: string): ManifestProblem {
  return manifestProblem(
    "escaping-link",
    manifestsOrigin(project),
    "A symbolic link leaves the project folder",
    `\`${path}\` matches \`manifests\` and points elsewhere, or nowhere. Manifests must be inside the project folder. Copy them there, or narrow the pattern.`,
  );
}

function hiddenFile(project: Document, path: string): ManifestProblem {
  return manifestProblem(
    "hidden-manifest",
    manifestsOrigin(project),
    "A hidden file cannot be a manifest",
    `\`${path}\` matches \`manifests\` and is, or points to, a file whose path has a name that begins with a dot. Such files often contain credentials. Rename it, or narrow the pattern.`,
  );
}

function noManifests(project: Document): ManifestProblem {
  const patterns = patternsOf(project)
    .map((pattern) => `\`${pattern}\``)
    .join(", ");
  return manifestProblem(
    "no-manifests",
    manifestsOrigin(project),
    "There are no target documents",
    `No files match ${patterns}. Write one with \`tasc new target shop\`, write those of a running service with \`tasc import\`, or correct \`manifests:\`.`,
  );
}

function manifestsOrigin({ file, value }: Document): Origin {
  return { file, path: value.manifests === undefined ? [] : ["manifests"] };
}
