import { describe, expect, test } from "vitest";
import type { FileRead } from "../../src/manifest/files.ts";
import { loadProject } from "../../src/manifest/load.ts";
import { testBadInputs } from "./bad-input.ts";
import { ENV, PROJECT, load, loaded, show, target } from "./loading.ts";
import { Link, memoryFolder } from "./memory-folder.ts";

const GOOD = "target: shop\n";

describe("a file that cannot be read is an error", () => {
  testBadInputs([
    {
      rule: "broken YAML",
      document: "target: shop\ntestCases: {a: {}\nb: [\n",
      errors: [
        "targets/shop.yaml:2:12 yaml-syntax: The `{` here is never closed / Close it with `}`, and indent every line inside it deeper than its key.",
        "targets/shop.yaml:3:4 yaml-syntax: The `[` here is never closed / Close it with `]`, and indent every line inside it deeper than its key.",
      ],
    },
    {
      rule: "tabs",
      document: "target: shop\ntestCases:\n\ta: {}\n",
      errors: [
        "targets/shop.yaml:3:1 yaml-tab: A tab is used to indent this line; YAML allows only spaces there / Replace the tab with spaces.",
      ],
    },
    {
      rule: "duplicate keys",
      document: "target: shop\ntestCases:\n  a: {}\n  a: {}\n",
      errors: [
        "targets/shop.yaml:4:3 yaml-duplicate-key: The key `a` was already set on line 3 / Keep one of them.",
      ],
    },
    {
      rule: "merge keys",
      document: "target: shop\ntestCases:\n  a: &a { status: DRAFT }\n  b: { <<: *a }\n",
      errors: [
        "targets/shop.yaml:4:8 yaml-merge-key: Merge keys (`<<`) are not supported: they are not part of YAML 1.2 / Write the keys out, or use `defaults`.",
      ],
    },
    {
      rule: "an alias bomb",
      document: `target: shop\napp: &a0 [${"x, ".repeat(99)}x]\n${[1, 2, 3, 4, 5]
        .map((n) => `a${n}: &a${n} [${`*a${n - 1}, `.repeat(19)}*a${n - 1}]\n`)
        .join("")}`,
      errors: [
        "targets/shop.yaml:5:10 yaml-alias-budget: With this one, the aliases of the file stand for more than 250000 characters of text / Aliases of aliases multiply; write them out.",
      ],
    },
    {
      rule: "an empty file",
      document: "",
      errors: [
        "targets/shop.yaml:1:1 yaml-empty: The file is empty / Write a manifest, or delete the file.",
      ],
    },
    {
      rule: "a file of comments",
      document: "# to do\n",
      errors: [
        "targets/shop.yaml:1:1 yaml-empty: The file contains only comments / Write a manifest, or delete the file.",
      ],
    },
    {
      rule: "a list instead of a map",
      document: "- target: shop\n",
      errors: [
        "targets/shop.yaml:1:1 wrong-type: A manifest must be a map / Found a list, where keys like `target:` are expected.",
      ],
    },
    {
      rule: "bytes that are not UTF-8",
      files: {
        "targets/shop.yaml": Uint8Array.from([
          ...Buffer.from("target: shop\napp: Caf"),
          0xe9,
          0x0a,
        ]),
      },
      errors: [
        "targets/shop.yaml:2:9 yaml-encoding: The file is not UTF-8 text: the bytes from here on are not a valid character / Save it as UTF-8; a different encoding or a binary file cannot be read.",
      ],
    },
    {
      rule: "errors in several files are all reported, sorted by file",
      files: {
        "targets/b.yaml": "target: shop\nfoo: 1\nbar: 2\n",
        "targets/a.yaml": "target: [\n",
        "targets/c.yaml": "",
      },
      errors: [
        "targets/a.yaml:1:9 yaml-syntax: The `[` here is never closed / Close it with `]`, and indent every line inside it deeper than its key.",
        "targets/b.yaml:2:1 unknown-key: Unknown key `foo` / At `foo`. Allowed here: `target`, `id`, `onlyStages`, `app`, `testIdAttribute`, `timeoutPerStep`, `trackerIntegration`, `onRemove`, `environments`, `defaults`, `testCases`, `batchGenerations`, `stages`, `moved` and `removed`.",
        "targets/b.yaml:3:1 unknown-key: Unknown key `bar` / At `bar`. Allowed here: `target`, `id`, `onlyStages`, `app`, `testIdAttribute`, `timeoutPerStep`, `trackerIntegration`, `onRemove`, `environments`, `defaults`, `testCases`, `batchGenerations`, `stages`, `moved` and `removed`.",
        "targets/c.yaml:1:1 yaml-empty: The file is empty / Write a manifest, or delete the file.",
      ],
    },
  ]);
});

