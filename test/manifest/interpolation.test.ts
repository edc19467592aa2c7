import { describe, expect, test, vi } from "vitest";
import { Interpolator } from "../../src/manifest/interpolation.ts";
import { loadProject } from "../../src/manifest/load.ts";
import { testBadInputs } from "./bad-input.ts";
import { PROJECT, load, loaded, target } from "./loading.ts";
import { Link, type MemoryFiles, memoryFolder } from "./memory-folder.ts";

/** The value that `app: TEXT` resolves to. */
async function fill(
  text: string,
  {
    vars = "{}",
    ...options
  }: { vars?: string; env?: Record<string, string>; files?: MemoryFiles } = {},
): Promise<unknown> {
  const { fields } = await target(`target: shop\napp: ${JSON.stringify(text)}\n`, {
    env: { KEY: "k", ...options.env },
    files: { "tasc.yaml": `${PROJECT}vars: ${vars}\n`, ...options.files },
  });
  return fields["app"];
}

describe("a text is interpolated", () => {
  test.each([
    ["with a variable of the environment", "${env:NAME}", "value"],
    [
      "in the middle, and more than once",
      "a ${env:NAME} b ${env:NAME}${env:NAME} c",
      "a value b valuevalue c",
    ],
    ["with a fallback, when the variable is unset", "${env:UNSET:-fall back}", "fall back"],
    ["with a fallback, when the variable is empty", "x${env:EMPTY:-fall}", "xfall"],
    ["with an empty fallback", "x${env:UNSET:-}", "x"],
    ["with a fallback that has colons and dashes", "${env:UNSET:-http://a:-b}", "http://a:-b"],
    ["with the variable, where it is set", "${env:NAME:-fallback}", "value"],
    ["with an empty variable, where there is no fallback", "x${env:EMPTY}", "x"],
    ["with the stage", "Shop (${stage})", "Shop (default)"],
    ["not where it is escaped", "$${env:NAME} and $${x}", "${env:NAME} and ${x}"],
    ["not behind a dollar that escapes", "$$${env:NAME}", "$${env:NAME}"],
    ["not where the service has a variable of its own", "$name $1 $ $$ {x}", "$name $1 $ $$ {x}"],
    ["once, and not again with what came in", "${env:NESTED}", "${env:NAME}"],
  ])("%s", async (_, text, expected) => {
    expect(await fill(text, { env: { NAME: "value", EMPTY: "", NESTED: "${env:NAME}" } })).toBe(
      expected,
    );
  });

  test.each([
    ["with a variable of the project", "${var:host}/x", "{ host: a.example }", "a.example/x"],
    [
      "with numbers and booleans among others",
      "${var:n}-${var:b}",
      "{ n: 1.50, b: true }",
      "1.5-true",
    ],
    [
      "with a variable of variables",
      "${var:a}",
      "{ a: '<${var:b}>', b: '${env:NAME}${stage}' }",
      "<valuedefault>",
    ],
    ["with a variable named like an object's own", "${var:toString}", "{ toString: x }", "x"],
  ])("%s", async (_, text, vars, expected) => {
    expect(await fill(text, { vars, env: { NAME: "value" } })).toBe(expected);
  });

  test.each([
    ["with a file of the project, without one trailing newline", "text\n\n", "text\n"],
    ["with a file that ends in CRLF", "text\r\n", "text"],
    ["with a file that ends without a newline", "te\nxt", "te\nxt"],
    ["with a file that begins with a byte order mark", "\ufefftext", "text"],
    ["with a file that has placeholders, which stay", "${env:NAME}", "${env:NAME}"],
  ])("%s", async (_, content, expected) => {
    const files = { "prompts/a.md": content };
    expect(await fill("${file:prompts/a.md}", { files })).toBe(expected);
    expect(await fill("${file:./prompts/../prompts/a.md}", { files })).toBe(expected);
  });
});

