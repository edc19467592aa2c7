import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Tests of the pure core: plain functions on plain data, without a process, a server or a file, and
// quick enough to run at every save (`npx vitest run --project unit`). Those left out try all
// features at once, or read folders.
const UNIT = [
  "test/{model,plan}/**/*.test.ts",
  "test/manifest/!(error-codes|features|finding|schemas).test.ts",
  "test/policy/violations.test.ts",
  "test/state/{document,explain,reduce}.test.ts",
];

export default defineConfig({
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
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
