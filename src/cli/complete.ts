import { resolve } from "node:path";
import type { CommandSpec } from "../commands/spec.ts";
import type { ProcessContext } from "../commands/context.ts";
import { GLOBAL, type OptionSpec } from "../commands/options.ts";
import type { Lookup } from "./complete-project.ts";

/**
 * Answers a shell that completes a command line: one candidate per line, with a tab before its
 * description, or `:files` or `:dirs` if the shell should complete paths itself. Errors are never
 * printed.
 * @param words after `tasc`; the last is the one at the cursor
 */
export async function complete(
  words: readonly string[],
  commands: readonly CommandSpec[],
  world: ProcessContext,
): Promise<void> {
  try {
    const { wanted, folder = "." } = parseWords(words, commands);
    const current = words.at(-1) ?? "";
    const lines = await linesOf(wanted, current, resolve(world.cwd, folder));
    world.stdout.write(lines.map((line) => `${line}\n`).join(""));
  } catch {
    // An error message would end up in the line that the user is typing.
  }
}

async function linesOf(
  wanted: Expected,
  current: string,
  root: string,
): Promise<readonly string[]> {
  if (wanted.kind === "words")
    return wanted.words
      .filter(({ word }) => word.startsWith(current))
      .map(({ word, says }) => (says === undefined ? word : `${word}\t${says}`));
  if (wanted.kind !== "project") return [`:${wanted.kind}`];
  // Loaded only here: most words are known without a project.
  const { lookUp } = await import("./complete-project.ts");
  const words = (await lookUp(wanted.lookup, root)).map((word) => `${wanted.before}${word}`);
  return words.filter((word) => word.startsWith(current));
}

/** The possible words at the cursor. */
type Expected =
  | { readonly kind: "words"; readonly words: readonly Candidate[] }
  | { readonly kind: "project"; readonly lookup: Lookup; readonly before: string }
  | { readonly kind: "files" | "dirs" };

type Candidate = { readonly word: string; readonly says?: string };

const NOTHING: Expected = { kind: "words", words: [] };

/**
 * Returns what may come next on a command line. The last word is at the cursor. bash splits
 * `--stage=dev` into three.
 */
export function parseWords(words: readonly string[], commands: readonly CommandSpec[]) {
  let spec: CommandSpec | undefined;
  let position = 0;
  /** The option whose value comes next. */
  let open: OptionSpec | undefined;
  /** Whether `--` was found: no options follow. */
  let ended = false;
  let folder: string | undefined;
  const children = (): readonly CommandSpec[] =>
    spec === undefined ? commands : (spec.commands ?? []);
  const options = (): readonly OptionSpec[] => [...(spec?.options ?? []), ...Object.values(GLOBAL)];
  const openedBy = (word: string): OptionSpec | undefined =>
    options().find((option) => nameOf(option) === word && option.flags.includes("<"));
  for (const word of words.slice(0, -1)) {
    if (word === "=" && open !== undefined) continue;
    if (open !== undefined) {
      if (nameOf(open) === "--chdir") folder = word;
      open = undefined;
    } else if (!ended && word.startsWith("-")) {
      if (word.startsWith("--chdir=")) folder = word.slice("--chdir=".length);
      ended = word === "--";
      open = openedBy(word);
    } else {
      const child = ended ? undefined : children().find(({ name }) => name === word);
      position = child === undefined ? position + 1 : 0;
      spec = child ?? spec;
    }
  }
  return { wanted: wantedAt(words.at(-1) ?? ""), folder };

  function wantedAt(current: string): Expected {
    if (open !== undefined) return valueOf(open, "");
    if (!ended && current.startsWith("-")) {
      const [name = "", value] = current.split("=", 2);
      const option = value === undefined ? undefined : openedBy(name);
      if (option !== undefined) return valueOf(option, `${name}=`);
      const flags = options().map((one) => ({ word: nameOf(one), says: one.description }));
      return { kind: "words", words: [...flags, HELP] };
    }
    const below = ended || position > 0 ? [] : children();
    if (below.length > 0)
      return {
        kind: "words",
        words: below.map(({ name, summary }) => ({ word: name, says: summary })),
      };
    const argument = spec?.args?.[position];
    return argument === undefined ? NOTHING : valueOf(argument, "");
  }
}

function nameOf({ flags }: OptionSpec): string {
  return flags.split(" ", 1).join("");
}

const HELP: Candidate = { word: "--help", says: "show what the command takes" };

function valueOf({ flags, choices }: OptionSpec, before: string): Expected {
  if (choices !== undefined)
    return { kind: "words", words: choices.map((value) => ({ word: `${before}${value}` })) };
  const lookup = LOOKUPS.get((/[<[].+$/.exec(flags)?.[0] ?? "").replaceAll(/[<>[\].]/g, ""));
  if (lookup === undefined) return NOTHING;
  return lookup === "files" || lookup === "dirs"
    ? { kind: lookup }
    : { kind: "project", lookup, before };
}

/** What to look up for a value, by the value's name in the table of commands. */
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
