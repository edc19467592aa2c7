// Secrets are redacted in every output, log, file and error, even if the service's own message
// repeats them.
import { describe, expect, test } from "vitest";
import { type FakeService, answer } from "./fake-service.ts";
import { startHttpServer } from "../state/support/http-server.ts";
import { PROJECT, scene, SECRETS, type Project, type Ran } from "./support/cli.ts";
import { at, list } from "./support/json.ts";
import { change, changed, seed } from "./support/story.ts";

const MANIFEST = `target: shop
app: Web Shop
trackerIntegration: { domain: "https://tracker.example.com", apiKey: "\${secret:TRACKER_KEY}" }
environments:
  default:
    discoveryUrl: https://shop.example.com
    testAccount: { username: qa, password: "\${secret:QA_PASSWORD}", otpInitializerKey: "\${secret:QA_OTP}" }
  preview:
    discoveryUrl: https://preview.example.com
    basicAuth: { username: gate, password: "\${file:gate.txt}" }
    additionalHeaderFields: { X-Token: "\${secret:HEADER_TOKEN}", X-Plain: plain-header-value }
testCases:
  login:
    description: Log in
    discovery: { prompt: "Use the code \${secret:PROMPT_CODE} to log in." }
  cart: { description: Cart, entryPointUrlPath: "/cart?t=\${secret:PROMPT_CODE}", discovery: { prompt: Fill. } }
batchGenerations:
  spring: { prompt: "Use \${secret:PROMPT_CODE}." }
`;

const FILE_SECRET = "gate-from-file-secret";
const PROMPT_CODE = "prompt-code-24680";
const ENV = { PROMPT_CODE };

const ALL = [
  SECRETS.TRACKER_KEY,
  SECRETS.QA_PASSWORD,
  SECRETS.QA_OTP,
  SECRETS.HEADER_TOKEN,
  "service-key-4711",
  "plain-header-value",
  FILE_SECRET,
  PROMPT_CODE,
];

/** Checks each secret as plain text and in encoded forms. */
function expectNone(said: string, where: string): void {
  for (const secret of ALL)
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString("base64"),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("hex"),
    ])
      expect(
        said.includes(form),
        `${secret} in ${where}:\n${said.slice(Math.max(0, said.indexOf(form) - 200), said.indexOf(form) + 200)}`,
      ).toBe(false);
}

