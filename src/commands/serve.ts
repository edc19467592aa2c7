import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
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
import type { Context } from "./context.ts";
import type { ServeOptions } from "./table.ts";

/** `tasc serve`: runs the local service until it is told to stop. */
export async function run(options: ServeOptions, context: Context): Promise<ExitCode> {
  // Its data holds the passwords that it is given.
  process.umask(0o077);
  const port = portOf(options);
  const dataDir = resolve(context.world.cwd, options.data ?? ".tasc/service");
  const key = apiKeyOf(options, context, dataDir);
  const seed = readSeed(options, context, dataDir);
  const server = await start({
    port,
    dataDir,
    apiKey: key.value,
    ...(options.discoveryTime === undefined ? {} : { discoveryTime: options.discoveryTime }),
    ...(seed === undefined ? {} : { seed }),
  });
  if (key.origin === "new") writeFileSync(keyFile(dataDir), `${key.value}\n`, { mode: 0o600 });
  context.console.data(
    `Serving on ${server.url}\n  API key: ${key.origin === "given" ? "as given" : key.value}\n  data:    ${dataDir}\n  control: ${server.controlUrl}\nCtrl-C stops it; the data stays.\n`,
  );
  await new Promise<void>((end) => process.once("SIGINT", () => end()).once("SIGTERM", () => end()));
  await server.close();
  return EXIT.done;
}

function portOf({ port: text }: ServeOptions): number {
  const port = Number(text ?? 4010);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw stop("invalid", "bad-option", "--port takes a number from 0 to 65535; 0 is any free port");
}

interface Key {
  readonly value: string;
  /** Only a key of the data folder is printed: nobody knows it otherwise. */
  readonly origin: "given" | "stored" | "new";
}

/** A random key for each data folder, so that no page or program of this machine can guess it. */
function apiKeyOf({ apiKey }: ServeOptions, { world }: Context, dataDir: string): Key {
  const value = apiKey ?? world.env["TASC_SERVE_API_KEY"];
  if (value !== undefined && value !== "") return { value, origin: "given" };
  const stored = existsSync(keyFile(dataDir)) ? readFileSync(keyFile(dataDir), "utf8").trim() : "";
  if (stored !== "") return { value: stored, origin: "stored" };
  return { value: randomBytes(24).toString("base64url"), origin: "new" };
}

function keyFile(dataDir: string): string {
  return join(dataDir, "api-key");
}

/** `--from`: what an empty data folder begins with. One that holds data keeps it, so that a restart goes on. */
function readSeed(
  { from: file }: ServeOptions,
  { world, console }: Context,
  dataDir: string,
): JsonObject | undefined {
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

type Settings = ServerOptions & { readonly dataDir: string };

async function start(options: Settings): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (error) {
    throw reasonFor(error, options);
  }
}

function reasonFor(error: unknown, { dataDir, port }: Settings): unknown {
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
