import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type AddressOf, addressesIn } from "../inspect/reports.ts";
import type { Client } from "../service/client.ts";
import { connect, refusedByService } from "./connect.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics } from "./diagnostics.ts";
import { liveIds } from "./managed.ts";
import { targetsNamed } from "./named-targets.ts";
import { openProject } from "./opening.ts";
import { readRemembered } from "./survey.ts";

/** The service as commands read it that are about what it did, and not about the manifests. */
export interface ManagedService {
  readonly client: Client;
  readonly console: Console;
  /** The managed targets that are live, or the one that was asked for. */
  readonly targets: readonly ManagedTarget[];
  readonly addressOf: AddressOf;
}

export interface ManagedTarget {
  readonly key: string;
  readonly id: string;
}

/** Opens the project, finds its targets on the service, and does the work with them. */
export async function withManagedService(
  given: Given,
  world: World,
  work: (service: ManagedService) => Promise<ExitCode>,
  signal?: AbortSignal,
): Promise<ExitCode> {
  const opened = await openProject(given, world, { needsApiKey: true, leave: "warnings" });
  if (!opened.ok) return opened.code;
  const { project, console } = opened;
  const { desired, settings } = project;
  const wanted = targetsNamed(textOption(given, "target"), desired, console);
  if (wanted === undefined) return EXIT.invalid;
  const remembered = await readRemembered(opened, world);
  if (!remembered.ok) return remembered.code;
  const connected = connect(given, world, settings, console, signal === undefined ? {} : { signal });
  if (!connected.ok) return connected.code;
  const { client } = connected;
  try {
    const live = await client.listTargets();
    if (!live.ok) return refusedByService(console, live.failure);
    const { states, strays } = remembered.value;
    const ids = liveIds(desired, states, live.value);
    const keys = wanted.map(({ key }) => key);
    sayAbsent(
      keys.filter((key) => !ids.has(key)),
      console,
    );
    const targets = keys.flatMap((key) => {
      const id = ids.get(key);
      return id === undefined ? [] : [{ key, id }];
    });
    return await work({ client, console, targets, addressOf: addressesIn([...states.values(), ...strays]) });
  } finally {
    await client.close();
  }
}

function sayAbsent(keys: readonly string[], console: Console): void {
  sayDiagnostics(
    console,
    keys.map((key) => ({
      severity: "warning",
      code: "not-live",
      summary: `Target ${key} is not on the service, so there is nothing of it to read`,
      detail: "It is made by `tasc apply`, or several live ones fit: `tasc plan` says which.",
    })),
  );
}
