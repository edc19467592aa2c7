import { type GateResult, askGate, openTwoStages } from "../app/two-stages.ts";
import { promote, provePromotion } from "../edit/promote.ts";
import { carryOut } from "../edit/rewrite-view.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { scopeTest } from "../plan/input.ts";
import { count, list } from "../render/words.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc promote`: edits the manifests so that one stage resolves what promotion carries as another does. */
export async function run(options: OptionsOf<"promote">, { host, console }: Context): Promise<ExitCode> {
  const opened = await openTwoStages(options, host);
  const { from, to, reading, scope } = opened;
  const { documents } = reading;
  const request = { ...opened, documents, inScope: scopeTest(scope) };
  const rewrite = promote(request);
  const head = { from: from.stage, to: to.stage };
  const addresses = [...new Set(rewrite.changes.map(({ address }) => address))];
  if (options.gate && addresses.length > 0) {
    const gate = await askGate(options, host, from.stage, addresses);
    if (gate.refused.length > 0) return refuse(options, gate, head, console);
    const reports = gate.reports.map(({ report, target }) => `${report ?? "none"} of ${target}`);
    console.say("info", `Gate: ${count(addresses.length, "test case")} passed in report ${list(reports)}.`);
    if (gate.neverApplied.length > 0)
      console.say(
        "info",
        `Gate: the history of ${from.stage} has no apply of ${list(gate.neverApplied)}, so the newest report counts.`,
      );
  }
  const { view, exitCode } = await carryOut({
    dryRun: options.dryRun,
    root: opened.root,
    documents,
    make: (excluded) => (excluded.size === 0 ? rewrite : promote(request, excluded)),
    prove: (texts, made) => provePromotion(texts, made, request),
    head,
    title: `Stage ${from.stage} → ${to.stage}`,
    nothing: `Nothing to promote: ${to.stage} and ${from.stage} have the same configuration.`,
  });
  console.show(view, options.format);
  return exitCode;
}

function refuse(
  { format }: OptionsOf<"promote">,
  { refused, reports }: GateResult,
  head: { readonly from: string; readonly to: string },
  console: Context["console"],
): ExitCode {
  const failure = stop(
    "failed",
    "gate",
    `Promotion blocked: ${count(refused.length, "test case")} ${refused.length === 1 ? "has" : "have"} not passed in ${head.from}`,
    [
      ...refused.map(
        ({ address, outcome, why }) =>
          `${address}  ${outcome === "otherwise" ? "ended otherwise" : outcome}: ${why}`,
      ),
      "Nothing was written. Rerun the tests, or promote only the passing ones with --only/--exclude.",
    ].join("\n"),
  );
  if (format !== "json") throw failure;
  console.diagnostics(failure.diagnostics);
  const gate = {
    passed: false,
    reports: reports.map((one) => ({ ...one })),
    refused: refused.map((one) => ({ ...one })),
  };
  console.show({ json: { formatVersion: "1.0", ...head, written: false, gate }, text: [] }, format);
  return EXIT.failed;
}
