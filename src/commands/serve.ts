import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { projectRoot, readVariables } from "../app/project.ts";
import { openSnapshot, seedOf } from "../app/snapshot.ts";
import { EXIT, type ExitCode, failed } from "../model/error.ts";
import { defined } from "../model/json.ts";
import { refuseLinks } from "../files/output.ts";
import { startServer } from "../server/index.ts";
import type { Context } from "./context.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { duration, parsed, text } from "./options.ts";
import { explainStart } from "./local-service.ts";

const OPTIONS = {
  port: parsed(
    "--port <port>",
    "port on 127.0.0.1; default: 4010",
    "a number from 0 to 65535; 0 selects a free port",
    (given) =>
      [Number(given)].find((port) => Number.isInteger(port) && port >= 0 && port <= 65_535),
  ),
  data: text("--data <dir>", "data folder; default: .tasc/service"),
  apiKey: text(
    "--api-key <key>",
    "API key to accept (or TASC_SERVE_API_KEY); default: a random key, kept in the data folder",
  ),
  from: text("--from <file>", "fill an empty data folder with a file from `tasc snapshot`"),
  discoveryTime: duration("--discovery-time <duration>", "how long a discovery takes, e.g. 2s", {
    examples: "500ms or 2s",
  }),
};

export const command = defineCommand({
  group: "Service",
  summary: "run a local service that implements the complete API",
  examples: {
    "tasc serve": "listen on http://127.0.0.1:4010 and print a random key",
    "tasc serve --from snapshot.json --data .tasc/rehearsal":
      "try a change on a copy of the real service; see docs/local-service.md",
    "tasc serve --port 0 --data /tmp/service": "listen on a free port and print it",
  },
  options: OPTIONS,
  run: run,
});

async function run(options: OptionsOf<typeof OPTIONS>, context: Context): Promise<ExitCode> {
  // Its data contains the passwords that it receives.
  process.umask(0o077);
  const root = projectRoot(options, context.host);
  const dataDir =
    options.data === undefined
      ? join(root, ".tasc/service")
      : resolve(context.host.cwd, options.data);
  const env = readVariables(options, context.host, root);
  const keyFile = join(dataDir, "api-key");
  const given = (options.apiKey ?? env["TASC_SERVE_API_KEY"]) || undefined;
  const seed = readSeed(options, context, dataDir);
  const port = options.port ?? 4010;
  const { server, key } = await explainStart({ port, dataDir }, async () => {
    const files = ["-wal", "-shm", "-journal", ""].flatMap((end) => [
      `service.db${end}`,
      `lock.db${end}`,
    ]);
    for (const name of ["api-key", ...files]) refuseLinks(join(dataDir, name), root);
    const check = () =>
      ["", "api-key", ...files].forEach((name) => refuseForeign(join(dataDir, name), root));
    check();
    const stored =
      given === undefined && existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : "";
    // A random key for each data folder, so that no web page and no program on this machine can
    // guess it.
    const key = (given ?? stored) || randomBytes(24).toString("base64url");
    const { discoveryTime } = options;
    const server = await startServer({
      port,
      dataDir,
      apiKey: key,
      ...defined({ discoveryTime, seed }),
    });
    check(); // Again, because another user may have put a file there in the meantime.
    if (given === undefined && stored === "") {
      // Never through a link, even one that another process has created meanwhile. An empty file is
      // not a key.
      rmSync(keyFile, { force: true });
      writeFileSync(keyFile, `${key}\n`, { mode: 0o600, flag: "wx" });
    }
    return { server, key };
  });
  // Registered before the address is printed, because its reader may stop the process at once.
  const stopped = new Promise((end) => process.once("SIGINT", end).once("SIGTERM", end));
  const { url, controlUrl: control } = server;
  // Only a key from the data folder is printed; the user knows a given one.
  const apiKey = given === undefined ? key : null;
  const lines = [
    `Serving on ${url}`,
    `  API key: ${apiKey ?? "as given"}`,
    `  data:    ${dataDir}`,
    `  control: ${control}`,
    "Press Ctrl-C to stop; the data is kept.",
  ];
  const json = { url, apiKey, data: dataDir, control };
  // On one line, so that a program that waits for the address need not find the end of an object.
  if (options.format === "json") context.console.event(json);
  else await context.console.show({ json, text: [lines] });
  await stopped;
  await server.close();
  return EXIT.done;
}

/** Refuses a file of another user, who could read the data and would know the key. */
function refuseForeign(path: string, root: string): void {
  const [owner, self] = [lstatSync(path, { throwIfNoEntry: false })?.uid, process.getuid?.()];
  const trusted = [undefined, 0, self ?? owner, statSync(root, { throwIfNoEntry: false })?.uid];
  if (trusted.includes(owner)) return;
  throw failed(
    "data-unusable",
    `${path} belongs to another user`,
    "Use another folder with --data.",
  );
}

/**
 * Reads `--from`, the initial data of an empty data folder. A folder with data keeps it, so a
 * restart continues with it.
 */
function readSeed(
  { from: file }: OptionsOf<typeof OPTIONS>,
  { host, console }: Context,
  dataDir: string,
) {
  if (file === undefined) return undefined;
  if (!existsSync(join(dataDir, "service.db"))) {
    const { head, eachTestCase } = openSnapshot(resolve(host.cwd, file), file, "bad-snapshot");
    return seedOf(head, eachTestCase);
  }
  console.say(
    "warn",
    `${dataDir} already contains data, which is served; ${file} was not read. Use --data to choose another folder for a copy of it.`,
  );
  return undefined;
}
