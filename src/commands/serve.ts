import { resolve } from "node:path";
import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import { textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { parseDuration } from "../manifest/shape/duration.ts";
import { DataDirInUseError, startServer } from "../server/index.ts";
import type { RunningServer, ServerOptions } from "../server/index.ts";
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
  const server = await start(options, console);
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

async function start(options: ServerOptions, console: Console): Promise<RunningServer | undefined> {
  try {
    return await startServer(options);
  } catch (error) {
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