describe("an interpolated value gets the type of its field", () => {
  const vars = "vars: { number: 10, text: '10', flag: true, on: 'ON', tags: a }\n";
  const env = { KEY: "k", N: "20", FLAG: "false", STATUS: "DRAFT", URL: "https://a.example/x" };

  test.each([
    ["a whole variable keeps its type", "timeoutPerStep: ${var:number}", { timeoutPerStep: 10 }],
    ["a text becomes an integer", "timeoutPerStep: ${var:text}", { timeoutPerStep: 10 }],
    [
      "so does what several placeholders make",
      "timeoutPerStep: ${var:number}${env:N}",
      { timeoutPerStep: 1020 },
    ],
    ["a number becomes a text", "app: ${var:number}", { app: "10" }],
    ["a boolean becomes a text", "app: ${var:flag}", { app: "true" }],
  ])("%s", async (_, line, expected) => {
    const { fields } = await target(`target: shop\n${line}\n`, {
      env,
      files: { "tasc.yaml": PROJECT + vars },
    });
    expect(fields).toEqual(expected);
  });

  test("works for fields of every shape", async () => {
    const { testCases, environments, batchGenerations } = await target(
      `target: shop
environments: { default: { discoveryUrl: "\${env:URL}" } }
testCases:
  a:
    status: \${env:STATUS}
    runStatus: \${var:on}
    tags: ["\${env:N}", b]
    discovery: { prerequisite: "\${var:tags}" }
    elements:
      - { ignoreFailure: "\${env:FLAG}", selectors: [{ selectorType: TEXT, selector: x, options: { name: "\${var:number}", deep: [{ a: "\${env:N}" }] } }] }
  a1: { discovery: { prerequisite: a } }
batchGenerations: { g: { context: { n: "\${var:number}", s: "\${env:N}" } } }
`
        .replaceAll("a1: { discovery: { prerequisite: a } }", "b: {}")
        .replaceAll('prerequisite: "${var:tags}"', 'prerequisite: "${env:B}"'),
      { env: { ...env, B: "b" }, files: { "tasc.yaml": PROJECT + vars } },
    );
    expect(environments[0]?.fields).toEqual({ discoveryUrl: "https://a.example/x" });
    expect(testCases[0]?.fields).toEqual({
      status: "DRAFT",
      runStatus: "ON",
      tags: ["20", "b"],
      "discovery.prerequisite": "b",
      elements: [
        {
          ignoreFailure: false,
          selectors: [
            { selectorType: "TEXT", selector: "x", options: { name: 10, deep: [{ a: "20" }] } },
          ],
        },
      ],
    });
    expect(batchGenerations[0]?.fields).toEqual({ context: { n: 10, s: "20" } });
  });

  testBadInputs([
    {
      rule: "a value that is invalid for its field is an error",
      document: `target: shop
id: \${env:X}
timeoutPerStep: \${env:X}
app: \${env:EMPTY}
onRemove: \${env:X}
environments: { default: { discoveryUrl: "\${env:X}" }, b: { discoveryUrl: "https://\${env:EMPTY}" } }
testCases:
  a: { status: "\${env:X}", elements: [{ ignoreFailure: "\${env:X}" }], discovery: { prerequisite: "\${env:S}" } }
`,
      env: { KEY: "k", X: "x", EMPTY: "", S: "two words" },
      errors: [
        'targets/shop.yaml:2:5 bad-value: `id` must be a UUID, e.g. `6f1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11` / At `id`. `${env:X}` resolved to the string "x".',
        'targets/shop.yaml:3:17 bad-value: `timeoutPerStep` must be an integer of at least 0 / At `timeoutPerStep`. `${env:X}` resolved to the string "x".',
        'targets/shop.yaml:4:6 bad-value: `app` must be a string that is not empty / At `app`. `${env:EMPTY}` resolved to the string "".',
        'targets/shop.yaml:5:11 bad-value: `onRemove` must be one of `ignore` or `disable` / At `onRemove`. `${env:X}` resolved to the string "x".',
        'targets/shop.yaml:6:43 bad-value: `environments.default.discoveryUrl` must be a URL, e.g. `https://shop.example.com` / At `environments.default.discoveryUrl`. `${env:X}` resolved to the string "x".',
        'targets/shop.yaml:6:76 bad-value: `environments.b.discoveryUrl` must be a URL, e.g. `https://shop.example.com` / At `environments.b.discoveryUrl`. `https://${env:EMPTY}` resolved to the string "https://".',
        'targets/shop.yaml:8:17 bad-value: `testCases.a.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL` / At `testCases.a.status`. `${env:X}` resolved to the string "x".',
        'targets/shop.yaml:8:57 bad-value: `testCases.a.elements[0].ignoreFailure` must be `true` or `false` / At `testCases.a.elements[0].ignoreFailure`. `${env:X}` resolved to the string "x".',
        'targets/shop.yaml:8:99 bad-value: `testCases.a.discovery.prerequisite` must be the key of a test case of the same target, or `{ description: … }` of one that is not managed here / At `testCases.a.discovery.prerequisite`. `${env:S}` resolved to the string "two words".',
      ],
    },
    {
      rule: "an invalid default is reported once, at the default",
      document: `target: shop
defaults: { testCases: { status: "\${env:X}" } }
testCases: { a: {}, b: {}, c: { status: DRAFT } }
`,
      env: { KEY: "k", X: "x" },
      errors: [
        'targets/shop.yaml:2:35 bad-value: `defaults.testCases.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL` / At `defaults.testCases.status`. `${env:X}` resolved to the string "x".',
      ],
    },
  ]);
});

