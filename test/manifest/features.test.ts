import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ResolveOptions, loadProject } from "../../src/manifest/load.ts";
import { editYaml } from "../../src/manifest/yaml/edit.ts";
import { readTrust } from "../../src/manifest/trust.ts";
import { ENV, PROJECT, errors, load, loaded, show, target } from "./loading.ts";
import { memoryFolder } from "./memory-folder.ts";

const STAGED = `${PROJECT}stages: { dev: {}, prod: {} }\n`;

async function codes(files: Record<string, string>, options: Partial<ResolveOptions> = {}) {
  return (await errors(files, options)).map((line) => line.split(":").slice(0, 4).join(":"));
}

describe("keys that begin with x-", () => {
  test("are ignored at every level, and can define anchors", async () => {
    const shop = await target(
      `x-tags: &tags [a, b]
target: shop
x-y: { z: 1 }
environments: { x-e: 1, default: { x-f: 2, additionalHeaderFields: { x-real: "1" } } }
testCases:
  x-none: [1]
  login: { tags: *tags, x-note: hm, elements: [{ x-o: 1, interaction: { action: CLICK, x-p: 2 }, locatorLine: l }] }
`,
      { files: { "tasc.yaml": `${PROJECT}x-all: 1\nvars: { x-v: [1] }\n` } },
    );
    expect(shop.testCases.map(({ key, fields }) => ({ key, ...fields }))).toEqual([
      {
        key: "login",
        tags: ["a", "b"],
        elements: [{ interaction: { action: "CLICK" }, locatorLine: "l" }],
      },
    ]);
    expect(shop.environments.map(({ key }) => key)).toEqual(["default"]);
    // Headers are the service's data, not tasc's keys.
    expect(Object.keys(shop.environments[0]?.fields["additionalHeaderFields"] ?? {})).toEqual([
      "x-real",
    ]);
  });
});

describe("onlyStages", () => {
  const document = `target: shop
environments: { qa: { onlyStages: [dev] } }
testCases: { a: { onlyStages: [dev] }, b: { onlyStages: [dev, prod] }, c: {} }
batchGenerations: { g: { onlyStages: [prod], prompt: p } }
`;
  const names = async (stage: string): Promise<string[]> => {
    const { desired } = await loaded(
      { "tasc.yaml": STAGED, "targets/shop.yaml": document },
      { stage },
    );
    return desired.targets.flatMap(({ environments, testCases, batchGenerations }) =>
      [environments, testCases, batchGenerations].flat().map(({ key }) => key),
    );
  };

  test("limits a resource to these stages", async () => {
    expect(await names("dev")).toEqual(["qa", "a", "b", "c"]);
    expect(await names("prod")).toEqual(["b", "c", "g"]);
  });

  test("limits a target to these stages", async () => {
    const files = {
      "tasc.yaml": STAGED,
      "targets/shop.yaml": "target: shop\nonlyStages: [dev]\ntestCases: { a: {} }\n",
    };
    expect((await loaded(files, { stage: "dev" })).desired.targets).toHaveLength(1);
    expect((await loaded(files, { stage: "prod" })).desired.targets).toHaveLength(0);
  });

  test("rejects an unknown stage", async () => {
    const files = {
      "tasc.yaml": STAGED,
      "targets/shop.yaml": "target: shop\ntestCases: { a: { onlyStages: [prd] } }\n",
    };
    expect(await codes(files, { stage: "dev" })).toEqual([
      "targets/shop.yaml:2:32 unknown-stage: There is no stage `prd` / At `testCases.a.onlyStages[0]`. The project has the stages `dev` and `prod`. Did you mean `prod`?",
    ]);
  });
});

test("defaults of a target override those of tasc.yaml", async () => {
  const project = `${PROJECT}defaults: { testCases: { status: DRAFT, runStatus: "OFF", tags: [all] } }
stages: { dev: { defaults: { testCases: { tags: [dev] } } } }
`;
  const shop = await target(
    "target: shop\ndefaults: { testCases: { runStatus: 'ON' } }\ntestCases: { a: {} }\n",
    {
      files: { "tasc.yaml": project },
    },
  );
  expect(shop.testCases[0]?.fields).toEqual({ status: "DRAFT", runStatus: "ON", tags: ["dev"] });
  expect(
    shop.testCases[0]?.layers.map(({ kind, file, path }) => [kind, file, path.join(".")]),
  ).toEqual([
    ["defaults", "tasc.yaml", "defaults.testCases"],
    ["stage defaults", "tasc.yaml", "stages.dev.defaults.testCases"],
    ["defaults", "targets/shop.yaml", "defaults.testCases"],
    ["base", "targets/shop.yaml", "testCases.a"],
  ]);
});

