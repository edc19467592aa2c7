import { expect } from "vitest";
import type { Fault } from "./proxy.ts";
import type { Ended, Rig } from "./rig.ts";

const APPLY = ["apply", "--auto-approve"];
const PLAN = ["plan", "--detailed-exitcode"];
const MARK = ["state", "mark", "batchGeneration.shop.spring"];

/**
 * The result of an undisturbed apply: the number of its writes, and the service's state after it.
 */
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
 * Runs an apply with a fault at its n-th write, then an undisturbed one. The service must end as
 * without the fault, and the plan must be empty. For a batch generation, the user says whether it
 * ran, as tasc asks.
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

/**
 * The service's data shows the test whether the generation ran; the interface does not show it to
 * tasc.
 */
async function settleBatch(rig: Rig, undisturbed: Undisturbed): Promise<void> {
  const ran = JSON.stringify(await rig.serviceState()) === JSON.stringify(undisturbed.state);
  await rig.run([...MARK, ran ? "done" : "undone"]);
  const ended = await rig.run(APPLY);
  expect(ended.code, said(ended)).toBe(0);
}

function said({ code, stdout, stderr }: Ended): string {
  return `exit ${code}\n${stdout}\n${stderr}`;
}
