import { describe, test } from "vitest";
import {
  LOGIN,
  MANIFEST,
  PROJECT,
  type Scene,
  appliedScene,
  at,
  json,
  listAt,
  scene,
  steady,
  textAt,
} from "../look/scene.ts";

const ALL_OFF = MANIFEST.replace('runStatus: "ON"', 'runStatus: "OFF"');
const POLICY = `${PROJECT}policy:
  maxChanges: 2
  maxDisabledPercent: 30
  protected: ["testCase.shop.log*"]
  requireTags: [web]
`;
const RULES = ["maxChanges", "maxDisabledPercent", "protected", "requireTags"];
const OVERRIDES = RULES.flatMap((rule) => ["--override-policy", rule]);

/** Sets a stricter policy and changes all test cases. */
function tighten(stage: Scene, policy = POLICY): void {
  stage.write("tasc.yaml", policy);
  stage.write("targets/shop.yaml", ALL_OFF);
}

/** The number of write requests that the service has received. */
async function writes(stage: Scene): Promise<number> {
  const log = listAt(await stage.control("GET", "/requests"));
  return log.filter((entry) => at(entry, "method") !== "GET").length;
}

describe.concurrent("a policy", () => {
  const untouched = appliedScene();

  test("rejects a plan, with the calculation and the addresses", async ({ expect }) => {
    await untouched(async (stage) => {
      tighten(stage);
      const ran = await stage.run(["plan"]);
      expect(ran.code, ran.stderr).toBe(1);
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/refused.txt");
    });
  });

  test("tells programs of a refused plan as of every failure", async ({ expect }) => {
    await untouched(async (stage) => {
      tighten(stage);
      const one = json(await stage.run(["plan", "--format", "json"]));
      expect(Object.keys(one ?? {}).slice(-3)).toEqual(["diagnostics", "error", "next"]);
      expect(at(one, "error", "code")).toBe("policy-protected");
      const all = json(await stage.run(["plan", "--all-stages", "--format", "json"]));
      expect(at(all, "stages", 0, "plan", "error")).toEqual(at(one, "error"));
    });
  });

  test("rejects an apply before any write request, and is overridden rule by rule", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      tighten(stage);
      const before = await writes(stage);
      const refused = await stage.run(["apply", "--auto-approve"]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("Nothing was applied");
      expect(await writes(stage)).toBe(before);
      const some = await stage.run(["plan", ...OVERRIDES.slice(2)]);
      expect(some.code).toBe(1);
      expect(some.stdout).toContain(
        'Error: Blocked by policy "maxChanges": 5 planned, at most 2 allowed',
      );
      expect(some.stdout).toContain(
        'Warning: Policy "protected": this test case would be disabled',
      );
      const all = await stage.run([
        "plan",
        "--detailed-exitcode",
        "--format",
        "json",
        ...OVERRIDES,
      ]);
      expect(all.code, all.stderr).toBe(2);
      const warned = listAt(json(all), "diagnostics").filter(
        (one) => at(one, "severity") === "warning",
      );
      expect(warned.filter((one) => textAt(one, "summary").startsWith("Policy "))).toHaveLength(4);
      const done = await stage.run(["apply", "--auto-approve", ...OVERRIDES]);
      expect(done.code, done.stderr).toBe(0);
    });
  });

  test("has no other rules that can be overridden", async ({ expect }) => {
    await untouched(async (stage) => {
      for (const command of ["plan", "apply"]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await stage.run([command, "--override-policy", "maxChange"]);
        expect(ran.code).toBe(3);
        expect(ran.stderr).toContain("maxChanges, maxDisabledPercent, protected, requireTags");
      }
    });
  });

  test("is reported in SARIF with one code per rule, at the line of the cause", async ({
    expect,
  }) => {
    await untouched(async (stage) => {
      tighten(stage);
      const sarif = json(await stage.run(["plan", "--format", "sarif"]));
      const found = listAt(sarif, "runs", 0, "results").flatMap((result) => {
        if (at(result, "level") !== "error") return [];
        const place = at(result, "locations", 0, "physicalLocation");
        const line = at(place, "region", "startLine");
        return `${textAt(result, "ruleId")} ${textAt(place, "artifactLocation", "uri")}:${JSON.stringify(line)}`;
      });
      expect(found).toEqual([
        "policy-protected targets/shop.yaml:13",
        "policy-require-tags targets/shop.yaml:17",
        "policy-max-changes tasc.yaml:8",
        "policy-max-disabled-percent tasc.yaml:9",
      ]);
    });
  });

  test("also protects resources that were removed from the manifests", async ({ expect }) => {
    await untouched(async (stage) => {
      stage.write("tasc.yaml", `${PROJECT}policy: { protected: ["*.login"] }\n`);
      const without = MANIFEST.replace(/ {2}login:\n(?: {4}.*\n)*/, "").replace(
        ", prerequisite: login",
        "",
      );
      stage.write("targets/shop.yaml", without);
      const ran = await stage.run(["plan"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(1);
      expect(ran.stdout).toContain('policy "protected": this test case would be orphaned');
      expect(ran.stdout).toContain("tasc state rm testCase.shop.login");
      expect((await stage.run(["state", "rm", "testCase.shop.login"])).code).toBe(0);
      expect((await stage.run(["plan"])).code).toBe(0);
    });
  });
});

