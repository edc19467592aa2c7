import { isAbsolute, posix } from "node:path";
import { parseDuration } from "../manifest/shape.ts";
import { type ExitCode, stop } from "../model/error.ts";
import { type Shard } from "../plan/input.ts";
import { POLICY_RULES } from "../model/settings.ts";
import type { Link } from "../render/words.ts";
import type { Context } from "./context.ts";

/*
 * What a command takes is declared once, as a record of options. The parser, the help, the completion and the reference
 * read it; the type of what `run` gets follows from it.
 */

/** What the parser found of an option or an argument: `true` for a flag. */
export type RawValue = string | boolean | readonly string[] | undefined;

/** An option or an argument, as help and completion know it. */
export interface OptionSpec {
  /** In the parser's form, `--out <file>`; of an argument, `<file>` or `[file]`. */
  readonly flags: string;
  readonly description: string;
  /** The values that it takes; any where absent. */
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly repeatable?: true;
}

/** One with the value that a command gets of it. @throws TascError for a value that it does not take */
export interface Option<T> extends OptionSpec {
  readonly read: (raw: RawValue) => T;
}

export type OptionRecord = Readonly<Record<string, Option<unknown>>>;

/** What a command gets for a record of options. */
export type Options<R> = { readonly [K in keyof R]: R[K] extends Option<infer T> ? T : never };

export function flag(flags: string, description: string): Option<boolean> {
  return { flags, description, read: (raw) => raw === true };
}

export function text(flags: string, description: string): Option<string | undefined> {
  return { flags, description, read: textIn };
}

export function list(flags: string, description: string): Option<readonly string[]> {
  return { flags, description, repeatable: true, read: (raw) => (isList(raw) ? raw : []) };
}

/** One of several words, which the parser checks. */
export function choice<C extends string>(
  flags: string,
  description: string,
  choices: readonly C[],
): Option<C | undefined> {
  return { flags, description, choices, read: (raw) => choices.find((one) => one === raw) };
}

export function someOf<C extends string>(
  flags: string,
  description: string,
  all: readonly C[],
): Option<readonly C[]> {
  const read = (raw: RawValue): readonly C[] => (isList(raw) ? all.filter((one) => raw.includes(one)) : []);
  return { flags, description, choices: all, repeatable: true, read };
}

export function whole(flags: string, description: string, least: number): Option<number | undefined> {
  const read = (raw: RawValue): number | undefined => {
    const given = textIn(raw);
    if (given === undefined) return undefined;
    if (/^\d{1,9}$/.test(given) && Number(given) >= least) return Number(given);
    throw badValue(flags, `a whole number from ${least} up`);
  };
  return { flags, description, read };
}

/** A time in milliseconds; `always` is what the option means without one. */
export function duration(
  flags: string,
  description: string,
  { examples = "90s or 10m", least = 0, always }: { examples?: string; least?: number; always?: number } = {},
): Option<number | undefined> {
  const read = (raw: RawValue): number | undefined => {
    if (raw === true) return always;
    const given = textIn(raw);
    if (given === undefined) return undefined;
    const milliseconds = parseDuration(given);
    if (milliseconds !== undefined && milliseconds >= least) return milliseconds;
    throw badValue(flags, `a duration such as ${examples}`);
  };
  return { flags, description, read };
}

/** One of several parts of the project's targets. */
export function shardOption(flags: string, description: string): Option<Shard | undefined> {
  const read = (raw: RawValue): Shard | undefined => {
    const given = textIn(raw);
    if (given === undefined) return undefined;
    const [, index, count] = /^(\d{1,4})\/(\d{1,4})$/.exec(given)?.map(Number) ?? [];
    if (index !== undefined && count !== undefined && index >= 1 && index <= count) return { index, count };
    throw badValue(flags, "I/N, such as 2/5 for the second of five parts");
  };
  return { flags, description, read };
}

/** Pages by what they are called, `PR 12=https://…`. */
export function links(flags: string, description: string): Option<readonly Link[]> {
  const read = (raw: RawValue): readonly Link[] =>
    (isList(raw) ? raw : []).map((given) => {
      const [, name, url] = /^(.+?)=(https?:\/\/\S+)$/.exec(given) ?? [];
      if (name === undefined || url === undefined)
        throw badValue(flags, "a name and an http(s) address, `PR 12=https://…`");
      return { text: name, url };
    });
  return { flags, description, repeatable: true, read };
}

