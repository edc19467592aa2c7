import type { StateSettings } from "../model/settings.ts";
import { Secret } from "../model/value.ts";
import type { Backend, StateWorld } from "./backend.ts";
import { type Result, refusal, success } from "./problem.ts";

/** What a backend needs to know, complete; `readConfig` makes it of what the project says. */
export type BackendConfig = LocalConfig | PostgresConfig | HttpConfig;

export interface LocalConfig {
  readonly backend: "local";
  /** Folder of the documents; relative to the project's. */
  readonly path: string;
}

export interface PostgresConfig {
  readonly backend: "postgres";
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: Secret;
  readonly schema: string;
  /** Of the documents; the journal's and the locks' are named after it. */
  readonly table: string;
}

export interface HttpConfig {
  readonly backend: "http";
  /** With `{target}`, and maybe `{stage}`, in it; see `http/address.ts`. */
  readonly address: string;
  /** Absent: the server knows no locks. */
  readonly locking: HttpLocking | undefined;
  readonly updateMethod: string;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
}

export interface HttpLocking {
  readonly lockAddress: string;
  readonly lockMethod: string;
  readonly unlockAddress: string;
  readonly unlockMethod: string;
}

/** What the project says of its backend, checked and completed with the defaults; everything is loaded later. */
export function readConfig({ backend, options }: StateSettings): Result<BackendConfig> {
  const allowed = OPTIONS[backend];
  const unknown = Object.keys(options).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    return misconfigured(`state.${unknown} is unknown to the ${backend} backend; it knows ${list(allowed)}`);
  const texts = new Texts(options);
  const config = READERS[backend](texts);
  return texts.flaw === undefined ? success(config) : misconfigured(texts.flaw);
}

const OPTIONS: Readonly<Record<StateSettings["backend"], readonly string[]>> = {
  local: ["path"],
  postgres: ["url", "schema", "table"],
  http: [
    "address",
    "lock",
    "lockAddress",
    "unlockAddress",
    "lockMethod",
    "unlockMethod",
    "updateMethod",
    "username",
    "password",
  ],
};

const READERS: Readonly<Record<StateSettings["backend"], (texts: Texts) => BackendConfig>> = {
  local: readLocal,
  postgres: readPostgres,
  http: readHttp,
};

/** PostgreSQL cuts names at 63 bytes; the longest suffix of ours needs eight. */
const SQL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,54}$/;
const METHOD = /^[A-Z]+$/;

function readLocal(texts: Texts): LocalConfig {
  return { backend: "local", path: texts.get("path", { default: ".tasc/state" }) };
}

function readPostgres(texts: Texts): PostgresConfig {
  const name = { test: (text: string) => SQL_NAME.test(text), form: "letters, digits and _, 55 at most" };
  return {
    backend: "postgres",
    url: new Secret(
      texts.get("url", { test: isPostgresUrl, form: "postgres://user:password@host:port/database" }),
    ),
    schema: texts.get("schema", { default: "tasc", ...name }),
    table: texts.get("table", { default: "state", ...name }),
  };
}

function readHttp(texts: Texts): HttpConfig {
  const address = texts.get("address", ADDRESS);
  return {
    backend: "http",
    address,
    locking: texts.isOff("lock") ? undefined : readLocking(texts, address),
    updateMethod: texts.get("updateMethod", { default: "POST", ...HTTP_METHOD }),
    username: texts.find("username"),
    password: secretOf(texts.find("password")),
  };
}

const ADDRESS = { test: isHttpAddress, form: "an http or https address, with {target} or without {stage}" };
const HTTP_METHOD = { test: (text: string) => METHOD.test(text), form: "a method in capitals, such as POST" };

function readLocking(texts: Texts, address: string): HttpLocking {
  const lockAddress = texts.get("lockAddress", { default: address, ...ADDRESS });
  return {
    lockAddress,
    lockMethod: texts.get("lockMethod", { default: "LOCK", ...HTTP_METHOD }),
    unlockAddress: texts.get("unlockAddress", { default: lockAddress, ...ADDRESS }),
    unlockMethod: texts.get("unlockMethod", { default: "UNLOCK", ...HTTP_METHOD }),
  };
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

/** With `{stage}` alone, the targets of a stage would share one document. */
function isHttpAddress(text: string): boolean {
  if (text.includes("{stage}") && !text.includes("{target}")) return false;
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

function secretOf(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text);
}

interface Rule {
  readonly default?: string;
  readonly test?: (text: string) => boolean;
  /** What is allowed, in words. */
  readonly form?: string;
}

/** Reads options one by one, and keeps the first that does not fit. */
class Texts {
  flaw: string | undefined;
  readonly #options: StateSettings["options"];

  constructor(options: StateSettings["options"]) {
    this.#options = options;
  }

  find(name: string): string | undefined {
    const value = this.#options[name];
    return value instanceof Secret ? value.reveal() : value?.toString();
  }

  /** The option or its default; where there is neither, or it does not fit, an empty text, and the flaw is kept. */
  get(name: string, rule: Rule): string {
    const text = this.find(name) ?? rule.default;
    if (text === undefined || text === "") return this.#reject(`state.${name} is missing`, rule);
    // The value stays out of the message: an address may hold credentials.
    if (rule.test?.(text) === false) return this.#reject(`state.${name} does not fit`, rule);
    return text;
  }

  isOff(name: string): boolean {
    const text = this.find(name);
    if (text !== undefined && text !== "true" && text !== "false")
      this.#reject(`state.${name} does not fit`, { form: "true or false" });
    return text === "false";
  }

  #reject(what: string, { form }: Rule): string {
    this.flaw ??= form === undefined ? what : `${what}; it must be ${form}`;
    return "";
  }
}

function list(names: readonly string[]): string {
  return names.join(", ");
}

function misconfigured(reason: string): Result<never> {
  return refusal({ kind: "misconfigured", reason });
}

/** The backend that is configured. The others, and what they depend on, are not even loaded. */
export async function openBackend(config: BackendConfig, world: StateWorld): Promise<Backend> {
  if (config.backend === "postgres") {
    const { openPostgresBackend } = await import("./postgres.ts");
    return await openPostgresBackend(config);
  }
  if (config.backend === "http") {
    const { openHttpBackend } = await import("./http.ts");
    return await openHttpBackend(config, world);
  }
  const { openLocalBackend } = await import("./local.ts");
  return openLocalBackend(config, world);
}