test("a problem names its resource, unless it is in a default or variable that others share", async () => {
  const { diagnostics } = await load({
    "tasc.yaml": `${PROJECT}vars: { v: "\${env:V}" }\nstages: { dev: {} }\n`,
    "targets/shop.yaml": `target: shop
defaults: { testCases: { folder: "\${env:A}" } }
testCases: { a: { description: "\${env:B}\${var:v}" }, b: {} }
stages: { dev: { defaults: { testCases: { tags: ["\${env:C}"] } }, testCases: { b: { description: "\${env:D}" } } } }
`,
  });
  expect(diagnostics.map(({ summary, address }) => [summary.split(" ")[3], address])).toEqual([
    ["A", undefined],
    ["B", "testCase.shop.a"],
    ["C", undefined],
    ["D", "testCase.shop.b"],
    ["V", undefined],
  ]);
});

describe("an unresolvable value", () => {
  testBadInputs([
    {
      rule: "is reported together with all others, each with its place",
      project: `version: 1
service: { baseUrl: "\${env:BASE}", apiKey: "\${secret:KEY}" }
vars: { host: "\${env:HOST}" }
`,
      document: `target: shop
app: \${env:APP} and \${env:APP} at \${var:host}
trackerIntegration: { apiKey: "\${secret:TRACKER}" }
testCases:
  a:
    discovery:
      prompt: |
        Log in.
        Then go to \${env:PAGE} and \${var:host}.
`,
      env: { TRACKER: "" },
      errors: [
        "targets/shop.yaml:2:6 missing-env: The environment variable APP is not set / At `app`. `${env:APP}` takes its value from it. Set it, or add a fallback: `${env:APP:-…}`.",
        "targets/shop.yaml:3:32 missing-secret: The secret TRACKER is empty / At `trackerIntegration.apiKey`. `${secret:TRACKER}` takes its value from the environment variable TRACKER. Set it.",
        "targets/shop.yaml:9:20 missing-env: The environment variable PAGE is not set / At `testCases.a.discovery.prompt`. `${env:PAGE}` takes its value from it. Set it, or add a fallback: `${env:PAGE:-…}`.",
        "tasc.yaml:2:22 missing-env: The environment variable BASE is not set / At `service.baseUrl`. `${env:BASE}` takes its value from it. Set it, or add a fallback: `${env:BASE:-…}`.",
        "tasc.yaml:2:45 missing-secret: The secret KEY is not set / At `service.apiKey`. `${secret:KEY}` takes its value from the environment variable KEY. Set it.",
        "tasc.yaml:3:16 missing-env: The environment variable HOST is not set / At `vars.host`. `${env:HOST}` takes its value from it. Set it, or add a fallback: `${env:HOST:-…}`.",
      ],
    },
    {
      rule: "is not reported if an override replaces it or only another stage uses it",
      project: `${PROJECT}stages: { dev: {}, prod: { vars: { a: "\${env:PROD}" } } }\n`,
      stage: "dev",
      document: `target: shop
app: \${env:BASE}
stages:
  dev: { app: "\${env:DEV}" }
  prod: { app: "\${env:PROD} \${var:none}" }
`,
      errors: [
        "targets/shop.yaml:4:16 missing-env: The environment variable DEV is not set / At `stages.dev.app`. `${env:DEV}` takes its value from it. Set it, or add a fallback: `${env:DEV:-…}`.",
      ],
    },
    {
      rule: "is reported for an undefined variable",
      project: `${PROJECT}vars: { host: x }\n`,
      document: "target: shop\napp: ${var:hots}\n",
      errors: [
        "targets/shop.yaml:2:6 unknown-var: Unknown variable `hots` in stage default / At `app`. `${var:hots}` refers to an entry of `vars` in tasc.yaml, in the project or the stage. Known: `host`. Did you mean `host`?",
      ],
    },
    {
      rule: "is reported for a variable if the project defines no variables",
      document: "target: shop\napp: ${var:x}\n",
      errors: [
        "targets/shop.yaml:2:6 unknown-var: Unknown variable `x` in stage default / At `app`. `${var:x}` refers to an entry of `vars` in tasc.yaml, in the project or the stage. There are none.",
      ],
    },
    {
      rule: "is reported once for each circle of variables",
      project: `${PROJECT}vars: { b: "\${var:c}", c: "x\${var:a}", a: "\${var:b}", z: "\${var:z}", unused: "\${var:unused}" }\n`,
      document: "target: shop\napp: ${var:c}${var:b}\ntestIdAttribute: ${var:a}${var:z}\n",
      errors: [
        "tasc.yaml:3:44 var-cycle: Circular variables / At `vars.a`. Each of these takes its value from the next: a → b → c → a. Set one of them to a value.",
        "tasc.yaml:3:59 var-cycle: Circular variables / At `vars.z`. Each of these takes its value from the next: z → z. Set one of them to a value.",
      ],
    },
    {
      rule: "is reported if variables that double each other get too long",
      project: `${PROJECT}vars: { v0: xxxxxxxxxxxxxxxx, ${Array.from({ length: 40 }, (_, n) => `v${n + 1}: "\${var:v${n}}\${var:v${n}}"`).join(", ")} }\n`,
      document: "target: shop\napp: ${var:v40}\n",
      errors: [
        "tasc.yaml:3:442 too-long: The interpolated text is too long / At `vars.v16`. It would have 1048576 characters; at most 1000000 are allowed.",
      ],
    },
  ]);
});

