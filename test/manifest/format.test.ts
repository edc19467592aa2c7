import { describe, expect, test } from "vitest";
import { formatManifest } from "../../src/manifest/format.ts";

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
