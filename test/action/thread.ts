import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { isRecord } from "../../src/model/shape.ts";

export interface Step {
  readonly code: number;
  readonly log: string;
}

/** `ends`: the script has ended the thread, too. */
type Ended = Step & { readonly ends: boolean };

function isEnded(said: unknown): said is Ended {
  return (
    isRecord(said) &&
    typeof said["code"] === "number" &&
    typeof said["log"] === "string" &&
    typeof said["ends"] === "boolean"
  );
}

/** The thread of a worker of Vitest, while it is idle. */
let idle: Worker | undefined;

/**
 * Runs a script in a thread, which shows the same as a process: only its arguments and its
 * environment are its input. All scripts of a worker share one, because starting one takes longer
 * than most scripts.
 */
export async function runScript(
  file: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Step> {
  const thread =
    idle ??
    new Worker(join(import.meta.dirname, "thread-side.mjs"), {
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
  idle = undefined;
  thread.ref();
  const ended = await new Promise<Ended>((done, fail) => {
    thread.once("error", fail).once("message", (said: unknown) => {
      thread.off("error", fail);
      if (isEnded(said)) done(said);
      else fail(new Error("not what the thread says"));
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- No window.
    thread.postMessage({ file, args, env });
  });
  thread.unref();
  if (!ended.ends) idle = thread;
  return ended;
}
