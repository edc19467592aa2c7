// Invalid manifests and arguments: exit 3, each error with its place, no request, no stack trace.
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectNoStack, PROJECT, scene, type Env, type Files } from "./support/cli.ts";
import { isObject, parseJson } from "./support/json.ts";

interface Bad {
  readonly says: string;
  readonly files: Files;
  readonly env?: Env;
  readonly args?: readonly string[];
  /** The output contains all of these. */
  readonly told: readonly (string | RegExp)[];
}

const BASE = "target: shop\napp: Web Shop\n";
const shop = (content: string | Buffer): Files => ({ "targets/shop.yaml": content });
const added = (content: string): Files => shop(BASE + content);

const BAD: readonly Bad[] = [
  {
    says: "broken YAML",
    files: added("testCases: { a: [\n"),
    told: [/targets\/shop\.yaml:\d+:\d+/u],
  },
  {
    says: "a tab for indentation",
    files: added("testCases:\n\ta: {}\n"),
    told: [/targets\/shop\.yaml:4:1/u, /tab/iu],
  },
  {
    says: "a duplicate key",
    files: added("testCases:\n  a: { description: A }\n  a: { description: B }\n"),
    told: [/targets\/shop\.yaml:5:3/u, /duplicate|twice|already/iu],
  },
  {
    says: "an unknown key, and the error suggests the nearest correct one",
    files: added("testCases:\n  a: { descripton: A }\n"),
    told: ["targets/shop.yaml:4:8", "descripton", "description"],
  },
  {
    says: "an unknown key at the top",
    files: added("timeoutPerSteps: 3\n"),
    told: ["targets/shop.yaml:3:1", "timeoutPerSteps", "timeoutPerStep"],
  },
  {
    says: "an unknown key in tasc.yaml",
    files: { "tasc.yaml": `${PROJECT}stagess: {}\n`, ...added("") },
    told: [/tasc\.yaml:6:1/u, "stagess", "stages"],
  },
  {
    says: "an unknown enum value, and the error lists the allowed values",
    files: added("testCases:\n  a: { description: A, status: ENABELD }\n"),
    told: [
      "targets/shop.yaml:4:32",
      "ENABELD",
      "ENABLED",
      "DISABLED",
      "PROVISIONAL",
      /testCases\.a\.status/u,
    ],
  },
  {
    says: "a wrong type",
    files: added("timeoutPerStep: soon\n"),
    told: ["targets/shop.yaml:3:17", "soon", /integer|number/u],
  },
  {
    says: "a map instead of a list",
    files: added("testCases:\n  a: { description: A, tags: { x: 1 } }\n"),
    told: [/targets\/shop\.yaml:4:(?:24|30)/u, /list|array/u],
  },
  {
    says: "a null for a field that cannot be null",
    files: added("testCases:\n  a: { description: null }\n"),
    told: ["targets/shop.yaml:4:21", /null/u],
  },
  {
    says: "a null tag list",
    files: added("testCases:\n  a: { description: A, tags: null }\n"),
    told: ["targets/shop.yaml:4:30"],
  },
  {
    says: "errors in several files, and all of them are reported",
    files: {
      "targets/a.yaml": "target: a\napp: A\nappp: B\ntestCases: { x: { status: NO } }\n",
      "targets/b.yaml": "target: b\napp: [1]\n",
    },
    told: ["targets/a.yaml:3:1", "targets/a.yaml:4:27", /targets\/b\.yaml:2:[16]/u],
  },
  {
    says: "missing variables and secrets, and all of them are reported with their places",
    files: {
      "tasc.yaml": PROJECT.replace("TASC_API_KEY", "MISSING_KEY"),
      ...added(
        "testIdAttribute: ${env:MISSING_1}\ntestCases:\n  a: { description: A, entryPointUrlPath: '/${env:MISSING_2}' }\nenvironments: { default: { testAccount: { password: '${secret:MISSING_3}' } } }\n",
      ),
    },
    told: [
      "MISSING_KEY",
      /tasc\.yaml:4:\d+/u,
      "MISSING_1",
      /targets\/shop\.yaml:3:\d+/u,
      "MISSING_2",
      /targets\/shop\.yaml:5:\d+/u,
      "MISSING_3",
      /targets\/shop\.yaml:6:\d+/u,
    ],
  },
  {
    says: "a secret that is set but empty",
    files: added("environments: { default: { testAccount: { password: '${secret:EMPTY}' } } }\n"),
    env: { EMPTY: "" },
    told: ["EMPTY", /targets\/shop\.yaml:3:\d+/u],
  },
  {
    says: "a literal password, and the error does not repeat it",
    files: added("environments: { default: { testAccount: { password: literal-pw-1 } } }\n"),
    told: ["targets/shop.yaml:3:53", "${secret:"],
  },
  {
    says: "a password from an environment variable",
    files: added(
      "environments: { default: { basicAuth: { password: '${env:GATE_PASSWORD}' } } }\n",
    ),
    told: ["targets/shop.yaml:3:51", "${secret:"],
  },
  {
    says: "a literal otpInitializerKey",
    files: added("environments: { default: { testAccount: { otpInitializerKey: ABCD } } }\n"),
    told: ["targets/shop.yaml:3:62", "${secret:"],
  },
  {
    says: "a literal tracker apiKey",
    files: added("trackerIntegration: { apiKey: abcdef }\n"),
    told: ["targets/shop.yaml:3:31", "${secret:"],
  },
  {
    says: "a literal service.apiKey",
    files: { "tasc.yaml": PROJECT.replace("${secret:TASC_API_KEY}", "abcdef"), ...added("") },
    told: [/tasc\.yaml:4:11/u, "${secret:"],
  },
  {
    says: "a literal password in defaults",
    files: added("defaults: { environments: { testAccount: { password: literal } } }\n"),
    told: ["targets/shop.yaml:3:54"],
  },
  {
    says: "an unknown ${…}, and the error names the escape",
    files: added("testIdAttribute: a-${data}\n"),
    told: [/targets\/shop\.yaml:3:\d+/u, "${data}", "$${"],
  },
  {
    says: "an unknown kind of ${…:…}, and the error names the escape",
    files: added("testIdAttribute: ${vault:x}\n"),
    told: [/targets\/shop\.yaml:3:\d+/u, "$${"],
  },
  {
    says: "an interpolation that is not closed",
    files: added('testIdAttribute: "${env:X"\n'),
    told: [/targets\/shop\.yaml:3:\d+/u],
  },
  {
    says: "an unknown var",
    files: added("testIdAttribute: ${var:nope}\n"),
    told: [/shop\.yaml:3:\d+/u, "nope"],
  },
  {
    says: "circular variables",
    files: {
      "tasc.yaml": `${PROJECT}vars: { a: "\${var:b}", b: "\${var:a}" }\n`,
      ...added("testIdAttribute: ${var:a}\n"),
    },
    told: [/\.yaml:\d+:\d+/u],
  },
  {
    says: "an interpolated file that does not exist",
    files: added("testIdAttribute: ${file:nope.txt}\n"),
    told: [/targets\/shop\.yaml:3:\d+/u, "nope.txt"],
  },
  {
    says: "an interpolated file outside of the project",
    files: added("testIdAttribute: ${file:../../etc/passwd}\n"),
    told: [/targets\/shop\.yaml:3:\d+/u, /outside|leave|project folder/u],
  },
  {
    says: "an interpolated file with an absolute path",
    files: added("testIdAttribute: ${file:/etc/passwd}\n"),
    told: [/targets\/shop\.yaml:3:\d+/u],
  },
  {
    says: "a manifest pattern that leaves the project",
    files: { "tasc.yaml": `${PROJECT}manifests: ["../**/*.yaml"]\n`, ...added("") },
    told: [/tasc\.yaml:6:13/u],
  },
  ...["__proto__", "constructor", "prototype"].flatMap((key): readonly Bad[] => [
    {
      says: `${key} as a key of a document`,
      files: added(`${key}: { polluted: true }\n`),
      told: ["targets/shop.yaml:3:1", key],
    },
    {
      says: `${key} as the key of a test case`,
      files: added(`testCases:\n  ${key}: { description: A }\n`),
      told: ["targets/shop.yaml:4:3", key],
    },
  ]),
  {
    says: "a key with a dot",
    files: added("testCases:\n  a.b: { description: A }\n"),
    told: ["targets/shop.yaml:4:3", "a.b"],
  },
  {
    says: "a merge key",
    files: added("testCases:\n  a: &a { description: A }\n  b: { <<: *a }\n"),
    told: [/targets\/shop\.yaml:5:\d+/u, "<<"],
  },
  {
    says: "a duplicate key, and the other errors of the file are reported too",
    files: added("timeoutPerStep: 5\ntimeoutPerStep: 6\ntestCases: { x: { status: ENABLD } }\n"),
    told: ["targets/shop.yaml:4:1", "targets/shop.yaml:5:27", "ENABLED"],
  },
  {
    says: "an unknown key in tasc.yaml, and the other errors of the project are reported too",
    files: {
      "tasc.yaml": `${PROJECT}foo: 1\ndefaultStage: nope\n`,
      ...shop("target: shop\napp: Web Shop\ntestCases: { x: { status: ENABLD } }\n"),
    },
    told: ["foo", "nope", "ENABLD"],
  },
  {
    says: "a base address with an unsupported scheme",
    files: {
      "tasc.yaml": PROJECT.replace(/baseUrl: .*/u, "baseUrl: ftp://tests.example.com"),
      ...added(""),
    },
    told: [/tasc\.yaml:\d+:\d+/u, "https"],
  },
  {
    says: "a base address that includes a path of the API",
    files: {
      "tasc.yaml": PROJECT.replace(/baseUrl: .*/u, "baseUrl: https://a.example.com/apiKey"),
      ...added(""),
    },
    told: [/tasc\.yaml:\d+:\d+/u, "/apiKey"],
  },
  {
    says: "an alias bomb",
    files: added(
      `testCases:\n  a: { description: A, tags: &t0 [x, x, x, x, x, x, x, x, x] }\n${Array.from(
        { length: 12 },
        (_, n) =>
          `  b${n}: { description: B, tags: &t${n + 1} [${Array.from({ length: 9 }, () => `*t${n}`).join(", ")}] }\n`,
      ).join("")}`,
    ),
    told: [/targets\/shop\.yaml:\d+:\d+/u],
  },
  {
    says: "an alias that contains itself",
    files: added("testCases: &a\n  x: *a\n"),
    told: [/targets\/shop\.yaml:\d+:\d+/u],
  },
  {
    says: "an alias without an anchor",
    files: added("testCases: *nowhere\n"),
    told: [/targets\/shop\.yaml:3:\d+/u],
  },
  {
    says: "an address declared in two files, and the error names both places",
    files: {
      "targets/a.yaml": "target: shop\napp: Web Shop\ntestCases: { login: { description: A } }\n",
      "targets/b.yaml": "target: shop\ntestCases: { login: { description: A } }\n",
    },
    told: ["testCase.shop.login", /targets\/a\.yaml:3:\d+/u, /targets\/b\.yaml:2:\d+/u],
  },
  {
    says: "a field of a target set in two files, and the error names both places",
    files: { "targets/a.yaml": BASE, "targets/b.yaml": BASE },
    told: ["app", /targets\/a\.yaml:2:\d+/u, /targets\/b\.yaml:2:\d+/u],
  },
  {
    says: "a prerequisite that does not exist, and the error suggests the nearest one",
    files: added(
      "testCases:\n  login: { description: L }\n  a: { description: A, discovery: { prompt: P, prerequisite: logn } }\n",
    ),
    told: [/targets\/shop\.yaml:5:\d+/u, "logn", "login"],
  },
  {
    says: "circular prerequisites, and the error lists them in order",
    files: added(
      "testCases:\n" +
        "  a: { description: A, discovery: { prompt: P, prerequisite: b } }\n" +
        "  b: { description: B, discovery: { prompt: P, prerequisite: c } }\n" +
        "  c: { description: C, discovery: { prompt: P, prerequisite: a } }\n",
    ),
    told: [
      /targets\/shop\.yaml:\d+:\d+/u,
      /(?:a\b.*\bb\b.*\bc\b.*\ba)|(?:b\b.*\bc\b.*\ba\b.*\bb)|(?:c\b.*\ba\b.*\bb\b.*\bc)/u,
    ],
  },
  {
    says: "a test case that is its own prerequisite",
    files: added(
      "testCases:\n  a: { description: A, discovery: { prompt: P, prerequisite: a } }\n",
    ),
    told: [/targets\/shop\.yaml:4:\d+/u],
  },
  {
    says: "a batch generation with an unknown environment",
    files: added("batchGenerations: { s: { prompt: P, environment: nowhere } }\n"),
    told: [/targets\/shop\.yaml:3:\d+/u, "nowhere"],
  },
  {
    says: "a batch generation with an unknown prerequisite",
    files: added("batchGenerations: { s: { prompt: P, prerequisite: nobody } }\n"),
    told: [/targets\/shop\.yaml:3:\d+/u, "nobody"],
  },
  {
    says: "an empty manifest",
    files: { ...added(""), "targets/empty.yaml": "" },
    told: ["targets/empty.yaml:1:1"],
  },
  {
    says: "a manifest of comments only",
    files: { ...added(""), "targets/empty.yaml": "# later\n" },
    told: [/targets\/empty\.yaml:1:1/u],
  },
  {
    says: "bytes that are not UTF-8",
    files: shop(Buffer.concat([Buffer.from(BASE), Buffer.from([0x23, 0xff, 0xfe, 0x0a])])),
    told: ["targets/shop.yaml", /UTF-8/u],
  },
  { says: "no manifests at all", files: {}, told: [/targets/u] },
  {
    says: "a target document that is a list",
    files: shop("- a\n"),
    told: ["targets/shop.yaml:1:1"],
  },
  {
    says: "a target document without the key target",
    files: shop("app: Web Shop\n"),
    told: [/targets\/shop\.yaml:1:1/u, "target"],
  },
  {
    says: "an empty tasc.yaml",
    files: { "tasc.yaml": "", ...added("") },
    told: [/tasc\.yaml:1:1/u],
  },
  {
    says: "an unsupported version of tasc.yaml",
    files: { "tasc.yaml": PROJECT.replace("version: 1", "version: 2"), ...added("") },
    told: [/tasc\.yaml:1:10/u],
  },
  {
    says: "an override for an unknown stage",
    files: added("stages: { prod: { app: X } }\n"),
    told: [/targets\/shop\.yaml:3:11/u, "prod"],
  },
  {
    says: "circular moves",
    files: added(
      "testCases: { a: { description: A } }\nmoved:\n  - { from: testCase.shop.a, to: testCase.shop.b }\n  - { from: testCase.shop.b, to: testCase.shop.a }\n",
    ),
    told: [/targets\/shop\.yaml:[56]:\d+/u],
  },
  {
    says: "a move to another kind of resource",
    files: added(
      "testCases: { a: { description: A } }\nmoved: [{ from: environment.shop.a, to: testCase.shop.a }]\n",
    ),
    told: [/targets\/shop\.yaml:4:\d+/u],
  },
  {
    says: "an --only that matches nothing",
    files: added("testCases: { login: { description: A } }\n"),
    args: ["--only", "testCase.shop.logni"],
    told: ["testCase.shop.logni"],
  },
  {
    says: "an unknown --stage",
    files: added(""),
    args: ["--stage", "nope"],
    told: ["nope", "default"],
  },
  { says: "an unknown flag", files: added(""), args: ["--no-such-flag"], told: ["--no-such-flag"] },
  {
    says: "an unknown format",
    files: added(""),
    args: ["--format", "yaml"],
    told: ["yaml", "json"],
  },
  {
    says: "an unknown log level",
    files: added(""),
    args: ["--log-level", "loud"],
    told: ["loud", "debug"],
  },
  {
    says: "a malformed duration",
    files: added(""),
    args: ["--request-timeout", "soon"],
    told: ["--request-timeout"],
  },
  {
    says: "a --retries value that is not a number",
    files: added(""),
    args: ["--retries", "many"],
    told: ["--retries"],
  },
  { says: "a surplus argument", files: added(""), args: ["surplus"], told: [/argument/u] },
  {
    says: "a --dotenv file that does not exist",
    files: added(""),
    args: ["--dotenv", "nope.env"],
    told: ["nope.env"],
  },
  {
    says: "a --chdir folder that does not exist",
    files: added(""),
    args: ["--chdir", "nowhere"],
    told: ["tasc.yaml"],
  },
];

