import { survey } from "../app/survey.ts";
import { type Session, withSession } from "../app/session.ts";
import { explain as explainResource, explainCode, fieldsNamed } from "../inspect/explain.ts";
import { git } from "../manifest/files.ts";
import { guessed, locate, placesIn } from "../manifest/problem.ts";
import { settingsLayers, variablesOf } from "../manifest/stages.ts";
import { KINDS, isAddress, targetOf } from "../model/address.ts";
import { type DesiredResource, type Removal, removalOf, resourcesOf } from "../model/desired.ts";
import { invalid } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import { defined } from "../model/json.ts";
import { placeText } from "../render/diagnostics.ts";
import { type Block, type View, faint, strong } from "../render/view.ts";
import { SIGNS } from "../render/words.ts";
import { knows } from "../state/edit.ts";
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
    const removal = isAddress(address) ? removalOf(desired, address) : undefined;
    if (removal !== undefined) return explainRemoved(session, removal);
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
      accepted: acceptanceIn(session, resource),
    });
  };
  // Without the key, fingerprints cannot be compared, but everything else can be explained.
  return withSession(options, host, work, { needsApiKey: !offline });
}

/** Explains an address that state forgets. The service has no part in it, so it is not asked. */
async function explainRemoved(session: Session, { address, origin }: Removal): Promise<View> {
  const { states, strays } = await session.remembered();
  const state = [...states.values(), ...strays].find(({ target }) => target === targetOf(address));
  const id = state?.bindings.get(address)?.id;
  const isKnown = state !== undefined && knows(state, address);
  const place = (await placesIn(session.project.sources))(origin);
  const { stage } = session.settings;
  const found = isKnown ? "by its id in state" : "state does not know it";
  const action = isKnown ? "forget" : "none";
  const why = isKnown
    ? "State forgets it at the next apply. Nothing changes on the service."
    : "There is nothing to forget. Once no stage knows it, the entry may be deleted.";
  const row = (label: string, text: string): Block => ({
    label: ["  ", faint(label)],
    column: 10,
    beside: [text],
  });
  const facts = { formatVersion: "1.0", address, stage, ...defined({ id }) };
  return {
    json: { ...facts, found, action, why, calls: [], fields: [], diagnostics: [] },
    text: [
      [
        [
          ...(isKnown ? [{ style: "forget", text: SIGNS.forget } as const, " "] : []),
          strong(address),
          "  ",
          faint(`stage ${stage}`),
        ],
        row("live", id === undefined ? found : `${id}, ${found}`),
        row("action", action),
        row("why", why),
        row("removed", placeText(place)),
      ],
    ],
  };
}

/** Returns where a test case's steps were accepted; undefined if they were not, or without git. */
function acceptanceIn(session: Session, { address }: DesiredResource) {
  const file = session.acceptedSteps()?.fileOf(address);
  if (file === undefined) return undefined;
  const line = git(session.root, ["log", "-1", "--format=%cI %h", "--", `:(literal)${file}`]);
  if (line === undefined) return undefined;
  const [at, commit] = line.split(" ");
  return { file, ...defined({ at: commit === undefined ? undefined : at, commit }) };
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
