import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { at, parseJson, text } from "../contract/support/json.ts";

test("the changelog has a section of one screen for the version, as the release publishes it", () => {
  const version = text(at(parseJson(readFileSync("package.json", "utf8")), "version"));
  const changelog = readFileSync("CHANGELOG.md", "utf8");
  const [, section = ""] =
    new RegExp(`^## ${version}\\n([^]*?)(?=^## )`, "m").exec(changelog) ?? [];
  const lines = section.trim().split("\n");
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.length).toBeLessThanOrEqual(45);
  expect(section).toContain("docs/how-to/upgrade.md");
});
