import { type Session, withSession } from "../app/session.ts";
import { historyOf } from "../app/history.ts";
import {
  contentOf,
  declaredTarget,
  migrateStates,
  mustKnowTarget,
  pullStates,
  pushStates,
  readAddress,
  withDocument,
  withDocuments,
} from "../app/state.ts";
import { type Address, compareAddresses, isAddress } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { type State, emptyState } from "../model/state.ts";
import type { View } from "../render/view.ts";
import { count, list as listed } from "../render/words.ts";
import { forgetAddress, forgetTarget, knownAddresses, moveAddress, moveTarget } from "../state/edit.ts";
import { applyEvents } from "../state/events.ts";
import { describeHolder } from "../state/problem.ts";
import type { Context } from "./context.ts";
import { holderJson } from "./state-show.ts";
import type { OptionsOf } from "./table.ts";

/*
 * The commands that look at state and edit it, but for `show` and `bind`. Secrets of the manifests may be missing:
 * whoever edits state need not have them.
 */

async function withState(
  options: Parameters<typeof withSession>[0] & { readonly format?: string | undefined },
  { host, console }: Context,
  work: (session: Session) => Promise<View>,
): Promise<ExitCode> {
  const show = async (session: Session): Promise<ExitCode> => {
    console.show(await work(session), options.format);
    return EXIT.done;
  };
  const needs = { apiKey: false, mayBeEmpty: true };
  return await withSession({ ...options, allowMissingSecrets: true }, host, show, needs);
}

/** `tasc state list`: the stage's bindings and batch generations. */
export async function list(options: OptionsOf<"state list">, context: Context): Promise<ExitCode> {
  return await withState(options, context, async (session) => {
    const { backend } = await session.states();
    const targets = await backend.list(session.settings.stage);
    const states = await session.readStates(targets);
    const entries = [...states.values()].flatMap(entriesOf);
    const sorted = entries.toSorted((a, b) => compareAddresses(a.address, b.address));
    const lines = sorted.map((entry) => `${entry.address}  ${"id" in entry ? entry.id : entry.status}`);
    return { json: sorted, text: [lines] };
  });
}

function entriesOf({ bindings, batchGenerations }: State) {
  return [
    ...[...bindings].map(([address, { id }]) => ({ address, id })),
    ...[...batchGenerations].map(([address, { status }]) => ({ address, status })),
  ];
}

/** `tasc state mv FROM TO`: what is known of one address becomes known of another one. */
export async function mv(options: OptionsOf<"state mv">, context: Context): Promise<ExitCode> {
  const [from, to] = [readAddress(options.from), readAddress(options.to)];
  const { target } = from.parts;
  if (from.address === to.address) throw stop("invalid", "same-address", "Both addresses are the same");
  if (from.parts.kind !== to.parts.kind)
    throw stop(
      "invalid",
      "other-kind",
      `${from.address} and ${to.address} are of different kinds`,
      "The kind of a live resource cannot change.",
    );
  if (from.parts.kind !== "target" && target !== to.parts.target)
    throw stop(
      "invalid",
      "other-target",
      `${from.address} and ${to.address} belong to different targets`,
      `A resource cannot move to another test target on the service. To rename the target and everything in it:\n  tasc state mv target.${target} target.${to.parts.target}`,
    );
  const why = "tasc state mv";
  return await withState(options, context, async (session) => {
    const isTarget = from.parts.kind === "target";
    if (!isTarget)
      await withDocument(session, target, why, options, async ({ state, replace }) => {
        await replace(moveAddress(state, from.address, to.address));
      });
    else
      await withDocuments(session, [target, to.parts.target], why, options, async ([old, next]) => {
        if (old === undefined || next === undefined) throw new TypeError("a document was not locked");
        // The new document first: cut off in between, everything is known twice and the same command ends it.
        await next.replace(moveTarget(old.state, to.parts.target, next.stored));
        await old.replace(emptyState(old.key.stage, target, old.key.service));
      });
    const line = `${from.address} is now ${to.address}${isTarget ? ", with all that is in it" : ""}.`;
    const json = { stage: session.settings.stage, from: from.address, to: to.address };
    return { json, text: [[line]] };
  });
}

