import type { Client, Failure } from "../client/index.ts";
import type { Read } from "../look/look.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Redactor } from "../output/redact.ts";
import type { SnapshotHead } from "./head.ts";
import type { Sink } from "./sink.ts";
import { writeSnapshot } from "./write.ts";

/** What a snapshot says beside what it reads. */
export type SnapshotFrame = Omit<SnapshotHead, "targets" | "read">;

/**
 * Reads the service into a snapshot. Targets are read one after the other, so that each test case goes straight
 * through, and nothing of a list is held.
 * @param managed the targets whose test cases belong to it
 */
export async function takeSnapshot(
  client: Client,
  frame: SnapshotFrame,
  managed: (targets: readonly LiveTarget[]) => readonly string[],
  sink: Sink,
  redactor: Redactor,
): Promise<Read<undefined, Failure>> {
  const targets = await client.listTargets();
  if (!targets.ok) return targets;
  const read = managed(targets.value);
  const writer = writeSnapshot(sink, { ...frame, targets: targets.value, read }, redactor);
  for (const id of read) {
    const list = await client.listTestCases(id, () => writer.testCases(id));
    if (!list.ok) return list;
  }
  writer.end();
  return { ok: true, value: undefined };
}
