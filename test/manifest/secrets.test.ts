import { inspect } from "node:util";
import { assert, asyncProperty, constantFrom, stringMatching } from "fast-check";
import { describe, expect, test } from "vitest";
import { isSensitive, isUnknown, reveal } from "../../src/model/value.ts";
import { testBadInputs } from "./bad-input.ts";
import { load, loaded, PROJECT, show, target } from "./loading.ts";

const ACCOUNT = (password: string): string =>
  `target: shop\nenvironments: { default: { testAccount: { username: qa, password: ${JSON.stringify(password)} } } }\n`;

describe("passwords and keys must come from secrets or files", () => {
  testBadInputs([
    {
      rule: "a literal is an error that names the fix without repeating the literal",
      document: `target: shop
trackerIntegration: { apiKey: hunter2-tracker }
environments:
  default: { testAccount: { password: hunter2-account, otpInitializerKey: hunter2-otp } }
  b: { basicAuth: { password: 12345678 } }
  c: { testAccount: hunter2-whole }
defaults: { environments: { basicAuth: { password: hunter2-default } } }
`,
      errors: [
        "targets/shop.yaml:2:31 secret-in-clear: `trackerIntegration.apiKey` must come from a secret or a file / At `trackerIntegration.apiKey`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "targets/shop.yaml:4:39 secret-in-clear: `environments.default.testAccount.password` must come from a secret or a file / At `environments.default.testAccount.password`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "targets/shop.yaml:4:75 secret-in-clear: `environments.default.testAccount.otpInitializerKey` must come from a secret or a file / At `environments.default.testAccount.otpInitializerKey`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "targets/shop.yaml:5:31 secret-in-clear: `environments.b.basicAuth.password` must come from a secret or a file / At `environments.b.basicAuth.password`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "targets/shop.yaml:6:21 bad-value: `environments.c.testAccount` must be a map, or null / At `environments.c.testAccount`. Found a string.",
        "targets/shop.yaml:7:52 secret-in-clear: `defaults.environments.basicAuth.password` must come from a secret or a file / At `defaults.environments.basicAuth.password`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
      ],
    },
    {
      rule: "environment variables, the stage, and secrets mixed with literals are errors",
      document: `target: shop
trackerIntegration: { apiKey: "\${env:TRACKER}" }
environments:
  default: { testAccount: { password: "x\${secret:KEY}", otpInitializerKey: "\${stage}" } }
  b: { basicAuth: { password: "\${hunter2}" } }
`,
      errors: [
        "targets/shop.yaml:2:31 secret-in-clear: `trackerIntegration.apiKey` must come from a secret or a file / At `trackerIntegration.apiKey`. `${env:…}` would show in outputs. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`. Here: `${secret:TRACKER}`.",
        "targets/shop.yaml:4:39 secret-in-clear: `environments.default.testAccount.password` must come from a secret or a file / At `environments.default.testAccount.password`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "targets/shop.yaml:4:76 secret-in-clear: `environments.default.testAccount.otpInitializerKey` must come from a secret or a file / At `environments.default.testAccount.otpInitializerKey`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "targets/shop.yaml:5:31 secret-in-clear: `environments.b.basicAuth.password` must come from a secret or a file / At `environments.b.basicAuth.password`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
      ],
    },
    {
      rule: "literals and environment variables are also errors in tasc.yaml and in stages that are not selected",
      project: `version: 1
service: { baseUrl: "http://a", apiKey: hunter2-key }
state: { backend: http, address: "http://s/{target}", password: "\${env:PW}" }
stages: { dev: {}, prod: { service: { apiKey: "\${env:PROD_KEY}" } } }
`,
      stage: "dev",
      document: `target: shop\nstages: { prod: { trackerIntegration: { apiKey: hunter2 } } }\n`,
      errors: [
        "targets/shop.yaml:2:49 secret-in-clear: `stages.prod.trackerIntegration.apiKey` must come from a secret or a file / At `stages.prod.trackerIntegration.apiKey`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "tasc.yaml:2:41 secret-in-clear: `service.apiKey` must come from a secret or a file / At `service.apiKey`. Secrets written in the file stay in git history. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
        "tasc.yaml:3:65 secret-in-clear: `state.password` must come from a secret or a file / At `state.password`. `${env:…}` would show in outputs. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`. Here: `${secret:PW}`.",
        "tasc.yaml:4:47 secret-in-clear: `stages.prod.service.apiKey` must come from a secret or a file / At `stages.prod.service.apiKey`. `${env:…}` would show in outputs. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`. Here: `${secret:PROD_KEY}`.",
      ],
    },
    {
      rule: "a variable is an error unless it contains only secrets and files",
      project: `${PROJECT}vars: { literal: hunter2, open: "\${env:OPEN}", mixed: "a\${secret:KEY}", ok: "\${secret:KEY}" }\n`,
      document: `target: shop
environments:
  a: { basicAuth: { password: "\${var:literal}" } }
  b: { basicAuth: { password: "\${var:open}" } }
  c: { basicAuth: { password: "\${var:mixed}" } }
  d: { basicAuth: { password: "\${var:ok}" } }
`,
      env: { KEY: "kkkk", OPEN: "open" },
      errors: [
        "targets/shop.yaml:3:32 secret-in-clear: `environments.a.basicAuth.password` must come from a secret or a file / At `environments.a.basicAuth.password`. `${var:literal}` brings in other values. Write `${secret:NAME}` or `${file:path}`; a `${var:name}` is possible if it resolves to nothing but these.",
        "targets/shop.yaml:4:32 secret-in-clear: `environments.b.basicAuth.password` must come from a secret or a file / At `environments.b.basicAuth.password`. `${var:open}` brings in other values. Write `${secret:NAME}` or `${file:path}`; a `${var:name}` is possible if it resolves to nothing but these.",
        "targets/shop.yaml:5:32 secret-in-clear: `environments.c.basicAuth.password` must come from a secret or a file / At `environments.c.basicAuth.password`. `${var:mixed}` brings in other values. Write `${secret:NAME}` or `${file:path}`; a `${var:name}` is possible if it resolves to nothing but these.",
      ],
    },
    {
      rule: "an empty password is an error",
      document: `target: shop\nenvironments: { default: { basicAuth: { password: "" } } }\n`,
      errors: [
        "targets/shop.yaml:2:51 secret-in-clear: `environments.default.basicAuth.password` must come from a secret or a file / At `environments.default.basicAuth.password`. Found nothing. Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.",
      ],
    },
    {
      rule: "a malformed placeholder is an error that does not repeat it",
      document: ACCOUNT("${secret:hunter2 or so}"),
      errors: [
        "targets/shop.yaml:2:68 bad-placeholder: `${…}` is not an interpolation / At `environments.default.testAccount.password`. `secret:` takes the name of an environment variable: letters, digits and `_`.",
      ],
    },
  ]);

  test.each([
    ["a secret", "${secret:PW}", "pass-word"],
    ["a file", "${file:pw.txt}", "from a file"],
    ["several of them", "${secret:PW}${file:pw.txt}", "pass-wordfrom a file"],
    ["a variable that holds one", "${var:pw}", "pass-word"],
    ["a variable that holds one that holds one", "${var:pw2}", "pass-wordfrom a file"],
  ])("accepts %s as a password", async (_, text, expected) => {
    const { environments } = await target(ACCOUNT(text), {
      env: { KEY: "k", PW: "pass-word" },
      files: {
        "tasc.yaml": `${PROJECT}vars: { pw: "\${secret:PW}", pw2: "\${var:pw}\${file:pw.txt}" }\n`,
        "pw.txt": "from a file\n",
      },
    });
    const account = environments[0]?.fields["testAccount"] ?? null;
    expect(reveal(account)).toEqual({ username: "qa", password: expected });
    expect(JSON.stringify(account)).toBe('{"username":"qa","password":"(sensitive)"}');
  });
});