/** `tasc state rm ADDRESS`: forgets it. The service is not called. */
export async function rm(options: OptionsOf<"state rm">, context: Context): Promise<ExitCode> {
  const { address, parts } = readAddress(options.address);
  const whole = parts.kind === "target";
  return await withState(options, context, async (session) => {
    const gone = await withDocument(
      session,
      parts.target,
      "tasc state rm",
      options,
      async ({ state, replace }) => {
        const next = whole ? forgetTarget(state, address) : forgetAddress(state, address);
        const forgotten = whole ? knownAddresses(state) : [address];
        context.console.diagnostics(consequences(state, forgotten));
        await replace(next);
        return forgotten;
      },
    );
    const what = whole
      ? `${address} is forgotten, with all that is in it (${count(gone.length, "address", "addresses")}).`
      : `${address} is forgotten.`;
    const json = { stage: session.settings.stage, forgotten: gone };
    return { json, text: [[`${what} The service was not called.`]] };
  });
}

/** What the next apply does because of what is forgotten now. */
function consequences(state: State, gone: readonly Address[]): readonly Diagnostic[] {
  const last = gone.length === knownAddresses(state).length;
  const ran = last ? [] : gone.filter((address) => state.batchGenerations.has(address));
  return [
    ...gone
      .filter((address) => state.intents.has(address))
      .map((address) => ({
        severity: "warning" as const,
        code: "intent-forgotten",
        summary: `A creation of ${address} was interrupted; its result is unknown`,
        detail: "The next apply looks for it by name only. Check that it does not create a duplicate.",
      })),
    ...ran.map((address) => ({
      severity: "warning" as const,
      code: "batch-forgotten",
      summary: `${address} is now recorded as not run`,
      detail: `The next apply runs it if a manifest declares it. If it already ran:\n  tasc state mark ${address} done`,
    })),
  ];
}

/** `tasc state mark ADDRESS done|undone`: whether a batch generation ran, which the service does not tell. */
export async function mark(options: OptionsOf<"state mark">, { host, console }: Context): Promise<ExitCode> {
  const { address, parts } = readAddress(options.address);
  // What it ran with is recorded under the key, secrets and all, so both must be there.
  return await withSession(options, host, async (session) => {
    const resource = declaredTarget(session, parts.target)?.batchGenerations.find(
      (one) => one.address === address,
    );
    if (resource === undefined)
      throw stop(
        "invalid",
        "not-a-batch-generation",
        `${address} is not a batch generation of this project`,
        "Addresses of batch generations look like batchGeneration.shop.spring.",
      );
    const status = options.what === "done" ? "done" : "undone";
    await withDocument(session, parts.target, "tasc state mark", options, async ({ state, replace }) => {
      const record = { status, ...contentOf(resource, session.fingerprints) } as const;
      await replace(applyEvents(state, [{ type: "batch", address, record }]));
    });
    const json = { stage: session.settings.stage, address, status };
    console.show({ json, text: [[`${address} is marked ${options.what}.`]] }, options.format);
    return EXIT.done;
  });
}

/** `tasc state unlock TARGET [ID]`: takes a lock away from whoever holds it, and says who that was. */
export async function unlock(options: OptionsOf<"state unlock">, context: Context): Promise<ExitCode> {
  const target = options.target.replace(/^target\./, "");
  return await withState(options, context, async (session) => {
    const { stage } = session.settings;
    const { backend } = await session.states();
    const holder = await backend.forceUnlock({ stage, target }, options.id);
    if (holder === undefined) await mustKnowTarget(session, target);
    const json = { target, stage, holder: holder === undefined ? null : holderJson(holder) };
    const became = holder === undefined ? "was not locked." : `is unlocked. ${describeHolder(holder)}`;
    return { json, text: [[`Target ${target} in stage ${stage} ${became}`]] };
  });
}

