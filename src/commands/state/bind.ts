import { targetAddress } from "../../model/address.ts";
import { resourcesOf } from "../../model/desired.ts";
import { warning } from "../../model/diagnostic.ts";
import { invalid, failed } from "../../model/error.ts";
import { DELETED } from "../../model/fields.ts";
import type { State } from "../../model/state.ts";
import type { View } from "../../render/view.ts";
import { kindNoun } from "../../model/words.ts";
import { bindAddress, idTaken } from "../../state/edit.ts";
import type { Session } from "../../app/session.ts";
import { contentOf, mustKnowTarget, withDocuments } from "./documents.ts";
import { SERVICE, LOCK_TIMEOUT } from "../shared-options.ts";
import { address, argument } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  address: address("<address>", "a target, an environment or a test case"),
  id: argument("<id>", "id of the resource on the service"),
  ...LOCK_TIMEOUT,
  ...SERVICE,
};

export const command = defineCommand({
  group: "State",
  summary: "bind an address to a live resource",
  examples: {
    "tasc state bind testCase.shop.login 4b7c1d9e-5f3a-4c0e-9d6b-8a2f1e0c7b54":
      "bind a test case; its write-only fields are sent again",
  },
  options: OPTIONS,
  run: inProject(bindState, STATE_NEEDS),
});

async function bindState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
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
        const record = { status: "held", ...contentOf(batch, state, session) } as const;
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
  { address: { kind, target }, id }: OptionsOf<typeof OPTIONS>,
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