function html(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Lets the service answer all requests of a method like this. */
function refuse(service: FakeService, method: string, given: ReturnType<typeof answer>): void {
  service.fail({ on: { method }, times: 99, phase: "before", answer: given });
}

const said = (ran: Ran): string => `${ran.stdout}\n${ran.stderr}`;

async function prepare(project: Project): Promise<void> {
  await project.write({ "targets/shop.yaml": MANIFEST, "gate.txt": `${FILE_SECRET}\n` });
}

/** The files that tasc wrote. */
async function written(project: Project): Promise<string> {
  await project.remove("gate.txt");
  await project.remove("targets");
  return await project.everything();
}

const LEVELS = ["error", "warn", "info", "debug"] as const;

describe.concurrent("no secret is shown", () => {
  test.each(LEVELS)(
    "in plan, saved plan, show, apply and state, at --log-level %s",
    async (level) => {
      await scene({}, async ({ project, service }) => {
        service.addTarget("Web Shop");
        await prepare(project);
        const outputs: [string, Ran][] = [];
        for (const args of [
          ["plan", "--out", "plan.json", "--verbose"],
          // Debug includes the output of all other levels.
          ...(level === "debug"
            ? [
                ["validate"],
                ["plan", "--format", "json"],
                ["show", "plan.json"],
                ["show", "plan.json", "--format", "json"],
              ]
            : []),
          ["apply", "--auto-approve"],
          ...(level === "debug" ? [["plan"], ["state", "list"]] : []),
        ]) {
          // oxlint-disable-next-line no-await-in-loop
          const ran = await project.run([...args, "--log-level", level], ENV);
          expect(ran.code, `${args.join(" ")}: ${ran.stderr}`).toBe(0);
          outputs.push([args.join(" "), ran]);
        }
        for (const [what, ran] of outputs) expectNone(said(ran), what);
        expectNone(await written(project), "the files");
        // The service did receive the secret.
        expect(JSON.stringify(service.log.map((call) => call.body ?? null))).toContain(PROMPT_CODE);
        expect(service.violations).toEqual([]);
      });
    },
  );

  test("if it is a key in the options of a live selector, even of letters or digits alone", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      const [letters, digits, later] = [
        "onlyletterssecret",
        "471100815",
        "lettersoflater",
      ] as const;
      const secrets = { LETTERS: letters, DIGITS: digits, LATER: later };
      const options = { [letters]: true, deeper: [{ [digits]: letters }], exact: false };
      service.addCase(target, {
        description: "Cart",
        elements: [
          service.element({ selectors: [service.selector("TEXT", "Total", options)] }),
          service.element({ selectors: [service.selector("TEXT", "Sum", { [later]: "1" })] }),
        ],
      });
      await project.write({
        "targets/shop.yaml": `target: shop
app: Web Shop
environments:
  default: { testAccount: { username: "\${secret:LATER}", password: "\${secret:LETTERS}", otpInitializerKey: "\${secret:DIGITS}" } }
testCases:
  cart:
    description: Cart
    elements:
      - selectors: [{ selectorType: TEXT, selector: Total, options: { exact: true } }]
      - selectors: [{ selectorType: TEXT, selector: Price, options: {} }]
`,
      });
      for (const args of [
        ["plan", "--verbose", "--out", "saved.json"],
        ...["json", "html", "markdown", "github", "sarif", "junit"].map((format) => [
          "plan",
          "--verbose",
          "--format",
          format,
        ]),
        ["snapshot", "--out", "live.json"],
        ["plan", "--snapshot", "live.json", "--format", "json"],
      ]) {
        const ran = await project.run(args, secrets);
        expect(ran.code, ran.stderr).toBe(0);
        const all = `${ran.stdout}${ran.stderr}`;
        for (const secret of Object.values(secrets))
          expect(all.includes(secret), `${args.join(" ")} shows ${secret}:\n${all}`).toBe(false);
        // The change itself is shown.
        if (args.includes("--verbose")) expect(all).toContain("options");
      }
      await project.remove("targets");
      const files = await project.everything();
      for (const secret of Object.values(secrets)) expect(files).not.toContain(secret);
    });
  });

  test.each([
    {
      says: "JSON",
      type: "application/json",
      wrap: (text: string) => JSON.stringify({ message: text }),
    },
    { says: "plain text", type: "text/plain", wrap: (text: string) => text },
  ])("if the service repeats it in an error, as $says", async ({ type, wrap }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await prepare(project);
      const body = wrap(`these are bad: ${ALL.join(", ")} and qa`);
      refuse(
        service,
        "PATCH",
        answer(400, body, { "content-type": type, "x-echo": ALL.slice(0, 5).join(";") }),
      );
      refuse(service, "POST", answer(422, body, { "content-type": type }));
      const ran = await project.run(["apply", "--auto-approve", "--log-level", "debug"], ENV);
      expect(ran.code).toBe(1);
      expect(said(ran)).toContain("these are bad");
      expectNone(said(ran), "an apply that fails");
      expectNone(await written(project), "the files");
    });
  });

  test("if the service shows it as a live value", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      live.login.prompt = `Use the code ${PROMPT_CODE} to log in, old.`;
      service.addCase(live.target, {
        description: "Cart",
        entryPointUrlPath: `/cart?old=${PROMPT_CODE}`,
      });
      await prepare(project);
      const { ran, value: plan } = await project.json(["plan", "--log-level", "debug"], ENV);
      expectNone(said(ran), "the plan");
      expect(at(change(plan, "testCase.shop.login"), "fields")).toEqual([
        { path: ["discovery", "prompt"], sensitive: true },
      ]);
      expect(at(change(plan, "testCase.shop.login"), "calls", 0, "body")).toEqual({
        createBackendDiscoveryPrompt: "(sensitive)",
      });
      expect(at(change(plan, "testCase.shop.cart"), "fields")).toEqual([
        { path: ["entryPointUrlPath"], sensitive: true },
      ]);
    });
  });

  test("if the answer to a read repeats the API key", async () => {
    await scene({}, async ({ project, service }) => {
      await prepare(project);
      refuse(service, "GET", answer(401, `the key ${service.apiKey} is not valid`));
      const ran = await project.run(["plan", "--log-level", "debug"], ENV);
      expect(ran.code).toBe(6);
      expectNone(said(ran), "the plan");
    });
  });

  test.each([
    ["an HTML page", (key: string) => `<!doctype html><p>You sent ${html(key)}</p>`],
    ["an HTML page that escapes twice", (key: string) => `<p>You sent ${html(html(key))}</p>`],
    ["JSON of HTML", (key: string) => JSON.stringify({ message: `You sent ${html(key)}` })],
    [
      "JSON of a URL",
      (key: string) => JSON.stringify({ message: `At /?k=${encodeURIComponent(key)}` }),
    ],
    ["upper case", (key: string) => `YOU SENT ${key.toUpperCase()}`],
    [
      "base64 of JSON",
      (key: string) => `Sent ${Buffer.from(JSON.stringify({ key })).toString("base64")}`,
    ],
    ["hex", (key: string) => `Sent ${Buffer.from(key).toString("hex")}`],
  ])("if the service repeats the API key as %s", async (_, write) => {
    const apiKey = `CANARY1api/"q"'+=&`;
    await scene({ apiKey }, async ({ project, service }) => {
      await prepare(project);
      refuse(service, "GET", answer(400, write(apiKey)));
      for (const args of [
        ["plan"],
        ["plan", "--format", "json"],
        ["doctor"],
        ["drift", "--json"],
      ]) {
        const ran = await project.run(args, ENV);
        expect(ran.code).toBe(1);
        expect(said(ran)).toContain("(sensitive)");
        expect(said(ran)).not.toMatch(/canary1|434e4152|Q0FOQVJZ/i);
      }
    });
  });

  test("if an answer that is not valid UTF-8 (e.g. Latin-1) repeats a secret with umlauts", async () => {
    await scene({}, async ({ project, service }) => {
      await prepare(project);
      const words = "bad: schlüssel-4711é";
      const bodies = [
        Buffer.from(words, "latin1"),
        Buffer.from(words, "utf16le"),
        Buffer.from([...Buffer.from(words), 0xff]),
      ];
      for (const [nth, body] of bodies.entries())
        service.fail({
          on: { method: "GET" },
          nth: nth + 1,
          phase: "before",
          answer: answer(400, body),
        });
      for (const _ of bodies) {
        const ran = await project.run(["plan"], { ...ENV, QA_PASSWORD: "schlüssel-4711é" });
        expect(said(ran)).toContain("the service says: bad: (sensitive)");
      }
    });
  });

  test("in the error about an unreadable answer", async () => {
    await scene({}, async ({ project, service }) => {
      await prepare(project);
      refuse(service, "GET", answer(200, `<b>${service.apiKey} ${PROMPT_CODE}</b>`));
      const ran = await project.run(["plan", "--log-level", "debug"], ENV);
      expect(ran.code).toBe(1);
      expectNone(said(ran), "the plan");
    });
  });

  test("in an error about a manifest field that contains it", async () => {
    await scene({}, async ({ project }) => {
      await project.write({
        "targets/shop.yaml":
          "target: shop\napp: Web Shop\ntimeoutPerStep: '${secret:QA_PASSWORD}'\ntestCases: { a: { description: A, status: '${secret:QA_OTP}' } }\n",
      });
      const ran = await project.run(["validate", "--log-level", "debug"], ENV);
      expect(ran.code).toBe(3);
      expectNone(said(ran), "the errors");
    });
  });
});