describe("state", () => {
  const SHOP = { "targets/shop.yaml": "target: shop\n" };
  const project = (state: string, stages = ""): Record<string, string> => ({
    ...SHOP,
    "tasc.yaml": `${PROJECT}state: ${state}\n${stages}`,
  });

  test.each([
    ["{ backend: postgres }", "tasc.yaml:3:1 missing-key"],
    ["{ backend: http }", "tasc.yaml:3:1 missing-key"],
    ["{ backend: local, url: x }", "tasc.yaml:3:26 foreign-key"],
    ["{ url: x }", "tasc.yaml:3:10 foreign-key"],
    ["{ backend: postgres, url: x, path: y }", "tasc.yaml:3:37 foreign-key"],
    ["{ fingerprintKey: open }", "tasc.yaml:3:26 secret-in-clear"],
    ["{ fingerprintKey: '${secret:KEY}' }", "tasc.yaml:3:26 weak-fingerprint-key"],
    // A repeated password is just as easy to guess.
    ["{ fingerprintKey: '${secret:KEY}${secret:KEY}' }", "tasc.yaml:3:26 weak-fingerprint-key"],
  ])("%s is an error", async (state, expected) => {
    expect(
      (await errors(project(state))).map((line) => line.split(":").slice(0, 3).join(":")),
    ).toEqual([expected]);
  });

  test("a stage with another backend does not inherit the options of the project's backend", async () => {
    const files = project(
      "{ path: states, fingerprintKey: '${secret:FP}' }",
      "stages: { dev: {}, prod: { state: { backend: postgres, url: 'postgres://db/x' } } }\n",
    );
    const env = { ...ENV, FP: "0123456789abcdef" };
    const { settings } = await loaded(files, { stage: "prod", env });
    expect(settings.state).toMatchObject({ backend: "postgres", options: { url: {} } });
    expect(Object.keys(settings.state.options)).toEqual(["url"]);
    expect(settings.state.fingerprintKey?.reveal()).toBe("0123456789abcdef");
    expect((await loaded(files, { stage: "dev", env })).settings.state).toMatchObject({
      backend: "local",
      options: { path: "states" },
    });
  });

  test("a stage can add a required key that the project omits", async () => {
    const files = project(
      "{ backend: postgres }",
      "stages: { dev: { state: { url: 'postgres://db/x' } }, prod: {} }\n",
    );
    await loaded(files, { stage: "dev" });
    expect(await codes(files, { stage: "prod" })).toEqual([
      expect.stringContaining("missing-key: `state.url` is missing"),
    ]);
  });
});

test("settings convert rates and durations, and a stage can only tighten the policy", async () => {
  const project = `version: 1
service: { baseUrl: "http://127.0.0.1:4010", apiKey: "\${secret:KEY}", rateLimit: 600/m }
policy: { maxGenerations: 20, planExpiry: 7d, sameCommit: true, maxChanges: 5, protected: [a] }
stages: { dev: { policy: { maxGenerations: 30, maxChanges: 3, protected: [] } } }
`;
  const { settings } = await loaded({ "tasc.yaml": project, "targets/a.yaml": "target: a\n" });
  expect(settings.rateLimit).toBe(10);
  expect(settings.policy).toEqual({
    maxGenerations: 20,
    planExpiry: 7 * 86_400_000,
    sameCommit: true,
    maxChanges: 3,
    protected: ["a"],
  });
});

