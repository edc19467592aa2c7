import { startServer } from "../../src/server/index.ts";

/**
 * Runs a service in its own process, for tests that kill or stop it: child.ts DIR KEY. Prints its
 * addresses in one line.
 */
const [dataDir = "", apiKey = ""] = process.argv.slice(2);

try {
  const { url, controlUrl, close } = await startServer({
    dataDir,
    apiKey,
    discoveryTime: 3_600_000,
  });
  process.once("SIGTERM", () => void close());
  process.stdout.write(`${JSON.stringify({ url, controlUrl })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
  process.exitCode = 1;
}
