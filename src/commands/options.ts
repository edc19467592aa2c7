import { isAbsolute, posix } from "node:path";
import { parseDuration } from "../manifest/shape.ts";
import { type Address, type AddressParts, isAddress, parseAddress } from "../model/address.ts";
import { invalid } from "../model/error.ts";
import type { Link } from "../render/words.ts";

/*
 * The options of a command are declared once, as a record. The parser, the help, the completion and the reference read it,
 * and the type of the argument of `run` is derived from it.
 */

export interface OptionSpec {
  /** In the parser's form: `--out <file>`; for an argument, `<file>` or `[file]`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly repeatable?: true;
}

/**
 * An option with the conversion from the parser's value to the command's.
 * @throws TascError for an invalid value
 */
export interface Option<T> extends OptionSpec {
  readonly read: (raw: unknown) => T;
}

export type OptionRecord = Readonly<Record<string, Option<unknown>>>;

export type Options<R> = { readonly [K in keyof R]: R[K] extends Option<infer T> ? T : never };

export function flag(flags: string, description: string): Option<boolean> {
  return { flags, description, read: (raw) => raw === true };
}

export function text(flags: string, description: string): Option<string | undefined> {
  return { flags, description, read: textIn };
}

export function list(flags: string, description: string): Option<readonly string[]> {
  return { flags, description, repeatable: true, read: textsIn };
}

export function choice<const C extends string>(
  flags: string,
  description: string,
  choices: readonly C[],
): Option<C | undefined> {
  return { flags, description, choices, read: (raw) => choices.find((one) => one === raw) };
}

/** Returns an option whose text is parsed; the error for an invalid text says `takes`. */
export function parsed<T>(
  flags: string,
  description: string,
  takes: string,
  parse: (text: string) => T | undefined,
): Option<T | undefined> {
  const read = (raw: unknown): T | undefined => {
    const given = textIn(raw);
    const value = given === undefined ? undefined : parse(given);
    if (given !== undefined && value === undefined) throw badValue(flags, `takes ${takes}`);
    return value;
  };
  return { flags, description, read };
}

export function whole(
  flags: string,
  description: string,
  least: number,
): Option<number | undefined> {
  return parsed(flags, description, `a whole number from ${least} up`, (given) =>
    /^\d{1,9}$/.test(given) && Number(given) >= least ? Number(given) : undefined,
  );
}

/**
 * Returns an option for a time in milliseconds; `always` is the value if the option is given
 * without one.
 */
export function duration(
  flags: string,
  description: string,
  {
    examples = "90s or 10m",
    least = 0,
    always,
  }: { examples?: string; least?: number; always?: number } = {},
): Option<number | undefined> {
  const option = parsed(flags, description, `a duration such as ${examples}`, (given) => {
    const milliseconds = parseDuration(given);
    return milliseconds !== undefined && milliseconds >= least ? milliseconds : undefined;
  });
  return { ...option, read: (raw) => (raw === true ? always : option.read(raw)) };
}

/** Returns an option for named links, `PR 12=https://…`. */
export function links(flags: string, description: string): Option<readonly Link[]> {
  const read = (raw: unknown) =>
    textsIn(raw).map((given): Link => {
      const [, name, url] = /^(.+?)=(https?:\/\/\S+)$/.exec(given) ?? [];
      if (name !== undefined && url !== undefined) return { text: name, url };
      throw badValue(flags, "takes a name and an http(s) address, `PR 12=https://…`");
    });
  return { flags, description, repeatable: true, read };
}

/**
 * Returns an option for values by name, `ID=NAME`.
 * @param twice returns the error for two values of one name
 */
export function pairs(
  flags: string,
  description: string,
  form: string,
  twice: (left: string, values: string) => string,
): Option<ReadonlyMap<string, string>> {
  const read = (raw: unknown): ReadonlyMap<string, string> => {
    const found = new Map<string, string>();
    for (const given of textsIn(raw)) {
      const [, left = "", right = ""] =
        /^([^=]*)=(.*)$/s.exec(given)?.map((side) => side.trim()) ?? [];
      if (left === "" || right === "")
        throw badValue(flags, `takes ${form}, not ${JSON.stringify(given)}`);
      const known = found.get(left) ?? right;
      if (known !== right) throw badValue(flags, twice(left, `${known} and ${right}`));
      found.set(left, right);
    }
    return found;
  };
  return { flags, description, repeatable: true, read };
}

/**
 * Returns an option for a folder inside the project, with forward slashes; empty for the project
 * folder itself.
 */
export function insideFolder(
  flags: string,
  description: string,
  otherwise: string,
): Option<string> {
  const read = (raw: unknown): string => {
    const given = textIn(raw) ?? otherwise;
    const normal = posix.normalize(given.replaceAll("\\", "/")).replace(/\/$/, "");
    if (isAbsolute(given) || /^(?:[A-Za-z]:|\.\.(?:\/|$)|\/)/.test(normal))
      throw badValue(flags, `${given} is not a folder inside the project`);
    return normal === "." ? "" : normal;
  };
  return { flags, description, read };
}

export function argument(flags: `<${string}>`, description: string): Option<string> {
  return { flags, description, read: (raw) => textIn(raw) ?? "" };
}

/** Returns an argument with fixed choices, which the parser has already checked. */
export function oneOf<const C extends string>(
  flags: `<${string}>`,
  description: string,
  choices: readonly [C, ...C[]],
): Option<C> {
  return {
    flags,
    description,
    choices,
    read: (raw) => choices.find((one) => one === raw) ?? choices[0],
  };
}

type Addressed = AddressParts & { readonly address: Address };

export function address(flags: `<${string}>`, description: string): Option<Addressed>;
export function address(flags: `[${string}]`, description: string): Option<Addressed | undefined>;
export function address(flags: string, description: string): Option<Addressed | undefined> {
  const read = (raw: unknown): Addressed | undefined => {
    const given = textIn(raw);
    if (given === undefined) return undefined;
    const parts = parseAddress(given);
    if (isAddress(given) && parts !== undefined) return { address: given, ...parts };
    throw invalid(
      "not-an-address",
      `${given} is not an address`,
      "Addresses look like target.shop, environment.shop.preview, testCase.shop.login or batchGeneration.shop.spring.",
    );
  };
  return { flags, description, read };
}

/** Returns an argument for the key of a target; its address is accepted, too. */
export function targetKey(flags: `<${string}>`, description: string): Option<string> {
  return { flags, description, read: (raw) => (textIn(raw) ?? "").replace(/^target\./, "") };
}

function textsIn(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw.filter((one) => typeof one === "string") : [];
}

function textIn(raw: unknown): string | undefined {
  return typeof raw === "string" ? raw : undefined;
}

function badValue(flags: string, why: string): Error {
  return invalid("bad-option", `${flags.split(" ", 1)[0] ?? flags} ${why}`);
}

export const GLOBAL = {
  chdir: text("--chdir <dir>", "run in this folder instead of the current one"),
  stage: text(
    "--stage <stage>",
    "stage to use; default: TASC_STAGE, then the project's default stage",
  ),
  dotenv: list(
    "--dotenv <file>",
    "load environment variables from a file (existing variables take precedence)",
  ),
  trust: text(
    "--trust <file>",
    "file with limits that manifests cannot override; default: TASC_TRUST",
  ),
  color: {
    flags: "--no-color",
    description: "disable colours, like NO_COLOR",
    read: (raw: unknown): boolean => raw !== false,
  },
  logLevel: choice("--log-level <level>", "level of detail on stderr", [
    "error",
    "warn",
    "info",
    "debug",
  ]),
} as const;

export const TEXT_OR_JSON = {
  format: choice("--format <format>", "output format", ["text", "json"]),
} as const;

/** The parser's result: arguments by position, options by the parser's name. */
export interface Raw {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

export function isArgument({ flags }: OptionSpec): boolean {
  return !flags.startsWith("-");
}

/**
 * Returns the values of a record of options.
 * @throws TascError for a value that an option does not accept
 */
export function readOptions<R extends OptionRecord>(record: R, { args, options }: Raw): Options<R>;
export function readOptions(record: OptionRecord, { args, options }: Raw): Record<string, unknown> {
  let position = 0;
  return Object.fromEntries(
    Object.entries(record).map(([key, option]) => {
      const raw = /\.{3}[\]>]$/.test(option.flags)
        ? args.slice(position)
        : isArgument(option)
          ? args[position++]
          : options[parserName(option)];
      return [key, option.read(raw)];
    }),
  );
}

/** Returns the parser's name of an option: `dryRun` for `--dry-run`, `color` for `--no-color`. */
function parserName({ flags }: OptionSpec): string {
  const [name = ""] = flags.replace(/^--(no-)?/, "").split(" ", 1);
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
