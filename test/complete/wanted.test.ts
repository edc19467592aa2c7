import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCatalogue } from "../../src/cli/catalogue.ts";
import type { CommandSpec } from "../../src/commands/spec.ts";
import { parseWords } from "../../src/cli/complete.ts";
import { GLOBAL } from "../../src/commands/options.ts";

const COMMANDS = readCatalogue("dist");

const at = (...words: readonly string[]) => parseWords(words, COMMANDS);

function wordsAt(...words: readonly string[]): readonly string[] {
  const { wanted } = at(...words);
  return wanted.kind === "words" ? wanted.words.map(({ word }) => word) : [`(${wanted.kind})`];
}

/** Every command with the words that lead to it. */
function everyCommand(
  commands: readonly CommandSpec[] = COMMANDS,
  before: readonly string[] = [],
): readonly (readonly [readonly string[], CommandSpec])[] {
  return commands.flatMap((spec) => {
    const words = [...before, spec.name];
    return [[words, spec] as const, ...everyCommand(spec.commands ?? [], words)];
  });
}

describe("completion", () => {
  test("offers all commands, all flags of a command, and all values of a flag", () => {
    expect(wordsAt("")).toEqual(COMMANDS.map(({ name }) => name));
    for (const [words, { commands, options = [] }] of everyCommand()) {
      if (commands !== undefined)
        expect(wordsAt(...words, "")).toEqual(commands.map(({ name }) => name));
      const flags = [...options, ...Object.values(GLOBAL)].map(
        (option) => option.flags.split(" ")[0] ?? "",
      );
      expect(wordsAt(...words, "--")).toEqual([...flags, "--help"]);
      for (const [index, { choices, flags: text }] of options.entries()) {
        const flag = flags[index] ?? "";
        if (choices === undefined || !text.includes("<")) continue;
        expect(wordsAt(...words, flag, "")).toEqual(choices);
        expect(wordsAt(...words, `${flag}=`)).toEqual(choices.map((choice) => `${flag}=${choice}`));
      }
    }
  });

  test("asks the project for stages, addresses and targets, and the shell for files and folders", () => {
    const project = (lookup: string, before = "") => ({ kind: "project", lookup, before });
    expect(at("plan", "--stage", "").wanted).toEqual(project("stages"));
    expect(at("--stage=").wanted).toEqual(project("stages", "--stage="));
    // Bash splits the line at `=`.
    expect(at("plan", "--stage", "=", "sta").wanted).toEqual(project("stages"));
    expect(at("plan", "--only", "").wanted).toEqual(project("addresses"));
    expect(at("state", "mv", "testCase.shop.a", "").wanted).toEqual(project("addresses"));
    expect(at("reports", "list", "--target", "").wanted).toEqual(project("targets"));
    expect(at("state", "unlock", "").wanted).toEqual(project("targets"));
    expect(at("apply", "").wanted).toEqual({ kind: "files" });
    expect(at("plan", "--chdir", "").wanted).toEqual({ kind: "dirs" });
  });

  test("counts arguments correctly with flags and their values between them", () => {
    expect(wordsAt("state", "mark", "--stage", "dev", "batchGeneration.shop.a", "")).toEqual([
      "done",
      "undone",
    ]);
    expect(wordsAt("state", "mark", "x", "done", "")).toEqual([]);
    expect(wordsAt("completion", "--", "")).toEqual(["bash", "zsh", "fish"]);
    expect(wordsAt("nonsense", "")).toEqual([]);
  });

  test("uses the folder that --chdir names", () => {
    expect(at("--chdir", "e2e", "plan", "--only", "").folder).toBe("e2e");
    expect(at("plan", "--chdir=e2e", "--only", "").folder).toBe("e2e");
    expect(at("plan", "--only", "").folder).toBeUndefined();
  });

  test("returns a result for any line", () => {
    const known = everyCommand().flatMap(([words]) => words);
    const word = fc.oneof(
      fc.constantFrom(...known, "--", "=", "--stage", "--only=", "--chdir"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        expect(["words", "project", "files", "dirs"]).toContain(at(...words).wanted.kind);
      }),
      { numRuns: 50 },
    );
  });
});
