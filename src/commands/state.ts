import { existsSync } from "node:fs";
import { guessed } from "../manifest/problem.ts";
import { type Address, compareAddresses, parseAddress, targetAddress } from "../model/address.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import { type Diagnostic, warning } from "../model/diagnostic.ts";
import { invalid, failed } from "../model/error.ts";
import { DELETED } from "../model/fields.ts";
import { defined } from "../model/json.ts";
import { type BatchRecord, type State, emptyState } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import { batchContent } from "../plan/resources.ts";
import type { Section, View } from "../render/view.ts";
import { count, kindNoun } from "../render/words.ts";
import { type DocumentKey, type LockInfo, NO_DOCUMENT } from "../state/backend.ts";
import {
  bindAddress,
  forgetAddress,
  idTaken,
  knownAddresses,
  knows,
  moveAddress,
  moveTarget,
} from "../state/edit.ts";
import { erroredFile } from "../state/errored.ts";
import { applyEvents } from "../state/events.ts";
import { describeHolder, explainTakeover } from "../state/problem.ts";
import { lockDocuments, unlockAll } from "../state/session.ts";
import { historyOf } from "../app/history.ts";
import type { Session } from "../app/session.ts";
import type { OptionsOf } from "./table.ts";

/* The commands that read and edit state; `state-copies.ts` has those that copy whole documents. */

/** A target's document under lock. An edit reads it, and writes it as a whole or not at all. */
export interface LockedDocument {
  readonly key: DocumentKey;
  readonly stored: State | undefined;
  /** The stored state, or an empty one. */
  readonly state: State;
  /** The document's version number, if the backend counts versions. */
  readonly serial: number | undefined;
  readonly replace: (state: State) => Promise<void>;
}

/**
 * Does the work while these targets' documents are locked. The work gets one document per target,
 * in the same order.
 */
export async function withDocuments<T>(
  session: Session,
  targets: readonly string[],
  why: string,
  { lockTimeout = 0 }: Pick<OptionsOf<"state mv">, "lockTimeout">,
  work: (...documents: readonly LockedDocument[]) => Promise<T>,
): Promise<T> {
  const { backend, world } = await session.states();
  const keys = targets.map((target) => session.stateKey(target));
  const locks = await lockDocuments(backend, keys, world, { timeout: lockTimeout, why });
  try {
    const all = await backend.readAll(keys);
    let listing: Promise<void> | undefined;
    const documents = locks.map((lock) => {
      const { key } = lock;
      if (lock.takenOver !== undefined) session.host.warn([explainTakeover(key, lock.takenOver)]);
      const { state: stored, revision } = all.get(key.target) ?? {};
      return {
        key,
        stored,
        state: stored ?? emptyState(key.stage, key.target, key.service),
        serial: serialOf(revision),
        replace: async (next: State) => {
          const lineage = next.lineage ?? stored?.lineage ?? world.newId();
          await (listing ??= backend.register?.(key.stage, targets));
          await lock.write({ ...next, lineage }, revision ?? NO_DOCUMENT);
        },
      };
    });
    const place = ({ key }: LockedDocument) => targets.indexOf(key.target);
    return await work(...documents.toSorted((a, b) => place(a) - place(b)));
  } finally {
    await unlockAll(locks);
  }
}

export function serialOf(revision: string | undefined): number | undefined {
  return revision !== undefined && /^\d{1,15}$/.test(revision) ? Number(revision) : undefined;
}

/** @throws TascError if no manifest declares the target and it has no state */
export async function mustKnowTarget(session: Session, target: string): Promise<void> {
  const { stage } = session.settings;
  const { backend } = await session.states();
  const known = [...session.desired.targets.map(({ key }) => key), ...(await backend.list(stage))];
  if (known.includes(target)) return;
  throw invalid(
    "unknown-target",
    `There is no target ${target} in stage ${stage}`,
    `No manifest declares it and state does not contain it.${guessed(target, known)}`,
  );
}

