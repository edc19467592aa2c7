import * as fc from "fast-check";
import { expect } from "vitest";
import type { Desired } from "../../src/model/desired.ts";
import type { Fault, MemoryService } from "./memory-service.ts";
import { addOutsiders, befall, disturb, possible } from "./scene.ts";
import { type Story, chapter, opened } from "./story.ts";
import { type Applied, type Workbench, errorsOf } from "./workbench.ts";

/** The faults of successive writes. */
export const faults: fc.Arbitrary<readonly (Fault | undefined)[]> = fc.array(
  fc.option(
    fc.oneof(
      { weight: 2, arbitrary: fc.constant<Fault>({ when: "before", acted: "no" }) },
      { weight: 3, arbitrary: fc.constant<Fault>({ when: "before", acted: "maybe" }) },
      { weight: 3, arbitrary: fc.constant<Fault>({ when: "after", acted: "maybe" }) },
      { weight: 1, arbitrary: fc.constant<Fault>({ when: "before", acted: "no", fatal: true }) },
    ),
    { nil: undefined, freq: 2 },
  ),
  { minLength: 1, maxLength: 12 },
);

/** Runs a story up to its second apply, which is left to the test. */
export async function untilSecond(
  story: Story,
): Promise<{ readonly bench: Workbench; readonly wanted: Desired }> {
  const { bench, ran } = opened(story);
  await chapter(bench, story.first, ran, () => undefined);
  disturb(bench.service, story.disturbances);
  befall(bench, story.mishap);
  addOutsiders(bench.service);
  return { bench, wanted: await possible(bench, story.second) };
}

/** Expects every reviewed change in exactly one list of the outcome. */
export function expectWhole({ look, outcome }: Applied): void {
  const told = [
    ...outcome.done,
    ...outcome.failed.map(({ address }) => address),
    ...outcome.skipped.map(({ address }) => address),
  ];
  const planned = look.planned.plan.changes.map(({ address }) => address);
  expect(told.toSorted()).toEqual(planned.toSorted());
}

/** Expects an undisturbed apply to finish the rest, after which no change is left. */
export async function expectFinish(bench: Workbench, wanted: Desired): Promise<void> {
  const rest = await bench.apply(wanted);
  expect(errorsOf(rest.look)).toEqual([]);
  expect(rest.outcome).toMatchObject({ failed: [], skipped: [], notTaken: [], fatal: undefined });
  const again = await bench.apply(wanted);
  expect(again.look.planned.plan.changes).toEqual([]);
  expect(again.recorded).toEqual([]);
}

/** Expects that no resource was created twice since `since`. */
export function expectNoneTwice(service: MemoryService, since: number): void {
  const made = service.acted.slice(since).filter(({ method }) => method === "POST");
  const names = made.map(
    ({ operation, path, body }) => `${operation} ${path[3] ?? ""} ${JSON.stringify(body)}`,
  );
  expect(new Set(names).size).toBe(names.length);
}