describe("the base address", () => {
  const at = (baseUrl: string, vars = "{}"): Record<string, string> => ({
    "tasc.yaml": `version: 1\nservice: { baseUrl: '${baseUrl}', apiKey: "\${secret:KEY}" }\nvars: ${vars}\n`,
    "targets/a.yaml": "target: a\n",
  });

  test.each([
    "${env:HOST}",
    "https://${env:NAME}",
    "https://${var:a}/path",
    "${env:NO:-http://127.0.0.1:4010}",
    "https://${stage}.${var:a}/x",
  ])("may be %s", async (text) => {
    await loaded(at(text, "{ a: example.com }"), {
      env: { ...ENV, HOST: "http://127.0.0.1:4010", NAME: "h" },
    });
  });

  test.each([
    "https://evil/${env:NAME}",
    "https://evil/?q=${var:a}",
    "https://${secret:KEY}.evil",
    "https://${var:b}",
    "${var:c}",
    "https://evil${file:x}",
  ])("may not be %s", async (text) => {
    const vars = "{ a: x, b: 'evil/${env:NAME}', c: '${secret:KEY}' }";
    expect(await codes(at(text, vars), { env: { ...ENV, NAME: "h" } })).toEqual([
      expect.stringContaining("base-url-interpolation"),
    ]);
  });
});

test("${env:…} rejects variables whose names look like credentials", async () => {
  const lines = await errors(
    {
      "targets/shop.yaml":
        "target: shop\napp: ${env:PROD_API_KEY}${env:my_password1}${env:CLIENT_SECRET}${env:A_TOKEN}${env:KEYBOARD}\n",
    },
    { env: { ...ENV, KEYBOARD: "x" } },
  );
  expect(lines.filter((line) => line.includes("credential-in-env"))).toHaveLength(4);
  expect(lines[0]).toContain(
    "targets/shop.yaml:2:6 credential-in-env: `PROD_API_KEY` looks like a credential",
  );
});

test.each([
  ..."PGPASS QA_PASSWD QA_PWD TASC_APIKEY TASC_KEY_PROD AWS_ACCESS_KEY_ID QA_CREDENTIALS NPM_AUTH_X QA_OTP TASC_TOKEN_2".split(
    " ",
  ),
  "TASC_PAT",
])("${env:%s} is rejected because of its name", async (name) => {
  const lines = await errors(
    { "targets/shop.yaml": `target: shop\napp: "\${env:${name}}"\n` },
    { env: { ...ENV, [name]: "x" } },
  );
  expect(lines).toEqual([expect.stringContaining("credential-in-env")]);
});

test("${env:…} rejects an address with a password and does not show it, but accepts other addresses", async () => {
  const env = {
    ...ENV,
    DATABASE: "x postgres://tasc:hunter2@db/x",
    TASC_BASE_URL:
      "https://a@b:1/x@y https://b:8443?x@y postgres://b:5432/x?user=a@b https://b/x?sort_key=created_at&sha=0123456789",
    MONKEY: "x",
    AUTHOR: "x",
    PATH_TO: "x",
  };
  const app = "${env:TASC_BASE_URL}${env:MONKEY}${env:AUTHOR}${env:PATH_TO}";
  const { ok } = await load({ "targets/shop.yaml": `target: shop\napp: "${app}"\n` }, { env });
  expect(ok).toBe(true);
  const lines = await errors(
    { "targets/shop.yaml": "target: shop\napp: ${env:DATABASE}\n" },
    { env },
  );
  expect(lines).toEqual([
    expect.stringContaining("credential-in-env: The value of DATABASE contains a password"),
  ]);
  expect(lines.join("")).not.toContain("hunter2");
  // The user is an email address, the password has a slash or starts like a port, or the query has
  // a token.
  for (const DATABASE of [
    "smtp://me@corp.example:hunter2@mail.corp.example:587",
    "amqp://u:hunter2/x@queue",
    "postgres://u:123/hunter2@db/x",
    "https://state.example.com/{stage}/{target}?token=hunter2-of-state",
    "https://state.example.com/x?a=b&sas_sig=hunter2%2Fof%2Fstate",
  ])
    // oxlint-disable-next-line no-await-in-loop
    expect(
      await errors(
        { "targets/shop.yaml": "target: shop\napp: ${env:DATABASE}\n" },
        { env: { ...ENV, DATABASE } },
      ),
    ).toHaveLength(1);
});

