import { appliesByAddress } from "../../app/history.ts";
import { resultsOf, surveyResults } from "../../app/results.ts";
import type { Session } from "../../app/session.ts";
import { proveQuarantine, quarantine } from "../../edit/quarantine.ts";
import { projectFolder } from "../../manifest/files.ts";
import type { Address } from "../../model/address.ts";
import { groupBy } from "../../model/collections.ts";
import { type DesiredResource, byAddress } from "../../model/desired.ts";
import { invalid } from "../../model/error.ts";
import { type JsonObject, defined } from "../../model/json.ts";
import { count, list } from "../../model/words.ts";
import { quarantineNow } from "../../plan/quarantine.ts";
import { type Flakiness, flakinessOf, platformOf } from "../../plan/results.ts";
import { type View, strong } from "../../render/view.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";
import { flag, text, whole } from "../options.ts";
import { carryOut } from "../rewrite-view.ts";
import { READING, TARGET } from "../shared-options.ts";

const OPTIONS = {
  ...TARGET,
  last: whole("--last <n>", "results to look at in each browser and breakpoint; default: 50", 1),
  write: flag("--write", "put flaky test cases into quarantine; review the git diff"),
  owner: text("--owner <name>", "owner to write into new quarantines"),
  issue: text("--issue <id>", "issue to write into new quarantines"),
  dryRun: flag("--dry-run", "with --write, show the changes to the files and write nothing"),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "find test cases that pass and fail without a change between",
  examples: {
    "tasc reports flaky": "list flips between PASSED and FAILED in the last 50 results",
    "tasc reports flaky --write --owner @checkout --issue SHOP-812":
      "put the flaky ones into quarantine",
  },
  options: OPTIONS,
  run: inProject(flaky),
});

/** Days of a quarantine if no policy says how long one may be. */
const DAYS = 14;
const DAY = 86_400_000;

interface Case extends Flakiness {
  readonly address: Address;
  readonly resource: DesiredResource;
}

async function flaky(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { target, last = 50, write } = options;
  const read = await surveyResults(session, target, (finished) => {
    const groups = [...groupBy(finished, platformOf).values()];
    return groups.length > 0 && groups.every(({ length }) => length >= last);
  });
  const applied = await appliesByAddress(session);
  const cases = read.targets.flatMap((one): readonly Case[] =>
    (one.matched?.target.testCases ?? []).flatMap((resource) => {
      const { address } = resource;
      const results = resultsOf(one, address);
      if (results.length === 0) return [];
      const generated = Date.parse(
        one.matched?.matches.get(address)?.live?.discovery?.updatedAt ?? "",
      );
      const changes = (applied.get(address) ?? []).map(({ at }) => at);
      const all = Number.isNaN(generated) ? changes : [...changes, generated];
      return [{ address, resource, ...flakinessOf(results, last, all) }];
    }),
  );
  const rank = { flaky: 0, broken: 1, stable: 2 } as const;
  const sorted = cases.toSorted((a, b) => rank[a.verdict] - rank[b.verdict] || b.flips - a.flips);
  const testCases = sorted.map(({ address, results, flips, verdict }) => ({
    address,
    results,
    flips,
    verdict,
  }));
  return write
    ? writeQuarantines(session, sorted, testCases, options)
    : { json: { testCases }, text: [tableOf(sorted), [summaryOf(sorted)]] };
}

function tableOf(cases: readonly Case[]) {
  const shown = cases.filter(({ verdict }) => verdict !== "stable");
  if (shown.length === 0) return [];
  const rows = shown.map(({ address, results, flips, verdict }) => [
    verdict,
    address,
    `${flips} of ${Math.max(1, results - 1)}`,
    `${Math.round((flips / Math.max(1, results - 1)) * 100)} %`,
  ]);
  return [{ headings: ["VERDICT", "TEST CASE", "FLIPS", "RATE"], rows }];
}

function summaryOf(cases: readonly Case[]) {
  const amount = (wanted: Flakiness["verdict"]) =>
    cases.filter(({ verdict }) => verdict === wanted).length;
  return [
    strong(`${amount("flaky")} flaky, ${amount("broken")} broken, ${amount("stable")} stable`),
  ];
}

async function writeQuarantines(
  session: Session,
  cases: readonly Case[],
  testCases: readonly JsonObject[],
  { owner, issue, dryRun }: OptionsOf<typeof OPTIONS>,
): Promise<View> {
  const { settings, project, root, env, host } = session;
  const { stage, stages, policy } = settings;
  const { maxDays = DAYS, require = [] } = policy.quarantine ?? {};
  const found = cases.filter(
    ({ verdict, resource }) =>
      verdict === "flaky" && quarantineNow(resource, host.now()) === undefined,
  );
  const given = defined({ owner, issue });
  const missing = found.length === 0 ? [] : require.filter((name) => given[name] === undefined);
  if (missing.length > 0)
    throw invalid(
      "bad-arguments",
      `The policy asks for ${list(missing)} in each quarantine`,
      `Add ${list(missing.map((name) => `--${name}`))}; \`policy.quarantine.require\` asks for it.`,
    );
  const until = new Date(host.now() + maxDays * DAY).toISOString().slice(0, 10);
  const wanted = new Map(
    found.map(({ address, flips, results }) => [
      address,
      {
        until,
        reason: `Flaky in ${stage}: ${count(flips, "flip")} in ${count(results, "result")}`,
        ...defined({ issue, owner }),
      },
    ]),
  );
  const known = byAddress(cases);
  const request = {
    ...project,
    stage,
    stages,
    wanted,
    folder: projectFolder(root, env["TASC_TRUST"]),
    options: { root, env, stage, allowMissingSecrets: true, needsApiKey: false },
  };
  return carryOut({
    root,
    dryRun,
    documents: project.documents,
    make: (excluded) => quarantine(request, excluded),
    prove: (texts, rewrite) => proveQuarantine(texts, rewrite, request),
    head: { testCases },
    title: `Flaky in ${stage}: ${count(wanted.size, "test case")} of ${known.size}`,
    nothing: "Nothing to write: no flaky test case is without quarantine.",
    next: ({ changes }) =>
      changes.length === 0 || dryRun
        ? undefined
        : "Review the changes with `git diff`, and commit them.",
  });
}
