import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git } from "../manifest/files.ts";
import { loadProject } from "../manifest/load.ts";
import type { Desired } from "../model/desired.ts";
import { stop } from "../model/error.ts";
import type { Cause, Change } from "../model/plan.ts";
import type { Fingerprinter } from "../plan/input.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { desiredInScope } from "../plan/refresh.ts";
import { guardOf } from "../plan/staleness.ts";
import { canonicalJson } from "../state/fingerprint.ts";
import type { Survey } from "../app/plan.ts";
import type { Session } from "../app/session.ts";

/**
 * `plan --base REF`: a plan with the cause of each change, so that a reviewer sees their own first. The manifests of REF
 * are planned against the same live values and the same state: what is declared alike there is no change of the
 * manifests, but either not applied yet or drift.
 */
export async function withCauses(session: Session, survey: Survey, ref: string): Promise<Survey> {
  const declared = await desiredAt(session, ref);
  const { input, planned } = survey;
  // Of targets that only REF declares, what a target of another name was read for is known.
  const desired = declared && desiredInScope(declared, input.scope, input.states);
  const base = desired && makePlan({ ...input, desired });
  // It cannot mean less than its manifests say: state that is committed is the change's own, and another name may be in
  // scope where that of REF is not.
  const whole = { ...input, states: new Map(), strays: [], elsewhere: undefined };
  const stateless = declared && makePlan({ ...whole, desired: declared });
  const changes = planned.plan.changes.map((change) => ({
    ...change,
    cause: causeOf(change, planned, base),
  }));
  const matched = base && stateless ? [base.matched, stateless.matched] : ("unreadable" as const);
  return { ...survey, planned: { ...planned, plan: { ...planned.plan, changes }, base: matched } };
}

function causeOf(change: Change, planned: Planned, base: Planned | undefined): Cause {
  const isPending = base?.plan.changes.some(({ address }) => address === change.address) === true;
  if (base === undefined || !isPending || declaration(change, planned) !== declaration(change, base))
    return "manifest";
  const hands = new Set(change.fields.flatMap(({ changedBy }) => changedBy ?? []));
  return hands.size === 1 && hands.has("service") ? "drift" : "pending";
}

/** All that is declared of an address, with its secrets; it does not leave the process. */
function declaration({ address }: Change, planned: Planned): string {
  const plain: Fingerprinter = { keyCheck: "", of: (_, value) => canonicalJson(value) };
  return guardOf(address, [], planned, plain).declared;
}

/** What the manifests of a commit declare for the session's stage; nothing where they are not valid for it. */
async function desiredAt({ root, env, settings, host }: Session, ref: string): Promise<Desired | undefined> {
  const commit = git(root, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
  const prefix = git(root, ["rev-parse", "--show-prefix"]);
  const repository = git(root, ["rev-parse", "--absolute-git-dir"]);
  if (commit === undefined || prefix === undefined || repository === undefined)
    throw stop(
      "invalid",
      "unknown-ref",
      `There is no commit ${ref} in this repository`,
      "--base takes a branch, a tag or a commit. A pipeline may have to fetch it first:\ngit fetch origin BRANCH",
    );
  const folder = mkdtempSync(join(tmpdir(), "tasc-base-"));
  try {
    // An index and a work tree of its own: those of the repository stay as they are, and what attributes are in its
    // files does not say how those of REF are read.
    const tree = join(folder, "tree");
    const files = join(tree, prefix);
    mkdirSync(files, { recursive: true });
    const own = { GIT_DIR: repository, GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(folder, "index") };
    const isRead = git(files, ["read-tree", commit], own) !== undefined;
    if (!isRead || git(files, ["checkout-index", "--all"], own) === undefined) return undefined;
    const loaded = await loadProject({
      root: files,
      stage: settings.stage,
      env,
      allowMissingSecrets: true,
      needsApiKey: false,
    });
    for (const secret of loaded.secrets) host.secrets.add(secret);
    return loaded.ok ? loaded.desired : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
