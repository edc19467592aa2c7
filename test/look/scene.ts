import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll } from "vitest";
import {
  type Json,
  type JsonArray,
  type JsonObject,
  isArray,
  isObject,
  parseJson,
} from "../../src/model/json.ts";
import { type RunningServer, type ServerOptions, startServer } from "../../src/server/index.ts";
import { type Env, KNOWN_KEYS, needsProcess, runHere } from "../contract/support/here.ts";

/** The executable under test. TASC_EXECUTABLE can name another build. */
const EXECUTABLE = resolve(process.env["TASC_EXECUTABLE"] ?? "dist/tasc.cjs");

export const KEY = "the-api-key-of-the-tests";
export const SECRETS = { QA_PASSWORD: "hunter2-of-qa", QA_USER: "secret-user-of-qa" } as const;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Known ids, one for each number. */
export function id(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

export const TARGET = id(1);
export const ENVIRONMENT = id(2);
export const COOKIE = id(0x10);
export const LOGIN = id(0x11);
export const CART = id(0x12);

/** The initial data of the service: what `MANIFEST` declares, and one undeclared test case. */
export const SEED: JsonObject = {
  testTargets: [{ id: TARGET, app: "Web Shop" }],
  environments: [
    {
      id: ENVIRONMENT,
      testTargetId: TARGET,
      type: "DEFAULT",
      discoveryUrl: "https://shop.example.com",
    },
  ],
  folders: [{ id: id(0x20), testTargetId: TARGET, name: "Authentication" }],
  testCases: [
    testCase(COOKIE, "Accept the cookie banner", {
      tags: ["web"],
      runStatus: "ON",
      type: "COOKIE_BANNER",
    }),
    testCase(LOGIN, "Log in", {
      status: "ENABLED",
      runStatus: "ON",
      tags: ["smoke"],
      folderId: id(0x20),
      prerequisiteId: COOKIE,
      discovery: { status: "FINISHED", freePrompt: `Log in as ${SECRETS.QA_USER}.` },
    }),
    testCase(CART, "Cart total adds up", { tags: ["web"], runStatus: "ON" }),
    testCase(id(0x13), "Nobody declares it", {}),
  ],
};

export function testCase(caseId: string, description: string, more: JsonObject): JsonObject {
  return {
    id: caseId,
    testTargetId: TARGET,
    description,
    status: "DRAFT",
    runStatus: "OFF",
    ...more,
  };
}

export const PROJECT = `version: 1
service:
  baseUrl: \${env:TASC_BASE_URL}
  apiKey: \${secret:TASC_API_KEY}
  retries: 0
vars: { host: shop.example.com, url: "https://\${var:host}" }
`;

export const MANIFEST = `target: shop
app: Web Shop
testIdAttribute: data-testid
environments:
  default:
    discoveryUrl: \${var:url}
    testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" }
defaults:
  testCases: { runStatus: "ON", tags: [web] }
testCases:
  cookie:
    description: Accept the cookie banner
  login:
    description: Log in
    status: ENABLED
    folder: Authentication
    tags: [smoke]
    discovery: { prompt: "Log in as \${secret:QA_USER}.", prerequisite: cookie }
  cart:
    description: Cart total adds up
batchGenerations:
  spring: { prompt: Cover the spring campaign., environment: default, prerequisite: login }
`;

/** A project folder and its service. */
export interface Scene {
  readonly dir: string;
  readonly server: RunningServer;
  readonly env: Readonly<Record<string, string>>;
  write(name: string, text: string): void;
  read(name: string): string;
  mode(name: string): number;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  start(args: readonly string[]): Running;
  /** The control interface of the service. */
  control(method: string, path: string, body?: Json): Promise<Json>;
  /** Edits a test case, as a colleague could in the web application. */
  edit(caseId: string, set: JsonObject): Promise<Json>;
  remove(caseId: string): Promise<Json>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Ran>;
  /** Resolves once stdout and stderr together match the pattern. */
  saw(pattern: RegExp): Promise<void>;
  /** The output to stdout and stderr so far. */
  said(): string;
}

/** Runs a test with its own folder and service, and removes both afterwards. */
export async function scene(
  play: (scene: Scene) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  const { stage, end } = await openScene(options);
  try {
    await play(stage);
  } finally {
    await end();
  }
}

/**
 * For tests that do not change the service: it is started and applied to once per file, and each
 * test runs in a copy of the applied project.
 */
export function appliedScene(): (play: (scene: Scene) => Promise<void>) => Promise<void> {
  let opened: Promise<OpenScene> | undefined;
  let copies = 0;
  beforeAll(async () => {
    opened = openScene({});
    await applied((await opened).stage);
  });
  afterAll(async () => (await opened)?.end());
  return async (play) => {
    const { stage } = (await opened) ?? (await openScene({}));
    const copy = `${stage.dir}-${copies++}`;
    cpSync(stage.dir, copy, { recursive: true });
    await play(sceneIn(copy, stage.server));
  };
}

interface OpenScene {
  readonly stage: Scene;
  readonly end: () => Promise<void>;
}

async function openScene(options: Partial<ServerOptions>): Promise<OpenScene> {
  const dir = mkdtempSync(join(tmpdir(), "tasc-look-"));
  let count = 0xf000;
  const server = await startServer({
    apiKey: KEY,
    discoveryTime: 3_600_000,
    clock: () => Date.UTC(2030, 0, 1),
    ids: () => id(count++),
    seed: SEED,
    dataDir: join(dir, "service"),
    ...options,
  });
  const stage = sceneIn(join(dir, "project"), server);
  stage.write("tasc.yaml", PROJECT);
  stage.write("targets/shop.yaml", MANIFEST);
  const end = async (): Promise<void> => {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { stage, end };
}

function sceneIn(dir: string, server: RunningServer): Scene {
  const env = { TASC_BASE_URL: server.url, TASC_API_KEY: KEY, ...SECRETS };
  const control = (method: string, path: string, body?: Json): Promise<Json> =>
    request(server.controlUrl + path, method, body);
  const own = { PATH: process.env["PATH"] ?? "", HOME: dir, NO_COLOR: "1", ...env };
  const start = (args: readonly string[], more: Env = {}): Running =>
    follow(
      spawn(process.execPath, [...KNOWN_KEYS, EXECUTABLE, ...args], {
        cwd: dir,
        env: { ...own, ...more },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  return {
    dir,
    server,
    env,
    write(name, text) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text);
    },
    read: (name) => readFileSync(join(dir, name), "utf8"),
    mode: (name) => statSync(join(dir, name)).mode & 0o777,
    run: (args, more) =>
      needsProcess(args, { ...own, ...more })
        ? start(args, more).done
        : runHere(args, dir, { ...own, ...more }),
    start,
    control,
    edit: (caseId, set) => control("POST", "/edit", { kind: "testCase", id: caseId, set }),
    remove: (caseId) => control("POST", "/edit", { kind: "testCase", id: caseId, remove: true }),
  };
}

function follow(child: ChildProcess): Running {
  let stdout = "";
  let stderr = "";
  const watchers: { readonly pattern: RegExp; readonly matched: () => void }[] = [];
  const look = (): void => {
    for (const { pattern, matched } of watchers) if (pattern.test(stdout + stderr)) matched();
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    look();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    look();
  });
  const done = new Promise<Ran>((settle, fail) => {
    child.once("error", fail);
    child.once("close", (code) => settle({ code, stdout, stderr }));
  });
  const saw = (pattern: RegExp): Promise<void> =>
    new Promise((matched, fail) => {
      watchers.push({ pattern, matched });
      look();
      void done.then((ran) =>
        fail(new Error(`${pattern} never came:\n${ran.stdout}${ran.stderr}`)),
      );
    });
  return { child, done, saw, said: () => stdout + stderr };
}

async function request(url: string, method: string, body: Json | undefined): Promise<Json> {
  const response = await fetch(url, {
    method,
    headers: {
      "x-api-key": KEY,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === "" ? null : parseJson(text);
}

/** Applies the manifests, so that service and state match them. */
export async function applied(stage: Scene): Promise<void> {
  const ran = await stage.run(["apply", "--auto-approve"]);
  if (ran.code !== 0) throw new Error(`the apply failed:\n${ran.stdout}${ran.stderr}`);
}

/** Parses stdout, which must be one JSON value. */
export function json(ran: Ran): Json {
  try {
    return parseJson(ran.stdout);
  } catch {
    throw new Error(`stdout is no JSON (exit ${ran.code}):\n${ran.stdout}\n--\n${ran.stderr}`);
  }
}

/** A value inside another: `at(value, "fields", 0, "name")`. Throws if there is nothing. */
export function at(value: Json, ...path: readonly (string | number)[]): Json {
  let found: Json | undefined = value;
  for (const step of path) {
    if (typeof step === "number") found = isArray(found) ? found[step] : undefined;
    else found = isObject(found) ? found[step] : undefined;
  }
  if (found === undefined)
    throw new Error(`nothing at ${path.join(".")} of ${JSON.stringify(value)}`);
  return found;
}

export function listAt(value: Json, ...path: readonly (string | number)[]): JsonArray {
  const found = at(value, ...path);
  if (!isArray(found)) throw new Error(`no list at ${path.join(".")}`);
  return found;
}

/** Replaces the parts of a text that differ from run to run. */
export function steady(text: string, { server }: Scene): string {
  return text
    .replaceAll(server.url, "http://127.0.0.1:PORT")
    .replaceAll(/"createdAt": "[^"]*"/g, '"createdAt": "THEN"')
    .replaceAll(/"tool": "tasc [^"]*"/g, '"tool": "tasc VERSION"')
    .replaceAll(/snapshot of \d{4}-[^\s]*Z/g, "snapshot of THEN");
}

export function textAt(value: Json, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== "string") throw new Error(`no text at ${path.join(".")}`);
  return found;
}
