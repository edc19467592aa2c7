import { setTimeout as delay } from "node:timers/promises";
import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import {
  type TargetNotification,
  newNotifications,
  notificationsJson,
  redactNotification,
  renderLater,
  renderNotifications,
} from "../inspect/reports.ts";
import type { Read } from "../look/look.ts";
import { parseDuration } from "../manifest/shape.ts";
import type { Failure } from "../service/request.ts";
import { refusedByService } from "./connect.ts";
import { sayError } from "./diagnostics.ts";
import { type ManagedService, withManagedService } from "./managed-service.ts";
import { consoleFor } from "./opening.ts";

const INTERVAL = "5s";

/** `tasc notifications`: what the service reported of managed targets, oldest first. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const follow = flagOption(given, "follow");
  const interval = parseDuration(textOption(given, "interval") ?? INTERVAL);
  const problem = problemOf(given, follow, interval);
  if (problem !== undefined || interval === undefined) {
    sayError(consoleFor(given, world, []), problem ?? "");
    return EXIT.invalid;
  }
  if (!follow) return await withManagedService(given, world, (service) => list(given, service));
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await withManagedService(
      given,
      world,
      (service) => watch(service, interval, ending.signal),
      ending.signal,
    );
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

function problemOf(given: Given, follow: boolean, interval: number | undefined): string | undefined {
  if (interval === undefined || interval === 0) return "--interval takes a duration such as 5s or 1m";
  if (follow && textOption(given, "format") === "json")
    return "--follow prints notifications as they come, which is no single JSON value; leave one of the two out";
  return undefined;
}

async function list(given: Given, service: ManagedService): Promise<ExitCode> {
  const { console, addressOf } = service;
  const read = await readAll(service);
  if (!read.ok) return refusedByService(console, read.failure);
  const notifications = newNotifications(read.value, new Set());
  if (textOption(given, "format") === "json") console.json(notificationsJson(notifications, addressOf));
  else console.data(renderNotifications(notifications, addressOf, console.style.stdout));
  return EXIT.done;
}

/** Looks again and again until it is told to end, which is the only way it ends well. */
async function watch(service: ManagedService, interval: number, signal: AbortSignal): Promise<ExitCode> {
  const { console, addressOf } = service;
  const seen = new Set<string>();
  while (!signal.aborted) {
    const read = await readAll(service);
    if (signal.aborted) break;
    if (!read.ok) return refusedByService(console, read.failure);
    const fresh = newNotifications(read.value, seen);
    if (fresh.length > 0) console.data(renderLater(fresh, addressOf));
    await delay(interval, undefined, { signal }).catch(() => undefined);
  }
  return EXIT.interrupted;
}

async function readAll({
  client,
  console,
  targets,
}: ManagedService): Promise<Read<readonly TargetNotification[], Failure>> {
  const lists = await Promise.all(
    targets.map(async ({ key, id }) => ({ key, read: await client.listNotifications(id) })),
  );
  const all: TargetNotification[] = [];
  for (const { key, read } of lists) {
    if (!read.ok) return read;
    for (const notification of read.value)
      all.push({ target: key, notification: redactNotification(notification, console.redactor) });
  }
  return { ok: true, value: all };
}
