import { describe, expect, test } from "vitest";
import { formatManifest, keyRank } from "../../src/manifest/format.ts";
import { editYaml } from "../../src/manifest/yaml/edit.ts";
import type { Json, Path } from "../../src/model/json.ts";

describe("a new key", () => {
  const put = (text: string, path: Path, value: Json): string | undefined => {
    const edited = editYaml(text, [{ kind: "set", path, value }], { rank: keyRank("target") });
    return edited.ok ? edited.text : undefined;
  };
  test.each<[string, string, Path, Json, string]>([
    [
      "goes where `fmt` puts it",
      "target: a\ntestCases:\n  b:\n    status: DRAFT\n    tags: [x]\n    folder: F\n",
      ["testCases", "b", "runStatus"],
      "OFF",
      'target: a\ntestCases:\n  b:\n    status: DRAFT\n    runStatus: "OFF"\n    tags: [x]\n    folder: F\n',
    ],
    [
      "before all others",
      "target: a\ntestCases:\n  b: { status: DRAFT }\n",
      ["testCases", "b", "description"],
      "B",
      "target: a\ntestCases:\n  b: { description: B, status: DRAFT }\n",
    ],
    [
      "behind the last of those before it, where the others have no order",
      "stages: {}\ntestCases: {}\ntarget: a\n",
      ["environments", "default", "discoveryUrl"],
      "https://a",
      "stages: {}\ntestCases: {}\ntarget: a\nenvironments:\n  default:\n    discoveryUrl: https://a\n",
    ],
    [
      "that users choose goes last",
      "target: a\ntestCases:\n  b: { status: DRAFT }\n  a: { status: DRAFT }\n",
      ["testCases", "aa"],
      { tags: ["x"], description: "A" },
      "target: a\ntestCases:\n  b: { status: DRAFT }\n  a: { status: DRAFT }\n  aa:\n    description: A\n    tags: [x]\n",
    ],
    [
      "before the first that stays",
      "target: a\nstages:\n  x:\n    testCases:\n      b:\n        # why\n        status: DRAFT # now\n        discovery: { prompt: P }\n",
      ["stages", "x", "testCases", "b"],
      { discovery: { prompt: "P" }, folder: "F" },
      "target: a\nstages:\n  x:\n    testCases:\n      b:\n        # why\n        folder: F\n        discovery: { prompt: P }\n",
    ],
    [
      "before the first that stays behind a dash",
      "target: a\nmoved:\n  - to: x\n    # why\n    x-note: b\n",
      ["moved", 0],
      { "x-note": "b", "x-a": "c", from: "z" },
      "target: a\nmoved:\n  - # why\n    x-note: b\n    x-a: c\n    from: z\n",
    ],
    [
      "in braces, where the one before it goes",
      "target: a\ntestCases:\n  b: { description: B, runStatus: X, tags: [x] }\n",
      ["testCases", "b"],
      { description: "B", status: "DRAFT", tags: ["x"] },
      "target: a\ntestCases:\n  b: { description: B, status: DRAFT, tags: [x] }\n",
    ],
  ])("%s", (_, before, path, value, after) => {
    expect(put(before, path, value)).toBe(after);
  });
});

describe("fmt", () => {
  test("sorts keys into their usual order, with their comments, and changes nothing else", () => {
    const before = `# yaml-language-server: $schema=x
testCases: # all of them
  # the cart
  cart:
    elements:
      - selectors: [{ selector: b, selectorType: TEXT }]
        # why
        interaction: { calledWith: x, action: CLICK }

      - ignoreFailure: true
        assertion: { expectation: VISIBLE }
    # says what it is
    # in two lines
    description: Cart   # beside

    tags: [b, a]
  api: { status: DRAFT, description: D }

# what it is called
app:   Web
x-note: kept
target: shop
`;
    expect(formatManifest(before, "target")).toBe(`# yaml-language-server: $schema=x
x-note: kept
target: shop
# what it is called
app:   Web
testCases: # all of them
  # the cart
  cart:
    # says what it is
    # in two lines
    description: Cart   # beside

    tags: [b, a]
    elements:
      - selectors: [{ selectorType: TEXT, selector: b }]
        # why
        interaction: { action: CLICK, calledWith: x }

      - assertion: { expectation: VISIBLE }
        ignoreFailure: true
  api: { description: D, status: DRAFT }

`);
  });

  test("is idempotent, and does not change invalid YAML or move an anchor behind its alias", () => {
    const text = "app: Web\ntarget: a\n---\nstages: {}\ntarget: b";
    const once = formatManifest(text, "target");
    expect(once).toBe("target: a\napp: Web\n---\ntarget: b\nstages: {}");
    expect(formatManifest(once, "target")).toBe(once);
    const anchored =
      "testCases: { a: &a { description: A } }\nenvironments: {}\ndefaults: { testCases: *a }\ntarget: a\n";
    expect(formatManifest(anchored, "target")).toBe(anchored);
    expect(formatManifest("target: [", "target")).toBe("target: [");
    expect(formatManifest("app: |\n  text\n\ntarget: a\n", "target")).toBe(
      "target: a\napp: |\n  text\n\n",
    );
  });

  test("sorts the keys of tasc.yaml", () => {
    const text = 'stages: {}\nservice:\n  apiKey: "${secret:K}"\n  baseUrl: http://x\nversion: 1\n';
    expect(formatManifest(text, "project")).toBe(
      'version: 1\nservice:\n  baseUrl: http://x\n  apiKey: "${secret:K}"\nstages: {}\n',
    );
  });
});