test.each<[string, boolean]>([
  ["backend: postgres, url: 'postgres://u:hunter2@db/x'", true],
  ["backend: postgres, url: 'postgres://u:${secret:KEY}x@db/x'", true],
  ["backend: postgres, url: '${var:url}'", true],
  ["backend: http, address: 'https://u:hunter2@db/{target}'", true],
  [
    "backend: http, address: 'https://db/{target}', lockAddress: 'https://u:hunter2@db/{target}'",
    true,
  ],
  ["backend: postgres, url: 'postgres://u:${secret:KEY}@db/x'", false],
  ["backend: postgres, url: 'postgres://u@db/x'", false],
  ["backend: postgres, url: '${secret:ADDRESS}'", false],
  ["backend: http, address: 'https://db:80/x@y/{target}'", false],
])("state { %s } has a literal password: %s", async (state, isLiteral) => {
  const project = `${PROJECT}vars: { url: "postgres://u:hunter2@db/x" }\nstate: { ${state} }\n`;
  const env = { ...ENV, ADDRESS: "postgres://u:hunter2@db/x" };
  const { diagnostics } = await load(
    { "tasc.yaml": project, "targets/a.yaml": "target: a\n" },
    { env },
  );
  const lines = show(diagnostics);
  expect(lines.filter((line) => line.includes("secret-in-clear"))).toHaveLength(isLiteral ? 1 : 0);
  expect(lines.join("")).not.toContain("hunter2");
});

test.each([
  ".git/config",
  ".env",
  "sub/.env.local",
  ".tasc/state/x",
  "a/../.GIT/config",
  ".npmrc",
  ".aws/credentials",
])("${file:%s} is rejected", async (path) => {
  const lines = await errors({
    "targets/shop.yaml": `target: shop\napp: "\${file:${path}}"\n`,
    [path]: "x",
  });
  expect(lines).toEqual([expect.stringContaining("unreadable-file")]);
});

describe("warnings for resources that would match the same live resource", () => {
  test("report two test cases with the same description and two targets with the same app", async () => {
    const { diagnostics } = await loaded({
      "targets/a.yaml":
        "target: a\napp: App\ntestCases: { x: { description: D }, y: { description: D }, z: { description: D, externalId: E } }\n",
      "targets/b.yaml": "target: b\napp: App\n",
    });
    expect(show(diagnostics).map((line) => line.split(" /")[0])).toEqual([
      "targets/a.yaml:3:55 warning duplicate-description: testCase.a.x has the same `description`",
      "targets/b.yaml:2:6 warning duplicate-app: target.a has the same `app`",
    ]);
  });
});

describe("patterns", () => {
  const found = (pattern: string): Promise<readonly string[]> =>
    errors({
      "tasc.yaml": `${PROJECT}manifests: ["${pattern}"]\n`,
      "targets/a.yaml": "target: a\n",
    });

  test("a reversed range is an error with its position", async () => {
    expect(await found("targets/[z-a].yaml")).toEqual([
      "tasc.yaml:3:13 bad-pattern: The pattern cannot be used / At `manifests[0]`. `targets/[z-a].yaml`: `[z-a]` is not a range of characters. A pattern must stay inside the project folder, e.g. `targets/**/*.yaml`.",
    ]);
  });

  test.each(["{a,b}".repeat(22), "{a/b,c}/".repeat(30), "{a,a}".repeat(40), "a{b"])(
    "%s is rejected quickly",
    async (pattern) => {
      const started = process.cpuUsage();
      expect(await found(pattern)).toEqual([expect.stringContaining("bad-pattern")]);
      const { user } = process.cpuUsage(started);
      expect(user).toBeLessThan(2_000_000);
    },
  );

  test("an invalid glob in the policy is an error with its position", async () => {
    const lines = await errors({
      "tasc.yaml": `${PROJECT}policy: { protected: ["[z-a]"] }\n`,
      "targets/a.yaml": "target: a\n",
    });
    expect(lines).toEqual([expect.stringContaining("tasc.yaml:3:23 bad-glob")]);
  });
});

