import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import { textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { parseDuration } from "../manifest/shape/duration.ts";
import { isAddress, parseAddress } from "../model/address.ts";
import type { BatchRecord } from "../model/state.ts";
import { batchContent } from "../plan/batch-generation.ts";
import { sayError } from "./diagnostics.ts";
import { fingerprinterOf } from "./look.ts";
import { openProject } from "./opening.ts";
import { closeSessions, openSessions, openStates } from "./states.ts";

/** `tasc state mark ADDRESS done|undone`: whether a batch generation ran, which the service does not tell. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openProject(given, world, { needsApiKey: true });
  if (!opened.ok) return opened.code;
  const { console, project } = opened;
  const [address = "", what] = given.args;
  const parts = parseAddress(address);
  const target = project.desired.targets.find((candidate) => candidate.key === parts?.target);
  const resource = target?.batchGenerations.find((candidate) => candidate.address === address);
  if (!isAddress(address) || parts === undefined || resource === undefined) {
    sayError(
      console,
      `${address} is no batch generation of this project`,
      "Such addresses look like batchGeneration.shop.spring.",
    );
    return EXIT.invalid;
  }
  const limit = textOption(given, "lockTimeout");
  const timeout = limit === undefined ? 0 : parseDuration(limit);
  if (timeout === undefined) {
    sayError(console, "--lock-timeout takes a duration such as 90s or 10m");
    return EXIT.invalid;
  }
  const states = await openStates(opened, world);
  if (!states.ok) return states.code;
  const sessions = await openSessions(states.value, [parts.target], console, {
    timeout,
    why: "tasc state mark",
  });
  if (!sessions.ok) return sessions.code;
  try {
    const fingerprints = fingerprinterOf(project.settings);
    const record: BatchRecord = {
      status: what === "done" ? "done" : "undone",
      ...(fingerprints === undefined ? {} : { content: batchContent(fingerprints, resource) }),
    };
    await sessions.value.get(parts.target)?.record([{ type: "batch", address, record }]);
  } finally {
    await closeSessions(sessions.value);
  }
  console.data(`${address} is marked ${what ?? ""}.\n`);
  return EXIT.done;
}
