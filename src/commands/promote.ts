import type { ExitCode } from "../cli/exit.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { projectFolder } from "../manifest/files.ts";
import { stagesOf } from "../manifest/settings/stage.ts";
import { scopeTest } from "../plan/scope.ts";
import { promote } from "../promote/promote.ts";
import { provePromotion } from "../promote/prove.ts";
import { Draft } from "../rewrite/draft.ts";
import { carryOutRewrite } from "./rewrite.ts";
import { openTwoStages } from "./two-stages.ts";

/** `tasc promote`: edits the manifests so that one stage resolves what promotion carries as another does. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openTwoStages(given, world);
  if (!opened.ok) return opened.code;
  const { root, env, from, to, project, reading, scope, console } = opened.value;
  const { documents } = reading;
  const request = { from, to, stages: stagesOf(project), inScope: scopeTest(scope) };
  const rewrite = promote(Draft.of(documents), request);
  const folder = projectFolder(root);
  return await carryOutRewrite(given, rewrite, {
    root,
    console,
    documents,
    prove: (texts) => provePromotion(texts, rewrite, { ...request, folder, env, documents }),
    head: { from: from.stage, to: to.stage },
    title: `Stage ${from.stage} → ${to.stage}`,
    nothing: `Nothing to promote: ${to.stage} resolves everything as ${from.stage} does.`,
  });
}
