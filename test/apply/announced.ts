import type { Address } from "../../src/model/address.ts";
import type { Change } from "../../src/model/plan.ts";
import type { State } from "../../src/model/state.ts";
import type { LoggedCall } from "./memory-service.ts";
import type { Applied } from "./workbench.ts";

/**
 * Differences between the sent and the announced calls. A change of only a folder may be left out
 * once the folder's id is known and shows that the change is not needed. A follow-up may be merged
 * into a certain PATCH.
 */
export function announcementBreaches(
  { look }: Applied,
  sent: readonly LoggedCall[],
  states: ReadonlyMap<string, State>,
): readonly string[] {
  const { changes } = look.planned.plan;
  const owners = ownersOf(changes, states);
  const strangers = sent.filter((call) => call.method === "PATCH" && !owners.has(resourceId(call)));
  return [
    ...strangers.map((call) => `not announced: ${call.operation} ${call.path.join("/")}`),
    ...changes.flatMap((change) =>
      breaches(
        change,
        sent.filter(
          (call) => call.method === "PATCH" && owners.get(resourceId(call)) === change.address,
        ),
      ),
    ),
  ];
}

function ownersOf(
  changes: readonly Change[],
  states: ReadonlyMap<string, State>,
): ReadonlyMap<string, Address> {
  const ids = new Map<Address, string>();
  for (const state of states.values())
    for (const [address, { id }] of state.bindings) ids.set(address, id);
  return new Map(changes.map(({ address, id }) => [id ?? ids.get(address) ?? "", address]));
}

/** The id of the target, environment or test case that a call changes. */
function resourceId({ path }: LoggedCall): string {
  return path[5] ?? path[3] ?? "";
}

function isLine(body: object): boolean {
  return Object.hasOwn(body, "locatorLine");
}

function breaches(change: Change, sent: readonly LoggedCall[]): readonly string[] {
  const certain = change.calls.filter(({ method }) => method === "PATCH");
  const announced = [...certain, ...change.followUps];
  const keys = new Set(announced.flatMap(({ body }) => Object.keys(body)));
  const droppable = certain.filter(({ body }) => Object.keys(body).join() === "folderName").length;
  const found: string[] = [];
  for (const [what, test] of [
    ["line", isLine],
    ["patch", (body: object) => !isLine(body)],
  ] as const) {
    const number = sent.filter(({ body }) => test(body)).length;
    const least = certain.filter(({ body }) => test(body)).length;
    const most = announced.filter(({ body }) => test(body)).length;
    if (number > most) found.push(`${change.address}: ${number} of ${most} announced (${what})`);
    if (number < least - (what === "patch" ? droppable : 0))
      found.push(`${change.address}: ${number} of ${least} certain ones (${what})`);
  }
  for (const { body } of sent)
    for (const key of Object.keys(body))
      if (!keys.has(key)) found.push(`${change.address}: ${key} is not announced`);
  return found;
}
