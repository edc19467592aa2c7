import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { nearest } from "../manifest/document.ts";
import { type Address, parseAddress } from "../model/address.ts";
import type { BatchRecord, State } from "../model/state.ts";
import { safeLine } from "../render/escape.ts";
import { count } from "../render/words.ts";
import type { Style } from "../render/style.ts";
import { knownAddresses, knows } from "../state/edit.ts";
import { sayError } from "./diagnostics.ts";
import { type Access, readAddress, readState, withStates } from "./state-access.ts";

/** `tasc state show ADDRESS`: what state remembers of one address. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, (access) => show(given, access));
}

async function show(given: Given, access: Access): Promise<ExitCode> {
  const { console, project } = access.opened;
  const named = readAddress(given.args[0], console);
  if (named === undefined) return EXIT.invalid;
  const read = await readState(access, named.parts.target);
  if (!read.ok) return read.code;
  const remembered = read.value && describe(read.value, named.address);
  if (remembered === undefined) {
    const close = nearest(named.address, read.value === undefined ? [] : knownAddresses(read.value));
    sayError(
      console,
      `State knows nothing of ${named.address} in stage ${project.settings.stage}`,
      `${close === undefined ? "" : `Did you mean ${close}? `}What is known:\n  tasc state list`,
    );
    return EXIT.invalid;
  }
  if (textOption(given, "format") === "json") console.json(remembered);
  else console.data(renderRemembered(remembered, console.style.stdout));
  return EXIT.done;
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
function renderRemembered(remembered: Remembered, style: Style): string {
  const lines = [
    `${style.strong(remembered.address)}  ${style.faint(`stage ${safeLine(remembered.stage)}`)}`,
    ...bindingLines(remembered),
    ...otherLines(remembered),
    ...targetLines(remembered),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function bindingLines({ id, fields = {}, locators = [] }: Remembered): readonly string[] {
  if (id === undefined) return [];
  const recorded = Object.entries(fields).map(([name, parts]) =>
    parts === true ? safeLine(name) : `${safeLine(name)} (${parts.map(safeLine).join(", ")})`,
  );
  return [
    `  id: ${safeLine(id)}`,
    `  recorded fields: ${recorded.length === 0 ? "none" : recorded.join(", ")}`,
    ...(locators.length === 0 ? [] : [`  recorded locator lines: ${count(locators.length, "element")}`]),
    ...locators.map((element) => `    ${safeLine(element)}`),
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
    ...(batch === undefined ? [] : [`  batch generation: ${BATCH[batch]}`]),
    ...(intent === undefined
      ? []
      : [
          `  creation under way: since ${safeLine(intent.at)}; the next apply looks what became of it`,
          ...intent.existing.map((id) => `    there before: ${safeLine(id)}`),
        ]),
  ];
}

function targetLines({ folders, addresses }: Remembered): readonly string[] {
  if (folders === undefined) return [];
  const names = Object.entries(folders);
  return [
    `  addresses in this target: ${addresses ?? 0}`,
    `  folders: ${names.length === 0 ? "none known" : ""}`.trimEnd(),
    ...names.map(([name, id]) => `    ${safeLine(name)}: ${safeLine(id)}`),
  ];
}