test("a file without read permission is an error", async () => {
  const folder = memoryFolder({ "tasc.yaml": PROJECT, "targets/shop.yaml": GOOD });
  const refused = {
    ok: false,
    missing: false,
    reason: "You have no permission to read it.",
  } as const;
  const read = (file: string): FileRead => (file === "tasc.yaml" ? folder.read(file) : refused);
  const { diagnostics } = await loadProject({ root: "", env: ENV }, { ...folder, read });
  expect(show(diagnostics)).toEqual([
    "targets/shop.yaml:1:1 unreadable: The file cannot be read / You have no permission to read it.",
  ]);
});

describe("a project that cannot be found is an error", () => {
  testBadInputs([
    {
      rule: "no target documents at all",
      errors: [
        "tasc.yaml:1:1 no-manifests: There are no target documents / No files match `targets/**/*.{yaml,yml}`. Write one with `tasc new target shop`, write those of a running service with `tasc import`, or correct `manifests:`.",
      ],
    },
    {
      rule: "no target documents that match the patterns",
      project: `${PROJECT}manifests: ["e2e/**/*.yaml", "more/*.yml"]\n`,
      document: GOOD,
      errors: [
        "tasc.yaml:3:1 no-manifests: There are no target documents / At `manifests`. No files match `e2e/**/*.yaml`, `more/*.yml`. Write one with `tasc new target shop`, write those of a running service with `tasc import`, or correct `manifests:`.",
      ],
    },
    {
      rule: "an empty tasc.yaml",
      project: "",
      document: GOOD,
      errors: [
        "tasc.yaml:1:1 yaml-empty: The file is empty / Write a manifest, or delete the file.",
      ],
    },
    {
      rule: "a broken tasc.yaml",
      project: "version: [",
      document: GOOD,
      errors: [
        "tasc.yaml:1:10 yaml-syntax: The `[` here is never closed / Close it with `]`, and indent every line inside it deeper than its key.",
      ],
    },
    {
      rule: "errors in target documents are reported even if tasc.yaml has errors",
      project: `${PROJECT}stagse: { dev: {} }\n`,
      document: "target: shop\nfoo: 1\nstages: { dev: {} }\n",
      errors: [
        "targets/shop.yaml:2:1 unknown-key: Unknown key `foo` / At `foo`. Allowed here: `target`, `id`, `onlyStages`, `app`, `testIdAttribute`, `timeoutPerStep`, `trackerIntegration`, `onRemove`, `environments`, `defaults`, `testCases`, `batchGenerations`, `stages`, `moved` and `removed`.",
        "tasc.yaml:3:1 unknown-key: Unknown key `stagse` / At `stagse`. Did you mean `stages`? Allowed here: `version`, `manifests`, `service`, `state`, `vars`, `policy`, `defaults`, `defaultStage`, `stages` and `removed`.",
      ],
    },
  ]);

  test("no tasc.yaml", async () => {
    const [empty, misnamed] = await Promise.all([
      loadProject({ root: "", env: {} }, memoryFolder({ "targets/shop.yaml": GOOD })),
      loadProject({ root: "", env: {} }, memoryFolder({ "tasc.yml": PROJECT })),
    ]);
    expect(empty.diagnostics.map(({ summary }) => summary)).toEqual(["There is no tasc.yaml here"]);
    expect(misnamed.diagnostics.map(({ detail }) => detail)).toEqual([
      "There is a tasc.yml. Rename it to tasc.yaml.",
    ]);
  });
});

