// No command shows any of a set of random secrets: not on the terminal, at any log level, or in a
// file.
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { type FakeService, answer } from "./fake-service.ts";
import { type Env, PROJECT, type Project, scene } from "./support/cli.ts";
import { seed } from "./support/story.ts";

/** Number of random projects. Each runs all commands below, which takes about twenty seconds. */
const RUNS = Number(process.env["TASC_SECRETS_RUNS"] ?? 1);

type Name = "TRACKER" | "PASSWORD" | "OTP" | "GATE" | "HEADER" | "CODE" | "BATCH";

interface Secrets {
  readonly named: Readonly<Record<Name, string>>;
  /** Sent in a header of each call, so limited to the characters that a header may contain. */
  readonly apiKey: string;
  /** The value of a header, written literally in the manifest. */
  readonly literal: string;
}

/**
 * A secret has parts that occur nowhere else in the outputs, and characters that encoders escape.
 */
const head = fc.stringMatching(/^[A-Z]{3}[0-9]{5}$/u).map((text) => `x${text}`);
const ODD = Array.from(`"'\\ /+&<>%$#{}[]:;,?=@!*|~^\`-_.äß日😀\t`);
const signs = fc.string({ unit: fc.constantFrom(...ODD), minLength: 1, maxLength: 8 });
const secret = fc.tuple(head, signs, head).map((parts) => parts.join(""));
const secrets: fc.Arbitrary<Secrets> = fc.record({
  named: fc.record({
    TRACKER: secret,
    PASSWORD: secret,
    OTP: secret,
    GATE: secret,
    HEADER: secret,
    CODE: secret,
    BATCH: secret,
  }),
  apiKey: fc.tuple(head, fc.stringMatching(/^[!-~]{2,8}$/u)).map((parts) => parts.join("")),
  literal: secret,
});

const manifest = ({ literal }: Secrets): string => `target: shop
app: Web Shop
trackerIntegration: { domain: "https://tracker.example.com", apiKey: "\${secret:TRACKER}" }
environments:
  default:
    discoveryUrl: https://shop.example.com
    testAccount: { username: "\${secret:PASSWORD}", password: "\${secret:PASSWORD}", otpInitializerKey: "\${secret:OTP}" }
  preview:
    discoveryUrl: https://preview.example.com
    basicAuth: { username: gate, password: "\${file:gate.txt}" }
    additionalHeaderFields: { X-Token: "\${secret:HEADER}", X-Plain: ${JSON.stringify(literal.replaceAll("${", "$${"))} }
testCases:
  login:
    description: Log in
    discovery: { prompt: "Use the code \${secret:CODE} to log in." }
  cart:
    description: Cart
    entryPointUrlPath: "/cart?t=\${secret:CODE}"
    discovery: { prompt: Fill the cart., prerequisite: login }
batchGenerations:
  spring: { prompt: "Use \${secret:BATCH}." }
`;

const FORMATS = ["text", "json", "markdown", "github", "gitlab", "sarif", "junit", "html"];
const LEVELS = ["debug", "info", "warn", "error"];

/** Commands run before anything is applied, while the service refuses all changes. */
const BEFORE: readonly (readonly string[])[] = [
  ["validate"],
  ["validate", "--format", "json"],
  ["plan", "--out", "saved.plan"],
  ...FORMATS.flatMap((format) => [
    ["plan", "--verbose", "--format", format],
    ["show", "saved.plan", "--format", format],
  ]),
  ["explain", "environment.shop.default"],
  ["explain", "testCase.shop.login", "--format", "json"],
  ["graph"],
  ["snapshot", "--out", "seen.json"],
  ["plan", "--snapshot", "seen.json", "--format", "json"],
  ["apply", "--auto-approve"],
  ["apply", "saved.plan"],
];
/** Commands run after an apply, with secrets copied into fields that the service shows. */
const AFTER: readonly (readonly string[])[] = [
  ["apply", "--auto-approve"],
  ["state", "list"],
  ["state", "show", "environment.shop.default"],
  ["state", "show", "testCase.shop.login", "--format", "json"],
  ["drift"],
  ["drift", "--format", "json"],
  ["plan"],
  ["explain", "testCase.shop.login"],
  ["import", "--target", "Web Shop"],
];

describe("no secret is shown", () => {
  test(
    "in the output of any command, for random secrets",
    async () => {
      await fc.assert(
        fc.asyncProperty(secrets, async (all) => {
          await scene({ apiKey: all.apiKey }, async ({ project, service }) => {
            const { target, login } = seed(service);
            await project.write({
              "tasc.yaml": PROJECT,
              "targets/shop.yaml": manifest(all),
              "gate.txt": all.named.GATE,
            });
            const env = { ...all.named };
            refuseChanges(service, all);
            await lookAt(project, BEFORE, env, all);
            service.clearFaults();
            await lookAt(project, [["apply", "--auto-approve"]], env, all);
            login.prompt = `Was ${all.named.CODE}, is ${all.named.OTP}`;
            login.tags = [all.named.PASSWORD.trim()];
            target.app = "Web Shop";
            await lookAt(project, AFTER, env, all);
          });
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    },
    RUNS * 300_000,
  );
});

/** The errors repeat the secrets as JSON, plain text, URL encoding and base64. */
function refuseChanges(service: FakeService, all: Secrets): void {
  const values = valuesOf(all);
  const bodies = [
    JSON.stringify({ message: `bad: ${values.join(" ")}`, given: values }),
    `bad: ${values.join(" ")}`,
    `bad: ${values.map(encodeURIComponent).join(" ")}`,
    `bad: ${values.map((value) => Buffer.from(value).toString("base64")).join(" ")}`,
  ];
  for (const [at, method] of ["PATCH", "POST", "PATCH", "POST"].entries())
    service.fail({
      on: { method },
      nth: at < 2 ? 1 : 2,
      times: at < 2 ? 1 : 99,
      phase: "before",
      answer: answer(400 + at, bodies[at] ?? ""),
    });
}

async function lookAt(
  project: Project,
  commands: readonly (readonly string[])[],
  env: Env,
  all: Secrets,
): Promise<void> {
  for (const [at, command] of commands.entries()) {
    // oxlint-disable-next-line no-await-in-loop
    const { stdout, stderr, code } = await project.run(
      [...command, "--log-level", LEVELS[at % 4] ?? "debug"],
      env,
    );
    if (code === 3 || code === null)
      throw new Error(`${command.join(" ")} ended with ${code}: ${stderr}`);
    expectNone(`${stdout}\n${stderr}`, command.join(" "), all);
    // oxlint-disable-next-line no-await-in-loop
    await expectNoneWritten(project, command.join(" "), all);
  }
}

async function expectNoneWritten(project: Project, after: string, all: Secrets): Promise<void> {
  const ours = new Set(["gate.txt", "targets/shop.yaml"]);
  for (const file of await project.files())
    // oxlint-disable-next-line no-await-in-loop
    if (!ours.has(file)) expectNone(await project.read(file), `${file} after ${after}`, all);
}

function valuesOf({ named, apiKey, literal }: Secrets): readonly string[] {
  return [...Object.values(named), apiKey, literal];
}

function expectNone(said: string, where: string, all: Secrets): void {
  for (const value of valuesOf(all))
    for (const form of [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      Buffer.from(value).toString("base64").replaceAll("=", ""),
    ])
      if (said.includes(form))
        throw new Error(`${JSON.stringify(form)} shows in ${where}:\n${around(said, form)}`);
}

function around(said: string, form: string): string {
  const at = said.indexOf(form);
  return said.slice(Math.max(0, at - 300), at + 300);
}