describe("a trust file", () => {
  const written = (text: string): string => {
    const folder = mkdtempSync(join(tmpdir(), "tasc-trust-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "trust.yaml");
    writeFileSync(file, text);
    return file;
  };
  const limited = async (
    text: string,
    files: Record<string, string>,
    env: Record<string, string> = {},
  ) => {
    const file = written(text);
    const folder = {
      ...memoryFolder({ "tasc.yaml": PROJECT, "targets/a.yaml": "target: a\n", ...files }),
      trust: () => readTrust(file),
    };
    return loadProject({ root: "", env: { ...ENV, ...env } }, folder);
  };

  test("limits service origins, variables and state hosts", async () => {
    const result = await limited(
      "version: 1\norigins: [https://ok.example]\nvariables: [QA_*]\nstateHosts: [db]\n",
      {
        "tasc.yaml": `${PROJECT}state: { backend: postgres, url: 'postgres://evil/x' }\n`,
        "targets/a.yaml": "target: a\napp: '${env:QA_A}${env:HOME_A}'\n",
      },
      { QA_A: "a", HOME_A: "b" },
    );
    expect(show(result.diagnostics).map((line) => line.split(" /")[0])).toEqual([
      "targets/a.yaml:2:18 untrusted: The trust file does not allow the variable HOME_A",
      "tasc.yaml:2:21 untrusted: The trust file does not allow the service http://127.0.0.1:4010 in stage default",
      "tasc.yaml:2:55 untrusted: The trust file does not allow the variable KEY",
      "tasc.yaml:3:34 untrusted: The trust file does not allow state at evil in stage default",
    ]);
  });

  test.each([
    ["https://one.example/tests", "https://one.example/tests/", 0],
    ["https://one.example/tests", "HTTPS://ONE.example", 0],
    ["https://one.example/tests/../other", "https://one.example/tests", 1],
    ["https://one.example", "https://one.example/tests", 1],
    ["https://one.example/tests", "one.example", 1],
    [`https://two.example/${"\u00e9".repeat(3000)}`, "https://one.example", 1],
  ])(
    "checks the service %s against the allowed origin %s: %s errors",
    async (address, allowed, amount) => {
      const project = PROJECT.replace("http://127.0.0.1:4010", address);
      const result = await limited(`version: 1\norigins: ["${allowed}"]\n`, {
        "tasc.yaml": project,
      });
      expect(show(result.diagnostics).filter((line) => line.includes("the service"))).toHaveLength(
        amount,
      );
    },
  );

  const WEAK = "does not allow state with TLS like `sslmode=";
  test.each([
    ["{ backend: postgres, url: 'postgres://db/x' }", "", ""],
    ["{ backend: postgres, url: '${secret:PG}?sslmode=verify-full' }", "", ""],
    ["{ backend: postgres, url: '${secret:PG}?sslmode=disable' }", "", `${WEAK}disable`],
    ["{ backend: postgres, url: '${secret:PG}?sslmode=prefer' }", "require", `${WEAK}disable`],
    ["{ backend: postgres, url: '${secret:PG}?sslmode=require' }", "", `${WEAK}require`],
    ["{ backend: postgres, url: '${secret:PG}?sslmode=require' }", "require", ""],
    ["{ backend: postgres, url: '${secret:PG}?sslmode=verify-ca' }", "verify-full", "=verify-ca"],
    [
      "{ backend: postgres, url: 'postgres://db/x?sslmode=require' }",
      "require\nstages: { default: { stateTls: verify-ca } }",
      "=require",
    ],
    // A pull request can bring certificates along.
    ["{ backend: postgres, url: 'postgres://db/x?sslrootcert=ca.pem' }", "", `${WEAK}require`],
    ["{ backend: postgres, url: 'postgres://db/x?sslrootcert=system' }", "", ""],
    ["{ backend: postgres, url: 'postgres://127.0.0.1/x?sslmode=disable' }", "", ""],
    ["{ backend: postgres, url: 'postgres://127.0.0.1,db/x?sslmode=disable' }", "", WEAK],
    ["{ backend: http, address: 'http://db/x' }", "", "does not allow state over plain http"],
    ["{ backend: http, address: 'http://db/x' }", "require", "state over plain http"],
    ["{ backend: http, address: 'http://db/x' }", "disable", ""],
    ["{ backend: http, address: 'http://localhost/x' }", "", ""],
    ["{ backend: http, address: 'https://db/x' }", "", ""],
    ["{ backend: http, address: 'https://db/x', lockAddress: 'http://db/y' }", "", "plain http"],
    ["{ backend: http, address: 'https://db/x', lock: false }", "", "state without locks"],
    ["{ backend: http, address: 'https://db/x', lockMethod: GET }", "", "state without locks"],
    ["{ backend: http, address: 'https://db/x', lock: false }", "require\nstateLock: false", ""],
    ["{ backend: postgres, url: 'postgres://db/x', owner: me }", "", "this owner of state"],
    ["{ backend: postgres, url: 'postgres://db/x', owner: me }", "require\nstateOwner: me", ""],
    ["{ backend: postgres, url: 'postgres://db/x', owner: me }", "require\nstateOwner: I", "owner"],
  ])("protects state %s with stateTls %j: %j", async (state, tls, says) => {
    const trust = `version: 1\nstateHosts: [db, 127.0.0.1, localhost]\n${tls && `stateTls: ${tls}\n`}`;
    const files = { "tasc.yaml": `${PROJECT}state: ${state}\n` };
    const { diagnostics } = await limited(trust, files, { PG: "postgres://me:pw-of-me@db/x" });
    expect(diagnostics.map(({ code }) => code)).toEqual(says === "" ? [] : ["untrusted"]);
    expect(show(diagnostics).join("\n")).toContain(says);
  });

  test.each([
    ["{ path: .other }", "stateHosts: []"],
    ["{ path: .other }", "statePath: .tasc/state"],
    ["{ path: ../.tasc/state }", "statePath: .tasc/state"],
    ["{ path: /.tasc/state }", "statePath: .tasc/state"],
    ["{ backend: local }", "stateHosts: [db]"],
    ["{ path: ./.tasc/state/ }", "statePath: .elsewhere"],
  ])("rejects local state %s with the rule %s", async (state, trust) => {
    const files = { "tasc.yaml": `${PROJECT}state: ${state}\n` };
    const result = await limited(`version: 1\n${trust}\n`, files);
    expect(result.diagnostics).toMatchObject([
      {
        code: "untrusted",
        summary: "The trust file does not allow this place of local state in stage default",
      },
    ]);
    for (const allowed of [
      "stateHosts: []",
      "stateHosts: [db]\nstatePath: .tasc/state/",
      "variables: ['*']",
    ])
      expect(
        // oxlint-disable-next-line no-await-in-loop
        await limited(`version: 1\n${allowed}\n`, {
          "tasc.yaml": `${PROJECT}state: { path: ./.tasc/state }\n`,
        }),
      ).toMatchObject({ ok: true });
  });

  test("rejects a policy rule with a value of the wrong type", async () => {
    for (const rule of ["sameCommit: 'true'", "maxChanges: '1'", "protected: '*'"])
      // oxlint-disable-next-line no-await-in-loop
      await expect(limited(`version: 1\npolicy: { ${rule} }\n`, {})).rejects.toMatchObject({
        diagnostics: [{ code: "bad-trust-file" }],
      });
  });

  test("adds its policy (the strictest rule wins), and a stage's origins replace the general ones", async () => {
    const text =
      "version: 1\norigins: [https://x]\npolicy: { maxChanges: 5 }\nstages: { default: { origins: ['http://127.0.0.1:4010/'], policy: { maxChanges: 7, protected: ['*'] } } }\n";
    const result = await limited(text, {
      "tasc.yaml": `${PROJECT}policy: { maxChanges: 9, maxDisabledPercent: 1 }\n`,
    });
    expect(result).toMatchObject({
      ok: true,
      settings: { policy: { maxChanges: 5, maxDisabledPercent: 1, protected: ["*"] } },
    });
  });

  test.each([
    "version: 2",
    "version: 1\norigin: []",
    "version: 1\norigins: x",
    "version: 1\npolicy: { maxChange: 1 }",
    "{",
    "version: 1\nstages: { a: { b: 1 } }",
  ])("stops the load if it is invalid: %j", async (text) => {
    await expect(limited(text, {})).rejects.toMatchObject({
      reason: "invalid",
      diagnostics: [{ code: "bad-trust-file" }],
    });
  });
});

test("scalars of several megabytes are read in every style", async () => {
  const big = "x".repeat(3_000_000);
  const styles = [
    `"${big}"`,
    `'${big}'`,
    big,
    `|-\n      ${big}`,
    `"${String.raw`\"`.repeat(1_000_000)}"`,
    `'${"''".repeat(1_000_000)}'`,
  ];
  for (const style of styles) {
    const { testCases } = await target(
      `target: shop\ntestCases:\n  a:\n    description: ${style}\n`,
    );
    const text = testCases[0]?.fields["description"];
    expect(typeof text === "string" && text.length >= 1_000_000).toBe(true);
  }
});

test.each([
  ["a pattern of commas", 'service: {}\nmanifests: ["{,"]', ","],
  ["an address of slashes", 'service: { baseUrl: "https://a.example/x" }', "/"],
])("%s that is very long is checked quickly", async (_, text, sign) => {
  const project = text.replace(/(?=,"|x")/u, sign.repeat(200_000));
  const started = process.cpuUsage();
  expect(
    await errors({ "tasc.yaml": `version: 1\n${project}\n`, "targets/a.yaml": "target: a\n" }),
  ).not.toEqual([]);
  expect(process.cpuUsage(started).user).toBeLessThan(3_000_000);
});

describe("several documents in a file", () => {
  const text = `# A file of three
---
target: shop
app: \${env:NOPE}
testCases:
  a: { description: A, runStats: x }
---
target: web
testCases:
  b: { description: B }
---
# Another part of shop
target: shop
testCases:
  a: { description: A2 }
  c: { status: ENABLD }
stages: { nope: {} }
`;

  test("report errors and duplicates at their own positions", async () => {
    const lines = await errors({ "targets/all.yaml": text });
    expect(lines.map((line) => line.split(" /")[0])).toEqual([
      "targets/all.yaml:4:6 missing-env: The environment variable NOPE is not set",
      "targets/all.yaml:6:24 unknown-key: Unknown key `runStats`",
      "targets/all.yaml:15:3 duplicate: testCase.shop.a is declared twice",
      "targets/all.yaml:16:16 bad-value: `testCases.c.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL`, or an interpolation that resolves to one",
      "targets/all.yaml:17:11 unknown-stage: There is no stage `nope`",
    ]);
    expect(lines[2]).toContain("The other place is targets/all.yaml:6:3.");
    expect(lines[3]).toContain("At `testCases.c.status`.");
  });

  test("are read even if one is empty, and YAML errors have their position in the file", async () => {
    const good =
      "target: a\n--- # b\ntarget: b\ntestCases: { x: {} }\n---\n# nothing\n---\ntarget: a\ntestCases: { y: {} }\n";
    const { desired } = await loaded({ "targets/all.yaml": good });
    expect(
      desired.targets.map(({ key, testCases }) => [key, testCases.map((one) => one.key)]),
    ).toEqual([
      ["a", ["y"]],
      ["b", ["x"]],
    ]);
    expect(await codes({ "targets/all.yaml": "target: a\n---\ntarget: b\napp: [\n" })).toEqual([
      expect.stringContaining("targets/all.yaml:4:6 yaml-syntax"),
    ]);
    expect(await codes({ "targets/all.yaml": "---\n# nothing\n---\n" })).toEqual([
      expect.stringContaining("yaml-empty"),
    ]);
  });

  test.for(["\u2028", "\u2029"])(
    "do not start at a `---` that follows %j in a comment",
    async (sign) => {
      const hidden = `# It ends in dashes ${sign}--- { target: b }\ntarget: a\n`;
      const { desired } = await loaded({ "targets/all.yaml": `${hidden}---\n# x${sign}--- y\n` });
      expect(desired.targets.map(({ key }) => key)).toEqual(["a"]);
    },
  );

  test("are rejected in tasc.yaml", async () => {
    const files = { "tasc.yaml": `${PROJECT}---\nversion: 1\n`, "targets/a.yaml": "target: a\n" };
    expect(await codes(files)).toEqual([
      expect.stringContaining("tasc.yaml:3:1 yaml-multiple-documents"),
    ]);
  });

  test("are edited individually, and the rest of the file is unchanged", () => {
    const edited = editYaml(text, [
      { kind: "set", path: [1, "testCases", "b", "status"], value: "DRAFT" },
      { kind: "delete", path: [2, "stages"] },
      { kind: "set", path: ["app"], value: "Shop" },
    ]);
    expect(edited).toMatchObject({
      ok: true,
      text: text
        .replace("{ description: B }", "{ description: B, status: DRAFT }")
        .replace("stages: { nope: {} }\n", "")
        .replace("${env:NOPE}", "Shop"),
    });
    expect(editYaml(text, [{ kind: "delete", path: [7, "a"] }])).toMatchObject({ ok: false });
  });
});

test("thousands of unknown keys are reported quickly", async () => {
  const keys = Array.from({ length: 20_000 }, (_, at) => `  descriptoin${at}: a\n`).join("");
  const started = process.cpuUsage();
  const lines = await errors({
    "targets/a.yaml": `target: a\ndefaults:\n${keys}testCases:\n${keys}`,
  });
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
  expect(lines.filter((line) => line.includes("unknown-key")).length).toBeGreaterThanOrEqual(
    20_000,
  );
});

test("hostile interpolations are rejected quickly", async () => {
  const vars = Array.from(
    { length: 20_000 },
    (_, at) => `  v${at}: \${var:v${at + 1}}${at < 40 ? `\${var:v${at + 1}}` : ""}\n`,
  );
  const started = process.cpuUsage();
  const lines = await errors({
    "tasc.yaml": `${PROJECT}vars:\n${vars.join("")}`,
    "targets/a.yaml": `target: a\napp: "\${var:v0}\${var:v50}"\ntestCases: { a: { description: "${"${".repeat(50_000)}" }, b: { description: "${"${x}".repeat(50_000)}" } }\n`,
  });
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  expect(lines.map((line) => line.split(" ")[1])).toEqual(
    expect.arrayContaining(["bad-placeholder:", "var-depth:"]),
  );
});

test("long unknown names are compared with long known names quickly", async () => {
  const started = process.cpuUsage();
  for (const length of [60, 600]) {
    const name = (at: number, sign: string) =>
      sign + "key".repeat(length / 3) + String(at).repeat(9);
    const cases = Array.from(
      { length: 300 },
      (_, at) => `  ${name(at, "k")}: { description: d${at} }\n`,
    );
    const dangling = Array.from(
      { length: 100 },
      (_, at) =>
        `  c${at}: { description: c${at}, discovery: { prompt: p, prerequisite: ${name(at, "z")} } }\n`,
    );
    const manifest = `target: a\napp: A\ntestCases:\n${cases.join("")}${dangling.join("")}`;
    // oxlint-disable-next-line no-await-in-loop
    const lines = await errors({ "targets/a.yaml": manifest });
    expect(lines.filter((line) => line.includes("unknown-prerequisite"))).toHaveLength(100);
    // One letter differs. Only the shorter names get a suggestion.
    expect(lines.some((line) => line.includes("Did you mean"))).toBe(length === 60);
  }
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
});

test("thousands of unknown names are compared with thousands of known names quickly", async () => {
  const many = (line: (at: number) => string) =>
    Array.from({ length: 2000 }, (_, at) => line(at)).join("");
  const ways = "{a,b,c,d,e,f,g,h,i,j}";
  const started = process.cpuUsage();
  const patterns = await errors({
    "tasc.yaml": `${PROJECT}defaultStage: s1\nmanifests:\n${many((at) => `  - "${ways}${ways}${at}*.yaml"\n`)}  - "a.yaml"\nstages:\n${many((at) => `  s${at}: {}\n`)}`,
  });
  const names = await errors({
    "tasc.yaml": `${PROJECT}defaultStage: s1\nstages:\n${many((at) => `  s${at}: {}\n`)}`,
    "targets/a.yaml": `target: a\nstages:\n${many((at) => `  t${at}: {}\n`)}environments:\n${many((at) => `  e${at}: {}\n`)}batchGenerations:\n${many((at) => `  b${at}: { prompt: a, environment: f${at} }\n`)}`,
  });
  const lines = [...patterns, ...names];
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
  const codes = new Set(lines.map((line) => line.split(" ")[1]));
  expect([...codes]).toEqual(expect.arrayContaining(["bad-pattern:", "unknown-stage:"]));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(1000);
});
