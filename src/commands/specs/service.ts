import { command, type CommandSpec, duration, type GlobalOptions, type Options, text } from "../options.ts";

const serve = {
  port: text("--port <port>", "port on 127.0.0.1; default: 4010"),
  data: text("--data <dir>", "folder of its data; default: .tasc/service"),
  apiKey: text(
    "--api-key <key>",
    "key that it accepts (or TASC_SERVE_API_KEY); default: a random key, kept in the data folder",
  ),
  from: text("--from <file>", "fill an empty data folder with a file from `tasc snapshot`"),
  discoveryTime: duration("--discovery-time <duration>", "how long a discovery takes, e.g. 2s", {
    examples: "500ms or 2s",
  }),
};
export type ServeOptions = Options<typeof serve> & GlobalOptions;

export const SERVICE_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "serve",
    summary: "run a local service that implements the whole interface",
    options: serve,
    examples: [
      { command: "tasc serve", does: "on http://127.0.0.1:4010 with a random key, which it prints" },
      {
        command: "tasc serve --from snapshot.json --data .tasc/rehearsal",
        does: "try a change on a copy of the real service: docs/local-service.md",
      },
      { command: "tasc serve --port 0 --data /tmp/service", does: "on any free port, which it prints" },
    ],
    load: () => import("../serve.ts"),
  }),
];
