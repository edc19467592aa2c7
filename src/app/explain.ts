import { didYouMean, explain, fieldsNamed } from "../inspect/explain.ts";
import { locate, nearest, placesIn } from "../manifest/problem.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { stop } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import { targetOf } from "../plan/input.ts";
import type { View } from "../render/view.ts";
import { survey } from "./plan.ts";
import type { Session } from "./session.ts";

export interface ExplainOptions {
  readonly address: string;
  /** By name, or by what holds several; all that are declared where it is absent. */
  readonly field?: string | undefined;
  /** Whether the service is not to be asked. */
  readonly offline: boolean;
}

/** Where the values of an address come from, and what follows from them. It changes nothing. @throws TascError */
export async function explainAddress(
  session: Session,
  { address, field, offline }: ExplainOptions,
): Promise<{ readonly view: View; readonly diagnostics: readonly Diagnostic[] }> {
  const { env, fingerprints, project } = session;
  // Reading one target is enough, so the plan is narrowed to what is asked for.
  const surveyed = offline ? undefined : await survey(session, { only: [address] });
  const resources = session.desired.targets.flatMap(resourcesOf);
  const resource = resources.find((one) => one.address === address);
  if (resource === undefined) {
    const addresses = resources.map((one) => one.address);
    const detail = `Addresses look like testCase.shop.login.${didYouMean(nearest(address, addresses))}`;
    throw stop("invalid", "unknown-address", `No manifest declares ${address}`, detail);
  }
  const { states } = surveyed?.remembered ?? (await session.remembered());
  const { stage } = session.desired;
  const own = (surveyed?.planned.plan.diagnostics ?? []).filter((one) => one.address === address);
  const diagnostics = await locate(own, project.sources);
  const view = explain({
    resource,
    fields: namedFields(resource, field),
    stage,
    env,
    vars: variablesOf(settingsLayers(project.project, stage)),
    state: states.get(targetOf(resource.address)),
    fingerprints,
    planned: surveyed?.planned,
    diagnostics,
    placeOf: await placesIn(project.sources),
  });
  return { view, diagnostics };
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
    `Its fields are ${known.join(", ")}.${didYouMean(nearest(word, known))}`,
  );
}
