import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { explanationJson, redactExplanation, renderExplanation } from "../inspect/explain-view.ts";
import { type Explanation, explain, fieldsNamed, placesOf } from "../inspect/explain.ts";
import { locate, nearest } from "../manifest/document.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import type { State } from "../model/state.ts";
import { targetOf } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { fingerprinterOf } from "./look.ts";
import { type Opened, openProject } from "./opening.ts";
import type { OrCode } from "./states.ts";
import { readRemembered, survey } from "./survey.ts";

/** `tasc explain ADDRESS [FIELD]`: where values come from, and what follows from them. It changes nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const found = flagOption(given, "offline") ? await readOffline(given, world) : await readAll(given, world);
  if (!found.ok) return found.code;
  const { opened, resource, names, state, planned } = found.value;
  const { project, env } = opened;
  const explanation = explain({
    resource,
    fields: names,
    around: {
      stage: project.desired.stage,
      env,
      vars: variablesOf(settingsLayers(project.project, project.desired.stage)),
    },
    state,
    fingerprints: fingerprinterOf(project.settings),
    planned,
  });
  await print(given, opened, explanation);
  return EXIT.done;
}

/** What is explained, and all that is known of it. */
interface Subject extends Wanted {
  readonly opened: Opened;
  readonly state: State | undefined;
  readonly planned: Planned | undefined;
}

interface Wanted {
  readonly resource: DesiredResource;
  readonly names: readonly string[];
}

async function readAll(given: Given, world: World): Promise<OrCode<Subject>> {
  // Reading one target is enough, so the plan is narrowed to what is asked for.
  const looked = await survey(given, world, (all) => ({
    ...all,
    options: { ...all.options, only: all.args.slice(0, 1) },
  }));
  if (!looked.ok) return looked;
  const { opened, states, planned } = looked.value;
  const wanted = wantedOf(given, opened);
  if (!wanted.ok) return wanted;
  const state = states.get(targetOf(wanted.value.resource.address));
  return { ok: true, value: { ...wanted.value, opened, state, planned } };
}

/** Without the key fingerprints cannot be compared, and the rest can still be told. */
async function readOffline(given: Given, world: World): Promise<OrCode<Subject>> {
  const opened = await openProject(given, world, { needsApiKey: false, leave: "warnings" });
  if (!opened.ok) return opened;
  const wanted = wantedOf(given, opened);
  if (!wanted.ok) return wanted;
  const remembered = await readRemembered(opened, world);
  if (!remembered.ok) return remembered;
  const state = remembered.value.states.get(targetOf(wanted.value.resource.address));
  return { ok: true, value: { ...wanted.value, opened, state, planned: undefined } };
}

function wantedOf({ args }: Given, { project, console }: Opened): OrCode<Wanted> {
  const [address = "", word] = args;
  const resources = project.desired.targets.flatMap(resourcesOf);
  const resource = resources.find((candidate) => candidate.address === address);
  if (resource === undefined) {
    const close = nearest(
      address,
      resources.map((candidate) => candidate.address),
    );
    sayError(
      console,
      `No manifest declares ${address}`,
      `Addresses look like testCase.shop.login.${close === undefined ? "" : ` Did you mean ${close}?`}`,
    );
    return { ok: false, code: EXIT.invalid };
  }
  const fields = fieldsNamed(resource.kind, word);
  if (fields.ok) return { ok: true, value: { resource, names: fields.names } };
  const guess = fields.guess === undefined ? "" : ` Did you mean ${fields.guess}?`;
  sayError(
    console,
    `${address} has no field ${word ?? ""}`,
    `Its fields are ${fields.known.join(", ")}.${guess}`,
  );
  return { ok: false, code: EXIT.invalid };
}

async function print(given: Given, { console, project }: Opened, found: Explanation): Promise<void> {
  const located = await locate(found.diagnostics, project.sources);
  const explanation = { ...redactExplanation(found, console.redactor), diagnostics: located };
  const origins = explanation.fields.flatMap(({ sources, placeholders }) => [
    ...sources.map(({ origin }) => origin),
    ...placeholders.flatMap(({ origin }) => origin ?? []),
  ]);
  const placeOf = await placesOf(origins, project.sources);
  if (textOption(given, "format") === "json") {
    console.json(explanationJson(explanation, placeOf));
    return;
  }
  const options = { style: console.style.stdout, width: console.columns, placeOf };
  console.data(renderExplanation(explanation, options));
  sayDiagnostics(console, explanation.diagnostics, project.sources);
}
