// Measures the output of a large plan.
import { join } from "node:path";
import { writeProject } from "./data.mjs";
import { inFolder, KEY, limit, ms } from "./figures.mjs";
import { median, once, serve, tasc } from "./run.mjs";

/**
 * A plan of 5,000 changes as HTML, compared with an empty plan, and each format of a saved plan as
 * a whole process.
 */
export function renderRow(rounds) {
  return inFolder(async (folder) => {
    const [none, many] = [join(folder, "none"), join(folder, "many")];
    writeProject(none, 5, 1000);
    writeProject(many, 5, 1000, { status: "DISABLED" });
    const saved = join(folder, "saved.plan");
    const server = await serve(5, 1000, 0);
    const env = { ...KEY, BENCH_URL: server.url };
    const figures = [];
    try {
      await once([tasc, "plan", "--chdir", many, "--out", saved], { env });
      const html = (project) => ms([tasc, "plan", "--chdir", project, "--format", "html"], { env });
      const more = [];
      for (let round = 0; round < rounds; round++)
        more.push((await html(many)) - (await html(none)));
      figures.push(limit("HTML, more than of no changes", median(more) / 1000, 0.6, "s"));
    } finally {
      server.stop();
    }
    for (const format of ["markdown", "json", "html"]) {
      const times = [];
      for (let round = 0; round < rounds; round++)
        times.push(await ms([tasc, "show", saved, "--format", format]));
      figures.push(limit(`time as ${format}`, median(times) / 1000, 1, "s"));
    }
    return figures;
  });
}