describe.concurrent("a saved plan under a policy", () => {
  test("can be shown if it violates the policy, but is applied only with overrides", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      tighten(stage);
      expect((await stage.run(["plan", "--out", "plan.json"])).code).toBe(1);
      const shown = await stage.run(["show", "plan.json"]);
      expect(shown.code).toBe(0);
      expect(shown.stdout).toContain('policy "maxDisabledPercent": 100 % disabled');
      const refused = await stage.run(["apply", "plan.json", ...OVERRIDES.slice(2)]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(
        "To apply it anyway, add:\n  --override-policy maxChanges\n",
      );
      expect(await writes(stage)).toBe(0);
      const done = await stage.run(["apply", "plan.json", ...OVERRIDES]);
      expect(done.code, done.stderr).toBe(0);
    });
  });

  test("is not applied if it has errors", async ({ expect }) => {
    await scene(async (stage) => {
      const ghost = "  ghost: { description: Nobody knows it }\nbatchGenerations:";
      stage.write("targets/shop.yaml", MANIFEST.replace("batchGenerations:", ghost));
      expect((await stage.run(["plan", "--out", "plan.json"])).code).toBe(1);
      const ran = await stage.run(["apply", "plan.json", ...OVERRIDES]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toContain("Nothing was applied: the plan has errors");
      expect(await writes(stage)).toBe(0);
    });
  });

  test("is checked against the current policy, without the overrides of the plan", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      tighten(stage);
      expect((await stage.run(["plan", "--out", "plan.json", ...OVERRIDES])).code).toBe(0);
      expect((await stage.run(["apply", "plan.json"])).code).toBe(1);
      expect(await writes(stage)).toBe(0);
      stage.write("tasc.yaml", PROJECT);
      const ran = await stage.run(["apply", "plan.json"]);
      expect(ran.code, ran.stderr).toBe(0);
    });
  });

  test("is checked against a stricter new policy, but only for its own changes", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      tighten(stage, PROJECT);
      expect((await stage.run(["plan", "--out", "plan.json", "--only", "*.cart"])).code).toBe(0);
      await stage.edit(LOGIN, { runStatus: "ON", tags: ["edited"] });
      const before = await writes(stage);
      stage.write("tasc.yaml", `${PROJECT}policy: { protected: ["*.cart"] }\n`);
      const refused = await stage.run(["apply", "plan.json"]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('policy "protected": this test case would be disabled');
      expect(await writes(stage)).toBe(before);
      stage.write("tasc.yaml", `${PROJECT}policy: { maxChanges: 1, protected: ["*.login"] }\n`);
      const done = await stage.run(["apply", "plan.json"]);
      expect(done.code, done.stderr).toBe(0);
    });
  });
});
