import { guessed } from "../../manifest/problem.ts";
import { type Address, parseAddress } from "../../model/address.ts";
import { invalid } from "../../model/error.ts";
import { defined } from "../../model/json.ts";
import type { BatchRecord, State } from "../../model/state.ts";
import type { Section, View } from "../../render/view.ts";
import { count } from "../../model/words.ts";
import type { LockInfo } from "../../state/backend.ts";
import { knownAddresses, knows } from "../../state/edit.ts";
import type { Session } from "../../app/session.ts";
import { holderJson } from "./documents.ts";
import { INSECURE } from "../shared-options.ts";
import { address } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  address: address("<address>", "address of a resource, e.g. testCase.shop.login"),
  ...INSECURE,
};

export const command = defineCommand({
  group: "State",
  summary: "show the state of one address",
  examples: {
    "tasc state show testCase.shop.login": "show its id and its recorded fields",
    "tasc state show target.shop": "also show the ids of the target's folders",
  },
  options: OPTIONS,
  run: inProject(showState, STATE_NEEDS),
});

async function showState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
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
