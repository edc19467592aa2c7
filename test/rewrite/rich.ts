/**
 * Manifests with everything that an edit could damage, e.g. comments, anchors, quotes, overrides
 * and defaults.
 */
export const PROJECT = `version: 1
service: { baseUrl: "http://127.0.0.1:4010", apiKey: "\${secret:KEY}" }
vars: { team: web, path: /same }
stages:
  a: { vars: { where: /a } }
  b: { vars: { where: /b } } # b
  c: { vars: { where: /c } }
`;

const SHOP = `# c01 the shop
target: shop
app: Web Shop # c02
environments: { default: { discoveryUrl: "https://shop.example.com" } } # c03
defaults: # c04
  testCases:
    # c05 shared by most
    runStatus: "ON" # c06
    tags: &common [web, "auth"] # c07
testCases:
  # c08 first of all
  login: # c09
    description: 'Log in' # c10
    status: ENABLED
    # c11 where it starts
    entryPointUrlPath: \${var:path}
    discovery:
      prompt: | # c12
        Log in as the test account.

        Check the greeting.
  cart: { description: Cart total adds up, folder: Carts, tags: *common } # c13

  pay:
    tags: # c14
      - web # c15
      # c16 money
      - "\${var:team}-money" # c17
    description: "Pay" # c18
    status: &state DRAFT # c19
    elements: # c20
      # c21 the first step
      - interaction: { action: CLICK, calledWith: x } # c22
      - assertion: # c23
          expectation: VISIBLE # c24
        selectors: [{ selectorType: TEXT, selector: Paid }] # c25
  refund: # c26
    description: Refund
    status: *state # c27
    externalId: "R-1"
stages: # c28
  a:
    testCases:
      login: { status: DRAFT } # c29
  b: # c30
    defaults: { testCases: { entryPointUrlPath: /of-b } } # c31
    testCases:
      # c32 careful
      cart: # c33
        status: "DISABLED" # c34
        folder: null # c35
`;

const MORE = `target: shop
testCases: # c40
  late: # c41
    description: Comes from another document # c42
    folder: Carts
stages: { c: { testCases: { late: { runStatus: "OFF" } } } } # c43
# c44 the end`;

export const FILES: Readonly<Record<string, string>> = {
  "tasc.yaml": PROJECT,
  "targets/shop.yaml": SHOP,
  "targets/shop-more.yaml": MORE,
};

export const CASES = ["login", "cart", "pay", "refund", "late"] as const;

/** Texts that YAML or interpolation could misread. */
export const TEXTS = [
  "plain",
  "ON",
  "null",
  "1.0",
  "a: b # c",
  "- item",
  'it\'s "both"',
  "${HOME} and $${x}",
  "${var:team}",
  " edges ",
  "日本語 🛒",
  "two\nlines\n",
  "x".repeat(120),
];

/** The numbers of the comments in a text. */
export function comments(text: string): readonly string[] {
  return [...text.matchAll(/# (c\d\d)/g)].map(([, number = ""]) => number);
}
