import { resolve } from "node:path";
import { planMeta } from "../app/plan.ts";
import { type Session, withSession } from "../app/session.ts";
import { type Sink, fileSink, memorySink, takeSnapshot } from "../app/write-snapshot.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import type { Context } from "./context.ts";
import { liveIds } from "./managed.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc snapshot [--out FILE]`: what a plan reads, for plans without network and key. */
export async function run(options: OptionsOf<"snapshot">, { host, console }: Context): Promise<ExitCode> {
  return withSession(options, host, async (session) => {
    const { out } = options;
    if (out === undefined) {
      const sink = memorySink();
      await take(session, sink);
      for (const piece of sink.pieces()) console.document(piece);
    } else {
      await toFile(session, out);
      // For people, nothing to say is good news.
      const { stage, baseUrl } = session.settings;
      console.show({ json: { stage, baseUrl, out }, text: [] }, options.format);
    }
    return EXIT.done;
  });
}

async function toFile(session: Session, out: string): Promise<void> {
  try {
    const sink = fileSink(resolve(session.host.cwd, out), session.root);
    try {
      await take(session, sink);
      sink.keep();
    } finally {
      sink.drop();
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const detail = "Check that the folder exists, is writable and has space.";
    throw stop("failed", "unwritable", `Cannot write ${out}`, detail);
  }
}

async function take(session: Session, sink: Sink): Promise<void> {
  const { desired, settings, host, redactor } = session;
  const { states, strays } = await session.remembered();
  const { stage, baseUrl } = settings;
  const frame = { ...planMeta(host), stage, baseUrl, states: [...states.values(), ...strays] };
  await takeSnapshot(
    session.client(),
    frame,
    (targets) => [...new Set(liveIds(desired, states, targets).values())],
    sink,
    redactor,
  );
}
