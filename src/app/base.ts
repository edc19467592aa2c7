import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative, resolve } from "node:path";
import { PROJECT_FILE } from "../manifest/document.ts";
import { type ProjectFolder, git, ownOf, projectFolder } from "../manifest/files.ts";
import { UNMISTAKABLE } from "../manifest/interpolation.ts";
import { placeholdersIn } from "../manifest/template.ts";
import { type ProjectReading, readProject, resolveProject } from "../manifest/load.ts";
import { hasErrors } from "../manifest/problem.ts";
import { targetOf } from "../model/address.ts";
import { invalid } from "../model/error.ts";
import type { Cause, Change } from "../model/plan.ts";
import type { Settings } from "../model/settings.ts";
import { reveal } from "../model/value.ts";
import { attentionOf } from "../plan/attention.ts";
import { loosenedSettings } from "../plan/policy.ts";
import { longerQuarantines } from "../plan/quarantine.ts";
import { scopeTest } from "../plan/scope.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { desiredInScope } from "../plan/refresh.ts";
import { guardOf } from "../plan/staleness.ts";
import { canonicalJson } from "../state/fingerprint.ts";
import type { Survey } from "./survey.ts";
import type { Host } from "./project.ts";
import type { Session } from "./session.ts";

/**
 * `plan --base REF`: adds the cause to each change, so that reviewers see their own changes first.
 * The manifests of REF are planned against the same live values and the same state. If they declare
 * the same, the change does not come from the manifests: it is either not applied yet or drift.
 */
export async function withCauses(session: Session, survey: Survey, ref: string): Promise<Survey> {
  const { desired: declared, settings, otherTrust = [] } = (await projectAt(session, ref)) ?? {};
  const { input, planned } = survey;
  // Test cases of a target that only REF declares are known only if a target of another name was
  // read for it.
  const desired = declared && desiredInScope(declared, input.scope, input.states);
  const base = desired && makePlan({ ...input, desired });
  // Also without state: state that is committed is part of the reviewed change, and the scope may
  // leave out names.
  const whole = { ...input, states: new Map(), strays: [], elsewhere: undefined };
  const stateless = declared && makePlan({ ...whole, desired: declared });
  const known = settings && basisOf(settings) === basisOf(session.settings) ? base : undefined;
  const changes = planned.plan.changes.map((one) => ({
    ...one,
    cause: causeOf(one, planned, known),
  }));
  const matched = base && stateless ? [base.matched, stateless.matched] : ("unreadable" as const);
  const loosened = [
    ...(settings === undefined ? [] : loosenedSettings(settings, session.settings)),
    ...otherTrust,
  ];
  const quarantined = longerQuarantines(
    session.desired.targets,
    declared?.targets ?? [],
    session.host.now(),
  );
  const plan = { ...planned.plan, changes };
  const attention = attentionOf(
    { ...planned, plan, loosened, quarantined, now: input.now },
    scopeTest(input.scope),
  );
  const all = { ...planned, plan: { ...plan, attention }, base: matched };
  return { ...survey, planned: { ...all, baseStages: settings?.otherPolicies } };
}

function causeOf(change: Change, planned: Planned, base: Planned | undefined): Cause {
  const isPending = base?.plan.changes.some(({ address }) => address === change.address) === true;
  if (
    base === undefined ||
    !isPending ||
    declaration(change, planned) !== declaration(change, base)
  )
    return "manifest";
  const hands = new Set(change.fields.flatMap(({ changedBy }) => changedBy ?? []));
  return hands.size === 1 && hands.has("service") ? "drift" : "pending";
}

/**
 * Returns the settings that a plan depends on: if REF has others, they cause every change. Must not
 * leave the process.
 */
function basisOf({ baseUrl, apiKey, state, policy: { onRemove = "ignore" } }: Settings): string {
  const { backend, fingerprintKey, options } = state;
  return canonicalJson(
    reveal([baseUrl, apiKey ?? null, backend, fingerprintKey ?? null, options, onRemove]),
  );
}

/**
 * Returns everything declared for an address, with secrets, and its live resource. It must not
 * leave the process.
 */
function declaration({ address }: Change, planned: Planned): string {
  const guard = guardOf(address, [], planned, {
    keyCheck: "",
    of: (_, value) => canonicalJson(value),
  });
  return canonicalJson({
    ...guard,
    target: planned.matched.get(targetOf(address))?.live?.id ?? null,
  });
}

/**
 * Returns the project of a commit for the session's stage; undefined if it is not valid for that
 * stage.
 */
