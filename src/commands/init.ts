import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { EXIT, type ExitCode, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { writeJson } from "../render/json.ts";
import { sayError } from "./diagnostics.ts";
import { consoleFor, projectRoot } from "./opening.ts";

const PROJECT = `# yaml-language-server: $schema=.tasc/schemas/project.schema.json
version: 1
service:
  # The address before /apiKey. \`tasc serve\` listens on this one.
  baseUrl: \${env:TASC_BASE_URL:-http://127.0.0.1:4010}
  apiKey: \${secret:TASC_API_KEY}
`;

const TARGET = `# yaml-language-server: $schema=../.tasc/schemas/target.schema.json
target: shop
app: Web Shop
environments:
  default:
    discoveryUrl: https://shop.example.com
defaults:
  testCases: { runStatus: ON, tags: [web] }
testCases:
  login:
    description: Log in with valid credentials
    folder: Authentication
    discovery:
      prompt: Log in as the test account and check the greeting.
      type: LOGIN
  cart-total:
    description: Cart total adds up
    discovery:
      prompt: Put two articles into the cart and check the total.
      prerequisite: login
`;

const IGNORE = `# Locks and journals of runs under way, and the local service's data.
/.tasc/service/
/.tasc/**/*.lock*
/.tasc/**/*.journal
/.tasc/**/*.tmp
/.tasc/errored/
/.tasc/history/
`;

/** `tasc init`: writes a project. A file that is there already stays as it is. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const console = consoleFor(given, world, []);
  const root = projectRoot(given, world);
  const files: readonly (readonly [string, string])[] = [
    ["tasc.yaml", PROJECT],
    ["targets/shop.yaml", TARGET],
    [".gitignore", IGNORE],
    [".tasc/schemas/project.schema.json", writeJson(project)],
    [".tasc/schemas/target.schema.json", writeJson(target)],
  ];
  if (existsSync(join(root, "tasc.yaml"))) {
    sayError(
      console,
      "There is a project already",
      "tasc.yaml exists in this folder and stays as it is. Choose another folder with --chdir.",
    );
    return EXIT.failed;
  }
  for (const [file, text] of files) {
    const path = join(root, file);
    if (existsSync(path)) {
      console.say("warn", `kept   ${file}, which was there`);
      continue;
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx" });
    console.data(`wrote  ${file}\n`);
  }
  console.data(
    "\nNext, in another terminal:  tasc serve\nThen, with the key it prints: TASC_API_KEY=… tasc plan\n",
  );
  return EXIT.done;
}
