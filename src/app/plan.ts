import { didYouMean, locate, nearest, placesIn } from "../manifest/problem.ts";
import { settingsLayers } from "../manifest/stages.ts";
import { stricter } from "../manifest/trust.ts";
import type { Address } from "../model/address.ts";
import {
  type Desired,
  byAddress,
  originIn,
  originOf,
  removalOf,
  resourcesOf,
} from "../model/desired.ts";
import { fault } from "../model/diagnostic.ts";
import { refuseAll } from "../model/error.ts";
import type { Plan } from "../model/plan.ts";
import { POLICY_RULES, type Policy, type PolicyRule, type Settings } from "../model/settings.ts";
import { scopeTest } from "../plan/scope.ts";
import type { Planned } from "../plan/plan.ts";
import { inTableOrder, notJudged } from "../plan/attention.ts";
import { type GateVerdict, gatedIn } from "../plan/passed-in.ts";
import { policyDiagnostics, refusingRules, violationsOf } from "../plan/policy.ts";
import { endingHint } from "../plan/quarantine.ts";
import type { Judged } from "../plan/rules.ts";
import { type PlanExtras, type PlanMeta, planExtras } from "../render/json.ts";
import { sideBySide } from "../state/backend.ts";
import { StateFailure } from "../state/problem.ts";
import type { Host } from "./project.ts";
import type { Session } from "./session.ts";
import type { Survey } from "./survey.ts";

export interface Review {
  /** The plan with the diagnostics of the policy and the manifests, each with its place. */
  readonly plan: Plan;
  readonly survey: Survey;
}

/** Checks a plan against the project's policy, and finds the places of its diagnostics. */
export async function review(
  session: Session,
  survey: Survey,
  overridePolicy: readonly string[] = [],
  mode: JudgeMode = "plan",
): Promise<Review> {
  const { plan } = survey.planned;
  checkOverrides(session.settings, overridePolicy);
  const judged = await judge(
    session,
    survey.planned,
    scopeTest(survey.request.scope),
    overridePolicy,
    mode,
  );
  const located = await locate(
    [...plan.diagnostics, ...judged.diagnostics],
    session.project.sources,
  );
  const diagnostics = session.advised([
    ...session.project.diagnostics,
    ...(session.acceptedSteps()?.warnings ?? []),
    ...located,
  ]);
  const hint = endingHint(session.desired.targets, session.host.now());
  if (hint !== undefined) session.host.say?.("info", hint);
  const attention = inTableOrder([...plan.attention, ...judged.attention]);
  return { plan: { ...plan, attention, diagnostics }, survey };
}

/**
 * What becomes of a rule that cannot be judged here: an apply refuses, a plan says so. `offline`: no
 * service may be asked.
 */
export type JudgeMode = "plan" | "apply" | "offline";

/**
 * Returns the policy's diagnostics for a plan, and the rules that refuse it: those violated and not
 * overridden.
 */
export async function judge(
  session: Session,
  planned: Planned,
  inScope: (address: Address) => boolean,
  overridePolicy: readonly string[],
  mode: JudgeMode,
) {
  const { policy, stage } = session.settings;
  const layers = settingsLayers(session.project.project, stage);
  const ruleOrigin = (rule: PolicyRule) => originIn(layers, ["policy", rule]);
  const elsewhere = await namesElsewhere(session, planned);
  const now = session.host.now();
  const { open, exempt, ...gate } = await gateVerdict(session, planned, mode);
  const judged = { ...planned, policy, now, inScope, ruleOrigin, elsewhere };
  const isRefused = open !== undefined && mode === "apply";
  const violations = [
    ...violationsOf({ ...judged, gate: isRefused ? { ...gate, open } : gate }),
    ...(await ownRulesBroken(policy, session.desired, { stage, inScope, plan: planned.plan })),
  ];
  return {
    attention: [isRefused ? undefined : open, exempt].flatMap((one) =>
      one === undefined ? [] : [notJudged(one)],
    ),
    diagnostics: policyDiagnostics(violations, new Set(overridePolicy)),
    refusing: refusingRules(violations, overridePolicy),
  };
}

