import { setTimeout as delay } from "node:timers/promises";
import { type Survey, planMeta, survey } from "../app/plan.ts";
import { type Session, targetsNamed, withSession } from "../app/session.ts";
import { type Drift, driftOf, driftView, hasDrifted } from "../inspect/drift.ts";
import { explain as explainResource, explainCode, fieldsNamed } from "../inspect/explain.ts";
import { graphOf, graphView } from "../inspect/graph.ts";
import * as reports from "../inspect/reports.ts";
import { guessed, locate, placesIn } from "../manifest/problem.ts";
import { settingsLayers, variablesOf } from "../manifest/settings.ts";
import { KINDS } from "../model/address.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { EXIT, invalid, failed } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import { sideBySide } from "../model/live.ts";
import { targetOf } from "../plan/input.ts";
import { secretFields } from "../plan/memory.ts";
import type { View } from "../render/view.ts";
import { ServiceError } from "../service/failure.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

export async function explain(options: OptionsOf<"explain">, { host }: Context): Promise<View> {
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

export async function drift(session: Session, options: OptionsOf<"drift">): Promise<View> {
  const { host, project, settings, source } = session;
  const { planned, request, remembered } = await survey(session, options);
  const raw = driftOf(planned, request.scope);
  const drifted: Drift = { ...raw, problems: await locate(raw.problems, project.sources) };
  const { targets } = remembered.desired;
  // Counts bindings, because a state with only folders comes from an import.
  const unapplied = targets.filter(
    ({ key }) => (remembered.states.get(key)?.bindings.size ?? 0) === 0,
  );
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

/**
 * Warns about targets without state: a nightly job on a stage without state would never find any
 * drift.
 */
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

export async function graph(
  { desired }: Session,
  { target, format = "mermaid" }: OptionsOf<"graph">,
) {
  return { ...graphView(graphOf(desired.stage, targetsNamed(target, desired))), format };
}

async function managedTargets(session: Session, word: string | undefined) {
  const wanted = targetsNamed(word, session.desired);
  const { states, strays } = await session.remembered();
  const live = await session.client().listTargets();
  const ids = session.liveIds(states, live);
  const known = [...states.values(), ...strays];
  const missing = wanted.filter(({ key }) => !ids.has(key));
  session.host.warn(
    missing.map(({ key }) =>
      warning(
        "not-live",
        `Target ${key} does not exist on the service, so there is nothing to read`,
        "Create it with `tasc apply`. If several live targets match, `tasc plan` lists them.",
      ),
    ),
  );
  return {
    targets: wanted.flatMap(({ key }) => {
      const id = ids.get(key);
      const environments = live.find((one) => one.id === id)?.environments ?? [];
      return id === undefined ? [] : [{ key, id, environments }];
    }),
    addressOf: reports.addressesIn(known),
    secrets: secretFields(known),
  };
}

export async function listReports(
  session: Session,
  { target, limit = Number.MAX_SAFE_INTEGER }: OptionsOf<"reports list">,
): Promise<View> {
  const { targets, secrets } = await managedTargets(session, target);
  const all = await sideBySide(
    targets.map(async (one) => ({
      ...one,
      ...(await reports.newestReports(session.client().allReports(one.id), limit)),
    })),
  );
  const cut = all.filter(({ end }) => WHY_CUT[end] !== undefined);
  // The service says that there is more but does not return it. Users who rely on the list must
  // know.
  session.host.warn(
    cut.map(({ key, end }) =>
      warning(
        "reports-incomplete",
        `The list of reports of target ${key} ends here, but there may be more`,
        `The service says that there is another page, but ${WHY_CUT[end]}`,
      ),
    ),
  );
  const found = all.flatMap((one) =>
    one.reports.map((report) => reports.reportOf(one, report, secrets)),
  );
  return reports.reportsView(found, cut.length === 0);
}

const WHY_CUT: { readonly [K in reports.ReadReports["end"]]?: string } = {
  "nothing-new": "the page brought no new report.",
  "too-many": "there were too many pages already.",
  "no-key": "gave no key to ask for it.",
};

export async function showReport(
  session: Session,
  options: OptionsOf<"reports show">,
): Promise<View> {
  const { id, format, junit, target } = options;
  if (format === "json" && junit)
    throw invalid("bad-option", "--junit and --format json cannot be combined; choose one");
  if (!/^[\w-]+$/.test(id))
    throw invalid("bad-id", "This is not the id of a report", "List them:\n  tasc reports list");
  const { targets, addressOf, secrets } = await managedTargets(session, target);
  // The path of a report contains its target, so each managed target is asked until one has the
  // report.
  for (const one of targets)
    try {
      const report = reports.reportOf(one, await session.client().getReport(one.id, id), secrets);
      const view = reports.reportView(report, addressOf);
      return junit ? { ...view, format: "junit" } : view;
    } catch (error) {
      const failure = error instanceof ServiceError ? error.failure : undefined;
      // A service may also answer that an unknown id is invalid.
      if (failure?.kind !== "status" || ![400, 404, 410, 422].includes(failure.status)) throw error;
    }
  const searched = targets.map(({ key }) => key).join(", ") || "no target";
  throw failed(
    "unknown-report",
    `There is no report ${id}`,
    `Searched in ${searched}. List the reports:\n  tasc reports list`,
  );
}

export async function notifications(
  session: Session,
  { follow, interval = 5000, format, target }: OptionsOf<"notifications">,
  { console }: Context,
): Promise<View> {
  if (follow && format === "json")
    throw invalid(
      "bad-option",
      "--follow prints notifications as they come, which is not a single JSON value; omit one of the two",
    );
  // This changes nothing, so it may end at any moment.
  const end = () => process.exit(EXIT.interrupted);
  if (follow) process.once("SIGINT", end).once("SIGTERM", end);
  const { targets, addressOf } = await managedTargets(session, target);
  const seen = new Set<string>();
  const readNew = async (): Promise<readonly reports.TargetNotification[]> => {
    const lists = await sideBySide(
      targets.map(async ({ key, id }) =>
        (await session.client().listNotifications(id)).map((one) => ({ ...one, target: key })),
      ),
    );
    return reports.newNotifications(lists.flat(), seen);
  };
  if (!follow) return reports.notificationsView(await readNew(), addressOf);
  for (;;) {
    const fresh = await readNew();
    if (fresh.length > 0) await console.show(reports.laterView(fresh, addressOf));
    await delay(interval);
  }
}
