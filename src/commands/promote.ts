import { promote as promoteValues, provePromotion } from "../edit/promote.ts";
import type { StageView } from "../inspect/stages.ts";
import type { Address } from "../model/address.ts";
import { EXIT, type TascError, failed } from "../model/error.ts";
import { globTest } from "../model/glob.ts";
import type { PassedIn, Policy } from "../model/settings.ts";
import { count, list } from "../model/words.ts";
import { type Refusal, refusalLine, refusalOf } from "../plan/passed-in.ts";
import { scopeTest } from "../plan/scope.ts";
import { failureJson } from "../render/json.ts";
import type { View } from "../render/view.ts";
import { gatherEvidence } from "../app/passed-in.ts";
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
  summary: "copy configuration between stages in the manifests",
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
    const { refused, reports, evidence, rule, isPolicy } = await askGate(
      options,
      host,
      opened,
      addresses,
    );
    if (refused.length > 0) {
      const failure = refusal(refused, rule, isPolicy);
      if (options.format !== "json") throw failure;
      host.warn(failure.diagnostics);
      const gate = {
        passed: false,
        reports,
        refused: refused.map((one) => refusedJson(one, isPolicy)),
      };
      const json = { formatVersion: "1.0", ...head, written: false, gate, ...failureJson(failure) };
      return { json, text: [], exitCode: EXIT.failed };
    }
    const read = reports.map(({ report, target }) => `${report ?? "none"} of ${target}`);
    host.say?.(
      "info",
      `Gate: ${count(addresses.length, "test case")} passed in report ${list(read)}.`,
    );
    const neverApplied = addresses.filter((one) => evidence.get(one)?.applied === undefined);
    if (neverApplied.length > 0)
      host.say?.(
        "info",
        `Gate: the history of ${from.stage} has no apply of ${list(neverApplied)}, so its results since it last changed count.`,
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

/** @param isPolicy whether a rule asks for several passes, or for a time, that can be told */
function refusedJson({ address, outcome, why, earliest }: Refusal, isPolicy: boolean) {
  const when = isPolicy ? { earliest: new Date(earliest).toISOString() } : {};
  return { address, outcome, why, ...when };
}

function refusal(refused: readonly Refusal[], rule: PassedIn, isPolicy: boolean): TascError {
  const lines = refused.map(
    (one) =>
      `${one.address}  ${one.outcome === "otherwise" ? "ended otherwise" : one.outcome}: ${isPolicy ? refusalLine(one, rule) : one.why}\n`,
  );
  return failed(
    "gate",
    `Promotion blocked: ${count(refused.length, "test case")} ${refused.length === 1 ? "has" : "have"} not passed in ${rule.stage}`,
    `${lines.join("")}Nothing was written. Rerun the tests, or promote only the passing ones with --only/--exclude.`,
  );
}

/**
 * Previews `policy.passedIn` of the stage that is changed. Without that rule, one pass is enough,
 * and a test case that tasc never applied in the other stage is judged by the results it has.
 */
function askGate(
  options: OptionsOf<typeof OPTIONS>,
  host: Host,
  { from, toPolicy }: { readonly from: StageView; readonly toPolicy: Policy },
  addresses: readonly Address[],
) {
  const { passedIn } = toPolicy;
  const isOwn = passedIn?.stage === from.stage;
  const rule = isOwn ? passedIn : { stage: from.stage, passes: 1, soak: 0, except: [] };
  return withSession({ ...options, stage: from.stage }, host, async (session) => {
    // What will be declared here is what is declared there.
    const here = () => undefined;
    const { cases, reports } = await gatherEvidence(session, addresses, {
      mustBeApplied: isOwn,
      here,
    });
    const exempt = rule.except.map((glob) => globTest(glob));
    const judged = addresses.filter((address) => !exempt.some((fits) => fits(address)));
    const refused = judged.flatMap(
      (address) => refusalOf(address, cases.get(address), rule, host.now()) ?? [],
    );
    return { refused, reports, evidence: cases, rule, isPolicy: isOwn };
  });
}
