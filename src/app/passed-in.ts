import { placeholdersIn } from "../manifest/template.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { settingsLayers } from "../manifest/stages.ts";
import { type Address, targetOf } from "../model/address.ts";
import { type DesiredResource, byAddress } from "../model/desired.ts";
import { sideBySide } from "../model/live.ts";
import type { PassedIn } from "../model/settings.ts";
import { type StepsState, areAccepted } from "../model/steps.ts";
import { isUnknown } from "../model/value.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import { memoryOf } from "../plan/memory.ts";
import {
  type Evidence,
  type GateVerdict,
  isTested,
  otherThere,
  refusalOf,
} from "../plan/passed-in.ts";
import type { Planned } from "../plan/plan.ts";
import { quarantineNow } from "../plan/quarantine.ts";
import { hasEnded } from "../plan/generation.ts";
import { isPulled } from "../plan/record.ts";
import { reviewed } from "../plan/steps.ts";
import { type CaseResult, resultsByCase } from "../plan/results.ts";
import { isFinished, newestFirst, readReports, timeOf, withResults } from "../service/reports.ts";
import { type AppliedAt, appliesByAddress } from "./history.ts";
import { survey } from "./survey.ts";
import { type Host, openProject } from "./project.ts";
import { type Session, inSession } from "./session.ts";

/** Asks the other stage of a rule about the test cases of a plan that the rule is for. */
export async function judgeGate(
  session: Session,
  { matched }: Pick<Planned, "matched">,
  addresses: readonly Address[],
  rule: PassedIn,
): Promise<GateVerdict> {
  return inOtherStage(session, rule.stage, async (there) => {
    const key = missingKeyOf(there);
    if (key !== undefined) return { refused: [], open: { why: `${key} is not set`, addresses } };
    const { cases } = await gatherEvidence(there, addresses, {
      mustBeApplied: true,
      here: (address) => matched.get(targetOf(address))?.resources.get(address),
    });
    const now = session.host.now();
    const judged = (address: Address, evidence = cases.get(address)) =>
      refusalOf(address, evidence, rule, now);
    const exempt = addresses.filter((address) => {
      const evidence = cases.get(address);
      const counted = evidence && { ...evidence, quarantined: false };
      return evidence?.quarantined === true && !judged(address) && judged(address, counted);
    });
    return {
      refused: addresses.flatMap((address) => judged(address) ?? []),
      ...(exempt.length > 0 && {
        exempt: { why: `in quarantine in ${rule.stage}`, addresses: exempt },
      }),
    };
  });
}

/** Opens the same project in another stage, whose secrets may be missing. */
async function inOtherStage<T>(
  { root, env, host }: Session,
  stage: string,
  work: (there: Session) => Promise<T>,
): Promise<T> {
  const other: Host = { ...host, env };
  const needs = { needsApiKey: false, allowMissingSecrets: true, texts: false };
  return inSession(await openProject({ chdir: root, stage }, other, needs), other, work);
}

/** Returns the name of the unset variable of the stage's API key; undefined if there is a key. */
export function missingKeyOf({ settings, project, env }: Session): string | undefined {
  if (settings.apiKey !== undefined) return undefined;
  const written = mergedAt(settingsLayers(project.project, settings.stage), ["service", "apiKey"]);
  const secrets = placeholdersIn(written ?? null).filter(({ kind }) => kind === "secret");
  const named = secrets.find((one) => one.kind === "secret" && !env[one.name]);
  return named?.kind === "secret" ? named.name : "service.apiKey";
}

export interface EvidenceOptions {
  /**
   * Whether test cases that tasc never applied in the stage, and that differ from their manifests
   * there, are refused.
   */
  readonly mustBeApplied: boolean;
  /** Returns what must be the same in the other stage; undefined if nothing is compared. */
  readonly here: (address: Address) => DesiredResource | undefined;
}

/**
 * Asks a stage what it knows of test cases: whether they are as declared there, and their results
 * since the last apply and generation. A test case that the stage does not declare has no entry.
 */
export async function gatherEvidence(
  there: Session,
  addresses: readonly Address[],
  options: EvidenceOptions,
) {
  const declared = byAddress(there.desired.targets.flatMap(({ testCases }) => testCases));
  const known = addresses.filter((address) => declared.has(address));
  const targets = [...new Set(known.map(targetOf))];
  if (targets.length === 0) return { cases: new Map<Address, Evidence>(), reports: [] };
  const { planned } = await survey(there, { only: targets.map((key) => `testCase.${key}.*`) });
  const applied = await appliesByAddress(there);
  const found = await sideBySide(
    targets.map(async (key) => {
      const matched = planned.matched.get(key);
      const own = known.filter((address) => targetOf(address) === key);
      return evidenceOf(there, own, { planned, matched, applied, ...options });
    }),
  );
  return {
    cases: new Map(found.flatMap(({ cases }) => cases)),
    /** The newest finished report of each target. */
    reports: found.map(({ report = null }, at) => ({ target: targets[at] ?? "", report })),
  };
}

