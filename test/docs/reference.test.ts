import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { isObject, parseJson, valueAt } from "../../src/model/json.ts";
import { readCatalogue } from "../../src/cli/catalogue.ts";
import {
  agentsText,
  errorsText,
  exitCodeTable,
  referenceText,
  skillText,
} from "../../scripts/reference.ts";

test.each([
  ["docs/reference/commands.md", () => referenceText(readCatalogue("dist"))],
  ["docs/reference/errors.md", errorsText],
  [
    "docs/agents.md",
    () => agentsText(readFileSync("docs/agents.md", "utf8"), readCatalogue("dist")),
  ],
  ["skills/tasc/SKILL.md", () => skillText(readFileSync("docs/agents.md", "utf8"))],
])("%s matches the source; npm run generate updates it", async (filepath, textOf) => {
  const options = await resolveConfig(filepath);
  expect(readFileSync(filepath, "utf8")).toBe(await format(textOf(), { ...options, filepath }));
});

test("the skill names the keys that the schemas have, and can be read by an agent", () => {
  const skill = readFileSync("skills/tasc/SKILL.md", "utf8");
  const [, head = ""] = /^---\n([^]*?)\n---\n/.exec(skill) ?? [];
  const described: unknown = expect.stringMatching(/^.{100,1024}$/);

  expect(parse(head)).toMatchObject({ name: "tasc", description: described });
  expect(skill).toMatch(/Never pass `--auto-approve`\s+unless a person has reviewed/);
  const schemas = ["plan", "views"].map((one) =>
    readFileSync(`schemas/${one}.schema.json`, "utf8"),
  );
  const [, shapes = ""] = /## Shapes of the JSON\n([^]*?)\nExit codes/.exec(skill) ?? [];
  const events = ["type", "done", "failed", "skipped", "notTaken", "unfinished", "exitCode"];
  const keys = [...shapes.matchAll(/`(\w+)(?:: [^`]*)?`/g)].map(([, key = ""]) => key);
  expect(keys.length).toBeGreaterThan(30);
  for (const key of keys.filter((one) => !events.includes(one)))
    expect(
      schemas.some((text) => text.includes(`"${key}"`)),
      key,
    ).toBe(true);
});

test("the README lists the same exit codes", async () => {
  const wanted = await format(exitCodeTable(), { parser: "markdown" });
  expect(readFileSync("README.md", "utf8")).toContain(wanted);
});

test.each(["docs/how-to/policies.md", "docs/reference/tasc-yaml.md"])(
  "%s explains every key of policy",
  (page) => {
    const text = readFileSync(page, "utf8");
    const schema = parseJson(readFileSync("schemas/project.schema.json", "utf8"));
    const policy = valueAt(schema, ["$defs", "policy", "properties"]);
    const keys = Object.keys(isObject(policy) ? policy : {});
    expect(keys).toContain("requireTags");
    // In a row of a table or a sentence; an example alone explains nothing.
    const prose = text.replaceAll(/^```[^]*?^```/gm, "");
    expect(keys.filter((key) => !prose.includes(`\`${key}\``))).toEqual([]);
  },
);

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