export async function listState(session: Session): Promise<View> {
  const { backend } = await session.states();
  const states = await session.readStates(await backend.list(session.settings.stage));
  const entries = [...states.values()].flatMap(({ bindings, batchGenerations }) => [
    ...[...bindings].map(([address, { id }]) => ({ address, id })),
    ...[...batchGenerations].map(([address, { status }]) => ({ address, status })),
  ]);
  const sorted = entries.toSorted((a, b) => compareAddresses(a.address, b.address));
  const lines = sorted.map(
    (entry) => `${entry.address}  ${"id" in entry ? entry.id : entry.status}`,
  );
  return { json: sorted, text: [lines] };
}

export async function showState(session: Session, options: OptionsOf<"state show">): Promise<View> {
  const { address, kind, target } = options.address;
  const { backend } = await session.states();
  const state = (await session.readStates([target])).get(target);
  const holder = kind === "target" ? await backend.holder(session.stateKey(target)) : undefined;
  const remembered = state && describe(state, address, holder);
  if (remembered === undefined)
    throw invalid(
      "state-unknown-address",
      `State does not contain ${address} in stage ${session.settings.stage}`,
      `${guessed(address, state === undefined ? [] : knownAddresses(state))} What is known:\n  tasc state list`.trimStart(),
    );
  return { json: remembered, text: [rememberedBlocks(remembered)] };
}

function holderJson({ id, who, since, why, folder, job, process }: LockInfo) {
  return defined({ id, who, since, why, folder, job, host: process?.host, pid: process?.pid });
}

/**
 * Returns what state remembers of an address, or undefined if that is nothing. Fingerprints are
 * left out: they say nothing to people, although a list of them would look as if they did. For a
 * target, adds its folders and number of addresses.
 */
export function describe(state: State, address: Address, holder?: LockInfo) {
  const isTarget = parseAddress(address)?.kind === "target";
  const known = knownAddresses(state).length;
  if (!knows(state, address) && !(isTarget && known > 0)) return undefined;
  const binding = state.bindings.get(address);
  const intent = state.intents.get(address);
  const locators = Object.keys(binding?.locators ?? {});
  // Either the field has one record, or each of its parts has one.
  const fields: Record<string, true | readonly string[]> = {};
  for (const [name, record] of Object.entries(binding?.fields ?? {}))
    fields[name] = typeof record === "string" ? true : Object.keys(record);
  return defined({
    address,
    stage: state.stage,
    id: binding?.id,
    fields: binding && fields,
    locators: locators.length === 0 ? undefined : locators,
    batch: state.batchGenerations.get(address)?.status,
    intent: intent && { at: intent.at, existing: intent.existing },
    folders: isTarget ? Object.fromEntries(state.folders) : undefined,
    addresses: isTarget ? known : undefined,
    lock: holder && holderJson(holder),
  });
}

function rememberedBlocks({
  address,
  stage,
  ...known
}: NonNullable<ReturnType<typeof describe>>): Section {
  const { id, fields = {}, locators = [], batch, intent, folders, addresses, lock } = known;
  const recorded = Object.entries(fields).map(([name, parts]) =>
    parts === true ? name : `${name} (${parts.join(", ")})`,
  );
  const lines: string[] = [];
  if (id !== undefined)
    lines.push(`id: ${id}`, `recorded fields: ${recorded.join(", ") || "none"}`);
  if (id !== undefined && locators.length > 0)
    lines.push(
      `recorded locator lines: ${count(locators.length, "element")}`,
      ...locators.map((element) => `  ${element}`),
    );
  if (batch !== undefined) lines.push(`batch generation: ${BATCH[batch]}`);
  if (intent !== undefined)
    lines.push(
      `creation under way: since ${intent.at}; the next apply checks its outcome`,
      ...intent.existing.map((one) => `  there before: ${one}`),
    );
  if (folders !== undefined) {
    const named = Object.entries(folders);
    lines.push(
      `addresses in this target: ${addresses}`,
      `folders:${named.length === 0 ? " none known" : ""}`,
      ...named.map(([name, folder]) => `  ${name}: ${folder}`),
    );
  }
  if (lock !== undefined) lines.push(`lock: ${lock.id}, held by ${lock.who} since ${lock.since}`);
  return [
    [{ style: "strong", text: address }, "  ", { style: "faint", text: `stage ${stage}` }],
    { indent: 2, blocks: lines },
  ];
}