/** `tasc state pull`: the stage's documents as one JSON object. */
export async function pull(options: OptionsOf<"state pull">, context: Context): Promise<ExitCode> {
  return await withState({ ...options, format: "json" }, context, async (session) => ({
    json: await pullStates(session, options.target),
    text: [],
  }));
}

/** `tasc state push FILE`: writes the documents of a backup. */
export async function push(options: OptionsOf<"state push">, context: Context): Promise<ExitCode> {
  return await withState(options, context, async (session) => {
    const targets = await pushStates(session, options.file, options);
    const line = `Restored the state of ${count(targets.length, "target")}: ${listed(targets)}.`;
    const json = { stage: session.settings.stage, restored: targets };
    return { json, text: [[line]] };
  });
}

/** `tasc state migrate --from-config FILE`: copies state from another backend to that of tasc.yaml. */
export async function migrate(options: OptionsOf<"state migrate">, context: Context): Promise<ExitCode> {
  const { fromConfig } = options;
  if (fromConfig === undefined)
    throw stop(
      "invalid",
      "missing-option",
      "--from-config is missing",
      "Pass a file with the old `state:` section of tasc.yaml, or - for standard input.",
    );
  return await withState(options, context, async (session) => {
    const { copied, same } = await migrateStates(session, fromConfig, options);
    const { stage, state } = session.settings;
    const already = same.length === 0 ? "" : ` ${count(same.length, "target")} had been copied before.`;
    const lines = [
      `Copied and verified the state of ${count(copied.length, "target")} of stage ${stage} to the ${state.backend} backend.${already}`,
      "The old backend was not changed. tasc.yaml now names the new one, so all further runs use it: commit it, and remove the old state once all stages are migrated.",
    ];
    return { json: { stage, copied, same }, text: [lines] };
  });
}

/** `tasc state history TARGET`: the versions of a document that the backend keeps. */
export async function history(options: OptionsOf<"state history">, context: Context): Promise<ExitCode> {
  const target = options.target.replace(/^target\./, "");
  return await withState(options, context, async (session) => {
    const { backend } = await session.states();
    if (backend.versions === undefined)
      throw stop(
        "invalid",
        "state-no-versions",
        `The ${session.settings.state.backend} backend does not keep earlier versions`,
        "Only postgres does. Use git for local state, and the features of your server for http state.",
      );
    const versions = await backend.versions(session.stateKey(target));
    if (versions.length === 0) await mustKnowTarget(session, target);
    const shown = versions.map(({ serial, written }) => ({ serial: Number(serial), written }));
    const lines = shown.map(({ serial, written }) => `${serial}  ${written}`);
    const text = lines.length === 0 ? ["There are no earlier versions."] : lines;
    return { json: shown, text: [text] };
  });
}

/** `tasc history [ADDRESS]`: the applies of the stage, the newest first. */
export async function applies(options: OptionsOf<"history">, context: Context): Promise<ExitCode> {
  const { address } = options;
  if (address !== undefined && !isAddress(address)) readAddress(address);
  return await withState(options, context, async (session) => {
    const entries = (await historyOf(session)).flatMap((entry) => {
      const changes = entry.changes.filter((change) => address === undefined || change.address === address);
      return address !== undefined && changes.length === 0 ? [] : [{ ...entry, changes }];
    });
    const lines = entries.flatMap(({ at, who, where, commit, plan, ended, changes }) => [
      [
        at,
        who,
        ...(where === undefined ? [] : [where]),
        ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
        `plan ${plan}`,
        ...(ended ? [] : ["(interrupted)"]),
      ].join("  "),
      ...changes.map((change) =>
        ["", change.outcome.padEnd(7), change.action.padEnd(10), change.address].join("  "),
      ),
    ]);
    const text = lines.length === 0 ? ["No apply is recorded."] : lines;
    return { json: entries, text: [text] };
  });
}