describe("an invalid interpolation", () => {
  testBadInputs([
    {
      rule: "is an error that says what is wrong and names the escape if it may help",
      document: `target: shop
app: \${HOME}
testCases:
  a: { description: "\${evn:X} \${ env:X } \${}" }
  b: { description: "open \${env:X" }
  c: { description: "\${env:1X} \${env:} \${env:X-y}" }
  d: { description: "\${secret:X:-y} \${secret:a b} \${file:} \${var:a.b} \${stage:x}" }
  e: { description: "\${env:X:-\${var:y}}" }
`,
      errors: [
        "targets/shop.yaml:2:6 bad-placeholder: `${HOME}` is not an interpolation / At `app`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
        "targets/shop.yaml:4:22 bad-placeholder: `${evn:X}` is not an interpolation / At `testCases.a.description`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. Did you mean `${env:…}`? For a literal `${`, write `$${`.",
        "targets/shop.yaml:4:31 bad-placeholder: `${ env:X }` is not an interpolation / At `testCases.a.description`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. Did you mean `${env:…}`? For a literal `${`, write `$${`.",
        "targets/shop.yaml:4:42 bad-placeholder: `${}` is not an interpolation / At `testCases.a.description`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
        "targets/shop.yaml:5:27 bad-placeholder: `${env:X` is not an interpolation / At `testCases.b.description`. The closing `}` is missing. For a literal `${`, write `$${`.",
        "targets/shop.yaml:6:22 bad-placeholder: `${env:1X}` is not an interpolation / At `testCases.c.description`. `env:` takes the name of an environment variable (letters, digits and `_`), optionally followed by `:-` and a fallback.",
        "targets/shop.yaml:6:32 bad-placeholder: `${env:}` is not an interpolation / At `testCases.c.description`. `env:` takes the name of an environment variable (letters, digits and `_`), optionally followed by `:-` and a fallback.",
        "targets/shop.yaml:6:40 bad-placeholder: `${env:X-y}` is not an interpolation / At `testCases.c.description`. `env:` takes the name of an environment variable (letters, digits and `_`), optionally followed by `:-` and a fallback.",
        "targets/shop.yaml:7:22 bad-placeholder: `${secret:X:-y}` is not an interpolation / At `testCases.d.description`. A secret cannot have a fallback, because the fallback would be readable here.",
        "targets/shop.yaml:7:37 bad-placeholder: `${secret:a b}` is not an interpolation / At `testCases.d.description`. `secret:` takes the name of an environment variable: letters, digits and `_`.",
        "targets/shop.yaml:7:51 bad-placeholder: `${file:}` is not an interpolation / At `testCases.d.description`. The path is missing.",
        "targets/shop.yaml:7:60 bad-placeholder: `${var:a.b}` is not an interpolation / At `testCases.d.description`. `var:` takes a name under `vars`: letters, digits, `_` and `-`.",
        "targets/shop.yaml:7:71 bad-placeholder: `${stage:x}` is not an interpolation / At `testCases.d.description`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. Did you mean `${stage}`? For a literal `${`, write `$${`.",
        "targets/shop.yaml:8:22 bad-placeholder: `${env:X:-${var:y}` is not an interpolation / At `testCases.e.description`. Interpolations cannot be nested. Define the inner one under `vars` and use `${var:name}`.",
      ],
    },
    {
      rule: "is reported also in stages that are not selected",
      project: `${PROJECT}stages: { dev: { vars: { a: "\${x}" } }, prod: { vars: { a: "\${y}" } } }\n`,
      stage: "dev",
      document: 'target: shop\nstages: { prod: { app: "${z}" } }\n',
      errors: [
        "targets/shop.yaml:2:25 bad-placeholder: `${z}` is not an interpolation / At `stages.prod.app`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
        "tasc.yaml:3:30 bad-placeholder: `${x}` is not an interpolation / At `stages.dev.vars.a`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
        "tasc.yaml:3:61 bad-placeholder: `${y}` is not an interpolation / At `stages.prod.vars.a`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
      ],
    },
    {
      rule: "is found even if written with YAML escapes",
      document: 'target: shop\napp: "\\x24{a} \\u0024{b} $\\\n  {c}"\n',
      errors: [
        "targets/shop.yaml:2:6 bad-placeholder: `${a}` is not an interpolation / At `app`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
        "targets/shop.yaml:2:6 bad-placeholder: `${b}` is not an interpolation / At `app`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
        "targets/shop.yaml:2:6 bad-placeholder: `${c}` is not an interpolation / At `app`. An interpolation is `${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`. For a literal `${`, write `$${`.",
      ],
    },
  ]);
});

