import {
  type Refused,
  promote as promoteValues,
  provePromotion,
  refusedBy,
} from "../edit/promote.ts";
import { count, list } from "../model/words.ts";
import { newestFinished } from "../inspect/reports.ts";
import { type Address, targetOf } from "../model/address.ts";
import { EXIT, type TascError, failed } from "../model/error.ts";
import { isUnknown } from "../model/value.ts";
import type { MatchedTarget } from "../plan/compare.ts";
import { scopeTest } from "../plan/scope.ts";
import { memoryOf } from "../plan/memory.ts";
import { hasEnded } from "../plan/generation.ts";
import { isPulled } from "../plan/record.ts";
import { failureJson } from "../render/json.ts";
import type { View } from "../render/view.ts";
import type { Client } from "../service/client.ts";
import { historyOf } from "../app/history.ts";
import { survey } from "../app/plan.ts";
import type { Host } from "../app/project.ts";
import { withSession } from "../app/session.ts";
import { carryOut } from "./rewrite-view.ts";
import type { Context } from "./context.ts";
import { openTwoStages } from "./two-stages.ts";
import { SCOPE, TWO_STAGES, READING } from "./shared-options.ts";
import { flag } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = {
  ...TWO_STAGES,
  ...SCOPE,
  dryRun: flag("--dry-run", "show the changes to the files and write nothing"),
  gate: flag("--gate", "require every affected test case to have passed since its last apply"),
  ...READING,
};

export const command = defineCommand({
  group: "Stages",
  summary: "copy configuration from one stage to another in the manifests",
  examples: {
    "tasc promote --from staging --to production --dry-run": "preview the changes to the manifests",
    "tasc promote --from staging --to production --only testCase.shop.login":
      "promote one test case; then review the git diff",
    "tasc promote --from staging --to production --gate":
      "promote only if the affected test cases have passed in staging",
  },
  options: OPTIONS,
  run: promote,
});

async function promote(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  const opened = await openTwoStages(options, host);
  const { from, to, reading, scope } = opened;
  const { documents } = reading;
  const request = { ...opened, documents, inScope: scopeTest(scope) };
  const rewrite = promoteValues(request);
  const head = { from: from.stage, to: to.stage };
  const addresses = [...new Set(rewrite.changes.map(({ address }) => address))];
  if (options.gate && addresses.length > 0) {
    const { refused, reports, neverApplied } = await askGate(options, host, from.stage, addresses);
    if (refused.length > 0) {
      const failure = refusal(refused, from.stage);
      if (options.format !== "json") throw failure;
      host.warn(failure.diagnostics);
      const gate = { passed: false, reports, refused: refused.map((one) => ({ ...one })) };
      const json = { formatVersion: "1.0", ...head, written: false, gate, ...failureJson(failure) };
      return { json, text: [], exitCode: EXIT.failed };
    }
    const read = reports.map(({ report, target }) => `${report ?? "none"} of ${target}`);
    host.say?.(
      "info",
      `Gate: ${count(addresses.length, "test case")} passed in report ${list(read)}.`,
    );
    if (neverApplied.length > 0)
      host.say?.(
        "info",
        `Gate: the history of ${from.stage} has no apply of ${list(neverApplied)}, so the newest report counts.`,
      );
  }
  return carryOut({
    dryRun: options.dryRun,
    root: opened.root,
    documents,
    make: (excluded) => (excluded.size === 0 ? rewrite : promoteValues(request, excluded)),
    prove: (texts, made) => provePromotion(texts, made, request),
    head,
    title: `Stage ${from.stage} → ${to.stage}`,
    nothing: `Nothing to promote: ${to.stage} and ${from.stage} have the same configuration.`,
    next: ({ changes }) =>
      changes.length === 0
        ? undefined
        : options.dryRun
          ? "run it without --dry-run to write this."
          : `review the change with \`git diff\`, then run \`tasc plan --stage ${to.stage}\`.`,
  });
}

