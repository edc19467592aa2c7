import { survey } from "../app/plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { explain as explainResource, explainCode, fieldsNamed } from "../inspect/explain.ts";
import { guessed, locate, placesIn } from "../manifest/problem.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { KINDS, targetOf } from "../model/address.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import { invalid } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import { READING } from "./shared-options.ts";
import { argument, flag, text } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = {
  address: argument(
    "<address>",
    "address of a resource, e.g. testCase.shop.login, or a code, e.g. unknown-key",
  ),
  field: text("[field]", "field, e.g. status or discovery.prompt; default: all declared fields"),
  offline: flag("--offline", "use manifests and state only; do not call the service"),
  ...READING,
};

export const command = defineCommand({
  group: "Review",
  summary: "show where a value comes from, or what a code means",
  examples: {
    "tasc explain testCase.shop.login status": "explain the value of one field",
    "tasc explain environment.shop.default --offline": "explain without calling the service",
    "tasc explain unknown-key": "explain the code of a message",
  },
  options: OPTIONS,
  run: explain,
});

async function explain(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  const { address, field, offline, format } = options;
  // Addresses contain dots, and codes do not; a kind alone is the beginning of an address.
  if (field === undefined && !address.includes(".") && !KINDS.some((kind) => kind === address))
    return explainCode(address);
  const work = async (session: Session): Promise<View> => {
    const { env, fingerprints, project, desired } = session;
    // One target is enough, so the plan is limited to the requested address.
    const surveyed = offline ? undefined : await survey(session, { only: [address] });
    const resources = desired.targets.flatMap(resourcesOf);
    const resource = resources.find((one) => one.address === address);
    if (resource === undefined) {
      const addresses = resources.map((one) => one.address);
      const detail = `Addresses look like testCase.shop.login.${guessed(address, addresses)}`;
      throw invalid("unknown-address", `No manifest declares ${address}`, detail);
    }
    const { states } = surveyed?.remembered ?? (await session.remembered());
    const own = (surveyed?.planned.plan.diagnostics ?? []).filter((one) => one.address === address);
    const diagnostics = await locate(own, project.sources);
    if (format !== "json") session.host.warn(diagnostics, session.source);
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
  // Without the key, fingerprints cannot be compared, but everything else can be explained.
  return withSession(options, host, work, { needsApiKey: !offline });
}

function namedFields(
  { address, kind }: DesiredResource,
  word: string | undefined,
): readonly string[] {
  if (word === undefined) return [];
  const fields = fieldsNamed(kind, word);
  if (fields.length > 0) return fields;
  const known = fieldsOf(kind).map(({ name }) => name);
  throw invalid(
    "unknown-field",
    `${address} has no field ${word}`,
    `Its fields are ${known.join(", ")}.${guessed(word, known)}`,
  );
}