describe.concurrent("fingerprints", () => {
  test("state does not contain a secret that the service returns as the status of a discovery", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await prepare(project);
      expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
      for (const one of service.targets.flatMap(({ cases }) => cases))
        one.discoveryStatus = PROMPT_CODE;
      await project.run(["apply", "--auto-approve", "--rediscover", "testCase.shop.cart"], ENV);
      const state = await project.read(".tasc/state/default/shop.json");
      expect(state).toContain('"generating":"2');
      expectNone(state, "state");
    });
  });

  test("equal secrets have different fingerprints in state", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "targets/shop.yaml": `target: shop
app: Web Shop
environments:
  default: { testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" } }
  preview: { discoveryUrl: "https://preview.example.com", testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" } }
`,
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      const state = await project.read(".tasc/state/default/shop.json");
      const prints = [...state.matchAll(/"password":"([^"]+)"/gu)].map((found) => found[1]);
      expect(prints).toHaveLength(2);
      expect(prints[0]).not.toBe(prints[1]);
    });
  });

  test("a saved plan contains no fingerprint of a secret", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await prepare(project);
      await project.run(["plan", "--out", "one.json"], ENV);
      await project.run(["apply", "--auto-approve"], ENV);
      const state = await project.read(".tasc/state/default/shop.json");
      const prints = [...state.matchAll(/"(?:password|otpInitializerKey|apiKey)":"([^"]+)"/gu)].map(
        (found) => found[1],
      );
      expect(prints.length).toBeGreaterThan(2);
      const plan = await project.read("one.json");
      for (const print of prints) expect(plan).not.toContain(print);
    });
  });

  test("a former secret in a live name is redacted in ambiguous matches and in import output", async () => {
    await scene({}, async ({ project, service }) => {
      const { target, login } = seed(service);
      const declare = (value: string, testCase: string): Promise<void> =>
        project.write({
          "targets/shop.yaml": `target: shop\nid: ${target.id}\napp: "Shop ${value}"\ntestCases: { ${testCase} }\n`,
        });
      await declare(
        "${secret:QA_OTP}",
        `a: { id: ${login.id}, description: "Log in \${secret:QA_OTP}", externalId: E1 }`,
      );
      const applied = await project.run(["apply", "--auto-approve"], { QA_OTP: SECRETS.QA_OTP });
      expect(applied.code, applied.stdout + applied.stderr).toBe(0);
      service.addCase(target, { description: "Twin", externalId: "E1" });
      await declare("now", "b: { description: Other, externalId: E1 }");
      for (const args of [["plan"], ["import", "--dry-run"], ["import", "--target", "Shop"]]) {
        // oxlint-disable-next-line no-await-in-loop
        const { stdout, stderr } = await project.run(args);
        expect(stdout + stderr).toMatch(/2 live test cases fit|left out|No live test target/);
        expect(stdout + stderr, args.join(" ")).not.toContain(SECRETS.QA_OTP);
      }
    });
  });

  test("with a new API key, write-only fields are sent once more, and the plan says why", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/shop.yaml": "target: shop\napp: Web Shop\ntestIdAttribute: data-testid\n",
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      service.apiKey = "service-key-new";
      const env = { TASC_API_KEY: "service-key-new" };
      const { value: plan } = await project.json(["plan"], env);
      expect(at(change(plan, "target.shop"), "calls")).toEqual([
        { method: "PATCH", path: live.paths.target, body: { testIdAttribute: "data-testid" } },
      ]);
      expect(JSON.stringify(list(plan["diagnostics"]))).toMatch(/key/iu);
      expect((await project.run(["apply", "--auto-approve"], env)).code).toBe(0);
      expect((await project.run(["plan", "--detailed-exitcode"], env)).code).toBe(0);
    });
  });

  test("after `apply --only` with a new key, a changed prompt of another test case is still detected", async () => {
    await scene({ freePrompt: false }, async ({ project, service }) => {
      const live = seed(service);
      service.addCase(live.target, { description: "Cart" });
      const manifest = (prompt: string): string =>
        `target: shop\napp: Web Shop\ntestCases:\n  login: { description: Log in, discovery: { prompt: In } }\n  cart: { description: Cart, discovery: { prompt: ${prompt} } }\n`;
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: local, fingerprintKey: "\${secret:PRINT_KEY}" }\n`,
        "targets/shop.yaml": manifest("Fill"),
      });
      const apply = ["apply", "--auto-approve"];
      expect((await project.run(apply, { PRINT_KEY: "first-key-of-16-and-more" })).code).toBe(0);
      const other = { PRINT_KEY: "second-key-of-16-and-more" };
      expect((await project.run([...apply, "--only", "testCase.shop.login"], other)).code).toBe(0);
      await project.write({ "targets/shop.yaml": manifest("Empty") });
      const { value } = await project.json(["plan"], other);
      expect(changed(value)).toEqual(["rediscover testCase.shop.cart"]);
    });
  });

  test("with state.fingerprintKey, fingerprints stay valid when the API key changes", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: local, fingerprintKey: "\${secret:PRINT_KEY}" }\n`,
        "targets/shop.yaml": "target: shop\napp: Web Shop\ntestIdAttribute: data-testid\n",
      });
      const env = { PRINT_KEY: "fingerprint-key-1" };
      expect((await project.run(["apply", "--auto-approve"], env)).code).toBe(0);
      service.apiKey = "service-key-new";
      const ran = await project.run(["plan", "--detailed-exitcode"], {
        ...env,
        TASC_API_KEY: "service-key-new",
      });
      expect(ran.code, ran.stdout).toBe(0);
    });
  });
});

