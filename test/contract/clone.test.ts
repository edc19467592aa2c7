// A colleague's clone has the project and, with the API key in the environment, the service. It does
// not have the file with the fingerprint key, which git ignores.
import { expect, test } from "vitest";
import { scene } from "./support/cli.ts";
import { at, list, parseJson } from "./support/json.ts";
import { seed } from "./support/story.ts";

const KEY = "a-fingerprint-key-of-the-team";
const MANIFEST = `target: shop
app: Web Shop
timeoutPerStep: 10000
environments:
  default: { testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" } }
testCases:
  login: { description: Log in, status: DISABLED }
`;
const WARNING = "The fingerprint key is missing";

test("without the fingerprint key a clone validates and plans, and what needs it is refused", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    const settings = `${await project.read("tasc.yaml")}state: { backend: local, fingerprintKey: "\${file:fingerprint.key}" }\n`;
    await project.write({
      "tasc.yaml": settings,
      "targets/shop.yaml": MANIFEST,
      "fingerprint.key": `${KEY}\n`,
    });
    const applied = await project.run(["apply", "--auto-approve"]);
    expect(applied.code, applied.stderr).toBe(0);

    // The clone: state is in git, the key is not.
    await project.remove("fingerprint.key");
    for (const args of [["validate"], ["plan", "--detailed-exitcode"]]) {
      const ran = await project.run(args);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(`${ran.stdout}${ran.stderr}`.split(WARNING), args[0]).toHaveLength(2);
      expect(ran.stdout + ran.stderr, args[0]).toContain("TASC_FINGERPRINT_KEY");
    }
    for (const args of [["fmt", "--check"], ["stages"], ["graph"], ["state", "list"]])
      expect((await project.run(args)).code, args[0]).toBe(0);
    await project.write({ "targets/shop.yaml": MANIFEST.replace("DISABLED", "ENABLED") });
    const planned = await project.run(["plan", "--json"]);
    expect(list(at(parseJson(planned.stdout), "changes"))).toHaveLength(1);
    service.forget();
    for (const args of [
      ["apply", "--auto-approve"],
      ["import"],
      ["state", "mv", "testCase.shop.login", "testCase.shop.sign-in"],
      ["state", "rm", "testCase.shop.login"],
    ]) {
      const ran = await project.run(args);
      expect([ran.code, ran.stderr], args.join(" ")).toEqual([
        3,
        expect.stringContaining("State cannot be written: the fingerprint key is missing"),
      ]);
    }
    // Without the key no change can be told from what was applied: silence would be untrue.
    for (const command of ["drift", "pull"]) {
      const ran = await project.run([command]);
      expect([ran.code, ran.stderr], command).toEqual([
        3,
        expect.stringContaining(": the fingerprint key is missing"),
      ]);
    }
    expect(service.log).toEqual([]);

    // The pipeline, with the same tasc.yaml: its secret store has the key.
    const inPipeline = { TASC_FINGERPRINT_KEY: KEY };
    const piped = await project.run(["apply", "--auto-approve"], inPipeline);
    expect(piped.code, piped.stderr).toBe(0);
    const after = await project.run(["plan", "--detailed-exitcode"], inPipeline);
    expect([after.code, after.stdout + after.stderr]).toEqual([
      0,
      expect.not.stringContaining(WARNING),
    ]);

    const wrong = await project.run(["plan"], { TASC_FINGERPRINT_KEY: "an-invented-key-of-mine" });
    expect(wrong.stdout + wrong.stderr).toContain("it is the wrong one");
    expect(wrong.stdout + wrong.stderr).not.toContain("set `state.fingerprintKey`");
  });
});
