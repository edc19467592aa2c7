import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type BatchRecord, emptyState } from "../model/state.ts";
import { batchContent } from "../plan/resources.ts";
import { corrected } from "../state/edit.ts";
import { applyEvents } from "../state/events.ts";
import { sayError } from "./diagnostics.ts";
import { fingerprinterOf } from "./look.ts";
import { type Opened, openProject } from "./opening.ts";
import { readAddress, saveCorrection, underLock } from "./state-access.ts";
import { openStates } from "./states.ts";

/** `tasc state mark ADDRESS done|undone`: whether a batch generation ran, which the service does not tell. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  // What it ran with is recorded under the key, secrets and all, so both must be there.
  const opened = await openProject(given, world, { needsApiKey: true });
  if (!opened.ok) return opened.code;
  const { console, project } = opened;
  const [text, what] = given.args;
  const named = readAddress(text, console);
  if (named === undefined) return EXIT.invalid;
  const { address, parts } = named;
  const target = project.desired.targets.find((candidate) => candidate.key === parts.target);
  const resource = target?.batchGenerations.find((candidate) => candidate.address === address);
  if (resource === undefined) {
    sayError(
      console,
      `${address} is no batch generation of this project`,
      "Such addresses look like batchGeneration.shop.spring.",
    );
    return EXIT.invalid;
  }
  const states = await openStates(opened, world);
  if (!states.ok) return states.code;
  const access = { opened, states: states.value };
  try {
    return await underLock(given, access, [parts.target], "tasc state mark", async ([document]) => {
      if (document === undefined) return EXIT.failed;
      const { key } = document;
      const before = document.state ?? emptyState(key.stage, key.target, key.service);
      const record = recordOf(opened, resource, what === "done" ? "done" : "undone");
      const after = applyEvents(before, [{ type: "batch", address, record }]);
      return await saveCorrection(document, corrected(after), console, `${address} is marked ${what ?? ""}.`);
    });
  } finally {
    await states.value.backend.close();
  }
}

function recordOf(
  { project }: Opened,
  resource: DesiredResource,
  status: BatchRecord["status"],
): BatchRecord {
  const fingerprints = fingerprinterOf(project.settings);
  return { status, ...(fingerprints === undefined ? {} : { content: batchContent(fingerprints, resource) }) };
}