describe("an interpolated file", () => {
  testBadInputs([
    {
      rule: "must be a readable UTF-8 file inside the project, reached without symbolic links",
      document: `target: shop
testCases:
  a: { description: "\${file:../secret.txt}" }
  b: { description: "\${file:/etc/passwd}" }
  c: { description: "\${file:a/../../b}" }
  d: { description: "\${file:C:\\\\x}" }
  e: { description: "\${file:missing.md}" }
  f: { description: "\${file:link.md}" }
  g: { description: "\${file:folder/link.md}" }
  h: { description: "\${file:latin.txt}" }
  i: { description: "\${file:./../x}" }
  j: { description: "\${file:a//../../x}" }
`.replaceAll("\\\\", "\\\\"),
      files: {
        "link.md": new Link(undefined),
        folder: new Link(undefined),
        "latin.txt": Uint8Array.from([0x63, 0xe9]),
      },
      errors: [
        "targets/shop.yaml:3:22 unreadable-file: The file ../secret.txt cannot be used / At `testCases.a.description`. `${file:../secret.txt}`: The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
        "targets/shop.yaml:4:22 unreadable-file: The file /etc/passwd cannot be used / At `testCases.b.description`. `${file:/etc/passwd}`: The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
        "targets/shop.yaml:5:22 unreadable-file: The file a/../../b cannot be used / At `testCases.c.description`. `${file:a/../../b}`: The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
        "targets/shop.yaml:6:21 unreadable-file: The file C:\\x cannot be used / At `testCases.d.description`. `${file:C:\\x}`: The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
        "targets/shop.yaml:7:22 unreadable-file: The file missing.md cannot be used / At `testCases.e.description`. `${file:missing.md}`: There is no such file.",
        "targets/shop.yaml:8:22 unreadable-file: The file link.md cannot be used / At `testCases.f.description`. `${file:link.md}`: It is a symbolic link, or its path contains one. Use the path of the file itself.",
        "targets/shop.yaml:9:22 unreadable-file: The file folder/link.md cannot be used / At `testCases.g.description`. `${file:folder/link.md}`: It is a symbolic link, or its path contains one. Use the path of the file itself.",
        "targets/shop.yaml:10:22 unreadable-file: The file latin.txt cannot be used / At `testCases.h.description`. `${file:latin.txt}`: It is not UTF-8 text.",
        "targets/shop.yaml:11:22 unreadable-file: The file ./../x cannot be used / At `testCases.i.description`. `${file:./../x}`: The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
        "targets/shop.yaml:12:22 unreadable-file: The file a//../../x cannot be used / At `testCases.j.description`. `${file:a//../../x}`: The path leaves the project folder. Use a path inside it, relative to tasc.yaml.",
      ],
    },
    {
      rule: "is not read if only another stage uses it",
      project: `${PROJECT}stages: { dev: {}, prod: {} }\n`,
      stage: "dev",
      document:
        'target: shop\napp: "${file:dev.md}"\nstages: { prod: { app: "${file:prod.md}" } }\n',
      errors: [
        "targets/shop.yaml:2:7 unreadable-file: The file dev.md cannot be used / At `app`. `${file:dev.md}`: There is no such file.",
      ],
    },
  ]);
});