interface Known extends EvidenceOptions {
  readonly planned: Planned;
  readonly matched: MatchedTarget | undefined;
  readonly applied: ReadonlyMap<string, readonly AppliedAt[]>;
}

async function evidenceOf(there: Session, addresses: readonly Address[], known: Known) {
  const { matched, applied } = known;
  const since = new Map(
    addresses.map((address) => {
      const live = matched?.matches.get(address)?.live;
      const from = applied.get(address)?.[0]?.at;
      // Times of the service: a run of the very moment of a write began after it.
      const generated = timeIn(live?.discovery?.updatedAt);
      const own = Math.max(from ?? timeIn(live?.updatedAt), generated);
      return [address, { own, isAfter: from === own }] as const;
    }),
  );
  const oldest = Math.min(...[...since.values()].map(({ own }) => own));
  const { results, unsure, report } = await readResults(there, matched?.live?.id, oldest);
  const cases = addresses.map((address): readonly [Address, Evidence] => {
    const id = matched?.matches.get(address)?.live?.id ?? "";
    const { own = -Infinity, isAfter = false } = since.get(address) ?? {};
    const fresh = (results.get(id) ?? []).filter(({ at }) => (isAfter ? at > own : at >= own));
    const resource = matched?.resources.get(address);
    const obstacle = unsure
      ? "the service returned only some of its reports, in no particular order"
      : obstacleTo(there, address, known, results.get(id) ?? []);
    return [
      address,
      {
        obstacle,
        results: fresh,
        report,
        quarantined:
          resource !== undefined && quarantineNow(resource, there.host.now()) !== undefined,
        applied: applied.get(address)?.[0]?.text,
      },
    ];
  });
  return { cases, report };
}

function timeIn(text: string | undefined): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? -Infinity : time;
}

/** Reads the results of a target back to a moment, and the id of its newest finished report. */
async function readResults(there: Session, id: string | undefined, oldest: number) {
  if (id === undefined) return { results: resultsByCase([]), unsure: false, report: undefined };
  const client = there.client();
  const { reports, unsure } = await readReports(client.allReports(id), (read) => {
    const last = read.at(-1);
    return last !== undefined && timeOf(last) < oldest;
  });
  const wanted = reports.filter((report) => timeOf(report) >= oldest && isFinished(report));
  const whole = await withResults(wanted, (report) => client.getReport(id, report));
  return {
    results: resultsByCase(newestFirst(whole)),
    unsure,
    report: reports.find(isFinished)?.id,
  };
}

/** What the gate says of steps in the other stage that nobody accepted. */
const NOT_ACCEPTED: Partial<Record<StepsState, string>> = {
  weakened: "its steps there were weakened since they were accepted",
  changed: "its steps there were changed since they were accepted",
  notAccepted: "its steps there are not accepted yet",
  withoutSteps: "it has no steps there",
  generating: "its steps there are not generated yet",
};

/** Returns why no result of the stage says anything about a test case; the first reason. */
function obstacleTo(
  { fingerprints }: Session,
  address: Address,
  { planned, matched, here, mustBeApplied }: Known,
  results: readonly CaseResult[],
): string | undefined {
  const live = matched?.matches.get(address)?.live;
  const resource = matched?.resources.get(address);
  if (matched === undefined || live === undefined || resource === undefined)
    return "it is not live there";
  const change = planned.plan.changes.find((one) => one.address === address);
  const binding = matched.state?.bindings.get(address);
  const isOther = mustBeApplied && change?.fields.some(({ path }) => isTested(path)) === true;
  if (change !== undefined && (binding !== undefined || isOther))
    return "it does not match its manifest; apply it there first";
  const memory = memoryOf(address, live.id, { ...matched, fingerprints });
  if (isPulled(resource, live, memory))
    return "it was changed on the service since it was last applied; apply it there first";
  const generating = binding?.generating;
  const ended = timeIn(live.discovery?.updatedAt);
  const isOpen =
    generating !== undefined &&
    (!hasEnded(live.discovery, generating) || !results.some(({ at }) => at > ended));
  if (live.discovery !== undefined && isOpen)
    return "it has not run since its discovery ended; wait for that with `tasc apply --wait`";
  if (fingerprints === undefined || Object.values(resource.fields).some(isUnknown))
    return "a secret is missing, so it is unknown whether it matches its manifest";
  const acceptance = reviewed(matched.steps, resource, live);
  if (matched.steps?.mode === "reviewed" && acceptance !== undefined && !areAccepted(acceptance))
    return NOT_ACCEPTED[acceptance.state];
  const own = here(address);
  const other = own === undefined ? undefined : otherThere(own, resource);
  return other === undefined ? undefined : `its ${other} is different there`;
}