describe("sensitive values", () => {
  const document = `target: shop
app: Shop \${secret:APP}
testIdAttribute: \${var:hidden}
environments:
  default:
    discoveryUrl: https://\${secret:APP}.example
    additionalHeaderFields: { X-Literal: literal header, X-Secret: "\${secret:APP}" }
testCases:
  a:
    tags: [open, "\${secret:APP}"]
    discovery: { prompt: "Say \${var:open}.", type: "\${secret:TYPE}" }
batchGenerations: { g: { context: { a: "\${secret:APP}", b: 1 } } }
`;
  const files = { "tasc.yaml": `${PROJECT}vars: { hidden: "\${secret:APP}", open: hello }\n` };
  const env = { KEY: "k", APP: "s3cret", TYPE: "LOGIN" };

  test("include every text that contains a secret, and every header value", async () => {
    const shop = await target(document, { files, env });
    const [environment, testCase, batch] = [
      shop.environments[0],
      shop.testCases[0],
      shop.batchGenerations[0],
    ];
    expect(
      JSON.parse(
        JSON.stringify([shop.fields, environment?.fields, testCase?.fields, batch?.fields]),
      ),
    ).toEqual([
      { app: "(sensitive)", testIdAttribute: "(sensitive)" },
      {
        discoveryUrl: "(sensitive)",
        additionalHeaderFields: { "X-Literal": "(sensitive)", "X-Secret": "(sensitive)" },
      },
      {
        tags: ["open", "(sensitive)"],
        "discovery.prompt": "Say hello.",
        "discovery.type": "(sensitive)",
      },
      { context: { a: "(sensitive)", b: 1 } },
    ]);
    expect(reveal(shop.fields["app"] ?? null)).toBe("Shop s3cret");
    expect(reveal(testCase?.fields["discovery.type"] ?? null)).toBe("LOGIN");
  });

  test("are listed for redaction if they have 4 or more characters, longest first", async () => {
    const { secrets } = await loaded(
      { "targets/shop.yaml": document, ...files },
      { env: { ...env, KEY: "key" } },
    );
    expect(secrets).toEqual([
      "https://s3cret.example",
      "literal header",
      "Shop s3cret",
      "s3cret",
      "LOGIN",
    ]);
  });

  test("are also listed without leading and trailing white space", async () => {
    const { secrets } = await loaded(
      { "targets/shop.yaml": ACCOUNT("${file:pw.txt}"), "pw.txt": " padded\n\n" },
      { env: { KEY: "  key-1 " } },
    );
    expect(secrets).toEqual(["  key-1 ", " padded\n", "padded", "key-1"]);
  });

  testBadInputs([
    {
      rule: "are rejected in fields that plans and messages show: ids, numbers, flags, references, settings",
      project: `version: 1
service: { baseUrl: "http://\${secret:S}", apiKey: "\${secret:S}", concurrency: "\${secret:S}" }
state: { backend: "\${secret:S}" }
policy: { onRemove: "\${secret:S}", protected: ["\${secret:S}"] }
`,
      document: `target: shop
id: \${secret:S}
timeoutPerStep: \${secret:S}
onRemove: \${secret:S}
testCases: { a: { elements: [{ ignoreFailure: "\${secret:S}" }], discovery: { prerequisite: "\${secret:S}" } } }
`,
      env: { S: "s3cret" },
      errors: [
        "targets/shop.yaml:2:5 secret-misplaced: `id` cannot be a secret / At `id`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "targets/shop.yaml:3:17 secret-misplaced: `timeoutPerStep` cannot be a secret / At `timeoutPerStep`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "targets/shop.yaml:4:11 secret-misplaced: `onRemove` cannot be a secret / At `onRemove`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "targets/shop.yaml:5:48 secret-misplaced: `testCases.a.elements[0].ignoreFailure` cannot be a secret / At `testCases.a.elements[0].ignoreFailure`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "targets/shop.yaml:5:93 secret-misplaced: `testCases.a.discovery.prerequisite` cannot be a secret / At `testCases.a.discovery.prerequisite`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "tasc.yaml:2:29 base-url-interpolation: `${secret:S}` cannot be part of `service.baseUrl` / At `service.baseUrl`. The API key is sent to this address. Only `${env:…}`, `${var:…}` and `${stage}` are interpolated in it, and only before its path.",
        "tasc.yaml:2:80 secret-misplaced: `service.concurrency` cannot be a secret / At `service.concurrency`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "tasc.yaml:3:20 secret-misplaced: `state.backend` cannot be a secret / At `state.backend`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "tasc.yaml:4:22 secret-misplaced: `policy.onRemove` cannot be a secret / At `policy.onRemove`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
        "tasc.yaml:4:49 secret-misplaced: `policy.protected[0]` cannot be a secret / At `policy.protected[0]`. `${secret:S}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
      ],
    },
    {
      rule: "are not shown in the error for an invalid value",
      document: `target: shop\ntestCases: { a: { status: "\${secret:KEY}", runStatus: "O\${secret:KEY}" } }\n`,
      errors: [
        "targets/shop.yaml:2:28 bad-value: `testCases.a.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL` / At `testCases.a.status`. `${secret:KEY}` resolved to a string.",
        "targets/shop.yaml:2:56 bad-value: `testCases.a.runStatus` must be one of `ON` or `OFF` / At `testCases.a.runStatus`. `O${secret:KEY}` resolved to a string.",
      ],
    },
  ]);
});

