import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CODES, errorCode } from "../../src/model/error-codes.ts";

const CODE =
  /(?:\bcode: |\b(?:manifestError|manifestWarning|about|stop)\(\s*(?:"invalid",\s*)?|sharedValues\([^"]*"\w+", |\bcode = |^\s*)"([a-z]+(?:-[a-z]+)+)",?/gm;

test("every code of a manifest's problem is in the catalogue", () => {
  const files = readdirSync("src/manifest", { recursive: true, encoding: "utf8" });
  const own = files.filter(
    (name) => name.endsWith(".ts") && !name.includes("yaml") && !name.includes("schema"),
  );
  const codes = own.flatMap((name) => {
    const text = readFileSync(join("src/manifest", name), "utf8");
    return [...text.matchAll(CODE)].map(([, code = ""]) => code);
  });
  expect(codes.length).toBeGreaterThan(30);
  const elsewhere = ["unknown-target", "not-editable", "no-place"];
  expect(
    [...new Set(codes)].filter((code) => errorCode(code) === undefined && !elsewhere.includes(code)),
  ).toEqual([]);
  expect(errorCode("yaml-tab")).toBe(ERROR_CODES.get("yaml"));
});
