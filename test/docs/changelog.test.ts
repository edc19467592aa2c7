import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the changelog has a section of one screen for the version, as the release publishes it", () => {
  const { version } = Object(JSON.parse(readFileSync("package.json", "utf8")));
  const text = readFileSync("CHANGELOG.md", "utf8");
  const [, section = ""] = new RegExp(`^## ${version}\\n([^]*?)(?=^## )`, "m").exec(text) ?? [];
  const lines = section.trim().split("\n");
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.length).toBeLessThanOrEqual(45);
  expect(section).toContain("docs/how-to/upgrade.md");
});