describe("a missing secret", () => {
  const document = `target: shop
app: Shop \${secret:APP}
environments: { default: { testAccount: { username: qa, password: "\${secret:PW}" } } }
`;

  testBadInputs([
    {
      rule: "is an error, and so is an empty one",
      document,
      env: { KEY: "k", PW: "" },
      errors: [
        "targets/shop.yaml:2:11 missing-secret: The secret APP is not set / At `app`. `${secret:APP}` takes its value from the environment variable APP. Set it.",
        "targets/shop.yaml:3:68 missing-secret: The secret PW is empty / At `environments.default.testAccount.password`. `${secret:PW}` takes its value from the environment variable PW. Set it.",
      ],
    },
  ]);

  test("is an unknown value with a warning if missing secrets are allowed", async () => {
    const { desired, diagnostics } = await loaded(
      { "targets/shop.yaml": document },
      { env: { KEY: "k", PW: "" }, allowMissingSecrets: true },
    );
    expect(show(diagnostics)).toEqual([
      "targets/shop.yaml:2:11 warning missing-secret: The secret APP is not set / At `app`. `${secret:APP}` is treated as unknown. Fields that use it are neither compared nor planned.",
      "targets/shop.yaml:3:68 warning missing-secret: The secret PW is empty / At `environments.default.testAccount.password`. `${secret:PW}` is treated as unknown. Fields that use it are neither compared nor planned.",
    ]);
    const [shop] = desired.targets;
    expect(isUnknown(shop?.fields["app"] ?? null)).toBe(true);
    expect(isSensitive(shop?.fields["app"] ?? null)).toBe(true);
    expect(isUnknown(shop?.environments[0]?.fields["testAccount"] ?? null)).toBe(true);
  });

  test("is the only kind of missing input that can be allowed", async () => {
    const result = await load(
      { "targets/shop.yaml": "target: shop\napp: ${env:APP}${file:a.txt}\n" },
      { allowMissingSecrets: true },
    );
    expect(result.diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ["error", "missing-env"],
      ["error", "unreadable-file"],
    ]);
  });

  test("is ignored for the API key if the service is not called", async () => {
    const files = { "targets/shop.yaml": "target: shop\n" };
    const without = await loaded(files, { env: {}, needsApiKey: false });
    expect([without.settings.apiKey, without.diagnostics]).toEqual([undefined, []]);
    const allowed = await loaded(files, { env: {}, needsApiKey: false, allowMissingSecrets: true });
    expect([allowed.settings.apiKey, allowed.diagnostics]).toEqual([undefined, []]);
    const present = await loaded(files, { env: { KEY: "key-1" }, needsApiKey: false });
    expect(present.settings.apiKey?.reveal()).toBe("key-1");
  });
});

