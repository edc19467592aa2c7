import { oneLine } from "../model/diagnostic.ts";
import { failed, isSystemError } from "../model/error.ts";
import { Refusal, type ServerOptions } from "../server/index.ts";

/** Runs the start of the local service and explains its errors. @throws TascError */
export async function explainStart<T>(
  { port, dataDir }: Pick<ServerOptions, "port" | "dataDir">,
  start: () => Promise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof Refusal)
      throw failed(
        "bad-snapshot",
        "The local service cannot load the snapshot",
        `${oneLine(error.message)}. It is as strict as the interface is described.`,
      );
    if (!isSystemError(error) || dataDir === undefined) throw error;
    if ("syscall" in error && error.syscall === "listen")
      throw failed(
        "port-in-use",
        `Port ${port} ${error.code === "EADDRINUSE" ? "is in use" : "cannot be used"}`,
        "Choose another one with --port; --port 0 selects a free port.",
      );
    throw failed(
      "data-unusable",
      `The local service cannot use its data in ${dataDir}`,
      `${oneLine(error.message)}. Check that it is a folder with free space whose files may be read and written. If the data is damaged, remove \`service.db*\` and \`lock.db*\`, or choose another folder with --data.`,
    );
  }
}
