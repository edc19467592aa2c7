// `tasc schema --install vscode`.
import fc from "fast-check";
import { describe, expect as plainly, test } from "vitest";
import { mergeSettings } from "../../src/commands/schema.ts";
import { type Json, isObject, parseJson } from "../../src/model/json.ts";
import { type Ran, type Scene, at, scene } from "../look/scene.ts";

const SETTINGS = ".vscode/settings.json";

function install(stage: Scene): Promise<Ran> {
  return stage.run(["schema", "--install", "vscode"]);
}

describe.concurrent("tasc schema --install vscode", () => {
  test("writes the schemas, and assigns them to the file patterns of the project", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      stage.write("tasc.yaml", `${stage.read("tasc.yaml")}manifests: ["e2e/*.yaml"]\n`);
      const ran = await install(stage);
      expect(ran.code, ran.stderr).toBe(0);
      expect(parseJson(stage.read(SETTINGS))).toEqual({
        "yaml.schemas": {
          "./.vscode/tasc/project.schema.json": ["tasc.yaml"],
          "./.vscode/tasc/target.schema.json": ["e2e/*.yaml"],
        },
      });
      expect(stage.read(".vscode/tasc/target.schema.json")).toBe(
        (await stage.run(["schema", "target"])).stdout,
      );
      const before = stage.read(SETTINGS);
      expect((await install(stage)).stdout).toMatch(/^(?:kept .*\n){3}$/);
      expect(stage.read(SETTINGS)).toBe(before);
    });
  });

  test("does not change a settings file with comments, and prints the lines to add", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      const commented = '{\n  // mine\n  "editor.tabSize": 2,\n}\n';
      stage.write(SETTINGS, commented);
      const ran = await install(stage);
      expect(ran.code).toBe(1);
      expect(stage.read(SETTINGS)).toBe(commented);
      expect(ran.stderr).toContain('"./.vscode/tasc/project.schema.json": [');
    });
  });

  test("rejects missing or conflicting arguments and unknown editors", async ({ expect }) => {
    await scene(async (stage) => {
      expect((await stage.run(["schema"])).code).toBe(3);
      expect((await stage.run(["schema", "plan", "--install", "vscode"])).code).toBe(3);
      expect((await stage.run(["schema", "--install", "emacs"])).code).toBe(3);
    });
  });
});

describe("merging", () => {
  test("keeps all other settings, and changes nothing the second time", () => {
    const settings = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(
        settings,
        fc.option(settings),
        fc.constantFrom(2, 4, "\t"),
        (other, schemas, indent) => {
          const before = { ...other, ...(schemas === null ? {} : { "yaml.schemas": schemas }) };
          const merged = mergeSettings(JSON.stringify(before, null, indent), ["targets/*.yaml"]);
          const after = parseJson(merged);
          for (const [key, value] of Object.entries(other))
            plainly(at(after, key)).toEqual(plain(value));
          for (const [key, value] of Object.entries(schemas ?? {}))
            plainly(at(after, "yaml.schemas", key)).toEqual(plain(value));
          plainly(mergeSettings(merged, ["targets/*.yaml"])).toBe(merged);
        },
      ),
      { numRuns: 50 },
    );
  });

  /** The value as JSON represents it: without the sign of a zero. */
  function plain(value: unknown): Json {
    return parseJson(JSON.stringify(value));
  }

  test.each(["[]", '"text"', "{", '{ "yaml.schemas": [] }', '{ "a": 1, }'])(
    "rejects %s",
    (text) => {
      plainly(() => mergeSettings(text, [])).toThrow("stays as it is");
    },
  );

  test("treats an empty file as empty settings", () => {
    plainly(isObject(parseJson(mergeSettings("\n", [])))).toBe(true);
  });
});
