import type { LockInfo } from "../state/backend.ts";
import { readAddress } from "../app/state.ts";
import { type Session, withSession } from "../app/session.ts";
import { nearest } from "../manifest/problem.ts";
import { type Address, parseAddress } from "../model/address.ts";
import { defined } from "../model/json.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import type { BatchRecord, State } from "../model/state.ts";
import { count } from "../render/words.ts";
import type { Section } from "../render/view.ts";
import { knownAddresses, knows } from "../state/edit.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc state show ADDRESS`: what state remembers of one address. */
export async function run(options: OptionsOf<"state show">, { host, console }: Context): Promise<ExitCode> {
  const { address, parts } = readAddress(options.address);
  const work = async (session: Session): Promise<ExitCode> => {
    const state = (await session.readStates([parts.target])).get(parts.target);
    const remembered = state && describe(state, address);
    if (remembered === undefined) {
      const close = nearest(address, state === undefined ? [] : knownAddresses(state));
      throw stop(
        "invalid",
        "state-unknown-address",
        `State does not contain ${address} in stage ${session.settings.stage}`,
        `${close === undefined ? "" : `Did you mean ${close}? `}What is known:\n  tasc state list`,
      );
    }
    const { backend } = await session.states();
    const holder = parts.kind === "target" ? await backend.holder(session.stateKey(parts.target)) : undefined;
    const shown = holder === undefined ? remembered : { ...remembered, lock: holderJson(holder) };
    console.show({ json: shown, text: [rememberedBlocks(shown)] }, options.format);
    return EXIT.done;
  };
  return withSession({ ...options, allowMissingSecrets: true }, host, work, { apiKey: false });
}

/** Who holds a lock, for programs. */
export function holderJson({ id, who, since, why, folder, job, process }: LockInfo) {
  return defined({ id, who, since, why, folder, job, host: process?.host, pid: process?.pid });
}

/**
 * What state remembers of an address, for people and programs; `undefined` where it knows nothing of it. Fingerprints
 * stay out: they tell nothing, and a list of them would look as if it did. Of a target, also what is in it.
 */
export function describe(state: State, address: Address) {
  const isTarget = parseAddress(address)?.kind === "target";
  const known = knownAddresses(state).length;
  if (!knows(state, address) && !(isTarget && known > 0)) return undefined;
  const binding = state.bindings.get(address);
  const intent = state.intents.get(address);
  const locators = Object.keys(binding?.locators ?? {});
  // A field has a record, or its parts have.
  const fields = Object.entries(binding?.fields ?? {}).map(
    ([name, record]): [string, true | readonly string[]] => [
      name,
      typeof record === "string" ? true : Object.keys(record),
    ],
  );
  return defined({
    address,
    stage: state.stage,
    id: binding?.id,
    fields: binding && Object.fromEntries(fields),
    locators: locators.length === 0 ? undefined : locators,
    batch: state.batchGenerations.get(address)?.status,
    intent: intent && { at: intent.at, existing: intent.existing },
    folders: isTarget ? Object.fromEntries(state.folders) : undefined,
    addresses: isTarget ? known : undefined,
  });
}

type Remembered = NonNullable<ReturnType<typeof describe>> & {
  readonly lock?: ReturnType<typeof holderJson>;
};

/** `tasc state show` for people: one thing a line. */
function rememberedBlocks(remembered: Remembered): Section {
  const { address, stage } = remembered;
  const head = [
    { style: "strong", text: address },
    "  ",
    { style: "faint", text: `stage ${stage}` },
  ] as const;
  return [head, { indent: 2, blocks: linesOf(remembered) }];
}

function linesOf({ id, fields = {}, locators = [], batch, intent, folders, addresses, lock }: Remembered) {
  const recorded = Object.entries(fields).map(([name, parts]) =>
    parts === true ? name : `${name} (${parts.join(", ")})`,
  );
  const binding = [
    `id: ${id}`,
    `recorded fields: ${recorded.length === 0 ? "none" : recorded.join(", ")}`,
    ...(locators.length === 0 ? [] : [`recorded locator lines: ${count(locators.length, "element")}`]),
    ...locators.map((element) => `  ${element}`),
  ];
  const named = Object.entries(folders ?? {});
  const target = [
    `addresses in this target: ${addresses}`,
    `folders:${named.length === 0 ? " none known" : ""}`,
    ...named.map(([name, folder]) => `  ${name}: ${folder}`),
  ];
  return [
    ...(id === undefined ? [] : binding),
    ...(batch === undefined ? [] : [`batch generation: ${BATCH[batch]}`]),
    ...(intent === undefined
      ? []
      : [
          `creation under way: since ${intent.at}; the next apply looks what became of it`,
          ...intent.existing.map((one) => `  there before: ${one}`),
        ]),
    ...(folders === undefined ? [] : target),
    ...(lock === undefined ? [] : [`lock: ${lock.id}, held by ${lock.who} since ${lock.since}`]),
  ];
}

const BATCH: Readonly<Record<BatchRecord["status"], string>> = {
  done: "done: it ran with the recorded content",
  held: "held: nobody knows whether it ran",
  uncertain: "uncertain: it was sent, and what became of it is not known",
  undone: "undone: it is to run",
};
