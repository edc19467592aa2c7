import * as fc from "fast-check";
import { expect } from "vitest";
import type { Desired } from "../../src/model/desired.ts";
import { desired, knobs } from "./arbitrary.ts";
import { contentOf, lowerBound } from "./lower-bound.ts";
import { type Knobs, MemoryService } from "./memory-service.ts";
import {
  type Disturbance,
  type Mishap,
  addOutsiders,
  disturbances,
  mishaps,
  possible,
  seed,
} from "./scene.ts";
import { type Applied, type Options, Workbench, errorsOf } from "./workbench.ts";

/** Number of runs of each law; set `TASC_LAW_RUNS` for more. */
export const RUNS = Number(process.env["TASC_LAW_RUNS"] ?? 25);
/** Milliseconds for one law: it runs on many stories, and the machine may be busy. */
export const LONG = 300_000;

/**
 * A service with part of a project made by hand, a first apply, disturbances, and a second apply.
 */
export interface Story {
  readonly knobs: Knobs;
  readonly byHand: Desired;
  readonly mask: readonly boolean[];
  readonly first: Desired;
  readonly disturbances: readonly Disturbance[];
  readonly mishap: Mishap;
  readonly second: Desired;
}

export const stories: fc.Arbitrary<Story> = fc.record({
  knobs,
  byHand: desired,
  mask: fc.array(fc.boolean(), { minLength: 3, maxLength: 7 }),
  first: desired,
  disturbances,
  mishap: mishaps,
  second: desired,
});

export interface Opened {
  readonly bench: Workbench;
  /** Contents of the batch generations that are known to have run, by address. */
  readonly ran: Map<string, string>;
}

export function opened(story: Story): Opened {
  const service = new MemoryService(story.knobs);
  seed(service, story.byHand, story.mask);
  return { bench: new Workbench(service), ran: new Map() };
}

/** The situation before an apply. */
export interface Before {
  readonly desired: Desired;
  readonly bound: ReturnType<typeof lowerBound>;
  readonly writes: number;
}

/** Runs an undisturbed apply, which must succeed. */
export async function chapter(
  bench: Workbench,
  whole: Desired,
  ran: Map<string, string>,
  law: (before: Before, applied: Applied, bench: Workbench) => void | Promise<void>,
  options: Options = {},
): Promise<void> {
  const { service } = bench;
  addOutsiders(service);
  const wanted = await possible(bench, whole);
  const bound = lowerBound(wanted.targets, service, bench.states(), ran);
  const before = { desired: wanted, bound, writes: service.calls.length };
  const applied = await bench.apply(wanted, options);
  expect(errorsOf(applied.look)).toEqual([]);
  expect(applied.outcome).toMatchObject({
    failed: [],
    skipped: [],
    notTaken: [],
    fatal: undefined,
  });
  for (const { key, address, batchGenerations } of wanted.targets)
    for (const batch of batchGenerations) {
      const target = bench.states().get(key)?.bindings.get(address)?.id ?? "";
      if (applied.outcome.done.includes(batch.address))
        ran.set(batch.address, contentOf(batch.fields, target));
    }
  await law(before, applied, bench);
}
