import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { UNIT } from "./vitest.config.ts";

// What Stryker runs for each mutant (stryker.config.json): the tests of the pure core, with fewer
// runs of each law.
export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^fast-check$/,
        replacement: fileURLToPath(new URL("scripts/few-runs.ts", import.meta.url)),
      },
    ],
  },
  test: {
    // With a law about reads that takes too long to run at every save.
    include: [...UNIT, "test/plan/keeping.test.ts"],
    isolate: false,
    restoreMocks: true,
    testTimeout: 60_000,
  },
});