test("a stage's variable overrides the project's", async () => {
  const project = `${PROJECT}vars: { a: base, b: "\${var:a}!" }\nstages: { dev: {}, prod: { vars: { a: prod } } }\n`;
  const files = { "tasc.yaml": project, "targets/shop.yaml": "target: shop\napp: ${var:b}\n" };
  const [dev, prod] = await Promise.all(["dev", "prod"].map((stage) => loaded(files, { stage })));
  expect(dev?.desired.targets[0]?.fields).toEqual({ app: "base!" });
  expect(prod?.desired.targets[0]?.fields).toEqual({ app: "prod!" });
});

describe("many uses of variables", () => {
  const loadMany = (project: string, count: number, text: (at: number) => string) => {
    const cases = Array.from(
      { length: count },
      (_, at) => `  c${at}: { description: "${text(at)}" }\n`,
    );
    const target = `target: a\ntestCases:\n${cases.join("")}`;
    return loadProject(
      { root: "", env: { KEY: "k1234567" } },
      memoryFolder({ "tasc.yaml": `${PROJECT}vars:\n${project}`, "targets/a.yaml": target }),
    );
  };

  test("get short messages if undefined, and only the first 6 have suggestions", async () => {
    const vars = Array.from({ length: 3000 }, (_, at) => `  v${"x".repeat(30)}${at}: a\n`).join("");
    const { diagnostics } = await loadMany(vars, 300, (at) => `\${var:w${"x".repeat(30)}q${at}}`);
    expect(diagnostics).toHaveLength(300);
    expect(diagnostics.filter(({ detail }) => detail?.includes("Did you mean"))).toHaveLength(6);
    expect(Math.max(...diagnostics.map(({ detail }) => (detail ?? "").length))).toBeLessThan(1500);
    expect(diagnostics[0]?.detail).toContain(" and others");
  });

  test("are rejected before a long value fills the memory", async () => {
    const result = await loadMany(`  v: ${"a".repeat(900_000)}\n`, 120, (at) => `\${var:v}${at}`);
    expect(result.diagnostics).toHaveLength(9);
    expect(result.diagnostics).toMatchObject(
      Array.from({ length: 9 }, () => ({ code: "too-long" })),
    );
  });
});

