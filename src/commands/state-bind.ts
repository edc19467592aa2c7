import { readerOf } from "../app/service.ts";
import { type Session, withSession } from "../app/session.ts";
import {
  type LockedDocument,
  type NamedAddress,
  contentOf,
  declaredTarget,
  readAddress,
  withDocument,
} from "../app/state.ts";
import { type Kind, targetAddress } from "../model/address.ts";
import { resourcesOf } from "../model/desired.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { DELETED } from "../model/fields.ts";
import type { LiveTarget } from "../model/live.ts";
import type { StateEvent } from "../model/state.ts";
import { kindNoun } from "../render/words.ts";
import { bindAddress, idTaken } from "../state/edit.ts";
import type { Context } from "./context.ts";
import { liveIds } from "./managed.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc state bind ADDRESS ID`: says which live resource an address means. */
export async function run(options: OptionsOf<"state bind">, { host, console }: Context): Promise<ExitCode> {
  const named = readAddress(options.address);
  const { address, parts } = named;
  const { kind, target } = parts;
  const { id } = options;
  if (kind === "batchGeneration")
    throw stop(
      "invalid",
      "batch-generation-id",
      "Batch generations have no id and cannot be bound",
      `The API cannot read batch generations. Record whether it ran:\n  tasc state mark ${address} done`,
    );
  const work = async (session: Session): Promise<ExitCode> => {
    const before = await withDocument(session, target, "tasc state bind", options, async (document) => {
      // The checks that need no call come first; then the service is asked; then it is bound.
      const declared = declaredTarget(session, target);
      if (declared === undefined && document.stored === undefined)
        throw stop(
          "invalid",
          "unknown-target",
          `There is no target ${target}`,
          "No manifest declares it and state does not contain it. Declare it first, or correct the address.",
        );
      await refuseTaken(session, named, id, document);
      await mustBeListed(session, named, kind, id, document);
      // What a target that gets its first binding starts with.
      const held = (declared?.batchGenerations ?? [])
        .filter((batch) => !document.state.batchGenerations.has(batch.address))
        .map((batch): StateEvent => ({
          type: "batch",
          address: batch.address,
          record: { status: "held", ...contentOf(batch, session.fingerprints) },
        }));
      const next = bindAddress(document.state, address, id, held);
      if (declared === undefined || !resourcesOf(declared).some((one) => one.address === address))
        host.warn([
          {
            severity: "warning",
            code: "bound-undeclared",
            summary: `No manifest declares ${address}`,
            detail: "It was bound anyway; plans list it as orphaned until a manifest declares it.",
          },
        ]);
      await document.replace(next);
      return document.stored?.bindings.get(address)?.id;
    });
    const instead = before === undefined || before === id ? "" : ` It was bound to ${before}.`;
    const json = { stage: session.settings.stage, address, id, before: before ?? null };
    console.show({ json, text: [[`${address} is bound to ${id}.${instead}`]] }, options.format);
    return EXIT.done;
  };
  return withSession({ ...options, allowMissingSecrets: true }, host, work, { apiKey: false });
}

/** Another address that has the id, in this target or another one, by the manifests or by state. */
async function refuseTaken(
  session: Session,
  { address }: NamedAddress,
  id: string,
  { key }: LockedDocument,
): Promise<void> {
  const resources = session.desired.targets.flatMap(resourcesOf);
  const byHand = resources.find((one) => one.id === id && one.address !== address);
  if (byHand !== undefined)
    throw stop(
      "failed",
      "id-in-manifest",
      `${id} is the \`id:\` of ${byHand.address}`,
      "Remove it from that manifest first.",
    );
  const { backend } = await session.states();
  const listed = (await backend.list(key.stage)).filter((target) => target !== key.target);
  for (const { bindings } of (await session.readStates(listed)).values())
    for (const [other, binding] of bindings) if (binding.id === id) throw idTaken(id, other);
}

/** @throws TascError unless the service lists a resource of that kind with that id, in that target */
async function mustBeListed(
  session: Session,
  { parts: { target } }: NamedAddress,
  kind: Sought["kind"],
  id: string,
  document: LockedDocument,
): Promise<void> {
  const client = session.client();
  const targets = await client.listTargets();
  const states = await session.readStates(session.desired.targets.map(({ key }) => key));
  const bound = document.state.bindings.get(targetAddress(target))?.id;
  const targetId = liveIds(session.desired, states, targets).get(target) ?? bound;
  let hint = hintFor(targets, { kind, id, targetId });
  const holder = targets.find((candidate) => candidate.id === targetId);
  if (kind === "target" && targets.some((one) => one.id === id)) return;
  if (kind === "environment" && holder?.environments.some((one) => one.id === id) === true) return;
  if (kind === "testCase" && holder !== undefined) {
    const cases = await readerOf(client).listTestCases(holder.id, (live) => ({
      ...live,
      elements: undefined,
    }));
    const live = cases.find((one) => one.id === id);
    if (live !== undefined && live.status !== DELETED) return;
    if (live !== undefined) hint = "It was deleted on the service.";
  }
  throw stop(
    "failed",
    "id-not-listed",
    `The service lists no ${kindNoun(kind)} with the id ${id}${kind === "target" ? "" : ` in target ${target}`}`,
    `${hint} Nothing was bound.`.trim(),
  );
}

/** Where an id is looked for. */
interface Sought {
  readonly kind: Exclude<Kind, "batchGeneration">;
  readonly id: string;
  /** Id of the test target that an environment or a test case must be in. */
  readonly targetId: string | undefined;
}

/** An id of another kind is an easy mistake. */
function hintFor(targets: readonly LiveTarget[], { kind, id, targetId }: Sought): string {
  if (kind !== "target" && targets.some((target) => target.id === id))
    return "It is the id of a test target.";
  const holder = targets.find(({ environments }) => environments.some((one) => one.id === id));
  if (holder !== undefined && (kind !== "environment" || holder.id !== targetId))
    return `It is the id of an environment of the test target ${holder.id}.`;
  if (kind !== "target" && targetId === undefined)
    return "Its test target is not on the service, or is not bound yet.";
  return "";
}
