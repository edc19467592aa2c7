import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { parseDuration } from "../manifest/shape.ts";
import { stop } from "../model/error.ts";
import type { JsonObject } from "../model/json.ts";
import {
  DataDirInUseError,
  DriverMissingError,
  Refusal,
  type RunningServer,
  type ServerOptions,
  startServer,
} from "../server/index.ts";
import { openSnapshot, seedOf } from "../service/snapshot.ts";
import type { Console } from "./console.ts";
import { consoleFor } from "./opening.ts";

const PORT = 4010;

type ServeOptions = ServerOptions & { readonly dataDir: string };

/** `tasc serve`: runs the local service until it is told to stop. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const console = consoleFor(given, world, []);
  // Its data holds the passwords that it is given.
  process.umask(0o077);
  const dataDir = resolve(world.cwd, textOption(given, "data") ?? ".tasc/service");
  const key = apiKeyOf(given, world, dataDir);
  const seed = readSeed(given, world, dataDir, console);
  const options = { ...timeAndPort(given), dataDir, apiKey: key.value };
  const server = await start(seed === undefined ? options : { ...options, seed });
  if (key.origin === "new") writeFileSync(keyFile(dataDir), `${key.value}\n`, { mode: 0o600 });
  console.data(
    `Serving on ${server.url}\n  API key: ${key.origin === "given" ? "as given" : key.value}\n  data:    ${dataDir}\n  control: ${server.controlUrl}\nCtrl-C stops it; the data stays.\n`,
  );
  await new Promise<void>((end) => process.once("SIGINT", () => end()).once("SIGTERM", () => end()));
  await server.close();
  return EXIT.done;
}

function timeAndPort(given: Given): Pick<ServerOptions, "port" | "discoveryTime"> {
  const port = Number(textOption(given, "port") ?? PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw stop("invalid", "bad-option", "--port takes a number from 0 to 65535; 0 is any free port");
  const text = textOption(given, "discoveryTime");
  if (text === undefined) return { port };
  const discoveryTime = parseDuration(text);
  if (discoveryTime === undefined)
    throw stop("invalid", "bad-option", "--discovery-time takes a duration, e.g. 500ms or 2s");
  return { port, discoveryTime };
}

interface Key {
  readonly value: string;
  /** Only a key of the data folder is printed: nobody knows it otherwise. */
  readonly origin: "given" | "stored" | "new";
}

/** A random key for each data folder, so that no page or program of this machine can guess it. */
function apiKeyOf(given: Given, world: World, dataDir: string): Key {
  const value = textOption(given, "apiKey") ?? world.env["TASC_SERVE_API_KEY"];
  if (value !== undefined && value !== "") return { value, origin: "given" };
  const stored = existsSync(keyFile(dataDir)) ? readFileSync(keyFile(dataDir), "utf8").trim() : "";
  if (stored !== "") return { value: stored, origin: "stored" };
  return { value: randomBytes(24).toString("base64url"), origin: "new" };
}

function keyFile(dataDir: string): string {
  return join(dataDir, "api-key");
}

/** `--from`: what an empty data folder begins with. One that holds data keeps it, so that a restart goes on. */
function readSeed(given: Given, world: World, dataDir: string, console: Console): JsonObject | undefined {
  const file = textOption(given, "from");
  if (file === undefined) return undefined;
  if (existsSync(join(dataDir, "service.db"))) {
    console.say(
      "warn",
      `${dataDir} already contains data, which is served; ${file} was not read. Use --data to choose another folder for a copy of it.`,
    );
    return undefined;
  }
  const snapshot = openSnapshot(resolve(world.cwd, file), file);
  const seed = snapshot.ok ? seedOf(snapshot.value) : snapshot;
  if (seed.ok) return seed.value;
  throw stop("invalid", "bad-snapshot", seed.failure.summary, seed.failure.detail);
}

async function start(options: ServeOptions): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (error) {
    throw reasonFor(error, options);
  }
}

function reasonFor(error: unknown, { dataDir, port }: ServeOptions): unknown {
  if (error instanceof Refusal) {
    // Empty again, the folder takes the corrected snapshot.
    discard(dataDir);
    return stop(
      "failed",
      "bad-snapshot",
      "The local service cannot load the snapshot",
      `${error.message}. It is as strict as the interface is described.`,
    );
  }
  if (error instanceof DataDirInUseError)
    return stop(
      "failed",
      "data-in-use",
      `Another process serves ${dataDir}`,
      "Stop it, or choose another folder with --data.",
    );
  if (error instanceof DriverMissingError)
    return stop("failed", "sqlite-missing", "The local service needs SQLite", `${error.message}.`);
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return stop(
      "failed",
      "port-in-use",
      `Port ${port} is in use`,
      "Choose another one with --port; --port 0 takes any free port.",
    );
  return error;
}

/** Removes the databases, and nothing else that may be in the folder. */
function discard(dataDir: string): void {
  const [databases, others] = [true, false].map((isDatabase) =>
    readdirSync(dataDir).filter((file) => /^(service|lock)\.db(-\w+)?$/.test(file) === isDatabase),
  );
  for (const file of databases ?? []) rmSync(join(dataDir, file));
  if (others?.length === 0) rmdirSync(dataDir);
}