/** Returns the violations of the project's own rules. CEL is loaded only if there are any. */
export async function ownRulesBroken(
  { rules = [] }: Policy,
  { targets }: Pick<Desired, "targets">,
  { inScope = () => true, ...judged }: RuleScope,
) {
  if (rules.length === 0) return [];
  const { brokenRules } = await import("../plan/rules.ts");
  const resources = targets.flatMap(resourcesOf).filter(({ address }) => inScope(address));
  return brokenRules(rules, { ...judged, resources });
}

interface RuleScope extends Omit<Judged, "resources"> {
  readonly inScope?: (address: Address) => boolean;
}

/** @throws TascError if `--override-policy` names a rule that there is not */
export function checkOverrides({ policy }: Settings, overridePolicy: readonly string[]): void {
  const known = [...POLICY_RULES, ...(policy.rules ?? []).map(({ name }) => name)];
  refuseAll(
    overridePolicy.flatMap((rule) =>
      known.includes(rule)
        ? []
        : fault(
            "unknown-rule",
            `There is no policy rule ${rule}`,
            `The rules are ${known.join(", ")}.${didYouMean(nearest(rule, known))}`,
          ),
    ),
  );
}

async function gateVerdict(
  session: Session,
  planned: Planned,
  mode: JudgeMode,
): Promise<GateVerdict> {
  const { passedIn: rule } = session.settings.policy;
  if (rule === undefined || rule.stage === session.settings.stage) return { refused: [] };
  const addresses = gatedIn(planned.plan, rule);
  if (addresses.length === 0) return { refused: [] };
  const why = "the plan is made from a snapshot";
  if (mode === "offline") return { refused: [], open: { why, addresses } };
  const { judgeGate } = await import("./passed-in.ts");
  return judgeGate(session, planned, addresses, rule);
}

/**
 * Returns the addresses that other stages have for live resources that this stage adopts: stages
 * may share a service.
 */
async function namesElsewhere(session: Session, { matched, baseStages }: Planned) {
  const { baseUrl: service, policy, otherPolicies } = session.settings;
  // A change must not remove a stage to take its resources.
  const stages = [...new Map([...(baseStages ?? []), ...otherPolicies])];
  const protecting = stages.filter(
    ([, theirs]) => (policy.protected ?? theirs.protected) !== undefined,
  );
  // Not without need: it takes a look at the record of each test case, of which there may be
  // 100,000.
  const meant = new Set<string>();
  for (const { state, fingerprints, matches } of protecting.length === 0 ? [] : matched.values())
    for (const [address, { live }] of fingerprints === undefined ? [] : matches) {
      const { id, imported } = state?.bindings.get(address) ?? {};
      if (live !== undefined && (id !== live.id || imported)) meant.add(live.id);
    }
  if (meant.size === 0) return [];
  const { backend } = await session.states();
  // State of another service cannot be read here, and contains none of these resources.
  const orNone = (error: unknown): [] => {
    if (error instanceof StateFailure) return [];
    throw error;
  };
  return await sideBySide(protecting, async ([stage, theirs]) => {
    const keys = (await backend.list(stage).catch(orNone)).map((target) => ({
      stage,
      target,
      service,
    }));
    const read = await sideBySide(keys, (key) => backend.readAll([key]).catch(orNone));
    const bindings = read.flatMap((one) =>
      [...one.values()].flatMap(({ state }) => [...state.bindings]),
    );
    const bound = bindings.flatMap(([address, { id }]) => (meant.has(id) ? [{ address, id }] : []));
    return { stage, policy: stricter(policy, theirs), bound };
  });
}

export function planMeta({ version, now }: Pick<Host, "version" | "now">): PlanMeta {
  return { tool: `tasc ${version}`, createdAt: new Date(now()).toISOString() };
}

/**
 * Returns what a plan shows beyond its public form, with the places of its changes: manifests are
 * parsed again for them.
 */
export async function placedExtras(plan: Plan, session: Session): Promise<PlanExtras> {
  const resources = byAddress(session.desired.targets.flatMap(resourcesOf));
  const placeOf = await placesIn(session.project.sources);
  const places = plan.changes.flatMap(({ address, fields }) => {
    const resource = resources.get(address);
    const origin =
      resource === undefined
        ? removalOf(session.desired, address)?.origin
        : (originOf(resource, fields[0]?.path) ?? originOf(resource));
    return origin === undefined ? [] : [[address, placeOf(origin)] as const];
  });
  return { ...planExtras(plan), places: Object.fromEntries(places) };
}
