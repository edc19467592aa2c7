// How long it takes to print a large plan.
import { join } from "node:path";
import { writeProject } from "./data.mjs";
import { inFolder, KEY, limit, ms } from "./figures.mjs";
import { median, once, serve, tasc } from "./run.mjs";

/** Each format of a saved plan, as a whole process. */
export function renderRow(rounds) {
  return inFolder(async (folder) => {
    writeProject(folder, 5, 1000, { status: "DISABLED" });
    const server = await serve(5, 1000, 0);
    const env = { ...KEY, BENCH_URL: server.url };
    try {
      await once([tasc, "plan", "--chdir", folder, "--out", join(folder, "saved.plan")], { env });
    } finally {
      server.stop();
    }
    const figures = [];
    for (const format of ["markdown", "json", "html"]) {
      const times = [];
      for (let round = 0; round < rounds; round++)
        times.push(await ms([tasc, "show", join(folder, "saved.plan"), "--format", format]));
      figures.push(limit(`time as ${format}`, median(times) / 1000, 1, "s"));
    }
    return figures;
  });
}
