// The contract's tests run most commands in their own process. Here the same commands run both ways
// and must show the same.
import { expect, test } from "vitest";
import { scene, type Env, type Ran } from "./support/cli.ts";
import { seed } from "./support/story.ts";

interface Step {
  readonly args: readonly string[];
  readonly env?: Env;
  readonly code: number;
}

const STEPS: readonly Step[] = [
  { args: ["validate"], code: 0 },
  { args: ["plan", "--detailed-exitcode"], code: 2 },
  { args: ["plan", "--format", "json"], code: 0 },
  { args: ["plan", "--format", "markdown"], code: 0 },
  { args: ["plan", "--out", "saved.json"], code: 0 },
  { args: ["plan", "--only", "testCase.shop.none"], code: 3 },
  { args: ["plan"], env: { TASC_API_KEY: "" }, code: 3 },
  { args: ["plan"], env: { TASC_API_KEY: "wrong" }, code: 6 },
  { args: ["plan"], env: { FORCE_COLOR: "1" }, code: 0 },
  { args: ["apply"], code: 1 },
  { args: ["apply", "--auto-approve"], code: 0 },
  { args: ["apply", "saved.json"], code: 4 },
  { args: ["apply", "--auto-approve", "--format", "json", "--log-level", "debug"], code: 0 },
  { args: ["state", "list"], code: 0 },
  { args: ["drift", "--format", "json"], code: 0 },
  { args: ["history"], code: 0 },
  { args: ["explain", "testCase.shop.login"], code: 0 },
  { args: ["plan", "--frmat", "json"], code: 3 },
  { args: ["sync"], code: 3 },
  { args: ["plan", "--chdir", "nowhere"], code: 3 },
  { args: [], code: 3 },
  { args: ["commands", "--json"], code: 0 },
  { args: ["plan", "--help"], code: 0 },
  { args: ["__complete", "tasc", "pl"], code: 0 },
];

const MANIFEST = `target: shop
app: Web Shop
testCases:
  login: { description: Log in, status: DRAFT }
  pay: { description: "Pay \${secret:QA_OTP}", discovery: { prompt: Pay for it } }
`;

/** Replaces what differs from run to run: times, ports, folders, ids and seals. */
function steady({ code, signal, stdout, stderr }: Ran, dir: string): Ran {
  const even = (output: string): string =>
    output
      .replaceAll(dir, "DIR")
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/gu, "TIME")
      .replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/gu, "HOST")
      .replaceAll(/\b[\d.]+ m?s\b|\[\d\d:\d\d\]/gu, "TIME")
      .replaceAll(/"(seal|run|at|milliseconds|id|\w*(?:Ms|At))": ?(?:"[^"]*"|[\d.]+)/gu, '"$1": …')
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}/gu, "UUID");
  return { code, signal, stdout: even(stdout), stderr: even(stderr) };
}

async function play(asProcess: boolean): Promise<readonly Ran[]> {
  const all: Ran[] = [];
  await scene({}, async ({ project, service }) => {
    seed(service);
    await project.write({ "targets/shop.yaml": MANIFEST });
    for (const { args, env } of STEPS) {
      // oxlint-disable-next-line no-await-in-loop
      const ran = await (asProcess
        ? // oxlint-disable-next-line no-await-in-loop
          (await project.start(args, env)).done
        : project.run(args, env));
      all.push(steady(ran, project.dir));
    }
  });
  return all;
}

test("a command shows the same in a process of its own and in the process of a test", async () => {
  const own = await play(true);
  const here = await play(false);
  for (const [n, { args }] of STEPS.entries())
    expect({ args, ...here[n] }).toEqual({ args, ...own[n] });
  expect(own.map(({ code }, n) => ({ args: STEPS[n]?.args, code }))).toEqual(
    STEPS.map(({ args, code }) => ({ args, code })),
  );
});
