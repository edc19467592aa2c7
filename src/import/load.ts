import type { Loaded, LoadOptions } from "../manifest/load.ts";
import { locate } from "../manifest/locate.ts";
import { hasErrors } from "../manifest/problem.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { readProject } from "../manifest/read-project.ts";
import { resolveProject } from "../manifest/resolve-project.ts";

/** Loads a project that may have no target documents yet: an import is what writes the first. */
export async function loadForImport(options: LoadOptions, folder: ProjectFolder): Promise<Loaded> {
  const reading = await readProject(folder);
  const resolution = resolveProject(reading, options);
  const problems = [...reading.problems, ...resolution.problems].filter(
    ({ code }) => code !== "no-manifests",
  );
  const { sources, project, documents } = reading;
  const diagnostics = await locate(problems, sources);
  const { resolved, secrets } = resolution;
  if (resolved === undefined || project === undefined || hasErrors(problems))
    return { ok: false, diagnostics, sources, secrets };
  return { ok: true, ...resolved, diagnostics, sources, secrets, project, documents };
}
