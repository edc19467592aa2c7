import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { SAMPLE } from "../manifest/skeleton.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { writeJson } from "../render/json.ts";
import { refuseLinks } from "../render/output-file.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

const KEY_FILE = "fingerprint.key";

const PROJECT = `# yaml-language-server: $schema=.tasc/schemas/project.schema.json
version: 1
service:
  # The address before /apiKey. \`tasc serve\` listens on this one.
  baseUrl: \${env:TASC_BASE_URL:-http://127.0.0.1:4010}
  apiKey: \${secret:TASC_API_KEY}
state:
  backend: local
  # Keeps state valid when an API key is replaced. Whoever applies needs the same key; in a pipeline,
  # take it from a secret: \${secret:TASC_FINGERPRINT_KEY}
  fingerprintKey: \${file:${KEY_FILE}}
policy:
  # Refuses a plan that disables more than this share of a target's test cases.
  maxDisabledPercent: 30
`;

const TRUST = `# Limits that manifests cannot set. In CI, set TASC_TRUST to a copy from the protected branch.
version: 1
# Where the API key may be sent.
origins: ["http://127.0.0.1:4010"]
# Where state may be kept: in this folder, on no host.
stateHosts: []
statePath: .tasc/state
# Variables that manifests may read. A pattern such as TASC_* also allows what is added later.
variables: [TASC_BASE_URL, TASC_API_KEY, TASC_FINGERPRINT_KEY]
# Applies in addition to the project's own policy; the stricter of both counts.
policy: { maxDisabledPercent: 30 }
`;

const IGNORE = `node_modules/
# Secrets.
.env
.env.*
/${KEY_FILE}
# Saved plans.
plan.json
*.plan.json
# Locks and journals of runs in progress, and the local service's data. Commit .tasc/state and .tasc/history: they
# hold no values.
/.tasc/service/
/.tasc/rehearsal/
/.tasc/errored/
/.tasc/**/*.lock*
/.tasc/**/*.journal
/.tasc/**/*.tmp
`;

/** `tasc init`: writes a project. A file that is there already stays as it is. */
export function run(options: OptionsOf<"init">, { host, console }: Context): Promise<ExitCode> {
  const root = resolve(host.cwd, options.chdir ?? ".");
  const files: readonly (readonly [file: string, text: string, mode?: number])[] = [
    ["tasc.yaml", PROJECT],
    [SAMPLE.file, SAMPLE.text],
    [".gitignore", IGNORE],
    [KEY_FILE, `${randomBytes(32).toString("base64")}\n`, 0o600],
    ["tasc-trust.yaml", TRUST],
    [".tasc/schemas/project.schema.json", writeJson(project)],
    [".tasc/schemas/target.schema.json", writeJson(target)],
  ];
  if (existsSync(join(root, "tasc.yaml")))
    throw stop(
      "failed",
      "project-exists",
      "This folder already contains a project",
      "tasc.yaml exists and was not changed. Use --chdir to choose another folder.",
    );
  const written: string[] = [];
  const kept: string[] = [];
  for (const [file, text, mode = 0o666] of files) {
    const path = join(root, file);
    refuseLinks(path, root);
    if (existsSync(path)) {
      console.say("warn", `kept   ${file}, which already existed`);
      kept.push(file);
      continue;
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx", mode });
    written.push(file);
  }
  const next = [
    "Next, in another terminal:  tasc serve",
    "Then:                       TASC_API_KEY=KEY tasc plan, with the key that it prints",
  ];
  const text = [written.map((file) => `wrote  ${file}`), next];
  console.show({ json: { written, kept }, text }, options.format);
  return Promise.resolve(EXIT.done);
}
