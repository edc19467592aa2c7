import type { ProjectFolder } from "../manifest/files.ts";
import { readProject } from "../manifest/read-project.ts";
import { resolveProject } from "../manifest/resolve-project.ts";
import type { ResolveOptions } from "../manifest/resolve-project.ts";
import type { ManifestProblem } from "../manifest/problem.ts";
import type { Address } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { PlanInput } from "../plan/inputs.ts";
import { resourcesOf } from "../model/desired.ts";
import { makePlan } from "../plan/plan.ts";
import type { NewFile } from "./layout.ts";
import { withFiles } from "./overlay.ts";

/**
 * Whether a plan right after an import would be empty is asked of the planner itself, before anything is written: the
 * project is read as it will be and planned against what was read of the service. This catches what no rule about a
 * single field can see: defaults of existing documents that reach into new test cases, keys that state remembers, and
 * whatever planner and manifests will learn later.
 */
export interface Proof {
  /** New addresses of which a plan would not be empty, with what it would say. */
  readonly refuted: ReadonlyMap<Address, string>;
  /** Files that no pattern under `manifests` matches. */
  readonly unmatched: readonly string[];
  /** Errors that the project would have then, of which no new address is at fault. */
  readonly problems: readonly Diagnostic[];
}

export interface ProofInput {
  readonly folder: ProjectFolder;
  readonly resolve: ResolveOptions;
  /** What was planned from, before the import; with the folder names that are learnt by it. */
  readonly before: PlanInput;
}

export async function prove(
  files: readonly NewFile[],
  { folder, resolve, before }: ProofInput,
): Promise<Proof> {
  if (files.length === 0) return { refuted: new Map(), unmatched: [], problems: [] };
  const reading = await readProject(withFiles(folder, files));
  const resolution = resolveProject(reading, resolve);
  const read = new Set(reading.documents.map(({ file }) => file));
  const unmatched = files.filter(({ file }) => !read.has(file) && reading.sources.get(file) === undefined);
  const found = [...reading.problems, ...resolution.problems].filter(isError);
  const desired = resolution.resolved?.desired;
  const old = new Set(before.desired.targets.flatMap(resourcesOf).map(({ address }) => address));
  const refuted = new Map<Address, string>();
  const problems: Diagnostic[] = [];
  const own = new Set(files.map(({ file }) => file));
  for (const problem of found) refute(problem, own, old, refuted, problems);
  if (desired === undefined || found.length > 0)
    return { refuted, unmatched: unmatched.map(({ file }) => file), problems };
  const declared = new Set(desired.targets.map(({ key }) => key));
  const strays = before.strays.filter(({ target }) => !declared.has(target));
  const revived = before.strays.filter(({ target }) => declared.has(target));
  const states = new Map([...before.states, ...revived.map((state) => [state.target, state] as const)]);
  const { plan } = makePlan({ ...before, desired, strays, states });
  for (const { address, fields } of plan.changes)
    if (!old.has(address))
      refuted.set(
        address,
        `a plan would change it at once (${fields.map(({ path }) => path.join(".")).join(", ")})`,
      );
  for (const { severity, address, summary } of plan.diagnostics)
    if (severity === "error" && address !== undefined && !old.has(address)) refuted.set(address, summary);
  return { refuted, unmatched: unmatched.map(({ file }) => file), problems };
}

/** That there is no manifest at all is said of the files that no pattern matches. */
function isError({ severity, code }: ManifestProblem): boolean {
  return severity === "error" && code !== "no-manifests";
}

/** An error about a new address counts against it; any other means that the project would no longer load. */
function refute(
  problem: ManifestProblem,
  own: ReadonlySet<string>,
  old: ReadonlySet<Address>,
  refuted: Map<Address, string>,
  problems: Diagnostic[],
): void {
  const { address, origin, summary } = problem;
  if (address !== undefined && !old.has(address) && own.has(origin.file)) refuted.set(address, summary);
  else problems.push(problem);
}