const BATCH: Readonly<Record<BatchRecord["status"], string>> = {
  done: "done: it ran with the recorded content",
  held: "held: it is unknown whether it ran",
  uncertain: "uncertain: it was sent, and its outcome is unknown",
  undone: "undone: it is to run",
};

export async function moveState(session: Session, options: OptionsOf<"state mv">): Promise<View> {
  const { from, to } = options;
  const { target } = from;
  if (from.address === to.address) throw invalid("same-address", "Both addresses are the same");
  if (from.kind !== to.kind)
    throw invalid(
      "other-kind",
      `${from.address} and ${to.address} are of different kinds`,
      "The kind of a live resource cannot change.",
    );
  const isTarget = from.kind === "target";
  if (!isTarget && target !== to.target)
    throw invalid(
      "other-target",
      `${from.address} and ${to.address} belong to different targets`,
      `A resource cannot move to another test target on the service. To rename the target and everything in it:\n  tasc state mv target.${target} target.${to.target}`,
    );
  const targets = isTarget ? [target, to.target] : [target];
  const keys = targets.map((one) => session.stateKey(one));
  const errored = keys
    .map((key) => erroredFile({ projectFolder: session.root }, key))
    .find(existsSync);
  if (errored !== undefined)
    throw failed(
      "state-errored-left",
      "An apply has left records that state does not have yet",
      `They are in ${errored}, under the addresses of now, and the next apply takes them in. Run \`tasc apply\` before the move, or remove the file if nothing of it matters.`,
    );
  await withDocuments(
    session,
    targets,
    "tasc state mv",
    options,
    async (old, next?: LockedDocument) => {
      if (next === undefined) return old.replace(moveAddress(old.state, from.address, to.address));
      // The new document first: if interrupted in between, both have everything, and the same
      // command finishes the move.
      await next.replace(moveTarget(old.state, to.target, next.stored));
      await old.replace(emptyState(old.key.stage, target, old.key.service));
    },
  );
  return {
    json: { stage: session.settings.stage, from: from.address, to: to.address },
    text: [[`${from.address} is now ${to.address}${isTarget ? ", with all that is in it" : ""}.`]],
  };
}

export async function removeState(session: Session, options: OptionsOf<"state rm">): Promise<View> {
  const { address, kind, target } = options.address;
  const whole = kind === "target";
  const why = "tasc state rm";
  const forgotten = await withDocuments(
    session,
    [target],
    why,
    options,
    async ({ state, replace }) => {
      const gone = whole ? knownAddresses(state) : [address];
      session.host.warn(consequences(state, gone));
      await replace(forgetAddress(state, address));
      return gone;
    },
  );
  const all = whole
    ? `, with all that is in it (${count(forgotten.length, "address", "addresses")})`
    : "";
  return {
    json: { stage: session.settings.stage, forgotten },
    text: [[`${address} is forgotten${all}. The service was not called.`]],
  };
}

function consequences(state: State, gone: readonly Address[]): readonly Diagnostic[] {
  const last = gone.length === knownAddresses(state).length;
  const ran = last ? [] : gone.filter((address) => state.batchGenerations.has(address));
  return [
    ...gone
      .filter((address) => state.intents.has(address))
      .map((address) =>
        warning(
          "intent-forgotten",
          `A creation of ${address} was interrupted; its result is unknown`,
          "The next apply looks for it by name only. Check that it does not create a duplicate.",
        ),
      ),
    ...ran.map((address) =>
      warning(
        "batch-forgotten",
        `${address} is now recorded as not run`,
        `The next apply runs it if a manifest declares it. If it already ran:\n  tasc state mark ${address} done`,
      ),
    ),
  ];
}