/** Values by what they are said of, `ID=NAME`. @param twice what to say of two values for one */
export function pairs(
  flags: string,
  description: string,
  { form, twice }: { readonly form: string; readonly twice: (left: string, values: string) => string },
): Option<ReadonlyMap<string, string>> {
  const read = (raw: RawValue): ReadonlyMap<string, string> => {
    const found = new Map<string, string>();
    for (const given of isList(raw) ? raw : []) {
      const [, left = "", right = ""] = /^([^=]*)=(.*)$/s.exec(given)?.map((side) => side.trim()) ?? [];
      if (left === "" || right === "") throw badValue(flags, `${form}, not ${JSON.stringify(given)}`);
      const known = found.get(left) ?? right;
      if (known !== right) throw stop("invalid", "bad-option", twice(left, `${known} and ${right}`));
      found.set(left, right);
    }
    return found;
  };
  return { flags, description, repeatable: true, read };
}

/** A folder of the project with forward slashes; empty for that itself. */
export function insideFolder(flags: string, description: string, otherwise: string): Option<string> {
  const read = (raw: RawValue): string => {
    const given = textIn(raw) ?? otherwise;
    const normal = posix.normalize(given.replaceAll("\\", "/")).replace(/\/$/, "");
    if (isAbsolute(given) || /^(?:[A-Za-z]:|\.\.(?:\/|$)|\/)/.test(normal))
      throw stop(
        "invalid",
        "bad-option",
        `${flags.split(" ", 1)[0]} ${given} is not a folder inside the project`,
      );
    return normal === "." ? "" : normal;
  };
  return { flags, description, read };
}

/** A positional argument that must be there. */
export function argument(name: `<${string}>`, description: string): Option<string>;
export function argument<C extends string>(
  name: `<${string}>`,
  description: string,
  choices: readonly C[],
): Option<C>;
export function argument(flags: string, description: string, choices?: readonly string[]): Option<string> {
  const read = (raw: RawValue): string => textIn(raw) ?? "";
  return { flags, description, read, ...(choices === undefined ? {} : { choices }) };
}

/** All arguments that are left; at least one. */
export function rest(name: `<${string}...>`, description: string): Option<readonly string[]> {
  return { flags: name, description, read: (raw) => (isList(raw) ? raw : []) };
}

function isList(raw: RawValue): raw is readonly string[] {
  return Array.isArray(raw);
}

function textIn(raw: RawValue): string | undefined {
  return typeof raw === "string" ? raw : undefined;
}

function badValue(flags: string, takes: string): Error {
  return stop("invalid", "bad-option", `${flags.split(" ", 1)[0] ?? flags} takes ${takes}`);
}

/** Options that every command takes. */
export const GLOBAL = {
  chdir: text("--chdir <dir>", "run in this folder instead of the current one"),
  stage: text("--stage <stage>", "stage to use; default: TASC_STAGE, then the project's default stage"),
  dotenv: list(
    "--dotenv <file>",
    "load environment variables from a file (existing variables take precedence)",
  ),
  trust: text("--trust <file>", "file with limits that manifests cannot override; default: TASC_TRUST"),
  color: {
    flags: "--no-color",
    description: "disable colours, like NO_COLOR",
    read: (raw: RawValue): boolean => raw !== false,
  },
  logLevel: choice("--log-level <level>", "level of detail on stderr", ["error", "warn", "info", "debug"]),
} as const;

export type GlobalOptions = Options<typeof GLOBAL>;

/** Of commands that read state, which may be on a server. */
export const INSECURE = {
  insecure: flag("--insecure", "allow plain HTTP to hosts other than localhost"),
} as const;

/** Of commands that call the service. */
export const SERVICE = {
  requestTimeout: duration("--request-timeout <duration>", "time limit of each request, e.g. 30s", {
    examples: "500ms, 30s or 2m",
    least: 1,
  }),
  retries: whole("--retries <n>", "maximum number of retries per request", 0),
  concurrency: whole("--concurrency <n>", "maximum number of concurrent requests", 1),
  ...INSECURE,
} as const;

export const SCOPE = {
  only: list("--only <address>", "include only this address or glob"),
  exclude: list("--exclude <address>", "exclude this address or glob"),
} as const;

/** Of commands that compare two stages. */
export const TWO_STAGES = {
  from: text("--from <stage>", "source stage"),
  to: text("--to <stage>", "stage to compare with or to change"),
} as const;

export const MISSING_SECRETS = {
  allowMissingSecrets: flag(
    "--allow-missing-secrets",
    "treat missing secrets as unknown and skip the fields that use them",
  ),
} as const;

