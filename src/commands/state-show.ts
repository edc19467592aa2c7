import type { LockInfo } from "../state/backend.ts";
import { stateOf, readAddress } from "../app/state.ts";
import { type Session, withSession } from "../app/session.ts";
import { nearest } from "../manifest/problem.ts";
import { type Address, parseAddress } from "../model/address.ts";
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
    const state = await stateOf(session, parts.target);
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

export type LockJson = ReturnType<typeof holderJson>;

/** Who holds a lock, for programs. */
export function holderJson({ id, who, since, why, folder, job, process }: LockInfo) {
  return {
    id,
    who,
    since,
    why,
    ...(folder === undefined ? {} : { folder }),
    ...(job === undefined ? {} : { job }),
    ...(process === undefined ? {} : { host: process.host, pid: process.pid }),
  };
}

/**
 * What state remembers of an address, for people and programs. Fingerprints stay out: they tell nothing, and a list of
 * them would look as if it did.
 */
type Remembered = {
  readonly address: Address;
  readonly stage: string;
  readonly id?: string;
  /** Field name → `true`, or the parts that have a record. */
  readonly fields?: Readonly<Record<string, true | readonly string[]>>;
  /** Ids of elements whose locator line is recorded. */
  readonly locators?: readonly string[];
  readonly batch?: BatchRecord["status"];
  readonly intent?: RememberedIntent;
  /** Of a target alone: folder name → id. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Of a target alone: addresses in it that state knows something of. */
  readonly addresses?: number;
  /** Of a target alone: who holds its lock. */
  readonly lock?: LockJson;
};

/** A creation that was about to be sent, and of which nobody has looked up yet what it made. */
export type RememberedIntent = {
  readonly at: string;
  /** Ids that were there before. */
  readonly existing: readonly string[];
};

/** `undefined` where state knows nothing of the address. */
export function describe(state: State, address: Address): Remembered | undefined {
  const isTarget = parseAddress(address)?.kind === "target";
  if (!knows(state, address) && !(isTarget && knownAddresses(state).length > 0)) return undefined;
  const batch = state.batchGenerations.get(address)?.status;
  const intent = state.intents.get(address);
  return {
    address,
    stage: state.stage,
    ...bindingOf(state, address),
    ...(batch === undefined ? {} : { batch }),
    ...(intent === undefined ? {} : { intent: { at: intent.at, existing: intent.existing } }),
    ...(isTarget
      ? { folders: Object.fromEntries(state.folders), addresses: knownAddresses(state).length }
      : {}),
  };
}

function bindingOf(state: State, address: Address): Pick<Remembered, "id" | "fields" | "locators"> {
  const binding = state.bindings.get(address);
  if (binding === undefined) return {};
  const fields = Object.entries(binding.fields).map(
    ([name, record]) => [name, typeof record === "string" ? true : Object.keys(record)] as const,
  );
  const locators = Object.keys(binding.locators ?? {});
  return {
    id: binding.id,
    fields: Object.fromEntries(fields),
    ...(locators.length === 0 ? {} : { locators }),
  };
}

/** `tasc state show` for people: one thing a line. */
function rememberedBlocks(remembered: Remembered): Section {
  const { address, stage } = remembered;
  const head = [
    { style: "strong", text: address },
    "  ",
    { style: "faint", text: `stage ${stage}` },
  ] as const;
  const lines = [...bindingLines(remembered), ...otherLines(remembered), ...targetLines(remembered)];
  return [head, { indent: 2, blocks: lines }];
}

function bindingLines({ id, fields = {}, locators = [] }: Remembered): readonly string[] {
  if (id === undefined) return [];
  const recorded = Object.entries(fields).map(([name, parts]) =>
    parts === true ? name : `${name} (${parts.join(", ")})`,
  );
  return [
    `id: ${id}`,
    `recorded fields: ${recorded.length === 0 ? "none" : recorded.join(", ")}`,
    ...(locators.length === 0 ? [] : [`recorded locator lines: ${count(locators.length, "element")}`]),
    ...locators.map((element) => `  ${element}`),
  ];
}

const BATCH: Readonly<Record<NonNullable<Remembered["batch"]>, string>> = {
  done: "done: it ran with the recorded content",
  held: "held: nobody knows whether it ran",
  uncertain: "uncertain: it was sent, and what became of it is not known",
  undone: "undone: it is to run",
};

function otherLines({ batch, intent }: Remembered): readonly string[] {
  return [
    ...(batch === undefined ? [] : [`batch generation: ${BATCH[batch]}`]),
    ...(intent === undefined
      ? []
      : [
          `creation under way: since ${intent.at}; the next apply looks what became of it`,
          ...intent.existing.map((id) => `  there before: ${id}`),
        ]),
  ];
}

function targetLines({ folders, addresses, lock }: Remembered): readonly string[] {
  if (folders === undefined) return [];
  const names = Object.entries(folders);
  return [
    `addresses in this target: ${addresses ?? 0}`,
    `folders:${names.length === 0 ? " none known" : ""}`,
    ...names.map(([name, id]) => `  ${name}: ${id}`),
    ...(lock === undefined ? [] : [`lock: ${lock.id}, held by ${lock.who} since ${lock.since}`]),
  ];
}
