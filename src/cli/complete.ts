import { resolve } from "node:path";
import { COMMANDS } from "../commands/table.ts";
import type { ProcessContext } from "../commands/context.ts";
import { type CommandSpec, GLOBAL, type OptionSpec } from "../commands/options.ts";
import type { Lookup } from "./complete-project.ts";

/**
 * Answers a shell that completes a command line: a candidate a line, with a tab before what is said of it, or
 * `:files` or `:dirs` for what the shell completes best itself. It stays silent, whatever is wrong.
 * @param words after `tasc`; the last is the one at the cursor
 */
export async function complete(words: readonly string[], world: ProcessContext): Promise<void> {
  try {
    const { wanted, folder } = parseWords(words, { commands: COMMANDS, options: Object.values(GLOBAL) });
    if (wanted.kind === "files" || wanted.kind === "dirs") {
      world.stdout.write(`:${wanted.kind}\n`);
      return;
    }
    const current = words.at(-1) ?? "";
    const candidates =
      wanted.kind === "words" ? wanted.words : await fromProject(wanted, resolve(world.cwd, folder ?? "."));
    const fitting = candidates.filter(({ word }) => word.startsWith(current));
    world.stdout.write(
      fitting.map(({ word, says }) => `${word}${says === "" ? "" : `\t${says}`}\n`).join(""),
    );
  } catch {
    // Whoever presses the tabulator wants no error message into the line.
  }
}

/** Loaded only when it is needed: most words are known without a project. */
async function fromProject(
  { lookup, before }: Expected & { readonly kind: "project" },
  root: string,
): Promise<readonly Candidate[]> {
  const { lookUp } = await import("./complete-project.ts");
  return (await lookUp(lookup, root)).map((word) => ({ word: `${before}${word}`, says: "" }));
}

/** What may stand where the cursor is. */
type Expected =
  | { readonly kind: "words"; readonly words: readonly Candidate[] }
  /** `before` is what precedes the value in the same word, `--stage=` for example. */
  | { readonly kind: "project"; readonly lookup: Lookup; readonly before: string }
  | { readonly kind: "files" }
  | { readonly kind: "dirs" };

interface Candidate {
  readonly word: string;
  readonly says: string;
}

/** A command line up to the cursor, as far as it is understood. */
export interface ParsedWords {
  readonly wanted: Expected;
  /** `--chdir`, where the line has it. */
  readonly folder: string | undefined;
}

interface Table {
  readonly commands: readonly CommandSpec[];
  /** Of every command. */
  readonly options: readonly OptionSpec[];
}

const NOTHING: Expected = { kind: "words", words: [] };

/**
 * What may come next on a command line, by the table of commands. The last word is the one at the cursor; bash cuts
 * `--stage=dev` into three words, other shells leave it whole.
 */
export function parseWords(words: readonly string[], table: Table): ParsedWords {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  let line: Line = { spec: undefined, position: 0, open: undefined, ended: false };
  let folder: string | undefined;
  for (const word of before) {
    if (word === "=" && line.open !== undefined) continue;
    if (line.open !== undefined && nameOf(line.open) === "--chdir") folder = word;
    if (word.startsWith("--chdir=")) folder = word.slice("--chdir=".length);
    line = read(word, line, table);
  }
  return { wanted: wantedAt(current, line, table), folder };
}

interface Line {
  /** The command so far. */
  readonly spec: CommandSpec | undefined;
  /** Positional arguments so far. */
  readonly position: number;
  /** An option whose value comes next. */
  readonly open: OptionSpec | undefined;
  /** `--` has come: no options any more. */
  readonly ended: boolean;
}

function read(word: string, line: Line, table: Table): Line {
  if (line.open !== undefined) return { ...line, open: undefined };
  if (line.ended) return { ...line, position: line.position + 1 };
  if (word === "--") return { ...line, ended: true };
  if (word.startsWith("-")) return { ...line, open: openedBy(word, line, table) };
  const child = childrenOf(line.spec, table).find(({ name }) => name === word);
  return child === undefined
    ? { ...line, position: line.position + 1 }
    : { spec: child, position: 0, open: undefined, ended: false };
}

function wantedAt(current: string, line: Line, table: Table): Expected {
  if (line.open !== undefined) return valueOf(line.open, "");
  if (!line.ended && current.startsWith("-")) {
    const [name = "", value] = current.split("=", 2);
    const option = value === undefined ? undefined : openedBy(name, line, table);
    return option === undefined ? flags(line, table) : valueOf(option, `${name}=`);
  }
  const children = line.ended ? [] : childrenOf(line.spec, table);
  if (children.length > 0)
    return line.position > 0
      ? NOTHING
      : { kind: "words", words: children.map(({ name, summary }) => ({ word: name, says: summary })) };
  const argument = line.spec?.args?.[line.position];
  if (argument === undefined) return NOTHING;
  if (argument.choices !== undefined) return choices(argument.choices, "");
  return byPlaceholder(argument.name, "");
}

function childrenOf(spec: CommandSpec | undefined, table: Table): readonly CommandSpec[] {
  return spec === undefined ? table.commands : (spec.commands ?? []);
}

function optionsOf({ spec }: Line, table: Table): readonly OptionSpec[] {
  return [...(spec?.options ?? []), ...table.options];
}

/** The option of that name, if a value must follow it. */
function openedBy(word: string, line: Line, table: Table): OptionSpec | undefined {
  return optionsOf(line, table).find((option) => nameOf(option) === word && option.flags.includes("<"));
}

function nameOf({ flags: text }: OptionSpec): string {
  return text.split(" ", 1)[0] ?? text;
}

const HELP: Candidate = { word: "--help", says: "show what the command takes" };

function flags(line: Line, table: Table): Expected {
  const words = optionsOf(line, table).map((option) => ({ word: nameOf(option), says: option.description }));
  return { kind: "words", words: [...words, HELP] };
}

function valueOf({ flags: text, choices: values }: OptionSpec, before: string): Expected {
  return values === undefined
    ? byPlaceholder(/<(.+)>/.exec(text)?.[0] ?? "", before)
    : choices(values, before);
}

function choices(values: readonly string[], before: string): Expected {
  return { kind: "words", words: values.map((value) => ({ word: `${before}${value}`, says: "" })) };
}

/** What the table calls a value tells what it is. */
const LOOKUPS: ReadonlyMap<string, Lookup | "files" | "dirs"> = new Map([
  ["stage", "stages"],
  ["address", "addresses"],
  ["from", "addresses"],
  ["to", "addresses"],
  ["target", "targets"],
  ["key", "targets"],
  ["file", "files"],
  ["dir", "dirs"],
]);

function byPlaceholder(placeholder: string, before: string): Expected {
  const lookup = LOOKUPS.get(placeholder.replaceAll(/[<>[\].]/g, ""));
  if (lookup === undefined) return NOTHING;
  if (lookup === "files" || lookup === "dirs") return { kind: lookup };
  return { kind: "project", lookup, before };
}
