import { resolve } from "node:path";
import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Remembered } from "../plan/orphans.ts";
import { type Sink, fileSink, memorySink, takeSnapshot } from "../service/snapshot.ts";
import { connect, refusedByService } from "./connect.ts";
import { sayError } from "./diagnostics.ts";
import { liveIds } from "./managed.ts";
import { type Opened, openProject } from "./opening.ts";
import { planMeta } from "./plan-meta.ts";
import { readRemembered } from "./survey.ts";

/** `tasc snapshot [--out FILE]`: what a plan reads, for plans without network and key. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openProject(given, world, { needsApiKey: true, leave: "warnings" });
  if (!opened.ok) return opened.code;
  const remembered = await readRemembered(opened, world);
  if (!remembered.ok) return remembered.code;
  const job: Job = { given, world, opened, remembered: remembered.value };
  const out = textOption(given, "out");
  return out === undefined ? await toStdout(job) : await toFile(job, out);
}

interface Job {
  readonly given: Given;
  readonly world: World;
  readonly opened: Opened;
  readonly remembered: Remembered;
}

async function toStdout(job: Job): Promise<ExitCode> {
  const sink = memorySink();
  const code = await take(job, sink);
  if (code === EXIT.done) for (const piece of sink.pieces()) job.opened.console.writer.document(piece);
  return code;
}

async function toFile(job: Job, out: string): Promise<ExitCode> {
  try {
    const sink = fileSink(resolve(job.world.cwd, out));
    try {
      const code = await take(job, sink);
      if (code === EXIT.done) sink.keep();
      return code;
    } finally {
      sink.drop();
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    sayError(
      job.opened.console,
      `Cannot write ${out}`,
      "Check that the folder exists, may be written, and has room.",
    );
    return EXIT.failed;
  }
}

async function take({ given, world, opened, remembered }: Job, sink: Sink): Promise<ExitCode> {
  const { project, console } = opened;
  const { desired, states, strays } = remembered;
  const connected = connect(given, world, project.settings, console);
  if (!connected.ok) return connected.code;
  const { stage, baseUrl } = project.settings;
  const frame = { ...planMeta(world), stage, baseUrl, states: [...states.values(), ...strays] };
  const managed = (targets: readonly LiveTarget[]): readonly string[] => [
    ...new Set(liveIds(desired, states, targets).values()),
  ];
  try {
    const taken = await takeSnapshot(connected.client, frame, managed, sink, console.redactor);
    return taken.ok ? EXIT.done : refusedByService(console, taken.failure);
  } finally {
    await connected.client.close();
  }
}
