import { compareAddresses, compareText, isAddress, parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import { isObject } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import { emptyState } from "../model/state.ts";
import type { BatchRecord, State } from "../model/state.ts";

/**
 * A snapshot is what a plan reads, in one JSON document: the live targets, the test cases of those that are managed,
 * and of state what stands for the address of each: ids, folder ids, what became of batch generations. It is for plans
 * where neither the network nor the key may be, such as those of a fork's pull request. So it holds no fingerprint
 * (useless without the key, and nobody should have to trust that they are), and secrets are taken out by their value.
 *
 * The test cases come last and stand one on a line: 100,000 of them are written and read one by one.
 */
export const SNAPSHOT_FORMAT = "tasc-snapshot";
export const SNAPSHOT_VERSION = 1;

/** Everything but the test cases. */
export interface SnapshotHead {
  readonly tool: string;
  readonly stage: string;
  readonly baseUrl: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly states: readonly State[];
  readonly targets: readonly LiveTarget[];
  /** Ids of the targets whose test cases were read. */
  readonly read: readonly string[];
}

/** What a snapshot keeps of a state. */
export function stateJson(state: State): JsonObject {
  return {
    target: state.target,
    bindings: sortedEntries(state.bindings, ({ id }) => id),
    folders: Object.fromEntries([...state.folders].toSorted(([a], [b]) => compareText(a, b))),
    batchGenerations: sortedEntries(batchesOf(state), ({ status }) => status),
  };
}

/** A batch generation that was cut off while it was sent: with the key a plan would find it uncertain as well. */
function batchesOf({ batchGenerations, intents }: State): ReadonlyMap<Address, Pick<BatchRecord, "status">> {
  const uncertain = [...intents.keys()]
    .filter((address) => parseAddress(address)?.kind === "batchGeneration")
    .map((address): [Address, Pick<BatchRecord, "status">] => [address, { status: "uncertain" }]);
  return new Map([...batchGenerations, ...uncertain]);
}

function sortedEntries<V>(map: ReadonlyMap<Address, V>, text: (value: V) => string): JsonObject {
  return Object.fromEntries(
    [...map].toSorted(([a], [b]) => compareAddresses(a, b)).map(([address, value]) => [address, text(value)]),
  );
}

/** The state that a snapshot keeps; `undefined` for what is none. */
export function readState(json: Json, stage: string, baseUrl: string): State | undefined {
  if (!isObject(json) || typeof json["target"] !== "string") return undefined;
  const [bindings, folders, batches] = [json["bindings"], json["folders"], json["batchGenerations"]];
  if (!isObject(bindings) || !isObject(folders) || !isObject(batches)) return undefined;
  return {
    ...emptyState(stage, json["target"], baseUrl),
    bindings: new Map(addressed(bindings).map(([address, id]) => [address, { id, fields: {} }])),
    folders: new Map(texts(folders)),
    batchGenerations: new Map(
      addressed(batches).flatMap(([address, status]) => (isStatus(status) ? [[address, { status }]] : [])),
    ),
  };
}

function addressed(json: JsonObject): readonly (readonly [Address, string])[] {
  return texts(json).flatMap(([key, text]) => (isAddress(key) ? [[key, text] as const] : []));
}

function texts(json: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(json).flatMap(([key, text]) =>
    typeof text === "string" ? [[key, text] as const] : [],
  );
}

const STATUSES: readonly string[] = ["done", "held", "uncertain", "undone"] satisfies BatchRecord["status"][];

function isStatus(text: string): text is BatchRecord["status"] {
  return STATUSES.includes(text);
}
