import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Desired, resourcesOf } from "../../src/model/desired.ts";
import { type Scope, scopeTest } from "../../src/plan/scope.ts";
import { expectFinish, untilSecond } from "./aftermath.ts";
import { LONG, RUNS, stories } from "./story.ts";
import { errorsOf } from "./workbench.ts";

function scopes(wanted: Desired): fc.Arbitrary<Scope> {
  const addresses = wanted.targets.flatMap(resourcesOf).map(({ address }) => address);
  const some = fc.subarray([...addresses, "testCase.*", "*.shop*"], { maxLength: 3 });
  return fc.record({ only: some, exclude: fc.oneof(fc.constant([]), some) });
}
const scoped = stories.chain((story) => fc.tuple(fc.constant(story), scopes(story.second)));

test(
  "--only and --exclude limit an apply to the scope and needed creations, and a full apply does the rest",
  () =>
    fc.assert(
      fc.asyncProperty(scoped, async ([story, scope]) => {
        const { bench, wanted } = await untilSecond(story);
        const inScope = scopeTest(scope);
        const seen = await bench.look(wanted, { scope });
        if (errorsOf(seen).length > 0) return;
        const { changes } = seen.planned.plan;
        const needed = new Set(changes.flatMap(({ dependsOn }) => dependsOn));
        for (const { address, action } of changes)
          expect(inScope(address) || (action === "create" && needed.has(address))).toBe(true);
        const start = bench.service.calls.length;
        const applied = await bench.carryOut(seen, { scope });
        expect(applied.outcome).toMatchObject({
          failed: [],
          skipped: [],
          notTaken: [],
          fatal: undefined,
        });
        const ids = new Set(
          changes.flatMap(({ address, id }) => {
            const state = bench.states().get(address.split(".")[1] ?? "");
            return id ?? state?.bindings.get(address)?.id ?? [];
          }),
        );
        for (const { method, path } of bench.service.calls.slice(start))
          if (method === "PATCH") expect(ids).toContain(path[5] ?? path[3]);
        expect((await bench.look(wanted, { scope })).planned.plan.changes).toEqual([]);
        await expectFinish(bench, wanted);
      }),
      { numRuns: RUNS },
    ),
  LONG,
);
