import type { StateSettings } from "../model/settings.ts";
import { Secret } from "../model/value.ts";
import { isLoopback } from "../model/shape.ts";
import { StateFailure } from "./problem.ts";

export type BackendConfig = ReturnType<typeof readConfig>;
export type LocalConfig = Extract<BackendConfig, { backend: "local" }>;
export type PostgresConfig = Extract<BackendConfig, { backend: "postgres" }>;
export type PostgresConnection = ReturnType<typeof readPostgresUrl>;
export type HttpConfig = Extract<BackendConfig, { backend: "http" }>;

export const STATE_FOLDER = ".tasc/state";

/** The check of an option's value, and its description in error messages. */
type OptionForm = readonly [RegExp | ((text: string) => boolean), string];

const POSTGRES_URL: OptionForm = [
  /^postgres(?:ql)?:\/\//,
  "postgres://user:password@host:port/database",
];
/** PostgreSQL truncates names at 63 bytes; our longest suffix needs eight. */
const SQL_NAME: OptionForm = [/^[A-Za-z_][A-Za-z0-9_]{0,54}$/, "letters, digits and _, 55 at most"];
const HTTP_METHOD: OptionForm = [/^[A-Z]+$/, "a method in capitals, such as POST"];
/** With `{stage}` alone, the targets of a stage would share one document. */
const HTTP_ADDRESS: OptionForm = [
  (text) =>
    /^https?:\/\//.test(text) &&
    URL.canParse(text) &&
    (sentOf(text).includes("{target}") || !sentOf(text).includes("{stage}")),
  "an http or https address, with {target} or without {stage}",
];

/**
 * Reads a backend's settings, with defaults. Their shape was checked with tasc.yaml; this checks
 * the resolved values.
 */
export function readConfig(settings: StateSettings, { insecure = false } = {}) {
  const { backend } = settings;
  const find = (name: string): string | undefined => {
    const value = settings.options[name];
    return value instanceof Secret ? value.reveal() : value?.toString();
  };
  /** Error messages do not contain the value, because an address may contain credentials. */
  const get = (name: string, [form, words]: OptionForm, fallback = ""): string => {
    const text = find(name) ?? fallback;
    if (text === "") throw misconfigured(`state.${name} is missing; it must be ${words}`);
    const fits = form instanceof RegExp ? form.test(text) : form(text);
    if (!fits) throw misconfigured(`state.${name} does not fit; it must be ${words}`);
    return text;
  };
  if (backend === "local") return { backend, path: get("path", [/^/, "a path"], STATE_FOLDER) };
  if (backend === "postgres")
    return {
      backend,
      connection: readPostgresUrl(get("url", POSTGRES_URL)),
      schema: get("schema", SQL_NAME, "tasc"),
      /** The table of the documents; the names of the other tables start with it. */
      table: get("table", SQL_NAME, "state"),
      /** The role that may own the schema other than our own and those that it is a member of. */
      owner: find("owner"),
    };
  // Normalised, so that the address that is used and the one that the trust file is checked against
  // are the same text.
  const urlOf = (name: string, other?: string) => sentOf(get(name, HTTP_ADDRESS, other));
  const address = urlOf("address");
  const lockAddress = urlOf("lockAddress", address);
  const isLocking = get("lock", [/^(?:true|false)$/, "true or false"], "true") === "true";
  const password = find("password");
  const config = {
    backend,
    /** May contain `{target}` and `{stage}`; see `addressesOf` in `http.ts`. */
    address,
    /** Absent if the server does not support locks. */
    locking: isLocking
      ? {
          lockAddress,
          lockMethod: get("lockMethod", HTTP_METHOD, "LOCK"),
          unlockAddress: urlOf("unlockAddress", lockAddress),
          unlockMethod: get("unlockMethod", HTTP_METHOD, "UNLOCK"),
        }
      : undefined,
    updateMethod: get("updateMethod", HTTP_METHOD, "POST"),
    username: find("username"),
    password: password === undefined ? undefined : new Secret(password),
  };
  const addresses = addressesOf(config).map((one) => new URL(one));
  const open = addresses.find(isPlain);
  // Over plain http, credentials could be read in transit.
  const hasSecret =
    (config.username ?? password) !== undefined || addresses.some(({ href }) => /[@?]/.test(href));
  if (!insecure && open !== undefined && hasSecret)
    throw misconfigured(
      `state.address sends credentials to ${open.host} over plain http; use https, or allow it with --insecure`,
    );
  return config;
}