test("no command shows a former secret that is still on the service", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const manifest = (text: string) =>
      `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, entryPointUrlPath: "/${text}", tags: ["t${text}"] } }\n`;
    await project.write({ "targets/shop.yaml": manifest("${secret:PROMPT_CODE}") });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    await project.write({ "targets/shop.yaml": manifest("plain") });
    const explain = ["explain", "testCase.shop.login"];
    const commands = [explain, [...explain, "--format", "json"], [...explain, "entryPointUrlPath"]];
    for (const args of [
      ...commands,
      ["plan"],
      ["snapshot"],
      ["drift"],
      ["pull"],
      ["plan", "--out", "p.json"],
    ]) {
      // oxlint-disable-next-line no-await-in-loop
      const ran = await project.run(args);
      if (args[0] === "explain") expect(ran.stdout).toContain("(sensitive)");
      expect(ran.stderr).not.toContain("Error:");
      expect(ran.stdout + ran.stderr, args.join(" ")).not.toContain(PROMPT_CODE);
    }
    expect(await project.everything()).not.toContain(PROMPT_CODE);
  });
});

test.for([
  { now: "another key", target: "shop", key: "signin" },
  { now: "a target of another key", target: "store", key: "login" },
  { now: "another key of the service", target: "shop", key: "login", apiKey: "service-key-new" },
  { now: "no manifest", target: "shop", key: undefined },
])("a former secret stays redacted if its test case has $now", async ({ target, key, apiKey }) => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const manifest = (name: string, own: string | undefined, text: string) =>
      `target: ${name}\napp: Web Shop\n${own === undefined ? "" : `testCases: { ${own}: { description: Log in, entryPointUrlPath: "/${text}" } }\n`}`;
    await project.write({
      "targets/shop.yaml": manifest("shop", "login", "${secret:PROMPT_CODE}"),
    });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    await project.write({ "targets/shop.yaml": manifest(target, key, "plain") });
    service.apiKey = apiKey ?? service.apiKey;
    const explain = ["explain", `testCase.${target}.${key}`];
    const commands = [
      ["plan"],
      ["snapshot"],
      ["pull"],
      ...(key === undefined ? [["import"]] : [explain]),
    ];
    for (const args of commands) {
      // oxlint-disable-next-line no-await-in-loop
      const ran = await project.run(args, { TASC_API_KEY: service.apiKey });
      expect(ran.stderr).not.toContain("Error:");
      expect(ran.stdout + ran.stderr, args.join(" ")).not.toContain(PROMPT_CODE);
    }
    expect(await project.everything()).not.toContain(PROMPT_CODE);
  });
});

