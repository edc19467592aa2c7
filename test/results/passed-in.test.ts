// `policy.passedIn`: production takes over only what has passed in staging.
import { expect, test } from "vitest";
import { isArray } from "../../src/model/json.ts";
import { type Scene, at, json, scene, textAt } from "../look/scene.ts";

const PROJECT = `version: 1
service: { baseUrl: "\${env:TASC_BASE_URL}", apiKey: "\${secret:TASC_API_KEY}", retries: 0 }
defaultStage: production
stages:
  staging: { service: { apiKey: "\${secret:STAGING_KEY}" } }
  production: { policy: { passedIn: { stage: staging, except: ["testCase.shop.smoke-*"] } } }
`;

const MANIFEST = `target: shop
app: Shop (\${stage})
environments: { default: { discoveryUrl: "https://\${stage}.example.com" } }
testCases:
  pay: { description: Pay, status: ENABLED, discovery: { prompt: Pay by card. } }
  smoke-home: { description: Home, discovery: { prompt: Open the page. } }
  only-here:
    { description: Only here, onlyStages: [production], discovery: { prompt: Look. } }
`;

async function reported(stage: Scene, status: string): Promise<void> {
  const known = json(await stage.run(["state", "list", "--stage", "staging", "--json"], WITH));
  const bound = isArray(known) ? known : [];
  const ids = new Map(bound.map((one) => [textAt(one, "address"), textAt(one, "id")]));
  const testCaseId = ids.get("testCase.shop.pay") ?? "";
  const begun = await stage.control("POST", "/reports", {
    testTargetId: ids.get("target.shop") ?? "",
    testCaseIds: [testCaseId],
  });
  const results = { [testCaseId]: status };
  await stage.control("POST", `/reports/${textAt(begun, "id")}/results`, { results });
}

const KEY = "the-api-key-of-the-tests";
const WITH = { STAGING_KEY: KEY };

test("plan and apply refuse what has not passed there, and say what is missing", () =>
  scene(
    async (stage) => {
      stage.write("tasc.yaml", PROJECT);
      stage.write("targets/shop.yaml", MANIFEST);
      const staged = await stage.run(
        ["apply", "--auto-approve", "--wait", "--stage", "staging"],
        WITH,
      );
      expect(staged.code, staged.stderr).toBe(0);

      const blind = await stage.run(["plan", "--format", "json"]);
      expect(blind.code, blind.stderr).toBe(0);
      expect(blind.stdout).toContain('"code": "not-judged"');
      expect(blind.stdout).toContain("not judged here: STAGING_KEY is not set");

      const denied = await stage.run(["apply", "--auto-approve"]);
      expect([denied.code, denied.stdout + denied.stderr]).toEqual([
        1,
        expect.stringContaining("not judged: STAGING_KEY is not set"),
      ]);

      const data = await stage.run(["plan", "--format", "json"], WITH);
      const refused = at(json(data), "diagnostics");
      expect((isArray(refused) ? refused : []).map((one) => textAt(one, "address"))).toEqual([
        "testCase.shop.pay",
        "testCase.shop.only-here",
      ]);
      const early = await stage.run(["plan"], WITH);
      expect(early.code).toBe(1);
      expect(early.stdout + early.stderr).toContain("no test report of its target has finished");
      expect(early.stdout + early.stderr).toMatch(
        /passed 0 of 1 in staging; next possible \d{4}-\d\d-\d\dT\d\d:\d\dZ/,
      );
      expect(early.stdout + early.stderr).toContain("it does not exist in staging");

      stage.write("targets/shop.yaml", MANIFEST.replace(/ {2}only-here:\n.*\n/, ""));
      await reported(stage, "PASSED");
      const good = await stage.run(["plan", "--out", "plan.json"], WITH);
      expect(good.code, good.stdout + good.stderr).toBe(0);

      stage.write("tasc.yaml", `${PROJECT}policy: { steps: reviewed }\n`);
      const unread = await stage.run(["plan"], WITH);
      expect([unread.code, unread.stdout + unread.stderr]).toEqual([
        1,
        expect.stringContaining("its steps there are not accepted yet"),
      ]);
      await stage.run(["steps", "accept", "--all", "--stage", "staging"], WITH);
      const read = await stage.run(["plan"], WITH);
      expect(read.code, read.stdout + read.stderr).toBe(0);
      stage.write("tasc.yaml", PROJECT);

      await reported(stage, "FAILED");
      const worse = await stage.run(["apply", "plan.json"], WITH);
      expect([worse.code, worse.stderr]).toEqual([1, expect.stringContaining("FAILED in report")]);
      // A quarantine exempts from the rule, and the plan says that this is why.
      const until = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      const quarantined = MANIFEST.replace(/ {2}only-here:\n.*\n/, "").replace(
        "status: ENABLED",
        `status: ENABLED, quarantine: { until: ${until}, reason: Flaky }`,
      );
      stage.write("targets/shop.yaml", quarantined);
      const exempt = await stage.run(["plan"], WITH);
      expect([exempt.code, exempt.stdout.replaceAll(/\s+/g, " ")]).toEqual([
        0,
        expect.stringContaining(
          "not judged here: in quarantine in staging, so it is open whether 1 test case passed elsewhere: testCase.shop.pay",
        ),
      ]);
      stage.write("targets/shop.yaml", MANIFEST.replace(/ {2}only-here:\n.*\n/, ""));

      const forced = ["apply", "plan.json", "--override-policy", "passedIn"];
      expect((await stage.run(forced, WITH)).code).toBe(0);

      // Taking a test out of runs is never gated, a new prompt is.
      const changed = (more: string): void =>
        stage.write(
          "targets/shop.yaml",
          `${MANIFEST.replace(/ {2}only-here:\n.*\n/, "")}stages: { production: { testCases: { pay: ${more} } } }\n`,
        );
      changed("{ status: DISABLED }");
      const off = await stage.run(["plan"], WITH);
      expect(off.code, off.stdout + off.stderr).toBe(0);
      changed("{ discovery: { prompt: Pay twice. } }");
      const other = await stage.run(["plan"], WITH);
      expect(other.code).toBe(1);
      expect(other.stdout + other.stderr).toContain("its discovery.prompt is different there");
    },
    { clock: () => Date.now(), discoveryTime: 0 },
  ));

test("two places that name different stages are an error, which names both", () =>
  scene(async (stage) => {
    const rule = "policy: { passedIn: { stage: other } }\n";
    stage.write("tasc.yaml", `${PROJECT}  other: {}\n${rule}`);
    stage.write("targets/shop.yaml", MANIFEST);
    const refused = await stage.run(["validate"]);
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringMatching(
        /names the stage staging here, and other in another place\n {2}tasc\.yaml:6:/,
      ),
    ]);
  }));