/**
 * Returns the part of an address that is sent, without a login or fragment. The trust file is
 * checked against it.
 */
function sentOf(address: string): string {
  const { origin, pathname, search } = new URL(address);
  return (origin + pathname + search).replace(/%7B(\w+)%7D/g, "{$1}");
}

/**
 * Returns all servers of state and locks, as their clients read the addresses, and the place on
 * each; none for files.
 */
export function stateServers(settings: StateSettings) {
  const config = readConfig(settings, { insecure: true });
  if (config.backend === "local") return [];
  if (config.backend === "http")
    return addressesOf(config).map((address) => ({
      host: new URL(address).hostname,
      place: address.slice(address.indexOf("://") + 3),
    }));
  const { connection, schema, table } = config;
  const inside = `${connection.database}/${schema}.${table}`;
  return connection.hosts.map(({ host, port }) => ({ host, place: `${host}:${port}/${inside}` }));
}

/** How well the servers of state are authenticated, weakest first, in the words of libpq. */
export const STATE_TLS = ["disable", "require", "verify-ca", "verify-full"] as const;
export type StateTls = (typeof STATE_TLS)[number];

const LOCK_METHODS = new Set(["LOCK", "POST", "PUT"]);

/**
 * Returns how state is protected on its way, as the clients read the settings; nothing for files.
 * A connection within this machine needs no TLS. `prefer` and `allow` may end without TLS. A file
 * of certificates counts as `require`: whoever writes the settings can name their own.
 */
export function stateProtection(
  settings: StateSettings,
):
  | { readonly tls: StateTls; readonly isLocking: boolean; readonly owner: string | undefined }
  | undefined {
  const config = readConfig(settings, { insecure: true });
  if (config.backend === "local") return undefined;
  if (config.backend === "http") {
    const isOpen = addressesOf(config).some((address) => isPlain(new URL(address)));
    const tls = isOpen ? "disable" : "verify-full";
    // A method that only reads locks nothing.
    const isLocking = LOCK_METHODS.has(config.locking?.lockMethod ?? "");
    return { tls, isLocking, owner: undefined };
  }
  const { connection, owner } = config;
  const mode = STATE_TLS.find((one) => one === connection.tls) ?? "disable";
  const { rootCertificate = "system" } = connection;
  const own = rootCertificate === "system" || mode === "disable" ? mode : "require";
  const isHere = connection.hosts.every(({ host }) => isThisMachine(host));
  return { tls: isHere ? "verify-full" : own, isLocking: true, owner };
}

