import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Desired, DesiredTarget } from "../../src/model/desired.ts";
import { project, target } from "../plan/build.ts";
import { expectFinish, expectNoneTwice, faults } from "./aftermath.ts";
import { desired, knobs } from "./arbitrary.ts";
import { Killed, type Knobs, MemoryService } from "./memory-service.ts";
import { plain, possible } from "./scene.ts";
import { LONG, RUNS } from "./story.ts";
import { type Options, Workbench } from "./workbench.ts";

function twin(
  key: string,
  app: string,
  urls: readonly string[],
  cases: readonly { readonly name: string; readonly externalId: string | undefined }[],
  batches: number,
): DesiredTarget {
  return target(
    {
      fields: { app, timeoutPerStep: Number(key.slice(1)) + 1 },
      environments: {
        default: { discoveryUrl: "https://d.example.com" },
        ...Object.fromEntries(
          urls.map((discoveryUrl, at) => [
            `e${at}`,
            { discoveryUrl, privateLocationName: `${key} place ${at}` },
          ]),
        ),
      },
      testCases: Object.fromEntries(
        cases.map(({ name, externalId }, at) => [
          `c${at}`,
          {
            description: name,
            "discovery.prompt": `${key} prompt ${at}`,
            status: "ENABLED",
            ...(externalId === undefined ? {} : { externalId }),
          },
        ]),
      ),
      batchGenerations: Object.fromEntries(
        Array.from({ length: batches }, (_, at) => [`b${at}`, { prompt: `${key} batch ${at}` }]),
      ),
    },
    key,
  );
}

/** Few names for many resources, so that they are hard to tell apart. */
const twins: fc.Arbitrary<Desired> = fc
  .record({
    apps: fc.tuple(fc.constantFrom("A", "B"), fc.constantFrom("A", "B")),
    urls: fc.array(fc.constantFrom("https://a.example.com", "https://b.example.com"), {
      maxLength: 4,
    }),
    cases: fc.array(
      fc.record({
        name: fc.constantFrom("One", "Two"),
        externalId: fc.option(fc.constantFrom("X", "Y"), { nil: undefined }),
      }),
      { maxLength: 5 },
    ),
    batches: fc.nat(2),
  })
  .map(({ apps, urls, cases, batches }) =>
    project(...apps.map((app, at) => twin(`t${at}`, app, urls, cases, batches))),
  );

/** Expects one resource for each address, created for it, and no others. */
function expectOneEach(bench: Workbench, wanted: Desired): void {
  const { service, documents } = bench;
  expect(documents.size).toBe(wanted.targets.length);
  expect(service.targets).toHaveLength(wanted.targets.length);
  for (const declared of wanted.targets) {
    const { bindings, intents } = bench.state(declared.key);
    expect(intents.size).toBe(0);
    const live = service.target(bindings.get(declared.address)?.id ?? "");
    expect(live.settings).toEqual({ timeoutPerStep: declared.fields["timeoutPerStep"] });
    expect(live.environments).toHaveLength(declared.environments.length);
    expect(live.testCases).toHaveLength(declared.testCases.length);
    for (const { address, fields } of declared.testCases) {
      const own = live.testCases.find(({ id }) => id === bindings.get(address)?.id);
      expect(own?.prompt).toBe(plain(fields)["discovery.prompt"]);
    }
    for (const { address, fields } of declared.environments) {
      const own = live.environments.find(({ id }) => id === bindings.get(address)?.id);
      expect(own?.fields["privateLocationName"]).toBe(plain(fields)["privateLocationName"]);
    }
    const prompts = live.batchGenerations.map(({ prompt }) => prompt);
    expect(new Set(prompts).size).toBe(prompts.length);
  }
}

/** An apply that finds interrupted batch generations fails only for them, and does the rest. */
async function sayWhatIsOpen(bench: Workbench, wanted: Desired): Promise<void> {
  const { outcome } = await bench.apply(wanted);
  for (const { address } of outcome.failed) expect(address).toMatch(/^batchGeneration\./);
  expect(outcome).toMatchObject({ skipped: [], notTaken: [] });
}

const hiding: fc.Arbitrary<Knobs> = knobs.map((some) => ({ ...some, discovery: "without prompt" }));

async function applyUntilKilled(
  bench: Workbench,
  wanted: Desired,
  most: number,
  kill: "kill before" | "kill after",
): Promise<void> {
  const { service } = bench;
  const start = service.calls.length;
  service.faultOf = (_, nth) => (nth - start === most ? kill : undefined);
  const options: Options = { concurrency: 4 };
  await bench.apply(wanted, options).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  service.killed = false;
  service.faultOf = () => undefined;
}

describe("a creation happens once", () => {
  test(
    "whatever answers are lost during a run",
    () =>
      fc.assert(
        fc.asyncProperty(
          hiding,
          twins,
          faults,
          fc.boolean(),
          async (some, wanted, pattern, readsFail) => {
            const bench = new Workbench(new MemoryService(some));
            const { service } = bench;
            let reads = 0;
            await bench.apply(wanted, {
              meanwhile: () => {
                service.faultOf = (_, nth) => pattern[nth % pattern.length];
                service.failReads = () => readsFail && reads++ % 3 === 1;
              },
            });
            service.faultOf = () => undefined;
            service.failReads = () => false;
            await expectFinish(bench, wanted);
            expectOneEach(bench, wanted);
          },
        ),
        { numRuns: RUNS },
      ),
    LONG,
  );

  test(
    "even if the process is killed several times",
    () =>
      fc.assert(
        fc.asyncProperty(
          hiding,
          twins,
          fc.array(fc.tuple(fc.nat(8), fc.constantFrom("kill before", "kill after")), {
            maxLength: 4,
          }),
          async (some, wanted, kills) => {
            const bench = new Workbench(new MemoryService(some));
            for (const [most, kill] of kills) await applyUntilKilled(bench, wanted, most, kill);
            await sayWhatIsOpen(bench, wanted);
            await expectFinish(bench, wanted);
            expectOneEach(bench, wanted);
          },
        ),
        { numRuns: RUNS },
      ),
    LONG,
  );

  test(
    "for arbitrary resources, whenever the process is killed",
    () =>
      fc.assert(
        fc.asyncProperty(
          knobs,
          desired,
          fc.nat(20),
          fc.boolean(),
          async (some, whole, most, after) => {
            const bench = new Workbench(new MemoryService(some));
            const wanted = await possible(bench, whole);
            await applyUntilKilled(bench, wanted, most, after ? "kill after" : "kill before");
            await sayWhatIsOpen(bench, wanted);
            await expectFinish(bench, wanted);
            expectNoneTwice(bench.service, 0);
          },
        ),
        { numRuns: RUNS },
      ),
    LONG,
  );
});
