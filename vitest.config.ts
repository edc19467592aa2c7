import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Most tests wait for processes of their own, so that one worker less than there are cores
    // leaves one idle.
    maxWorkers: availableParallelism(),
  },
});
