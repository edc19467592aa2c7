import { type Drift, driftOf, driftView, hasDrifted } from "../inspect/drift.ts";
import { explain as explainResource, explainCode, fieldsNamed } from "../inspect/explain.ts";
import { graphOf, graphView } from "../inspect/graph.ts";
import { guessed, locate, placesIn } from "../manifest/problem.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { KINDS } from "../model/address.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { EXIT, stop } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import { targetOf } from "../plan/input.ts";
import type { View } from "../render/view.ts";
import { type Survey, planMeta, survey } from "../app/plan.ts";
import { type Session, targetsNamed, withSession } from "../app/session.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/* Commands that look and change nothing. */

/** Where the values of an address come from, and what follows from them; or what a code of an error means. */
export async function explain(options: OptionsOf<"explain">, { host }: Context): Promise<View> {
  const { address, field, offline, format } = options;
  // Addresses have dots, and codes have none; a kind alone is the beginning of an address.
  if (field === undefined && !address.includes(".") && !KINDS.some((kind) => kind === address))
    return explainCode(address);
  const work = async (session: Session): Promise<View> => {
    const { env, fingerprints, project, desired } = session;
    // Reading one target is enough, so the plan is narrowed to what is asked for.
    const surveyed = offline ? undefined : await survey(session, { only: [address] });
    const resources = desired.targets.flatMap(resourcesOf);
    const resource = resources.find((one) => one.address === address);
    if (resource === undefined) {
      const addresses = resources.map((one) => one.address);
      const detail = `Addresses look like testCase.shop.login.${guessed(address, addresses)}`;
      throw stop("invalid", "unknown-address", `No manifest declares ${address}`, detail);
    }
    const { states } = surveyed?.remembered ?? (await session.remembered());
    const own = (surveyed?.planned.plan.diagnostics ?? []).filter((one) => one.address === address);
    const diagnostics = await locate(own, project.sources);
    if (format !== "json") host.warn(diagnostics, session.source);
    return explainResource({
      resource,
      fields: namedFields(resource, field),
      stage: desired.stage,
      env,
      vars: variablesOf(settingsLayers(project.project, desired.stage)),
      state: states.get(targetOf(resource.address)),
      fingerprints,
      planned: surveyed?.planned,
      diagnostics,
      placeOf: await placesIn(project.sources),
    });
  };
  // Without the key fingerprints cannot be compared, and the rest can still be told.
  return withSession(options, host, work, { apiKey: !offline });
}

function namedFields({ address, kind }: DesiredResource, word: string | undefined): readonly string[] {
  if (word === undefined) return [];
  const fields = fieldsNamed(kind, word);
  if (fields.length > 0) return fields;
  const known = fieldsOf(kind).map(({ name }) => name);
  throw stop(
    "invalid",
    "unknown-field",
    `${address} has no field ${word}`,
    `Its fields are ${known.join(", ")}.${guessed(word, known)}`,
  );
}

/** What the service changed since the last apply. */
export async function drift(session: Session, options: OptionsOf<"drift">): Promise<View> {
  const { host, project, settings, source } = session;
  const { planned, request, remembered } = await survey(session, options);
  const raw = driftOf(planned, request.scope);
  const drifted: Drift = { ...raw, problems: await locate(raw.problems, project.sources) };
  const { targets } = remembered.desired;
  // Without a binding: folders alone are what an import has learnt.
  const unapplied = targets.filter(({ key }) => (remembered.states.get(key)?.bindings.size ?? 0) === 0);
  host.warn([...drifted.problems, ...neverApplied(unapplied)], source);
  const view = driftView(drifted, {
    stage: settings.stage,
    baseUrl: settings.baseUrl,
    meta: planMeta(host),
    verbose: options.verbose,
    applied: targets.length === 0 || unapplied.length < targets.length,
  });
  const exitCode = hasDrifted(drifted) ? EXIT.changes : EXIT.done;
  return { ...view, exitCode: drifted.problems.length > 0 ? EXIT.failed : exitCode };
}

/** A night job that looks at a stage without state would else find no drift for ever. */
function neverApplied(targets: Survey["remembered"]["desired"]["targets"]): readonly Diagnostic[] {
  const [first, ...others] = targets;
  if (first === undefined) return [];
  const names = targets.map(({ key }) => key).join(", ");
  const found = warning(
    "no-state",
    "Nothing was applied yet, so there is no drift to report",
    `State has nothing of ${names} in this stage. If it was applied, \`state:\` names another place.`,
  );
  return [others.length === 0 ? { ...found, address: first.address } : found];
}

/** Prerequisites as a drawing. It reads the manifests alone, so it needs no secrets. */
export async function graph(
  { desired }: Session,
  { target, format = "mermaid" }: OptionsOf<"graph">,
): Promise<View> {
  return { ...graphView(graphOf(desired.stage, targetsNamed(target, desired))), format };
}
