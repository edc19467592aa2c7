import { readdirSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { stop } from "../model/error.ts";
import {
  DataDirInUseError,
  DriverMissingError,
  Refusal,
  type RunningServer,
  type ServerOptions,
  startServer,
} from "../server/index.ts";

/** Starts the local service. @throws TascError for what the user can do something about */
export async function startLocalService(options: ServerOptions): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (error) {
    throw reasonFor(error, options);
  }
}

function reasonFor(error: unknown, { dataDir, port }: ServerOptions): unknown {
  if (error instanceof Refusal) {
    // Empty again, the folder takes the corrected snapshot.
    if (dataDir !== undefined) discard(dataDir);
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
      `Another process is serving ${dataDir}`,
      "Stop it, or use another folder with --data.",
    );
  if (error instanceof DriverMissingError)
    return stop("failed", "sqlite-missing", "The local service needs SQLite", `${error.message}.`);
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return stop(
      "failed",
      "port-in-use",
      `Port ${port} is in use`,
      "Choose another one with --port; --port 0 selects a free port.",
    );
  return error;
}

/** Removes the databases, and nothing else that may be in the folder. */
function discard(dataDir: string): void {
  const files = readdirSync(dataDir);
  const databases = files.filter((file) => /^(service|lock)\.db(-\w+)?$/.test(file));
  for (const file of databases) rmSync(join(dataDir, file));
  if (databases.length === files.length) rmdirSync(dataDir);
}