export async function projectAt({ root, env, settings, host }: Session, ref: string) {
  const { commit, prefix, repository } = commitOf(root, ref);
  const folder = mkdtempSync(join(tmpdir(), "tasc-base-"));
  try {
    // A separate index and work tree: those of the repository do not change, and gitattributes in
    // its work tree have no effect on how the files of REF are read.
    const tree = join(folder, "tree");
    const files = join(tree, prefix);
    mkdirSync(files, { recursive: true });
    const own = { GIT_DIR: repository, GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(folder, "index") };
    const isRead = git(files, ["read-tree", commit], own) !== undefined;
    if (!isRead || git(files, ["checkout-index", "--all"], own) === undefined) return undefined;
    const base = await readProject(withOwnFiles(projectFolder(files, env["TASC_TRUST"]), root));
    const resolving = { stage: settings.stage, env, allowMissingSecrets: true, needsApiKey: false };
    const { resolved, problems, secrets } = resolveProject(base, resolving);
    for (const secret of secrets) host.secrets.add(secret);
    hideSecretsOf(base, env, host);
    return hasErrors([...base.problems, ...problems])
      ? undefined
      : resolved && { ...resolved, otherTrust: changedTrust(files, root, env["TASC_TRUST"]) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the commit that a branch, a tag or a commit names, and where its project is. Git prefers
 * a tag, and then a local branch `origin/main`. A pull request can create both, so remote branches
 * come first.
 */
function commitOf(root: string, ref: string) {
  const [, name = "", rest = ""] = /^([^~^@:]*)(.*)$/s.exec(ref) ?? [];
  const isExact = /^(?:refs\/.*|[A-Z_]*HEAD|[\da-f]{40,})$/.test(name) || rest.startsWith("@{");
  const places = [
    `refs/${name}`,
    `refs/remotes/${name}`,
    `refs/remotes/${name}/HEAD`,
    `refs/heads/${name}`,
  ];
  const isThere = (place: string) =>
    git(root, ["show-ref", "--verify", "--quiet", place]) !== undefined;
  const found = (isExact ? undefined : places.find(isThere)) ?? name;
  const named = `${found}${rest}^{commit}`;
  const commit = git(root, ["rev-parse", "--verify", "-q", "--end-of-options", named]);
  const prefix = git(root, ["rev-parse", "--show-prefix"]);
  const repository = git(root, ["rev-parse", "--absolute-git-dir"]);
  if (commit === undefined || prefix === undefined || repository === undefined)
    throw invalid(
      "unknown-ref",
      `There is no commit ${ref} in this repository`,
      "--base takes a branch, a tag or a commit. A pipeline may have to fetch it first:\ngit fetch origin BRANCH",
    );
  return { commit, prefix, repository };
}

/**
 * Hides the secrets that any stage of REF names: a change must not reveal one through a variable or
 * through a stage that it adds.
 */
function hideSecretsOf({ project, documents }: ProjectReading, env: Session["env"], host: Host) {
  const named = placeholdersIn([project?.value ?? null, ...documents.map(({ value }) => value)]);
  const names = new Set(named.map(({ kind, name }) => kind === "secret" && name));
  for (const [name, value = ""] of Object.entries(env))
    if (names.has(name) && UNMISTAKABLE.test(value)) host.secrets.add(value);
}

/** The usual name of a project's trust file. */
const TRUST_FILE = "tasc-trust.yaml";

/** Returns the names of trust files in a commit that are different, or missing, in the project. */
function changedTrust(base: string, root: string, given = TRUST_FILE): readonly string[] {
  const names = new Set([TRUST_FILE, relative(root, resolve(root, given))]);
  const text = (folder: string, name: string): string | undefined => {
    try {
      return readFileSync(join(folder, name), "utf8");
    } catch {
      return undefined;
    }
  };
  return [...names].filter((name) => {
    const before = name.startsWith("..") ? undefined : text(base, name);
    return before !== undefined && before !== text(root, name);
  });
}

/**
 * Takes the files that a job wrote for `${file:…}` from the current work tree, because no commit
 * contains them.
 */
function withOwnFiles(base: ProjectFolder, root: string): ProjectFolder {
  const disk = projectFolder(root);
  const holding = (file: string): ProjectFolder => {
    if (file === PROJECT_FILE || base.follow(file).kind !== "nothing") return base;
    return ownOf(root, [posix.normalize(file)]).size > 0 ? disk : base;
  };
  return {
    ...base,
    read: (file) => holding(file).read(file),
    follow: (path) => holding(path).follow(path),
  };
}
