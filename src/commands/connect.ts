import { setTimeout as delay } from "node:timers/promises";
import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { parseDuration } from "../manifest/shape.ts";
import type { Settings } from "../model/settings.ts";
import { eventLine } from "../render/apply.ts";
import { type Client, createClient } from "../service/client.ts";
import { describeFailure } from "../service/describe-failure.ts";
import { type ClientEvent, type Failure, checkBaseUrl, isOutOfReach } from "../service/request.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";

/** How calls are made: the project's settings, and what the command line says over them. */
export interface CallSettings {
  readonly concurrency: number;
  readonly requestTimeout: number;
  readonly retries: number;
}

export type Connected =
  | { readonly ok: true; readonly client: Client; readonly settings: CallSettings }
  | { readonly ok: false; readonly code: ExitCode };

export interface ConnectOptions {
  /** Ends all calls at once. */
  readonly signal?: AbortSignal;
  /** Is told of every call; what it shows is then not said a second time. */
  readonly heard?: (event: ClientEvent) => void;
}

/** Makes the client for a project's service; nothing is sent yet. */
export function connect(
  given: Given,
  world: World,
  settings: Settings,
  console: Console,
  { signal, heard }: ConnectOptions = {},
): Connected {
  const calls = callSettings(given, settings);
  if (typeof calls === "string") return refuse(console, calls, "");
  const base = checkBaseUrl(settings.baseUrl, { insecure: flagOption(given, "insecure") });
  if (!base.ok) return refuse(console, base.failure.summary, base.failure.detail);
  if (settings.apiKey === undefined)
    return refuse(
      console,
      "The API key is missing",
      "Every call to the service needs it. Declare `service.apiKey` in tasc.yaml, and set the variable that it names; `--allow-missing-secrets` does without it only together with `--snapshot`.",
    );
  const client = createClient({
    baseUrl: base.value,
    apiKey: settings.apiKey,
    ...calls,
    world: {
      now: world.now,
      random: world.random,
      sleep: (ms, abort) => delay(ms, undefined, abort === undefined ? {} : { signal: abort }),
    },
    env: world.env,
    redact: (text) => console.redactor.text(text),
    onEvent: (event) => {
      heard?.(event);
      sayCall(console, event, heard === undefined);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return { ok: true, client, settings: calls };
}

/** Every call at the level `debug`; waits at `info`, unless somebody else shows them. */
function sayCall(console: Console, event: ClientEvent, alone: boolean): void {
  if (event.kind === "finished") {
    if (console.level !== "debug") return;
    const answer = event.status ?? event.fault ?? "";
    const time = `${Math.round(event.ms)} ms`;
    console.say("debug", `${event.method} ${event.path}  ${answer}  ${time}  try ${event.attempt}`);
  } else if (event.kind !== "started" && alone) {
    const line = eventLine(event);
    if (line !== undefined) console.say("info", line);
  }
}

function refuse(console: Console, summary: string, detail: string): Connected {
  sayError(console, summary, detail);
  return { ok: false, code: EXIT.invalid };
}

/** The settings, or what is wrong with an option. */
function callSettings(given: Given, settings: Settings): CallSettings | string {
  const concurrency = numberOption(given, "concurrency", settings.concurrency, 1);
  const retries = numberOption(given, "retries", settings.retries, 0);
  const text = textOption(given, "requestTimeout");
  const requestTimeout = text === undefined ? settings.requestTimeout : parseDuration(text);
  if (typeof concurrency === "string") return concurrency;
  if (typeof retries === "string") return retries;
  if (requestTimeout === undefined || requestTimeout === 0)
    return "--request-timeout takes a duration such as 500ms, 30s or 2m";
  return { concurrency, retries, requestTimeout };
}

function numberOption(given: Given, name: string, fallback: number, least: number): number | string {
  const text = textOption(given, name);
  if (text === undefined) return fallback;
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= least && /^\d+$/.test(text)
    ? number
    : `--${name} takes a whole number from ${least} up`;
}

/** Says why the service could not be read, and what exit code that is. */
export function refusedByService(console: Console, failure: Failure): ExitCode {
  const { summary, detail } = describeFailure(failure);
  sayError(console, summary, detail);
  if (failure.kind === "interrupted") return EXIT.interrupted;
  return isOutOfReach(failure) ? EXIT.unreachable : EXIT.failed;
}