export async function markState(session: Session, options: OptionsOf<"state mark">): Promise<View> {
  const { address, target } = options.address;
  const { what: status } = options;
  const declared = session.desired.targets.flatMap(({ batchGenerations }) => batchGenerations);
  const resource = declared.find((one) => one.address === address);
  if (resource === undefined)
    throw invalid(
      "not-a-batch-generation",
      `${address} is not a batch generation of this project`,
      "Addresses of batch generations look like batchGeneration.shop.spring.",
    );
  await withDocuments(session, [target], "tasc state mark", options, async ({ state, replace }) => {
    const record = { status, ...contentOf(resource, session) };
    await replace(applyEvents(state, [{ type: "batch", address, record }]));
  });
  const json = { stage: session.settings.stage, address, status };
  return { json, text: [[`${address} is marked ${status}.`]] };
}

function contentOf(
  resource: DesiredResource,
  { fingerprints }: Session,
): { readonly content?: string } {
  if (fingerprints === undefined || Object.values(resource.fields).some(isUnknown)) return {};
  return { content: batchContent(fingerprints, resource) };
}

export async function unlockState(session: Session, { target, id }: OptionsOf<"state unlock">) {
  const { stage } = session.settings;
  const { backend } = await session.states();
  const holder = await backend.forceUnlock({ stage, target }, id);
  if (holder === undefined) await mustKnowTarget(session, target);
  const result =
    holder === undefined ? "was not locked." : `is unlocked. ${describeHolder(holder)}`;
  return {
    json: { target, stage, holder: holder === undefined ? null : holderJson(holder) },
    text: [[`Target ${target} in stage ${stage} ${result}`]],
  };
}

export async function stateVersions(
  session: Session,
  { target }: OptionsOf<"state history">,
): Promise<View> {
  const { backend } = await session.states();
  if (backend.versions === undefined)
    throw invalid(
      "state-no-versions",
      `The ${session.settings.state.backend} backend does not keep earlier versions`,
      "Only postgres does. Use git for local state, and the features of your server for http state.",
    );
  const versions = await backend.versions(session.stateKey(target));
  if (versions.length === 0) await mustKnowTarget(session, target);
  const shown = versions.map(({ serial, written }) => ({ serial: Number(serial), written }));
  const lines = shown.map(({ serial, written }) => `${serial}  ${written}`);
  return { json: shown, text: [lines.length === 0 ? ["There are no earlier versions."] : lines] };
}

export async function history(session: Session, options: OptionsOf<"history">): Promise<View> {
  const address = options.address?.address;
  const entries = (await historyOf(session)).flatMap((entry) => {
    const changes = entry.changes.filter(
      (change) => address === undefined || change.address === address,
    );
    return address !== undefined && changes.length === 0 ? [] : [{ ...entry, changes }];
  });
  const lines = entries.flatMap(({ at, who, where, commit, plan, ended, changes }) => [
    [
      at,
      who,
      where,
      commit && `commit ${commit.slice(0, 12)}`,
      `plan ${plan}`,
      !ended && "(interrupted)",
    ]
      .filter((part) => typeof part === "string")
      .join("  "),
    ...changes.map(
      (change) => `  ${change.outcome.padEnd(7)}  ${change.action.padEnd(10)}  ${change.address}`,
    ),
  ]);
  return { json: entries, text: [lines.length === 0 ? ["No apply is recorded."] : lines] };
}