/** The parameters of a connection string. Those with a fixed choice have libpq's values. */
const PARAMETERS = {
  sslmode: ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
  sslrootcert: undefined,
  application_name: undefined,
  target_session_attrs: ["any", "read-write", "primary", "read-only", "standby", "prefer-standby"],
  channel_binding: undefined,
  connect_timeout: undefined,
  pgbouncer: undefined,
  // Without effect here: tasc uses neither GSSAPI nor compression, keeps its connection alive by
  // itself, and names its schema in every statement.
  gssencmode: ["disable", "prefer"],
  sslcompression: ["0", "1"],
  keepalives: ["0", "1"],
  keepalives_idle: undefined,
  keepalives_interval: undefined,
  keepalives_count: undefined,
  options: undefined,
} as const;
type Chosen = "sslmode" | "target_session_attrs" | "gssencmode" | "sslcompression" | "keepalives";
/** Options of the server that only set a schema. */
const ONLY_SCHEMA = /^(?:-c ?|--)search_path=[\w$",]+$/;
type Choice<K extends keyof typeof PARAMETERS> = NonNullable<(typeof PARAMETERS)[K]>[number];

/**
 * Parses a connection string. Passwords are often pasted without escaping, so the user and password
 * end at the last @, and text with an invalid escape is taken literally. Characters that would end
 * the server's name for another URL parser must be escaped, so that all parsers see the same
 * server. Error messages do not repeat values.
 */
export function readPostgresUrl(url: string) {
  // PostgreSQL reads parameters up to a zero byte: text after one would be another parameter, such
  // as the database.
  if (/%00|\0/.test(url)) throw wrongUrl("it has a zero byte (%00)");
  const rest = url.slice(url.indexOf("://") + 3);
  const query = /\?(?:[\w-]+=[^&?@]*)(?:&[\w-]+=[^&@]*)*$/.exec(rest);
  const place = query === null ? rest : rest.slice(0, query.index);
  const at = place.lastIndexOf("@");
  if (/[/?#\\]/.test(place.slice(0, Math.max(at, 0))))
    throw wrongUrl("its user and password must have / ? # and \\ escaped, as %2F %3F %23 and %5C");
  const [hosts = "", ...path] = place.slice(at + 1).split("/");
  const parameters = new URLSearchParams(query?.[0] ?? "");
  const unknown = [...parameters.keys()].find((name) => !Object.hasOwn(PARAMETERS, name));
  if (unknown !== undefined)
    throw wrongUrl(
      `the parameter ${unknown} is not supported; it may have ${Object.keys(PARAMETERS).join(", ")}`,
    );
  const choice = <K extends Chosen>(name: K): Choice<K> | undefined => {
    const values: readonly Choice<K>[] = PARAMETERS[name];
    const text = parameters.get(name);
    const value = values.find((one) => one === text);
    if (text !== null && value === undefined)
      throw wrongUrl(`${name} must be one of ${values.join(", ")}`);
    return value;
  };
  const tls = choice("sslmode");
  const sessionAttributes = choice("target_session_attrs");
  for (const name of ["gssencmode", "sslcompression", "keepalives"] as const) choice(name);
  if (!ONLY_SCHEMA.test(parameters.get("options")?.trim() ?? "-csearch_path=none"))
    throw wrongUrl(
      "options may only set search_path, which has no effect; set state.schema instead",
    );
  if (parameters.get("channel_binding") === "require")
    throw wrongUrl(
      "channel_binding=require is not supported; use sslmode=verify-full, which identifies the server by its certificate",
    );
  if (parameters.get("pgbouncer") === "true")
    throw wrongUrl(
      "pgbouncer=true means a pooler that lends a connection for each transaction, and locks belong to connections; use the address of the database itself",
    );
  const places = hosts.split(",").map(hostAndPort);
  if (places.some(({ port }) => !(port > 0 && port < 65_536)))
    throw wrongUrl("its port is not a number from 1 to 65535");
  const isLocal = places.every(({ host }) => isThisMachine(host));
  const [user, ...secret] = at < 0 ? [] : place.slice(0, at).split(":");
  const login = user === undefined ? undefined : unescaped(user);
  return {
    hosts: places,
    database: unescaped(path.join("/")) || login || "postgres",
    user: login,
    password: secret.length === 0 ? undefined : new Secret(unescaped(secret.join(":"))),
    tls: tls ?? (isLocal ? "disable" : "verify-full"),
    /** A file of certificates, or `system`. */
    rootCertificate: parameters.get("sslrootcert") ?? undefined,
    applicationName: parameters.get("application_name") ?? "tasc",
    sessionAttributes,
  };
}

function wrongUrl(reason: string): StateFailure {
  return misconfigured(`state.url is wrong: ${reason}`);
}

function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]*))(?::(?<port>.*))?$/.exec(text)?.groups ?? {};
  const host = unescaped(parts["v6"] ?? parts["name"] ?? "") || "localhost";
  return { host, port: parts["port"] === undefined ? 5432 : Number(parts["port"]) };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isThisMachine(host: string): boolean {
  return isLoopback(host) || host === "::1" || host.endsWith(".localhost");
}

function isPlain({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !isThisMachine(hostname);
}

function addressesOf({ address, locking }: HttpConfig): readonly string[] {
  return locking === undefined ? [address] : [address, locking.lockAddress, locking.unlockAddress];
}

function misconfigured(reason: string): StateFailure {
  return new StateFailure({ kind: "misconfigured", reason });
}