describe("diagnostics never contain", () => {
  const secret = stringMatching(/^[A-Za-z0-9!#%&@^~]{6,20}$/).map((text) => `S3CR3T${text}`);
  const PLACES: readonly ((text: string) => string)[] = [
    (text) => `app: "${text}"`,
    (text) => `id: "${text}"`,
    (text) => `timeoutPerStep: "${text}"`,
    (text) => `trackerIntegration: { domain: "${text}" }`,
    (text) => `trackerIntegration: { apiKey: "${text}" }`,
    (text) => `environments: { default: { testAccount: { password: "${text}" } } }`,
    (text) => `environments: { default: { testAccount: { password: ["${text}"] } } }`,
    (text) => `environments: { default: { testAccount: "${text}" } }`,
    (text) => `environments: { default: { additionalHeaderFields: { X-Key: "${text}" } } }`,
    (text) => `environments: { default: { additionalHeaderFields: { X-Key: ["${text}"] } } }`,
    (text) => `testCases: { a: { status: "${text}", elements: [{ ignoreFailure: "${text}" }] } }`,
    (text) => `testCases: { a: { discovery: { prerequisite: "${text}" } } }`,
    (text) => `onRemove: "${text}"`,
  ];

  const GUARDED = PLACES.filter((place) => /password|apiKey|X-Key|Account/.test(place("")));

  test("a secret, wherever its placeholder is written", async () => {
    const placeholder = constantFrom("${secret:S}", "x${secret:S}y", "${var:s}");
    await assert(
      asyncProperty(secret, placeholder, constantFrom(...PLACES), async (text, written, place) => {
        const result = await load(
          {
            "tasc.yaml": `${PROJECT}vars: { s: "\${secret:S}" }\n`,
            "targets/shop.yaml": `target: shop\n${place(written)}\n`,
          },
          { env: { KEY: "key-1", S: text } },
        );
        expect(inspect(result.diagnostics, { depth: 9 })).not.toContain(text);
        if (!result.ok) return;
        expect(inspect(result.desired, { depth: 9 })).not.toContain(text);
        expect(JSON.stringify(result.desired)).not.toContain(text);
        expect(result.secrets).toContain(text);
      }),
      { numRuns: 300 },
    );
  });

  test("the content of a file that is used in a sensitive field", async () => {
    await assert(
      asyncProperty(
        secret,
        constantFrom(...GUARDED),
        constantFrom("", "${file:t.txt}"),
        async (text, place, more) => {
          const result = await load({
            "targets/shop.yaml": `target: shop\n${place(`\${file:s.txt}${more}`)}\n`,
            "s.txt": `${text}\n`,
            "t.txt": "of another file",
          });
          expect(inspect(result.diagnostics, { depth: 9 })).not.toContain(text);
          if (result.ok) expect(result.secrets).toContain(text);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("a literal that is written in a sensitive field", async () => {
    await assert(
      asyncProperty(secret, constantFrom(...GUARDED), async (text, place) => {
        const { diagnostics } = await load({
          "targets/shop.yaml": `target: shop\n${place(text)}\n`,
        });
        expect(inspect(diagnostics, { depth: 9 })).not.toContain(text);
      }),
      { numRuns: 100 },
    );
  });
});
