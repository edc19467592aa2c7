import { expect } from "vitest";
import type { Fault } from "./proxy.ts";
import type { Ended, Rig } from "./rig.ts";

const APPLY = ["apply", "--auto-approve"];
const PLAN = ["plan", "--detailed-exitcode"];
const MARK = ["state", "mark", "batchGeneration.shop.spring"];

/** What an undisturbed apply comes to: the number of its writes, and the service's state after it. */
export interface Undisturbed {
  readonly writes: number;
  readonly state: unknown;
}

export async function applyUndisturbed(rig: Rig): Promise<Undisturbed> {
  await rig.reset();
  const ended = await rig.run(APPLY);
  expect(ended.code, said(ended)).toBe(0);
  const writes = rig.writes();
  expect((await rig.run(PLAN)).code).toBe(0);
  return { writes, state: await rig.serviceState() };
}

/**
 * An apply whose n-th write meets a fault, then an undisturbed one: the service must be as if nothing had happened,
 * and a plan empty. Of a batch generation nobody can tell whether it ran; there the user says so, as the tool asks.
 */
export async function expectRecovery(
  rig: Rig,
  undisturbed: Undisturbed,
  nth: number,
  kind: Fault,
): Promise<void> {
  await rig.reset();
  const disturbed = await rig.run(APPLY, { nth, kind });
  const again = await rig.run(APPLY);
  if (said(disturbed).includes("state mark") || said(again).includes("state mark"))
    await settleBatch(rig, undisturbed);
  const story = `${nth}: ${kind}\n--- disturbed\n${said(disturbed)}\n--- again\n${said(again)}`;
  expect(await rig.serviceState(), story).toEqual(undisturbed.state);
  const plan = await rig.run(PLAN);
  expect(plan.code, `${story}\n--- plan\n${said(plan)}`).toBe(0);
}

/** The service's data tells the test what the interface does not tell tasc: whether the generation ran. */
async function settleBatch(rig: Rig, undisturbed: Undisturbed): Promise<void> {
  const ran = JSON.stringify(await rig.serviceState()) === JSON.stringify(undisturbed.state);
  await rig.run([...MARK, ran ? "done" : "undone"]);
  const ended = await rig.run(APPLY);
  expect(ended.code, said(ended)).toBe(0);
}

function said({ code, stdout, stderr }: Ended): string {
  return `exit ${code}\n${stdout}\n${stderr}`;
}