test.for([
  { place: "a path", field: (text: string) => `entryPointUrlPath: "/${text}"` },
  {
    place: "a step",
    field: (text: string) => `elements: [{ interaction: { action: FILL, calledWith: "${text}" } }]`,
  },
])(
  "a former secret in $place stays redacted if the answer to the write that sent it was lost",
  async ({ field }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const manifest = (text: string) =>
        `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, ${field(text)} } }\n`;
      await project.write({ "targets/shop.yaml": manifest("${secret:PROMPT_CODE}") });
      service.fail({ on: { method: "PATCH" }, phase: "after", answer: { kind: "reset" } });
      service.fail({ on: {}, nth: 4, times: 100, phase: "before", answer: answer(400) });
      expect((await project.run(["apply", "--auto-approve", "--retries", "0"], ENV)).code).toBe(1);
      expect(JSON.stringify(service.target("Web Shop").cases[0])).toContain(PROMPT_CODE);
      service.clearFaults();
      await project.write({ "targets/shop.yaml": manifest("plain") });
      for (const command of ["plan", "snapshot", "pull"]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run([command]);
        expect(ran.stderr).not.toContain("Error:");
        expect(ran.stdout + ran.stderr, command).not.toContain(PROMPT_CODE);
      }
    });
  },
);

test.for([
  { left: "and the key of the test case changed", key: "basket" },
  { left: "and the test case is no longer declared", key: undefined },
  { left: "and the test case no longer uses the secret", key: "cart" },
])(
  "a former secret stays redacted if the answer to a creation was lost, $left",
  async ({ key }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const manifest = (own: string | undefined, text: string) =>
        `target: shop\napp: Web Shop\n${own === undefined ? "" : `testCases: { ${own}: { description: Cart, entryPointUrlPath: "/${text}", discovery: { prompt: Fill } } }\n`}`;
      await project.write({ "targets/shop.yaml": manifest("cart", "${secret:PROMPT_CODE}") });
      service.fail({ on: { method: "POST" }, phase: "after", answer: { kind: "reset" } });
      service.fail({ on: {}, nth: 4, times: 100, phase: "before", answer: answer(400) });
      expect((await project.run(["apply", "--auto-approve", "--retries", "0"], ENV)).code).toBe(1);
      expect(service.case(service.target("Web Shop"), "Cart").entryPointUrlPath).toContain(
        PROMPT_CODE,
      );
      service.clearFaults();
      await project.write({ "targets/shop.yaml": manifest(key, "plain") });
      for (const command of [
        "snapshot",
        "plan",
        "pull",
        ...(key === undefined ? ["import"] : []),
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run([command]);
        expect(ran.stderr).not.toContain("Error:");
        expect(ran.stdout + ran.stderr, command).not.toContain(PROMPT_CODE);
      }
      expect(await project.everything()).not.toContain(PROMPT_CODE);
    });
  },
);

test("a former secret of a creation with a lost answer stays redacted after a change of the API key", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const cart =
      'testCases: { cart: { description: Cart, entryPointUrlPath: "/${secret:PROMPT_CODE}", discovery: { prompt: Fill } } }';
    await project.write({ "targets/shop.yaml": `target: shop\napp: Web Shop\n${cart}\n` });
    service.fail({ on: { method: "POST" }, phase: "after", answer: { kind: "reset" } });
    service.fail({ on: {}, nth: 4, times: 100, phase: "before", answer: answer(400) });
    expect((await project.run(["apply", "--auto-approve", "--retries", "0"], ENV)).code).toBe(1);
    service.clearFaults();
    service.apiKey = "service-key-new";
    const env = { TASC_API_KEY: service.apiKey };
    await project.write({
      "targets/shop.yaml": "target: shop\napp: Web Shop\ntestIdAttribute: data-id\n",
    });
    const applied = await project.run(["apply", "--auto-approve", "--only", "target.shop"], env);
    expect(applied.code, applied.stdout + applied.stderr).toBe(0);
    const ran = await project.run(["snapshot"], env);
    expect(ran.stdout).toContain("Fill");
    expect(ran.stdout).not.toContain(PROMPT_CODE);
  });
});