export async function bindState(session: Session, options: OptionsOf<"state bind">): Promise<View> {
  const { id } = options;
  const { address, kind, target } = options.address;
  const { stage } = session.settings;
  if (kind === "batchGeneration")
    throw invalid(
      "batch-generation-id",
      "Batch generations have no id and cannot be bound",
      `The API cannot read batch generations. Record whether it ran:\n  tasc state mark ${address} done`,
    );
  const why = "tasc state bind";
  const before = await withDocuments(
    session,
    [target],
    why,
    options,
    async ({ state, stored, replace }) => {
      // First the checks that need no call, then the call to the service, then the binding.
      if (stored === undefined) await mustKnowTarget(session, target);
      const resources = session.desired.targets.flatMap(resourcesOf);
      const byHand = resources.find((one) => one.id === id && one.address !== address);
      if (byHand !== undefined)
        throw failed(
          "id-in-manifest",
          `${id} is the \`id:\` of ${byHand.address}`,
          "Remove it from that manifest first.",
        );
      const { backend } = await session.states();
      const others = (await backend.list(stage)).filter((other) => other !== target);
      for (const { bindings } of (await session.readStates(others)).values())
        for (const [other, binding] of bindings) if (binding.id === id) throw idTaken(id, other);
      await mustBeListed(session, options, state);
      // Initial records of a target that gets its first binding.
      const declared =
        session.desired.targets.find(({ key }) => key === target)?.batchGenerations ?? [];
      const batches = declared.filter((one) => !state.batchGenerations.has(one.address));
      const held = batches.map((batch) => {
        const record = { status: "held", ...contentOf(batch, session) } as const;
        return { type: "batch", address: batch.address, record } as const;
      });
      const next = bindAddress(state, address, id, held);
      if (!resources.some((one) => one.address === address))
        session.host.warn([
          warning(
            "bound-undeclared",
            `No manifest declares ${address}`,
            "It was bound anyway; plans list it as orphaned until a manifest declares it.",
          ),
        ]);
      await replace(next);
      return stored?.bindings.get(address)?.id;
    },
  );
  const instead = before === undefined || before === id ? "" : ` It was bound to ${before}.`;
  return {
    json: { stage, address, id, before: before ?? null },
    text: [[`${address} is bound to ${id}.${instead}`]],
  };
}

/**
 * @throws TascError unless the service lists a resource of this kind with this id, in this target
 */
async function mustBeListed(
  session: Session,
  { address: { kind, target }, id }: OptionsOf<"state bind">,
  state: State,
): Promise<void> {
  const client = session.client();
  const targets = await client.listTargets();
  const states = await session.readStates(session.desired.targets.map(({ key }) => key));
  const bound = state.bindings.get(targetAddress(target))?.id;
  const targetId = session.liveIds(states, targets).get(target) ?? bound;
  const holder = targets.find((one) => one.id === targetId);
  const isIt = (one: { readonly id: string }): boolean => one.id === id;
  const listed: readonly { readonly id: string; readonly status?: string | undefined }[] =
    kind === "target"
      ? targets
      : kind === "environment" || holder === undefined
        ? (holder?.environments ?? [])
        : await client.listTestCases(holder.id, ({ id: own, status }) => ({ id: own, status }));
  const live = listed.find(isIt);
  if (live !== undefined && live.status !== DELETED) return;
  // The id of another kind is an easy mistake.
  const other = targets.find(({ environments }) => environments.some(isIt));
  const hint =
    live !== undefined
      ? "It was deleted on the service."
      : kind !== "target" && targets.some(isIt)
        ? "It is the id of a test target."
        : other !== undefined
          ? `It is the id of an environment of the test target ${other.id}.`
          : kind !== "target" && targetId === undefined
            ? "Its test target is not on the service, or is not bound yet."
            : "";
  throw failed(
    "id-not-listed",
    `The service lists no ${kindNoun(kind)} with the id ${id}${kind === "target" ? "" : ` in target ${target}`}`,
    `${hint} Nothing was bound.`.trim(),
  );
}
