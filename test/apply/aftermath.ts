import * as fc from "fast-check";
import { expect } from "vitest";
import type { Desired } from "../../src/model/desired.ts";
import type { Fault, MemoryService } from "./memory-service.ts";
import { addOutsiders, befall, disturb, possible } from "./scene.ts";
import { type Story, chapter, opened } from "./story.ts";
import { type Applied, type Workbench, errorsOf } from "./workbench.ts";

/** What happens to one write after another. */
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

/** A story up to its second apply, which is left to the test. */
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

/** Every reviewed change is in exactly one list of the end report. */
export function expectWhole({ look, outcome }: Applied): void {
  const told = [
    ...outcome.done,
    ...outcome.failed.map(({ address }) => address),
    ...outcome.skipped.map(({ address }) => address),
  ];
  const planned = look.planned.plan.changes.map(({ address }) => address);
  expect(told.toSorted()).toEqual(planned.toSorted());
}

/** An undisturbed apply finishes the rest, and after it nothing is left to do. */
export async function expectFinish(bench: Workbench, wanted: Desired): Promise<void> {
  const rest = await bench.apply(wanted);
  expect(errorsOf(rest.look)).toEqual([]);
  expect(rest.outcome).toMatchObject({ failed: [], skipped: [], notTaken: [], fatal: undefined });
  const again = await bench.apply(wanted);
  expect(again.look.planned.plan.changes).toEqual([]);
  expect(again.recorded).toEqual([]);
}

/** What was made since, by operation and name; two of a kind would be one too many. */
export function expectNoneTwice(service: MemoryService, since: number): void {
  const made = service.acted.slice(since).filter(({ method }) => method === "POST");
  const names = made.map(
    ({ operation, path, body }) => `${operation} ${path[3] ?? ""} ${JSON.stringify(body)}`,
  );
  expect(new Set(names).size).toBe(names.length);
}