test.for([
  { so: "a test case that is no longer declared", key: undefined },
  { so: "a test case whose key changed, out of scope", key: "signin" },
])(
  "a former secret in a test case stays redacted if only its target is applied: $so",
  async ({ key }) => {
    await scene({}, async ({ project, service }) => {
      const { login } = seed(service);
      const manifest = (own: string | undefined, text: string) =>
        `target: shop\napp: Web Shop\n${own === undefined ? "" : `testCases: { ${own}: { description: Log in, entryPointUrlPath: "/${text}" } }\n`}`;
      await project.write({ "targets/shop.yaml": manifest("login", "${secret:PROMPT_CODE}") });
      expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
      await project.write({
        "targets/shop.yaml": `${manifest(key, "plain")}testIdAttribute: data-id\n`,
      });
      if (key === undefined) login.status = "DELETED";
      const applied = await project.run(["apply", "--auto-approve", "--only", "target.shop"]);
      expect(applied.code, applied.stdout + applied.stderr).toBe(0);
      if (key === undefined) login.status = "ENABLED";
      for (const command of ["snapshot", "plan", "import"]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run([command]);
        expect(ran.stderr).not.toContain("Error:");
        expect(ran.stdout + ran.stderr, command).not.toContain(PROMPT_CODE);
      }
      expect(await project.everything()).not.toContain(PROMPT_CODE);
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      // If the key changed, the new address has taken over the binding and its marks.
      const listed = await project.run(["state", "list"]);
      expect(listed.stdout.includes("testCase.shop.login")).toBe(key === undefined);
    });
  },
);

test.for(["apply", "service"])(
  "elements generated from a secret prompt stay redacted after the %s replaced the prompt",
  async (who) => {
    await scene({}, async ({ project, service }) => {
      const { login } = seed(service);
      const manifest = (text: string) =>
        `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, discovery: { prompt: "Use ${text}" } } }\n`;
      await project.write({ "targets/shop.yaml": manifest("${secret:PROMPT_CODE}") });
      expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
      const interaction = { id: service.id(), action: "FILL", calledWith: PROMPT_CODE };
      login.elements = [service.element({ interaction })];
      if (who === "service") login.prompt = "Use the account";
      await project.write({ "targets/shop.yaml": manifest("the account") });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      expect(login.prompt).toBe("Use the account");
      const ran = await project.run(["snapshot"]);
      expect(ran.stdout).toContain("Use the account");
      expect(ran.stdout).not.toContain(PROMPT_CODE);
    });
  },
);

test("elements generated from a secret prompt stay redacted if its answer was lost and it was reverted", async () => {
  await scene({ freePrompt: false }, async ({ project, service }) => {
    const { login } = seed(service);
    const manifest = (text: string) =>
      `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, discovery: { prompt: "Use ${text}" } } }\n`;
    await project.write({ "targets/shop.yaml": manifest("the account") });
    const apply = ["apply", "--auto-approve", "--retries", "0"];
    expect((await project.run(apply)).code).toBe(0);
    await project.write({ "targets/shop.yaml": manifest("${secret:PROMPT_CODE}") });
    service.fail({ on: { method: "PATCH" }, phase: "after", answer: { kind: "reset" } });
    service.fail({ on: {}, nth: 4, times: 100, phase: "before", answer: answer(400) });
    expect((await project.run(apply, ENV)).code).toBe(1);
    service.clearFaults();
    expect(login.prompt).toContain(PROMPT_CODE);
    const interaction = { id: service.id(), action: "FILL", calledWith: PROMPT_CODE };
    login.elements = [service.element({ interaction })];
    await project.write({ "targets/shop.yaml": manifest("the account") });
    expect((await project.run(apply)).code).toBe(0);
    expect((await project.run(["snapshot"])).stdout).not.toContain(PROMPT_CODE);
  });
});

test("a secret prompt stays redacted if the service did not show it when the test case was renamed", async () => {
  const options = { freePrompt: false };
  await scene(options, async ({ project, service }) => {
    seed(service);
    const manifest = (key: string, text: string) =>
      `target: shop\napp: Web Shop\ntestCases: { ${key}: { description: Pay, discovery: { prompt: "Use ${text}" } } }\n`;
    await project.write({ "targets/shop.yaml": manifest("pay", "${secret:PROMPT_CODE}") });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    await project.write({ "targets/shop.yaml": manifest("buy", "plain") });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    options.freePrompt = true;
    const ran = await project.run(["snapshot"]);
    expect(ran.stdout).toContain("Pay");
    expect(ran.stdout).not.toContain(PROMPT_CODE);
  });
});

test.for(["${secret:PROMPT_CODE}", "plain"])(
  "a former secret is redacted in the messages of an earlier discovery, prompt now %s",
  async (now) => {
    await scene({}, async ({ project, service }) => {
      const { target, login } = seed(service);
      const manifest = (text: string) =>
        `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, discovery: { prompt: "Use ${text}" } } }\n`;
      await project.write({ "targets/shop.yaml": manifest("${secret:PROMPT_CODE}") });
      expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
      await project.write({ "targets/shop.yaml": manifest(now) });
      const rotated = { PROMPT_CODE: "another-code-13579" };
      expect((await project.run(["apply", "--auto-approve"], rotated)).code).toBe(0);
      const discovery = {
        status: "ABORTED",
        abortCause: `No ${PROMPT_CODE}`,
        message: `Typed ${PROMPT_CODE}`,
      };
      const listed = [{ id: login.id, testTargetId: target.id, description: "Log in", discovery }];
      const on = { method: "GET", path: /\/test-cases$/u };
      service.fail({ on, phase: "before", answer: answer(200, JSON.stringify(listed)) });
      const ran = await project.run(["snapshot"], rotated);
      expect(ran.stdout).toContain("ABORTED");
      expect(ran.stdout).not.toContain(PROMPT_CODE);
    });
  },
);

