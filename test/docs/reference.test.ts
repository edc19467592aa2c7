import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readCatalogue } from "../../src/cli/catalogue.ts";
import { errorsText, exitCodeTable, referenceText } from "../../scripts/reference.ts";

test.each([
  ["commands.md", () => referenceText(readCatalogue("dist"))],
  ["errors.md", errorsText],
])("docs/reference/%s matches the source; npm run generate updates it", async (name, textOf) => {
  const filepath = `docs/reference/${name}`;
  const options = await resolveConfig(filepath);
  expect(readFileSync(filepath, "utf8")).toBe(await format(textOf(), { ...options, filepath }));
});

test("the README lists the same exit codes", async () => {
  const wanted = await format(exitCodeTable(), { parser: "markdown" });
  expect(readFileSync("README.md", "utf8")).toContain(wanted);
});

test.each([
  ["tasc-yaml.md", "project"],
  ["target-documents.md", "target"],
])("the example of docs/reference/%s is valid", (page, name) => {
  const [, example = ""] =
    /^```yaml.*\n([^]*?)^```/m.exec(readFileSync(`docs/reference/${page}`, "utf8")) ?? [];
  const schema: unknown = JSON.parse(readFileSync(`schemas/${name}.schema.json`, "utf8"));
  const isValid = new Ajv2020({ strict: false }).compile(Object(schema));
  isValid(parse(example));
  expect(isValid.errors).toBeNull();
});
