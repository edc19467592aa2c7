import { readFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { exitCodeTable } from "../../src/reference/exit-codes.ts";
import { referenceText } from "../../src/reference/reference.ts";

test("docs/reference/commands.md is as the tables have it; npm run generate makes it so", async () => {
  const filepath = "docs/reference/commands.md";
  const options = await resolveConfig(filepath);
  expect(readFileSync(filepath, "utf8")).toBe(await format(referenceText(), { ...options, filepath }));
});

test("the README tells the same exit codes", async () => {
  const wanted = await format(exitCodeTable(), { parser: "markdown" });
  expect(readFileSync("README.md", "utf8")).toContain(wanted);
});
