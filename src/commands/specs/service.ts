import type { CommandSpec } from "../../cli/command-table.ts";

export const SERVICE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "run a local service that speaks the whole interface",
    options: [
      { flags: "--port <port>", description: "port on 127.0.0.1; 4010 unless given" },
      { flags: "--data <dir>", description: "folder of its data; .tasc/service unless given" },
      { flags: "--api-key <key>", description: "key that it accepts; local-key unless given" },
      { flags: "--from <file>", description: "fill an empty data folder with what `tasc snapshot` wrote" },
      { flags: "--discovery-time <duration>", description: "how long a discovery takes, such as 2s" },
    ],
    examples: [
      { command: "tasc serve", does: "on http://127.0.0.1:4010 with the key local-key" },
      {
        command: "tasc serve --from snapshot.json --data .tasc/rehearsal",
        does: "rehearse a change on a copy of the real service: docs/local-service.md",
      },
      { command: "tasc serve --port 0 --data /tmp/service", does: "on any free port, which it prints" },
    ],
    load: () => import("../serve.ts"),
  },
];
