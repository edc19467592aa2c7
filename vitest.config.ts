import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Tests of the pure core: plain functions on plain data, without a process, a server or a file, and
// quick enough to run at every save (`npx vitest run --project unit`). Those left out try all
// features at once, read folders, or take a second.
export const UNIT = [
  "test/model/**/*.test.ts",
  "test/plan/**/*.test.ts",
  "test/manifest/!(error-codes|features|finding|interpolation|locate|parts|plain-cel|schemas|secrets|shape).test.ts",
  "test/policy/{protected,violations}.test.ts",
  "test/results/laws.test.ts",
  "test/state/{document,events,explain,reduce}.test.ts",
];

/**
 * The files that take longest start first. At the end, one of them would keep one core busy: those
 * with processes, and those that try many random projects or texts.
 */
const LONGEST =
  /test\/(action|contract|docs|examples|faults|library|page|state)\/|(laws|above-the-fold|help|json|redact|snapshot-plan)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A worker runs files of one project only, so the other project's follow together.
    const turn = ({ moduleId, project }: TestSpecification): number =>
      project.name === "unit" ? 2 : LONGEST.test(moduleId) ? 0 : 1;
    // oxlint-disable-next-line unicorn/no-array-sort -- The sequencer's own, which returns a new list.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => turn(a) - turn(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is polled comes within milliseconds; a busy machine may take a hundred times as long.
    expect: { poll: { timeout: 60_000 } },
    // Many tests wait for processes of their own, or for time to pass.
    maxWorkers: availableParallelism() + 1,
    // The files of a worker share its modules, which takes more than half a second less for each
    // file. So no file mocks a module, and what one changes in the process it restores.
    isolate: false,
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: "unit", include: UNIT } },
      { extends: true, test: { name: "program", include: ["test/**/*.test.ts"], exclude: UNIT } },
    ],
  },
});
