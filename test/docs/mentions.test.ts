import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readCatalogue } from "../../src/cli/catalogue.ts";
import type { CommandSpec } from "../../src/commands/spec.ts";
import { GLOBAL } from "../../src/commands/options.ts";
import { blocksOf, pages } from "./page.ts";

const COMMANDS = readCatalogue("dist");
const PAGES = ["README.md", ...pages()];

/** The mistake in a command line of a page, if any. Values are not checked. */
function wrong(line: string): string | undefined {
  const [, first = "", ...words] = line.split(/\s+/);
  let spec: CommandSpec | undefined = COMMANDS.find(({ name }) => name === first);
  if (spec === undefined)
    return first.startsWith("-") || first === "…" ? undefined : `no command ${first}`;
  const flags = words
    .filter((word) => word.startsWith("--"))
    .map((word) => word.split("=")[0] ?? "");
  const below: CommandSpec | undefined = spec.commands?.find(({ name }) => name === words[0]);
  if (below !== undefined) spec = below;
  const known = [...(spec.options ?? []), ...Object.values(GLOBAL)].map(
    ({ flags: text }) => text.split(" ")[0],
  );
  const strange = flags.find((flag) => !known.includes(flag) && flag !== "--help");
  return strange === undefined ? undefined : `no option ${strange} of ${spec.name}`;
}

describe.each(PAGES)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  test("names only existing commands and options", () => {
    const fenced = blocksOf(page).flatMap((block) => [
      ...block.text.matchAll(/^(?:\$ )?(tasc [^\n#|>)]+)/gm),
    ]);
    const inline = [...text.matchAll(/`(tasc [a-z][^`|]*)`/g)];
    const faults = [...fenced, ...inline].flatMap(([, line = ""]) => {
      const fault = wrong(line.trim());
      return fault === undefined ? [] : [`${line}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  test("links only to existing files", () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(
      ([, link = ""]) => link,
    );
    expect(links.filter((link) => !existsSync(join(dirname(page), link)))).toEqual([]);
  });
});

test("the README lists every command", () => {
  const text = readFileSync("README.md", "utf8");
  const table = text.slice(text.indexOf("## Commands"), text.indexOf("## Exit codes"));
  expect(COMMANDS.map(({ name }) => name).filter((name) => !table.includes(`\`${name}\``))).toEqual(
    [],
  );
});
