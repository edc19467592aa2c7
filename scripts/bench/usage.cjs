// Loaded before a measured program: writes its peak memory in KiB and its CPU time when it exits.
const { appendFileSync } = require("node:fs");

process.on("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  appendFileSync(
    process.env.BENCH_USAGE,
    `${JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1000 })}\n`,
  );
});
