import * as fc from "fast-check";
import { expect, test } from "vitest";
import { expectFinish, expectNoneTwice, expectWhole, faults, untilSecond } from "./aftermath.ts";
import { LONG, RUNS, stories } from "./story.ts";

test(
  "after failures independent changes are done, the next run finishes, and nothing is created twice",
  () =>
    fc.assert(
      fc.asyncProperty(stories, faults, fc.boolean(), async (story, pattern, readsFail) => {
        const { bench, wanted } = await untilSecond(story);
        const { service } = bench;
        const start = service.calls.length;
        const since = service.acted.length;
        let reads = 0;
        const first = await bench.apply(wanted, {
          meanwhile: () => {
            service.faultOf = (_, nth) => pattern[(nth - start) % pattern.length];
            service.failReads = () => readsFail && reads++ % 3 === 1;
          },
        });
        service.faultOf = () => undefined;
        service.failReads = () => false;
        expectWhole(first);
        const faulty = service.calls
          .slice(start)
          .filter((_, nth) => pattern[nth % pattern.length] !== undefined);
        if (!readsFail) expect(first.outcome.failed.length).toBeLessThanOrEqual(faulty.length);
        const missing = new Set(
          [...first.outcome.failed, ...first.outcome.skipped].map(
            ({ address }) => address as string,
          ),
        );
        for (const { reason } of first.outcome.skipped)
          if (reason.kind === "needs") expect(missing).toContain(reason.address);
          else expect(first.outcome.fatal).toBeDefined();
        await expectFinish(bench, wanted);
        expectNoneTwice(service, since);
      }),
      { numRuns: RUNS },
    ),
  LONG,
);

test(
  "after an interrupt nothing further starts, and a later run finishes",
  () =>
    fc.assert(
      fc.asyncProperty(
        stories,
        fc.nat(12),
        fc.integer({ min: 1, max: 4 }),
        async (story, most, concurrency) => {
          const { bench, wanted } = await untilSecond(story);
          const since = bench.service.acted.length;
          const stopped = await bench.apply(wanted, {
            concurrency,
            stopping: (writes) => writes >= most,
          });
          expect(stopped.writes).toBeLessThanOrEqual(most + concurrency - 1);
          expectWhole(stopped);
          for (const { reason } of stopped.outcome.skipped)
            expect(reason).toEqual({ kind: "interrupted" });
          if (stopped.outcome.skipped.length > 0) expect(stopped.outcome.interrupted).toBe(true);
          await expectFinish(bench, wanted);
          expectNoneTwice(bench.service, since);
        },
      ),
      { numRuns: RUNS },
    ),
  LONG,
);
