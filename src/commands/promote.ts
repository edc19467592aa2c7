import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type Refused, promote, provePromotion } from "../edit/promote.ts";
import { projectFolder } from "../manifest/files.ts";
import { stagesOf } from "../manifest/settings.ts";
import { scopeTest } from "../plan/input.ts";
import { count, list } from "../render/words.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import { type GateResult, askGate } from "./gate.ts";
import { carryOutRewrite } from "./rewrite.ts";
import { openTwoStages } from "./two-stages.ts";

/** `tasc promote`: edits the manifests so that one stage resolves what promotion carries as another does. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openTwoStages(given, world);
  if (!opened.ok) return opened.code;
  const { root, env, from, to, project, reading, scope, console } = opened.value;
  const { documents } = reading;
  const request = { from, to, stages: stagesOf(project), inScope: scopeTest(scope), documents, project };
  const rewrite = promote(request);
  const head = { from: from.stage, to: to.stage };
  const addresses = [...new Set(rewrite.changes.map(({ address }) => address))];
  if (flagOption(given, "gate") && addresses.length > 0) {
    const gate = await askGate(given, world, from.stage, addresses);
    if (!gate.ok) return gate.code;
    if (gate.value.refused.length > 0) return refuse(given, gate.value, head, console);
    const reports = gate.value.reports.map(({ report, target }) => `${report ?? "none"} of ${target}`);
    console.say("info", `Gate: ${count(addresses.length, "test case")} passed in report ${list(reports)}.`);
  }
  const folder = projectFolder(root);
  return await carryOutRewrite(given, {
    root,
    console,
    documents,
    make: (excluded) => promote(request, excluded),
    prove: (texts, made) => provePromotion(texts, made, { ...request, folder, env }),
    head,
    title: `Stage ${from.stage} → ${to.stage}`,
    nothing: `Nothing to promote: ${to.stage} and ${from.stage} have the same configuration.`,
  });
}

const WORDS: Readonly<Record<Refused["outcome"], string>> = {
  failed: "failed",
  missing: "missing",
  otherwise: "ended otherwise",
};

function refuse(
  given: Given,
  { refused, reports }: GateResult,
  head: { readonly from: string; readonly to: string },
  console: Console,
): ExitCode {
  sayError(
    console,
    `Promotion blocked: ${count(refused.length, "test case")} ${refused.length === 1 ? "has" : "have"} not passed in ${head.from}`,
    [
      ...refused.map(({ address, outcome, why }) => `${address}  ${WORDS[outcome]}: ${why}`),
      "Nothing was written. Rerun the tests, or promote only the passing ones with --only/--exclude.",
    ].join("\n"),
  );
  if (textOption(given, "format") === "json")
    console.json({
      formatVersion: "1.0",
      ...head,
      written: false,
      gate: {
        passed: false,
        reports: reports.map((one) => ({ ...one })),
        refused: refused.map((one) => ({ ...one })),
      },
    });
  return EXIT.failed;
}