describe.concurrent("bad input", () => {
  test.each(BAD)("plan exits 3: $says", async ({ files, env, args = [], told }) => {
    await scene({}, async ({ project, service }) => {
      await project.write(files);
      const ran = await project.run(["plan", ...args], env);
      expect(ran.code, ran.stdout + ran.stderr).toBe(3);
      expect(ran.stdout).toBe("");
      for (const part of told)
        if (typeof part === "string") expect(ran.stderr).toContain(part);
        else expect(ran.stderr).toMatch(part);
      expect(ran.stderr).not.toContain("literal-pw-1");
      expectNoStack(ran);
      expect(service.log).toEqual([]);
    });
  });

  test("plan exits 3: a file behind a symbolic link that leaves the project", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write(added("testIdAttribute: ${file:link.txt}\n"));
      await symlink("/etc/hostname", join(project.dir, "link.txt"));
      const ran = await project.run(["plan"]);
      expect(ran.code).toBe(3);
      expect(ran.stderr).toMatch(/targets\/shop\.yaml:3:\d+/u);
      expect(service.log).toEqual([]);
    });
  });

  test.each([
    ["plam"],
    ["state", "lst"],
    ["schema", "plans"],
    ["state", "mark", "batchGeneration.shop.x", "maybe"],
  ])("an unknown command or choice exits 3: %s", async (...args) => {
    await scene({}, async ({ project, service }) => {
      await project.write(added(""));
      const ran = await project.run(args);
      expect(ran.code).toBe(3);
      expect(ran.stdout).toBe("");
      expect(ran.stderr).toContain(
        args.find((arg) => ["plam", "lst", "plans", "maybe"].includes(arg)),
      );
      expectNoStack(ran);
      expect(service.log).toEqual([]);
    });
  });

  test.for<[args: string, hint: string]>([
    ["plan -target testCase.shop.login", "tasc plan --only testCase.shop.login"],
    ["apply -auto-approve", "Options have two dashes: --auto-approve"],
    ["plan -json", "Options have two dashes: --json"],
    ["destroy", "status: DISABLED"],
    ["sync", "tasc apply"],
    ["dump", "tasc import"],
    ["version", "tasc --version"],
    ["workspace list", "tasc stages"],
    ["plan --bogus", "Run 'tasc plan --help' for usage."],
    ["state pull --bogus", "Run 'tasc state pull --help' for usage."],
    ["state bogus", "Run 'tasc state --help' for usage."],
    ["plan --only shop", 'Did you mean "*.shop.*"?'],
    ["plan --only login", "Did you mean testCase.shop.login?"],
  ])("a wrong command, option or address exits 3 with a hint: %s", async ([args, hint]) => {
    await scene({}, async ({ project }) => {
      await project.write({
        "targets/shop.yaml":
          "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in } }\n",
      });
      const ran = await project.run(args.split(" "));
      expect(ran.code).toBe(3);
      expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain(hint);
    });
  });

  test("a pattern that matches no file is only a warning if another pattern matches a file", async () => {
    await scene({}, async ({ project, service }) => {
      service.addTarget("Web Shop");
      const patterns = 'manifests: ["targets/{shop,none}.yaml", "tragets/**/*.yaml"]';
      await project.write({
        ...added(""),
        "tasc.yaml": `${await project.read("tasc.yaml")}${patterns}\n`,
      });
      const { ran, value } = await project.json(["plan", "--detailed-exitcode"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(JSON.stringify(value["diagnostics"])).toContain("`tragets/**/*.yaml` matches nothing");
      expect(value["diagnostics"]).toMatchObject([
        {
          severity: "warning",
          summary: "A pattern matches no file",
          file: "tasc.yaml",
          line: 6,
          column: 41,
        },
      ]);
    });
  });

  test("plan exits 3: a folder without tasc.yaml", async () => {
    await scene({}, async ({ project, service }) => {
      await project.remove("tasc.yaml");
      const ran = await project.run(["plan"]);
      expect(ran.code).toBe(3);
      expect(ran.stderr).toContain("tasc.yaml");
      expectNoStack(ran);
      expect(service.log).toEqual([]);
    });
  });

  test("validate also reports bad input, and needs neither the API key nor the service", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write(added("appp: X\n"));
      const bad = await project.run(["validate"], { TASC_API_KEY: "" });
      expect(bad.code).toBe(3);
      expect(bad.stdout + bad.stderr).toContain("targets/shop.yaml:3:1");
      await project.write(added(""));
      const good = await project.run(["validate"], { TASC_API_KEY: "" });
      expect(good.code, good.stderr).toBe(0);
      expect(service.log).toEqual([]);
    });
  });

  test("--allow-missing-secrets warns about a missing secret and does not plan the fields that use it", async () => {
    await scene({}, async ({ project, service }) => {
      service.addTarget("Web Shop");
      await project.write(
        added(
          "testIdAttribute: x\nenvironments: { default: { testAccount: { username: qa, password: '${secret:MISSING_3}' } } }\n",
        ),
      );
      expect((await project.run(["validate"])).code).toBe(3);
      const valid = await project.run(["validate", "--allow-missing-secrets"]);
      expect(valid.code, valid.stderr).toBe(0);
      expect(valid.stdout + valid.stderr).toContain("MISSING_3");
      const { ran, value: plan } = await project.json(["plan", "--allow-missing-secrets"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(JSON.stringify(plan["diagnostics"])).toContain("MISSING_3");
      expect(JSON.stringify(plan["changes"])).not.toContain("testAccount");
      expect(JSON.stringify(plan["changes"])).toContain("testIdAttribute");
    });
  });

  test.each([["validate"], ["plan"]])(
    "%s --format json prints one JSON value to stdout if there are errors",
    async (command) => {
      await scene({}, async ({ project }) => {
        await project.write(added("appp: X\n"));
        const ran = await project.run([command, "--format", "json"]);
        expect(ran.code).toBe(3);
        const value = parseJson(ran.stdout);
        expect(isObject(value) || Array.isArray(value)).toBe(true);
        expect(JSON.stringify(value)).toContain("targets/shop.yaml");
      });
    },
  );
});