test("variables that double each other are each looked into once", async () => {
  const lookups = async (count: number, project: (last: string) => string): Promise<number> => {
    const first = project("").includes("fingerprintKey") ? "${secret:TASC_KEY}" : "a";
    const vars = Array.from({ length: count }, (_, n) =>
      n === 0 ? `v0: "${first}"` : `v${n}: "\${var:v${n - 1}}\${var:v${n - 1}}"`,
    ).join(", ");
    const spy = vi.spyOn(Interpolator.prototype, "variable");
    const folder = memoryFolder({
      "tasc.yaml": `version: 1\n${project(`\${var:v${count - 1}}`)}vars: { ${vars} }\n`,
      "targets/shop.yaml": "target: shop\n",
    });
    const trust = () => Promise.resolve(() => ({ variables: ["*"] }));
    await loadProject(
      { root: "", env: { KEY: "k", TASC_KEY: "key-of-state-1234" } },
      { ...folder, trust },
    );
    const { length } = spy.mock.calls;
    spy.mockRestore();
    return length;
  };
  const rows: Readonly<Record<string, (last: string) => string>> = {
    "an address": (last) => `service: { baseUrl: "https://${last}", apiKey: "\${secret:KEY}" }\n`,
    "the end of an address": (last) =>
      `service: { baseUrl: "${last}://example.com", apiKey: "\${secret:KEY}" }\n`,
    "the key of state": (last) =>
      `service: { baseUrl: "https://example.com", apiKey: "\${secret:KEY}" }
state: { backend: local, fingerprintKey: "${last}" }\n`,
  };
  for (const [name, project] of Object.entries(rows)) {
    const [few, many] = [await lookups(9, project), await lookups(18, project)];
    expect(few, name).toBeGreaterThan(0);
    expect(many, name).toBeLessThanOrEqual(few * 3);
  }
});

test.each([
  ["https://${var:inner}${env:Q}", '"${env:H}/p"', "${env:Q}"],
  ["https://${var:inner}/p", '"${env:H}.example.com"', undefined],
  ["${var:inner}://${env:H}", "https", undefined],
  ["${var:inner}", '"https://${env:H}/${env:Q}"', "${var:inner}"],
])("in baseUrl %s with the variable %s", async (baseUrl, inner, misplaced) => {
  const result = await load(
    {
      "tasc.yaml": `version: 1
service: { baseUrl: "${baseUrl}", apiKey: "\${secret:KEY}" }
vars: { inner: ${inner} }
`,
      "targets/shop.yaml": "target: shop\napp: Shop\n",
    },
    { env: { KEY: "the-api-key", H: "h.example.com", Q: "q" } },
  );
  const found = result.diagnostics.filter(({ code }) => code === "base-url-interpolation");
  expect(found.map(({ summary }) => summary)).toEqual(
    misplaced === undefined ? [] : [`\`${misplaced}\` cannot be part of \`service.baseUrl\``],
  );
});
