import { describe, expect, test } from "vitest";
import { faultsIn } from "../../src/manifest/cel.ts";
import { policyOf } from "../../src/manifest/trust.ts";
import { readSlow } from "../../src/manifest/yaml/read-slow.ts";
import { isObject, valueAt } from "../../src/model/json.ts";
import { blocksOf } from "../docs/page.ts";
import { MANIFEST, PROJECT, at, json, listAt, scene, textAt } from "../look/scene.ts";

const RULES = `policy:
  rules:
    - name: team-tag
      for: testCase
      when: status == "ENABLED"
      require: tags.exists(t, t.startsWith("team:"))
      message: Add a tag team:NAME.
    - name: small-plans
      for: plan
      require: total < 2
    - name: no-surprise
      for: change
      require: fields.all(f, f.path[0] != "testAccount")
      level: warn
`;

describe.concurrent("rules of the project's own", () => {
  test("refuse, warn, and are overridden by name", async ({ expect }) => {
    await scene(async (stage) => {
      stage.write("tasc.yaml", PROJECT + RULES);
      const validated = await stage.run(["validate"]);
      expect(validated.code, validated.stderr).toBe(1);
      expect(validated.stderr).toContain('Blocked by policy "team-tag": Add a tag team:NAME.');
      expect(validated.stderr).toContain("targets/shop.yaml:13:3");
      expect(validated.stderr).not.toContain("small-plans");
      const told = json(await stage.run(["validate", "--json"]));
      expect([at(told, "valid"), at(told, "error", "code")]).toEqual([false, "policy-rule"]);

      const planned = await stage.run(["plan", "--json"]);
      expect(planned.code, planned.stderr).toBe(1);
      const found = listAt(json(planned), "diagnostics").map(
        (one) => `${textAt(one, "severity")} ${textAt(one, "summary")}`,
      );
      expect(found).toContain('error Blocked by policy "team-tag": Add a tag team:NAME.');
      expect(found).toContain('error Blocked by policy "small-plans": `total < 2` is not true');
      expect(found.filter((one) => one.includes("no-surprise"))).toEqual([
        'warning Policy "no-surprise": `fields.all(f, f.path[0] != "testAccount")` is not true',
      ]);

      const refused = await stage.run(["apply", "--auto-approve"]);
      expect(refused.code).toBe(1);
      expect(refused.stdout).toContain("--override-policy small-plans");
      const overrides = ["--override-policy", "team-tag", "--override-policy", "small-plans"];
      const done = await stage.run(["apply", "--auto-approve", ...overrides]);
      expect(done.code, done.stderr).toBe(0);

      stage.write("targets/shop.yaml", MANIFEST.replace("[smoke]", "[smoke, 'team:pay']"));
      const valid = await stage.run(["validate"]);
      expect(valid.code, valid.stderr).toBe(0);
    });
  });

  test("with mistakes are errors at their line and column", async ({ expect }) => {
    await scene(async (stage) => {
      stage.write("tasc.yaml", PROJECT + RULES.replace("status ==", "stauts =="));
      const wrong = await stage.run(["validate"]);
      expect(wrong.code).toBe(3);
      expect(wrong.stderr).toContain("tasc.yaml:11:13");
      expect(wrong.stderr).toContain("there is no variable `stauts`");
      expect(wrong.stderr).toContain("Did you mean `status`?");
      // An invalid rule above does not move the places of those below.
      const two = RULES.replace("for: plan", "for: plans").replace("fields.all", "field.all");
      stage.write("tasc.yaml", PROJECT + two);
      const { stderr } = await stage.run(["validate"]);
      expect(stderr).toContain("tasc.yaml:15:12");
      expect(stderr).toContain("tasc.yaml:19:16");
      expect(stderr).toContain("At `policy.rules[2].require`. Did you mean `fields`?");
      stage.write("tasc.yaml", PROJECT + RULES.replace("name: small-plans", "name: team-tag"));
      const twice = await stage.run(["plan"]);
      expect(twice.code).toBe(3);
      expect(twice.stderr).toContain("is the name of another rule");
    });
  });

  test("of the trust file stay, whatever the manifests say", async ({ expect }) => {
    await scene(async (stage) => {
      stage.write("trust.yaml", `version: 1\n${RULES}`);
      const refused = await stage.run(["validate", "--trust", "trust.yaml"]);
      expect(refused.code, refused.stderr).toBe(1);
      expect(refused.stderr).toContain('Blocked by policy "team-tag"');
      stage.write("trust.yaml", `version: 1\n${RULES.replace("status ==", "stauts ==")}`);
      const wrong = await stage.run(["validate", "--trust", "trust.yaml"]);
      expect(wrong.code).toBe(3);
      expect(wrong.stderr).toContain("The trust file's rule team-tag cannot be used");
    });
  });
});

test("the rules in the manual are right", () => {
  const found = blocksOf("docs/how-to/policies.md").flatMap(({ language, text }) => {
    const reading = language === "yaml" && text.includes("rules:") ? readSlow(text) : undefined;
    const policy = reading?.ok === true ? valueAt(reading.value, ["policy"]) : undefined;
    if (!isObject(policy)) return [];
    return policyOf(policy, (key, why) => expect([key, why]).toBe("")).rules ?? [];
  });
  expect(found).toHaveLength(12);
  expect(faultsIn(found)).toEqual([]);
});
