import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { SAMPLE } from "../manifest/skeleton.ts";
import { failed } from "../model/error.ts";
import { writeJson } from "../render/json.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import ignoreText from "./templates/gitignore.txt?raw";
import trustText from "./templates/tasc-trust.yaml?raw";
import projectText from "./templates/tasc.yaml?raw";
import { textOf, writeText } from "./project-files.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = {};

export const command = defineCommand({
  group: "Start",
  summary: "create a project that is ready to validate and plan",
  examples: {
    "tasc init": "create a project in the current folder",
    "tasc init --chdir e2e": "create a project in the folder e2e",
  },
  options: OPTIONS,
  run: init,
});

/**
 * `tasc init`: writes a project. Existing files are kept, except that .gitignore gets the entries
 * for secret files.
 */
async function init(options: OptionsOf<typeof OPTIONS>, { host, console }: Context): Promise<View> {
  const root = resolve(host.cwd, options.chdir ?? ".");
  const files: readonly (readonly [file: string, text: string, mode?: number])[] = [
    ["tasc.yaml", projectText],
    [SAMPLE.file, SAMPLE.text],
    [".gitignore", ignoreText],
    ["fingerprint.key", `${randomBytes(32).toString("base64")}\n`, 0o600],
    ["tasc-trust.yaml", trustText],
    [".tasc/schemas/project.schema.json", writeJson(project)],
    [".tasc/schemas/target.schema.json", writeJson(target)],
  ];
  if (existsSync(join(root, "tasc.yaml")))
    throw failed(
      "project-exists",
      "This folder already contains a project",
      "tasc.yaml exists and was not changed. Use --chdir to choose another folder.",
    );
  const written: string[] = [];
  const kept: string[] = [];
  // Read before anything is written: if this fails, init can run again, which it refuses once
  // tasc.yaml is written.
  const ignored = textOf(join(root, ".gitignore"));
  for (const [file, text, mode = 0o666] of files) {
    const isAdded = file === ".gitignore" && ignored?.includes(text) === false;
    if (existsSync(join(root, file)) && !isAdded) {
      console.say("warn", `kept   ${file}, which already existed`);
      kept.push(file);
      continue;
    }
    writeText(root, file, isAdded ? `\n${text}` : text, { flag: isAdded ? "a" : "wx", mode });
    written.push(file);
  }
  const next = [
    "Next, in another terminal:  tasc serve",
    "Then:                       TASC_API_KEY=KEY tasc plan, with the key that it prints",
  ];
  return { json: { written, kept }, text: [written.map((file) => `wrote  ${file}`), next] };
}