describe("no pattern can leave the project folder", () => {
  testBadInputs([
    {
      rule: "by ..",
      project: `${PROJECT}manifests: ["../other/*.yaml", "targets/../../x.yaml"]\n`,
      document: GOOD,
      errors: [
        "tasc.yaml:3:13 bad-pattern: The pattern cannot be used / At `manifests[0]`. `../other/*.yaml`: it leaves the folder by `..`. A pattern must stay inside the project folder, e.g. `targets/**/*.yaml`.",
        "tasc.yaml:3:32 bad-pattern: The pattern cannot be used / At `manifests[1]`. `targets/../../x.yaml`: it leaves the folder by `..`. A pattern must stay inside the project folder, e.g. `targets/**/*.yaml`.",
      ],
    },
    {
      rule: "by an absolute path",
      project: `${PROJECT}manifests: [/etc/*.yaml, "C:/x.yaml"]\n`,
      document: GOOD,
      errors: [
        "tasc.yaml:3:13 bad-pattern: The pattern cannot be used / At `manifests[0]`. `/etc/*.yaml`: it is an absolute path. A pattern must stay inside the project folder, e.g. `targets/**/*.yaml`.",
        "tasc.yaml:3:26 bad-pattern: The pattern cannot be used / At `manifests[1]`. `C:/x.yaml`: it is an absolute path. A pattern must stay inside the project folder, e.g. `targets/**/*.yaml`.",
      ],
    },
    {
      rule: "by backslashes",
      project: `${PROJECT}manifests: ['..\\x.yaml']\n`,
      document: GOOD,
      errors: [
        "tasc.yaml:3:13 bad-pattern: The pattern cannot be used / At `manifests[0]`. `..\\x.yaml`: folders are separated by `/`. A pattern must stay inside the project folder, e.g. `targets/**/*.yaml`.",
      ],
    },
    {
      rule: "by a symbolic link to a file",
      document: GOOD,
      files: { "targets/leak.yaml": new Link(undefined) },
      errors: [
        "tasc.yaml:1:1 escaping-link: A symbolic link leaves the project folder / `targets/leak.yaml` matches `manifests` and points elsewhere, or nowhere. Manifests must be inside the project folder. Copy them there, or narrow the pattern.",
      ],
    },
  ]);
});

describe("valid files", () => {
  test.each([
    ["with a byte order mark", "\ufefftarget: shop\napp: Shop\n"],
    ["with CRLF line ends", "target: shop\r\napp: Shop\r\n"],
    [
      "with both, a document marker and comments",
      "\ufeff---\r\n# ours\r\ntarget: shop # key\r\napp: Shop\r\n",
    ],
    ["with JSON", `{ "target": "shop", "app": "Shop" }`],
  ])("%s", async (_, document) => {
    expect((await target(document)).fields).toEqual({ app: "Shop" });
  });

  test("unquoted ON and OFF are texts, as in YAML 1.2", async () => {
    const { testCases } = await target(
      "target: shop\ntestCases: { a: { runStatus: ON }, b: { runStatus: OFF } }\n",
    );
    expect(testCases.map(({ fields }) => fields)).toEqual([
      { runStatus: "ON" },
      { runStatus: "OFF" },
    ]);
  });

  test("positions are correct after a byte order mark and CRLF", async () => {
    const { diagnostics } = await load({
      "targets/shop.yaml": "\ufefftarget: shop\r\napp: a ${env:MISSING}\r\n",
    });
    expect(show(diagnostics).map((line) => line.split(" ")[0])).toEqual(["targets/shop.yaml:2:8"]);
  });

  test("a file that matches several patterns is read once", async () => {
    const { documents } = await loaded({
      "tasc.yaml": `${PROJECT}manifests: ["**/*.yaml", "targets/*", "targets/shop.{yaml,yml}"]\n`,
      "targets/shop.yaml": GOOD,
    });
    expect(documents.map(({ file }) => file)).toEqual(["targets/shop.yaml"]);
  });

  test("tasc.yaml is not a target document, even if a pattern matches it", async () => {
    const { documents } = await loaded({
      "tasc.yaml": `${PROJECT}manifests: ["*.yaml"]\n`,
      "shop.yaml": GOOD,
    });
    expect(documents.map(({ file }) => file)).toEqual(["shop.yaml"]);
  });

  test("documents are sorted by file and keep their line endings", async () => {
    const { documents } = await loaded({
      "targets/b.yaml": "target: b\r\n",
      "targets/a/z.yml": "target: z\n",
      "targets/a.yaml": "\ufefftarget: a\n",
    });
    expect(documents).toEqual([
      { file: "targets/a.yaml", text: "target: a\n", bom: true, root: [], value: { target: "a" } },
      {
        file: "targets/a/z.yml",
        text: "target: z\n",
        bom: false,
        root: [],
        value: { target: "z" },
      },
      {
        file: "targets/b.yaml",
        text: "target: b\r\n",
        bom: false,
        root: [],
        value: { target: "b" },
      },
    ]);
  });
});
