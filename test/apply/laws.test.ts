import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Desired, resourcesOf } from "../../src/model/desired.ts";
import { planJson, writeJson } from "../../src/render/json.ts";
import { announcementBreaches } from "./announced.ts";
import { MARK } from "./arbitrary.ts";
import { undeclaredParts } from "./declared.ts";
import { befall, disturb } from "./scene.ts";
import { shuffledDesired, shuffledService } from "./shuffle.ts";
import { type Before, LONG, RUNS, chapter, opened, stories } from "./story.ts";
import type { Applied, Workbench } from "./workbench.ts";

/** A law that every apply must obey; `before` describes the situation before the apply. */
type Law = (before: Before, applied: Applied, bench: Workbench) => void | Promise<void>;

const LAWS: Readonly<Record<string, Law>> = {
  "it sends as few writes as can be": ({ bound }, { outcome }) => {
    expect(outcome.calls.POST).toBe(bound.post);
    expect(outcome.calls.PATCH).toBeGreaterThanOrEqual(bound.patch[0]);
    expect(outcome.calls.PATCH).toBeLessThanOrEqual(bound.patch[1]);
  },
  "it sends what the plan announced, and the summary counts it": ({ writes }, applied, bench) => {
    expect(
      announcementBreaches(applied, bench.service.calls.slice(writes), bench.states()),
    ).toEqual([]);
    const { changes, summary } = applied.look.planned.plan;
    expect(summary.calls.POST).toBe(applied.outcome.calls.POST);
    expect(summary.create + summary.update + summary.rediscover + summary.disable).toBe(
      changes.length,
    );
    const all = new Set(
      applied.look.input.desired.targets.flatMap(resourcesOf).map(({ address }) => address),
    );
    const declared = changes.filter(({ address }) => all.has(address));
    expect(summary.unchanged).toBe(all.size - declared.length);
  },
  "it sends nothing that is not declared": ({ desired, writes }, _, bench) => {
    expect(undeclaredParts(desired, bench.service.calls.slice(writes), bench.states())).toEqual([]);
  },
  "no secret is in the plan, the state, the events or the outcome": (_, applied, bench) => {
    const { look, outcome, events, recorded } = applied;
    const documents = [...bench.documents.values()];
    const { plan } = look.planned;
    expect(JSON.stringify([plan, outcome, events, recorded, documents])).not.toContain(MARK);
    expect(writeJson(planJson(plan, META))).not.toContain(MARK);
  },
  "no resource answers to two addresses": (_, __, bench) => {
    for (const { bindings } of bench.states().values()) {
      const ids = [...bindings.values()].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  },
  "no more calls are in flight than allowed": (_, __, { service }) => {
    expect(service.mostInFlight).toBeLessThanOrEqual(4);
  },
  // Last, because it applies once more.
  "a plan right after it is empty, and another apply sends and records nothing": async (
    { desired },
    _,
    bench,
  ) => {
    const { service, documents } = bench;
    const before = [service.calls.length, new Map(documents)] as const;
    const again = await bench.apply(desired);
    expect(again.look.planned.plan.changes).toEqual([]);
    expect(again.recorded).toEqual([]);
    expect([service.calls.length, documents]).toEqual(before);
  },
};

const META = { tool: "tasc 1.0.0", createdAt: "2026-01-01T00:00:00.000Z" };

/** The breaches of a run, with the laws that are broken. */
async function breaches(...told: Parameters<Law>): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const [name, law] of Object.entries(LAWS))
    try {
      // oxlint-disable-next-line no-await-in-loop -- The laws look at one bench.
      await law(...told);
    } catch (error) {
      broken.push(`${name}: ${String(error)}`);
    }
  return broken;
}

test(
  "every apply obeys all laws",
  () =>
    fc.assert(
      fc.asyncProperty(stories, async (story) => {
        const { bench, ran } = opened(story);
        const obeys: Law = async (...told) => expect(await breaches(...told)).toEqual([]);
        await chapter(bench, story.first, ran, obeys);
        disturb(bench.service, story.disturbances);
        befall(bench, story.mishap);
        await chapter(bench, story.second, ran, obeys);
      }),
      { numRuns: 2 * RUNS },
    ),
  LONG,
);

test(
  "the same inputs give the same bytes, whatever the order of lists and maps",
  () =>
    fc.assert(
      fc.asyncProperty(
        stories,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }),
        async (story, numbers) => {
          const { bench, ran } = opened(story);
          await chapter(bench, story.first, ran, () => undefined);
          disturb(bench.service, story.disturbances);
          befall(bench, story.mishap);
          let drawn = 0;
          const random = (): number => numbers[drawn++ % numbers.length] ?? 0;
          const bytes = async (desired: Desired): Promise<string> =>
            writeJson(planJson((await bench.look(desired)).planned.plan, META));
          const before = await bytes(story.second);
          shuffledService(bench.service, random);
          expect(await bytes(shuffledDesired(story.second, random))).toBe(before);
        },
      ),
      { numRuns: RUNS },
    ),
  LONG,
);
