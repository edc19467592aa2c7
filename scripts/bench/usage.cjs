// Loaded before a program whose memory is measured: tells its peak, in KiB, on the way out.
const { appendFileSync } = require("node:fs");

process.on("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  appendFileSync(
    process.env.BENCH_USAGE,
    `${JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1000 })}\n`,
  );
});
