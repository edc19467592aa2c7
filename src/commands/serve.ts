import { existsSync, readdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { parseDuration } from "../manifest/shape.ts";
import { DataDirInUseError, type RunningServer, type ServerOptions, startServer } from "../server/index.ts";
import { Refusal } from "../server/read/refusal.ts";
import { openSnapshot, seedOf } from "../service/snapshot.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import { consoleFor } from "./opening.ts";

const PORT = 4010;
const KEY = "local-key";

/** `tasc serve`: runs the local service until it is told to stop. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const console = consoleFor(given, world, []);
  const options = readOptions(given, world);
  if (typeof options === "string") {
    sayError(console, options);
    return EXIT.invalid;
  }
  // Its data holds the passwords that it is given.
  process.umask(0o077);
  const seed = readSeed(given, world, options.dataDir, console);
  if (!seed.ok) return EXIT.invalid;
  const server = await start({ ...options, ...seed.value }, console);
  if (server === undefined) return EXIT.failed;
  console.data(
    `Serving on ${server.url}\n  API key: ${options.apiKey === KEY ? KEY : "as given"}\n  data:    ${options.dataDir}\n  control: ${server.controlUrl}\nCtrl-C stops it; the data stays.\n`,
  );
  await new Promise<void>((stop) => process.once("SIGINT", () => stop()).once("SIGTERM", () => stop()));
  await server.close();
  return EXIT.done;
}

function readOptions(given: Given, world: World): ServerOptions | string {
  const port = Number(textOption(given, "port") ?? PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return "--port takes a number from 0 to 65535; 0 is any free port";
  const text = textOption(given, "discoveryTime");
  const discoveryTime = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && discoveryTime === undefined)
    return "--discovery-time takes a duration such as 500ms or 2s";
  return {
    port,
    dataDir: resolve(world.cwd, textOption(given, "data") ?? ".tasc/service"),
    apiKey: textOption(given, "apiKey") ?? KEY,
    ...(discoveryTime === undefined ? {} : { discoveryTime }),
  };
}

/** `--from`: what an empty data folder begins with. One that holds data keeps it, so that a restart goes on. */
function readSeed(
  given: Given,
  world: World,
  dataDir: string,
  console: Console,
): { readonly ok: true; readonly value: Pick<ServerOptions, "seed"> } | { readonly ok: false } {
  const file = textOption(given, "from");
  if (file === undefined) return { ok: true, value: {} };
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    console.say(
      "warn",
      `${dataDir} holds data already, which is served; ${file} was not read. For a copy of it, choose another folder with --data.`,
    );
    return { ok: true, value: {} };
  }
  const snapshot = openSnapshot(resolve(world.cwd, file), file);
  const seed = snapshot.ok ? seedOf(snapshot.value) : snapshot;
  if (seed.ok) return { ok: true, value: { seed: seed.value } };
  sayError(console, seed.failure.summary, seed.failure.detail);
  return { ok: false };
}

async function start(options: ServerOptions, console: Console): Promise<RunningServer | undefined> {
  try {
    return await startServer(options);
  } catch (error) {
    if (error instanceof Refusal) {
      // The folder was empty, or there would be no seed; empty again, it takes the mended snapshot.
      rmSync(options.dataDir, { recursive: true, force: true });
      sayError(
        console,
        "The local service cannot hold what the snapshot says",
        `${error.message}. It is as strict as the interface is described.`,
      );
      return undefined;
    }
    if (error instanceof DataDirInUseError) {
      sayError(
        console,
        `Another process serves ${options.dataDir}`,
        "Stop it, or choose another folder with --data.",
      );
      return undefined;
    }
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      sayError(
        console,
        `Port ${options.port} is in use`,
        "Choose another one with --port; --port 0 takes any that is free.",
      );
      return undefined;
    }
    throw error;
  }
}
