import { describe, expect, test } from "vitest";
import { locate } from "../../src/manifest/problem.ts";
import { originIn, originOf } from "../../src/model/desired.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import type { Path } from "../../src/model/json.ts";
import { loadProject } from "../../src/manifest/load.ts";
import { ENV, PROJECT, loaded } from "./loading.ts";
import { memoryFolder } from "./memory-folder.ts";

const DOCUMENT = `target: shop
defaults:
  testCases: { status: DRAFT }
testCases:
  login:
    description: Log in
    tags: [a, b]
  only: {}
stages:
  dev:
    testCases:
      login:
        description: Log in here
      new: { description: New }
`;

async function project() {
  return await loaded({
    "tasc.yaml": `${PROJECT}stages: { dev: {} }\n`,
    "targets/shop.yaml": DOCUMENT,
  });
}

function about(path: Path, file = "targets/shop.yaml"): Diagnostic {
  return { severity: "warning", code: "x", summary: "", detail: "", origin: { file, path } };
}

describe("a diagnostic of a later step", () => {
  test.each([
    ["of a resource is at its key", ["testCases", "login"], "5:3"],
    ["of a text at the text", ["testCases", "login", "description"], "6:18"],
    ["of a list at its key", ["testCases", "login", "tags"], "7:5"],
    ["of an item at the item", ["testCases", "login", "tags", 1], "7:15"],
    ["of what is not there at the nearest that is", ["testCases", "login", "status"], "5:3"],
    ["of what would lie in a text at the text's key", ["target", "x", 0], "1:1"],
    ["of the whole document at its beginning", [], "1:1"],
  ] as const)("%s", async (_, path, expected) => {
    const { sources } = await project();
    const [located] = await locate([about(path)], sources);
    expect(located?.place && `${located.place.line}:${located.place.column}`).toBe(expected);
  });

  test("keeps its place if it has one, and has no place if it names no file", async () => {
    const { sources } = await project();
    const place = { file: "a.yaml", line: 7, column: 8 };
    const without: Diagnostic = { severity: "error", code: "y", summary: "", detail: "" };
    expect(await locate([without, { ...about([]), place }], sources)).toEqual([
      { ...about([]), place },
      without,
    ]);
  });

  test("is placed at the beginning of an unknown file", async () => {
    const [located] = await locate([about(["a"], "gone.yaml")], new Map());
    expect(located?.place).toEqual({ file: "gone.yaml", line: 1, column: 1 });
  });

  test("is sorted by file and place", async () => {
    const { sources } = await project();
    const located = await locate(
      [
        about(["version"], "tasc.yaml"),
        about(["testCases", "only"]),
        about(["testCases", "login"]),
      ],
      sources,
    );
    expect(located.map(({ place }) => `${place?.file}:${place?.line}`)).toEqual([
      "targets/shop.yaml:5",
      "targets/shop.yaml:8",
      "tasc.yaml:1",
    ]);
  });
});

test("a file is read at most twice, regardless of its number of problems", async () => {
  const keys = Array.from({ length: 2000 }, (_, at) => `unknown${at}: "\${nonsense}"\n`);
  const folder = memoryFolder({
    "tasc.yaml": PROJECT,
    "targets/shop.yaml": `${DOCUMENT}${keys.join("")}`,
  });
  let reads = 0;
  const counting = {
    ...folder,
    read: (file: string) => {
      reads += file === "targets/shop.yaml" ? 1 : 0;
      return folder.read(file);
    },
  };
  const { diagnostics } = await loadProject({ root: "", env: ENV, texts: false }, counting);
  expect(diagnostics.filter(({ code }) => code === "unknown-key").at(-1)?.place?.line).toBe(2014);
  expect(reads).toBe(2);
});

describe("the origin", () => {
  test.each([
    ["of a resource is where it is declared", "login", [], "testCases.login"],
    ["of one that only a stage has is there", "new", [], "stages.dev.testCases.new"],
    [
      "of a field is the layer that counts",
      "login",
      ["description"],
      "stages.dev.testCases.login.description",
    ],
    ["of a field that no override has is below", "login", ["tags"], "testCases.login.tags"],
    [
      "of a field that only the defaults have is there",
      "login",
      ["status"],
      "defaults.testCases.status",
    ],
    ["of an undeclared field is the resource", "login", ["folder"], "testCases.login"],
  ] as const)("%s", async (_, key, field, expected) => {
    const { desired } = await project();
    const resource = desired.targets[0]?.testCases.find((testCase) => testCase.key === key);
    expect(resource && originOf(resource, field)?.path.join(".")).toBe(expected);
  });

  test("is undefined if no layer has the path", () => {
    expect(originIn([{ kind: "base", file: "a", path: [], value: {} }], ["x"])).toBeUndefined();
  });
});