function refusal(refused: readonly Refused[], stage: string): TascError {
  const lines = refused.map(
    ({ address, outcome, why }) =>
      `${address}  ${outcome === "otherwise" ? "ended otherwise" : outcome}: ${why}\n`,
  );
  return failed(
    "gate",
    `Promotion blocked: ${count(refused.length, "test case")} ${refused.length === 1 ? "has" : "have"} not passed in ${stage}`,
    `${lines.join("")}Nothing was written. Rerun the tests, or promote only the passing ones with --only/--exclude.`,
  );
}

/**
 * Checks in the newest finished report of each target, in one stage's service, whether the test
 * cases have passed.
 */
function askGate(
  options: OptionsOf<typeof OPTIONS>,
  host: Host,
  stage: string,
  addresses: readonly Address[],
) {
  return withSession({ ...options, stage }, host, async (session) => {
    const { planned } = await survey(session, { only: addresses });
    // Only for test cases that were applied before is it certain that a report is older than their
    // manifests.
    const isBound = (address: Address): boolean =>
      planned.matched.get(targetOf(address))?.state?.bindings.has(address) === true;
    const pending = new Set(planned.plan.changes.map(({ address }) => address).filter(isBound));
    const applied = new Map<string, string>();
    for (const { at, changes } of await historyOf(session))
      for (const { address, outcome } of changes)
        if (outcome !== "skipped" && !((applied.get(address) ?? "") > at)) applied.set(address, at);
    const refused: Refused[] = [];
    const reports: { target: string; report: string | null }[] = [];
    for (const target of new Set(addresses.map(targetOf))) {
      const matched = planned.matched.get(target);
      const report = await reportOf(session.client(), target, matched);
      reports.push({ target, report: report?.id ?? null });
      for (const address of addresses.filter((one) => targetOf(one) === target)) {
        const live = matched?.matches.get(address)?.live;
        const resource = matched?.resources.get(address);
        const memory =
          live && memoryOf(address, live.id, { ...matched, fingerprints: session.fingerprints });
        const generating = matched?.state?.bindings.get(address)?.generating;
        const { discovery } = live ?? {};
        const ranBefore =
          Date.parse(report?.createdAt ?? "") <= Date.parse(discovery?.updatedAt ?? "");
        const isOpen = generating !== undefined && (ranBefore || !hasEnded(discovery, generating));
        const hasSecrets = !Object.values(resource?.fields ?? {}).some(isUnknown);
        // A report says nothing about a test case that differs from its manifest.
        const untested = [
          [pending.has(address), "it does not match its manifest; apply it there first"],
          [
            (resource && live && memory && isPulled(resource, live, memory)) === true,
            "it was changed on the service since it was last applied; apply it there first",
          ],
          [
            discovery !== undefined && isOpen,
            "it has not run since its discovery ended; wait for that with `tasc apply --wait`",
          ],
          [
            session.fingerprints === undefined || !hasSecrets,
            "a secret is missing, so it is unknown whether it matches its manifest",
          ],
        ] as const;
        refused.push(...refusedBy(address, live?.id, untested, report, applied.get(address)));
      }
    }
    // For test cases that were never applied, any report counts.
    return { refused, reports, neverApplied: addresses.filter((address) => !applied.has(address)) };
  });
}

/**
 * Returns the newest finished report. The list only shows which one is the newest; the report has
 * the plain results.
 */
async function reportOf(client: Client, target: string, matched: MatchedTarget | undefined) {
  if (matched?.live === undefined) return undefined;
  const { id } = matched.live;
  const { report, unsure } = await newestFinished(client.allReports(id));
  if (unsure)
    throw failed(
      "newest-report-unknown",
      `Cannot determine the newest report of target ${target}`,
      "The service returned only some of its reports, in no particular order. Nothing was written.",
    );
  return report && (await client.getReport(id, report.id));
}
