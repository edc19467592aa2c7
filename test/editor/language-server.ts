import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Json,
  type JsonArray,
  type JsonObject,
  isArray,
  isObject,
  parseJson,
} from "../../src/model/json.ts";

/**
 * The yaml-language-server that editors run; `undefined` if it is not installed. TASC_YAML_SERVER
 * may name its folder.
 */
export function findServer(): string | undefined {
  const named = process.env["TASC_YAML_SERVER"];
  try {
    const folder =
      named ?? dirname(createRequire(import.meta.url).resolve("yaml-language-server/package.json"));
    const program = join(folder, "bin/yaml-language-server");
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

export type Position = {
  /** From 0. */
  readonly line: number;
  readonly character: number;
};

/** The editor's side of the protocol, as far as the tests need it. */
export interface Editor {
  /** Opens a text under a path of the project; the path need not exist. */
  open(file: string, text: string): void;
  /** The completions that are offered at a position. */
  complete(file: string, position: Position): Promise<readonly string[]>;
  /** The lines, from 1, at which the server reports a mistake. */
  mistakes(file: string): Promise<readonly number[]>;
  /** Resolves once the server has reported a mistake. */
  sawMistake(file: string): Promise<void>;
  hover(file: string, position: Position): Promise<string>;
  close(): Promise<void>;
}

/** @param settings as in `.vscode/settings.json` */
export async function openEditor(
  program: string,
  folder: string,
  settings: JsonObject,
): Promise<Editor> {
  const child = spawn(process.execPath, [program, "--stdio"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map<number, (result: Json) => void>();
  const listeners = new Map<string, (diagnostics: JsonArray) => void>();
  const first = new Map<string, Promise<JsonArray>>();
  const wrong = new Map<string, Promise<void>>();
  let count = 0;

  const send = (message: JsonObject): void => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const ask = (method: string, params: Json): Promise<Json> =>
    new Promise((resolve) => {
      count += 1;
      waiting.set(count, resolve);
      send({ id: count, method, params });
    });
  const tell = (method: string, params: Json): void => send({ method, params });

  /** The settings whose keys begin with `name.`, as the server requests them. */
  const section = (name: string): Json => {
    const own = Object.entries(settings).filter(([key]) => key.startsWith(`${name}.`));
    return own.length === 0
      ? {}
      : Object.fromEntries(own.map(([key, value]) => [key.slice(name.length + 1), value]));
  };

  const receive = (message: Json): void => {
    if (!isObject(message)) return;
    const { id, method, params, result } = message;
    if (method === undefined && typeof id === "number") waiting.get(id)?.(result ?? null);
    else if (method === "textDocument/publishDiagnostics" && isObject(params))
      listeners.get(textOf(params["uri"]))?.(listOf(params["diagnostics"]));
    else if (method === "workspace/configuration" && isObject(params)) {
      const items = listOf(params["items"]);
      const answers = items.map((item) => (isObject(item) ? section(textOf(item["section"])) : {}));
      send({ id: id ?? null, result: answers });
    } else if (id !== undefined) send({ id, result: null });
  };

  let buffer = Buffer.alloc(0);
  child.stdout.on("data", (piece: Buffer) => {
    buffer = Buffer.concat([buffer, piece]);
    for (;;) {
      const head = buffer.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, head).toString())?.[1]);
      if (head < 0 || buffer.length < head + 4 + length) return;
      const text = buffer.subarray(head + 4, head + 4 + length).toString();
      buffer = buffer.subarray(head + 4 + length);
      receive(parseJson(text));
    }
  });

  const uriOf = (file: string): string => pathToFileURL(join(folder, file)).href;
  const rootUri = pathToFileURL(folder).href;
  await ask("initialize", {
    processId: process.pid,
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: "project" }],
    capabilities: {
      workspace: { configuration: true, workspaceFolders: true },
      textDocument: { completion: { completionItem: { snippetSupport: true } } },
    },
  });
  tell("initialized", {});
  tell("workspace/didChangeConfiguration", { settings: {} });

  return {
    open(file, text) {
      const uri = uriOf(file);
      let seen: (diagnostics: JsonArray) => void = () => {};
      let sawMistake: () => void = () => {};
      first.set(file, new Promise((resolve) => (seen = resolve)));
      wrong.set(file, new Promise((resolve) => (sawMistake = resolve)));
      listeners.set(uri, (diagnostics) => {
        seen(diagnostics);
        if (diagnostics.length > 0) sawMistake();
      });
      tell("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
    },
    async complete(file, position) {
      const answer = await ask("textDocument/completion", {
        textDocument: { uri: uriOf(file) },
        position,
      });
      const items = listOf(isObject(answer) ? answer["items"] : answer);
      return items.flatMap((item) => (isObject(item) ? [textOf(item["label"])] : []));
    },
    async mistakes(file) {
      return ((await first.get(file)) ?? []).map(lineOf).toSorted((a, b) => a - b);
    },
    async sawMistake(file) {
      await wrong.get(file);
    },
    async hover(file, position) {
      return JSON.stringify(
        await ask("textDocument/hover", { textDocument: { uri: uriOf(file) }, position }),
      );
    },
    async close() {
      await ask("shutdown", null);
      const ended = new Promise((resolve) => child.once("close", resolve));
      tell("exit", null);
      await ended;
    },
  };
}

function lineOf(diagnostic: Json): number {
  const range = isObject(diagnostic) ? diagnostic["range"] : undefined;
  const start = isObject(range) ? range["start"] : undefined;
  return isObject(start) && typeof start["line"] === "number" ? start["line"] + 1 : 0;
}

function listOf(value: Json | undefined): JsonArray {
  return isArray(value) ? value : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