/** What a plan sends although state says that it was sent. */
export const ON_DEMAND = {
  rediscover: list(
    "--rediscover <address>",
    "force regeneration of this test case (like terraform -replace)",
  ),
  run: list("--run <address>", "force a new run of this batch generation"),
} as const;

export const SHARD = {
  shard: shardOption(
    "--shard <i/n>",
    "include only this part of the targets, e.g. 2/5; each target always stays in the same part",
  ),
} as const;

export const OVERRIDE_POLICY = {
  overridePolicy: someOf("--override-policy <rule>", "ignore this policy rule for this run", POLICY_RULES),
} as const;

export const LOCK_TIMEOUT = {
  lockTimeout: duration("--lock-timeout <duration>", "how long to wait for a lock, e.g. 2m"),
} as const;

export const VERBOSE = { verbose: flag("--verbose", "show every change in full") } as const;

export const TEXT_OR_JSON = {
  format: choice("--format <format>", "output format", ["text", "json"]),
} as const;

/** What the parser found: arguments by position, options by the parser's name. */
export interface Raw {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** A command as the table has it. Its code is loaded only when it is called. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly args?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** A command line, and what it does. */
  readonly examples: Readonly<Record<string, string>>;
  readonly start?: (raw: Raw, context: Context) => Promise<ExitCode>;
  /** Commands below this one. */
  readonly commands?: readonly CommandSpec[];
}

/** `name` is in the parser's form, `<file>` or `[file]`. */
export type ArgumentSpec = Pick<OptionSpec, "description" | "choices"> & { readonly name: string };

/** What a command gets: the values of its options, the format, and the global ones. */
export type CommandOptions<R> = Options<Omit<typeof TEXT_OR_JSON, keyof R> & R> & GlobalOptions;

/**
 * A row of the table: `run` of the loaded module gets the values of exactly the options that are declared here.
 *
 * @param path the command with those above it, `state mv`
 * @param own its options in addition to `--format text|json`, which a format of its own replaces, and the global ones
 */
export function command<R extends OptionRecord>(
  path: string,
  own: R,
  row: Pick<CommandSpec, "summary" | "examples"> & {
    readonly load: () => Promise<{
      readonly run: (options: CommandOptions<R>, context: Context) => Promise<ExitCode>;
    }>;
  },
): CommandSpec {
  const { summary, examples, load } = row;
  const all = Object.values({ ...TEXT_OR_JSON, ...own });
  return {
    name: path.slice(path.lastIndexOf(" ") + 1),
    summary,
    args: all.filter(isArgument).map(({ flags, ...rest }) => ({ name: flags, ...rest })),
    options: all.filter((option) => !isArgument(option)).flatMap(withShortForm),
    examples,
    start: async (raw, context) => {
      const values = commandOptions(own, raw);
      const { run } = await load();
      return run(values, context);
    },
  };
}

/** `--json` goes with every `--format` that has it. */
function withShortForm(option: OptionSpec): readonly OptionSpec[] {
  const isFormat = option.flags.startsWith("--format ") && option.choices?.includes("json") === true;
  return isFormat ? [option, { flags: "--json", description: "short for --format json" }] : [option];
}

function commandOptions<R extends OptionRecord>(own: R, raw: Raw): CommandOptions<R>;
function commandOptions(own: OptionRecord, raw: Raw): Record<string, unknown> {
  return readOptions({ ...TEXT_OR_JSON, ...own, ...GLOBAL }, raw);
}

function isArgument({ flags }: OptionSpec): boolean {
  return !flags.startsWith("-");
}

/** The values of a record of options. @throws TascError for one that an option does not take */
export function readOptions<R extends OptionRecord>(record: R, { args, options }: Raw): Options<R>;
export function readOptions(record: OptionRecord, { args, options }: Raw): Record<string, unknown> {
  let position = 0;
  return Object.fromEntries(
    Object.entries(record).map(([key, option]) => {
      const raw = option.flags.endsWith("...>")
        ? args.slice(position)
        : isArgument(option)
          ? args[position++]
          : options[parserName(option)];
      return [key, option.read(isRaw(raw) ? raw : undefined)];
    }),
  );
}

function isRaw(value: unknown): value is RawValue {
  return typeof value === "string" || typeof value === "boolean" || Array.isArray(value);
}

/** `--dry-run` is `dryRun` to the parser, and `--no-color` is `color`. */
function parserName({ flags }: OptionSpec): string {
  const [name = ""] = flags.replace(/^--(no-)?/, "").split(" ", 1);
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