test("a former secret stays redacted if the service ignores the write that replaces it", async () => {
  await scene({}, async ({ project, service }) => {
    const { login } = seed(service);
    const manifest = (path: string) =>
      `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, entryPointUrlPath: "${path}" } }\n`;
    await project.write({ "targets/shop.yaml": manifest("/${secret:PROMPT_CODE}") });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    await project.write({ "targets/shop.yaml": manifest("/plain") });
    service.fail({ on: { method: "PATCH" }, phase: "before", answer: answer(200, "{}") });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(1);
    expect(login.entryPointUrlPath).toBe(`/${PROMPT_CODE}`);
    for (const command of ["plan", "drift", "snapshot"])
      // oxlint-disable-next-line no-await-in-loop
      expect((await project.run([command])).stdout, command).not.toContain(PROMPT_CODE);
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    expect((await project.run(["snapshot"])).stdout).toContain("/plain");
  });
});

test("elements generated from a secret prompt are redacted if the test case once declared elements", async () => {
  await scene({}, async ({ project, service }) => {
    const { login } = seed(service);
    const manifest = (rest: string) =>
      `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, ${rest} } }\n`;
    await project.write({
      "targets/shop.yaml": manifest("elements: [{ interaction: { action: CLICK } }]"),
    });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    const prompt = 'discovery: { prompt: "Use ${secret:PROMPT_CODE}" }';
    await project.write({ "targets/shop.yaml": manifest(prompt) });
    const ran = ["apply", "--auto-approve", "--rediscover", "testCase.shop.login"];
    expect((await project.run(ran, ENV)).code).toBe(0);
    const interaction = { id: service.id(), action: "FILL", calledWith: PROMPT_CODE };
    login.elements = [service.element({ interaction })];
    const taken = await project.run(["snapshot"], { ...ENV, PROMPT_CODE: "another-code" });
    expect(taken.stdout).toContain("FILL");
    expect(taken.stdout).not.toContain(PROMPT_CODE);
  });
});

test("elements generated from a secret prompt are redacted if they replace declared elements", async () => {
  await scene({}, async ({ project, service }) => {
    const { target } = seed(service);
    const manifest =
      'target: shop\napp: Web Shop\ntestCases: { pay: { description: Pay, elements: [{ interaction: { action: CLICK } }], discovery: { prompt: "Use ${secret:PROMPT_CODE}" } } }\n';
    await project.write({ "targets/shop.yaml": manifest });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    const made = service.case(target, "Pay");
    expect(made.elements).toHaveLength(1);
    const interaction = { id: service.id(), action: "FILL", calledWith: PROMPT_CODE };
    made.elements = [service.element({ interaction })];
    made.discoveryStatus = "FINISHED";
    const rotated = { PROMPT_CODE: "another-code-13579" };
    for (const args of [["plan"], ["snapshot"], ["apply", "--auto-approve"]])
      // oxlint-disable-next-line no-await-in-loop
      expect((await project.run(args, rotated)).stdout, args[0]).not.toContain(PROMPT_CODE);
  });
});

test("a snapshot redacts secrets of another stage's target in the same account", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    await project.write({
      "tasc.yaml": PROJECT.replace(/\n?$/, "\nstages: { staging: {}, production: {} }\n"),
      "targets/shop.yaml":
        'target: shop\napp: Shop ${stage}\nenvironments: { default: { discoveryUrl: "https://${stage}.example.com/${secret:PROMPT_CODE}" } }\n',
    });
    const run = (command: string, stage: string, env: Readonly<Record<string, string>>) =>
      project.run([...command.split(" "), "--stage", stage], env);
    expect((await run("apply --auto-approve", "staging", ENV)).code).toBe(0);
    expect(
      (await run("apply --auto-approve", "production", { PROMPT_CODE: "of-production" })).code,
    ).toBe(0);
    const env = { PROMPT_CODE: "of-production" };
    const taken = await run("snapshot --out seen.json", "production", env);
    expect(taken.code, taken.stderr).toBe(0);
    const seen = await project.read("seen.json");
    expect(seen).toContain("Shop staging");
    expect(seen).not.toContain(PROMPT_CODE);
    const planned = await run("plan --snapshot seen.json --detailed-exitcode", "production", env);
    expect(planned.code, planned.stdout + planned.stderr).toBe(0);
  });
});

