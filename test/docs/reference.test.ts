import { readFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { errorsText, exitCodeTable, referenceText } from "../../scripts/reference.ts";

test.each([
  ["commands.md", referenceText],
  ["errors.md", errorsText],
])("docs/reference/%s is as the source has it; npm run generate makes it so", async (name, textOf) => {
  const filepath = `docs/reference/${name}`;
  const options = await resolveConfig(filepath);
  expect(readFileSync(filepath, "utf8")).toBe(await format(textOf(), { ...options, filepath }));
});

test("the README tells the same exit codes", async () => {
  const wanted = await format(exitCodeTable(), { parser: "markdown" });
  expect(readFileSync("README.md", "utf8")).toContain(wanted);
});