test("a former secret is redacted in planned calls that keep it, but is sent to the service", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const manifest = (name: string, step: string, more = "") =>
      `target: shop\napp: Web Shop\ntestCases:\n  login: { id: ${service.target("Web Shop").cases[0]?.id}, description: "${name}", elements: [{ interaction: ${step} }] }\n${more}`;
    const secret = manifest(
      "${secret:PROMPT_CODE}",
      '{ action: FILL, calledWith: "${secret:PROMPT_CODE}" }',
    );
    await project.write({ "targets/shop.yaml": secret });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    const cart =
      "  cart: { description: Cart, discovery: { prompt: Fill, prerequisite: login } }\n";
    await project.write({ "targets/shop.yaml": manifest("Log in", "{ action: TYPE }", cart) });
    const plan = ["plan", "--out", "p.json", "--format"];
    for (const args of [
      [...plan, "json"],
      [...plan, "html"],
      ["show", "p.json", "--format", "json"],
    ]) {
      // oxlint-disable-next-line no-await-in-loop
      const ran = await project.run(args);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout + ran.stderr, args.join(" ")).not.toContain(PROMPT_CODE);
    }
    expect(await project.everything()).not.toContain(PROMPT_CODE);
    expect((await project.run(["apply", "p.json"])).code).toBe(0);
    const names = service.writes().map(({ body = null }) => at(body, "prerequisiteName"));
    expect(names).toContain(PROMPT_CODE);
    const element = { interaction: { action: "TYPE", calledWith: PROMPT_CODE } };
    expect(service.target("Web Shop").cases[0]?.elements).toMatchObject([element]);
    const shown = async (...args: readonly string[]) => {
      const ran = await project.run(args);
      expect(ran.code, ran.stderr).toBe(0);
      return ran.stdout + ran.stderr;
    };
    await project.write({ "targets/shop.yaml": manifest("Log in", "{ action: PRESS }", cart) });
    expect(await shown("snapshot"), "after the next write").not.toContain(PROMPT_CODE);
    expect(await shown("plan", "--format", "json")).not.toContain(PROMPT_CODE);
    await project.write({
      "targets/shop.yaml": manifest("Log in", "{ action: PRESS, calledWith: plain }", cart),
    });
    await shown("apply", "--auto-approve");
    await shown("apply", "--auto-approve");
    expect(await shown("snapshot"), "once nothing of it is left").toContain("PRESS");
    expect(await shown("snapshot")).toContain("plain");
  });
});

test("a former secret stays redacted if the manifest only stops declaring the element field with it", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const manifest = (step: string) =>
      `target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, elements: [{ interaction: ${step} }] } }\n`;
    await project.write({
      "targets/shop.yaml": manifest('{ action: FILL, calledWith: "${secret:PROMPT_CODE}" }'),
    });
    expect((await project.run(["apply", "--auto-approve"], ENV)).code).toBe(0);
    await project.write({ "targets/shop.yaml": manifest("{ action: FILL }") });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
    const ran = await project.run(["snapshot"]);
    expect(ran.stdout).toContain("FILL");
    expect(ran.stdout).not.toContain(PROMPT_CODE);
  });
});

test.for([
  "{server}/${secret:STATE_TOKEN}/{target}",
  "${secret:STATE_ADDRESS}",
  "${secret:STATE_SEGMENT}",
])(
  "a token in the state address appears in no message and no file: %s",
  async (address, { expect: expectThat }) => {
    const server = await startHttpServer();
    const STATE_TOKEN = "tok-0123456789-abcdef";
    const STATE_ADDRESS = `${server.address}/${STATE_TOKEN}/{target}`;
    const STATE_SEGMENT = `${server.address}/${STATE_TOKEN}-{stage}-{target}`;
    try {
      await scene({}, async ({ project, service }) => {
        seed(service);
        await project.write({
          "tasc.yaml": `${await project.read("tasc.yaml")}state: { backend: http, address: "${address.replace("{server}", server.address)}" }\n`,
          "targets/shop.yaml":
            "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, status: DRAFT } }\n",
        });
        const env = { STATE_TOKEN, STATE_ADDRESS, STATE_SEGMENT };
        const applied = await project.run(["apply", "--auto-approve"], env);
        expectThat(applied.code, applied.stderr).toBe(0);
        const files = await Promise.all((await project.files()).map((file) => project.read(file)));
        expectThat(files.join("\n")).not.toContain(STATE_TOKEN);
        server.fault = () => 403;
        const refused = await project.run(["plan", "--log-level", "debug"], env);
        expectThat(refused.code).toBe(1);
        expectThat(refused.stdout + refused.stderr).not.toContain(STATE_TOKEN);
      });
    } finally {
      await server.stop();
    }
  },
);

test("a secret that contains an HTML tag is redacted if an HTML page repeats it", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const secret = "open<b>sesame</b>4711";
    const page = answer(400, `<p>Wrong password: ${secret}</p>`);
    service.fail({ on: { method: "PATCH" }, phase: "before", answer: page });
    await project.write({
      "targets/shop.yaml":
        'target: shop\napp: Web Shop\nenvironments: { default: { testAccount: { username: qa, password: "${secret:PW}" } } }\n',
    });
    const ran = await project.run(["apply", "--auto-approve"], { PW: secret });
    expect(ran.code).toBe(1);
    expect(ran.stdout + ran.stderr).toContain("Wrong password: (sensitive)");
  });
});
