// No file of a pull request can change state, reveal secrets or lift protection.
import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scene } from "./support/cli.ts";
import { expectNothingLeft, seed } from "./support/story.ts";

const SHOP =
  "target: shop\napp: Web Shop\ntestCases: { pay: { description: Pay, discovery: { prompt: P } } }\n";
const ERRORED = ".tasc/errored/default/shop.json";

/** Commits the base that a pull request is compared with. */
function commitBase(cwd: string, ...files: readonly string[]): void {
  for (const args of [
    ["init", "-q"],
    ["add", ...files],
    ["commit", "-qm", "base"],
  ])
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd });
}

describe.concurrent("state that an apply could not save", () => {
  test("is merged and reported by the next apply, but only with a valid seal", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": SHOP });
      const hold = service.hold({ method: "POST" });
      const apply = await project.start(["apply", "--auto-approve"]);
      await hold.arrived;
      await rm(join(project.dir, ".tasc/state/default/shop.lock"));
      hold.release();
      const lost = await apply.done;
      expect(lost.stderr).toContain(ERRORED);
      expect(lost.code, lost.stderr).toBe(1);
      const errored = await project.read(ERRORED);
      const writes = service.writes().length;

      const unsealed = errored.replace(/,\s*"seal": "[^"]+"/, "");
      const forgeries = [errored.replaceAll("shop.pay", "shop.log"), unsealed];
      for (const forged of forgeries) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ [ERRORED]: forged });
        // oxlint-disable-next-line no-await-in-loop
        const refused = await project.run(["apply", "--auto-approve"]);
        expect(refused.code).toBe(1);
        expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain(
          "not written with this stage's key",
        );
        expect(service.writes()).toHaveLength(writes);
        // oxlint-disable-next-line no-await-in-loop
        expect((await project.run(["state", "list"])).stdout).not.toContain("shop.log");
      }

      await project.write({ [ERRORED]: errored });
      const moves = [
        ["target.shop", "target.store"],
        ["testCase.shop.pay", "testCase.shop.buy"],
      ];
      for (const move of moves) {
        // oxlint-disable-next-line no-await-in-loop
        const { code, stderr } = await project.run(["state", "mv", ...move]);
        expect([code, stderr]).toEqual([1, expect.stringContaining(ERRORED)]);
      }
      const next = await project.run(["apply", "--auto-approve"]);
      expect(next.code, next.stderr).toBe(0);
      expect(next.stderr).toContain("now includes what an earlier run could not save");
      await expectNothingLeft(project);
    });
  });
});

describe.concurrent(
  "plans and saved plans redact a secret that the manifests no longer name",
  () => {
    const SECRET = "Sup3r-secret-of-qa";
    const shop = (password: string, path: string) =>
      `target: shop\napp: Web Shop\nenvironments: { default: { testAccount: { username: qa${password} } } }\ntestCases: { login: { description: Log in${path} } }\n`;

    test.for([
      ["the base", ["--base", "HEAD"], ""],
      ["the trust file", ["--trust", "trust.yaml"], ""],
      [
        "the trust file, in a stage of its own",
        ["--base", "HEAD", "--trust", "trust.yaml"],
        "stages: { evil: {} }\n",
      ],
    ] as const)("if known from %s", async ([, known, stages], { expect: expectThat }) => {
      await scene({}, async ({ project, service }) => {
        const { login } = seed(service);
        Object.assign(login, { entryPointUrlPath: `/login?with=${SECRET}` });
        project.env["QA_PASSWORD"] = SECRET;
        await project.write({
          "targets/shop.yaml": shop(', password: "${secret:QA_PASSWORD}"', ""),
          "trust.yaml": "version: 1\nvariables: [TASC_*, QA_PASSWORD]\n",
        });
        commitBase(project.dir, ".");
        await project.write({
          "tasc.yaml": (await project.read("tasc.yaml")) + stages,
          "targets/shop.yaml": shop("", ", entryPointUrlPath: /login"),
        });
        const ran = await project.run(["plan", "--out", "plan.json", ...known]);
        expectThat(ran.code, ran.stdout + ran.stderr).toBe(0);
        const shown = await project.run(["show", "plan.json"]);
        for (const text of [ran.stdout, shown.stdout, await project.read("plan.json")]) {
          expectThat(text).toContain("/login?with=(sensitive)");
          expectThat(text).not.toContain(SECRET);
        }
      });
    });
  },
);

test("a secret of any stage of the base is redacted if read as a variable, also in a new stage", async () => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    project.env["CLERK"] = "Sup3r-secret-of-clerk";
    const settings = `${await project.read("tasc.yaml")}stages: { staging: {}, production: {}`;
    const shop = (account: string, path: string) =>
      `target: shop\napp: Web Shop\nstages: { production: { environments: { default: { testAccount: ${account} } } } }\ntestCases: { login: { description: Log in${path} } }\n`;
    await project.write({
      "tasc.yaml": `${settings} }\n`,
      "targets/shop.yaml": shop('{ username: a, password: "${secret:CLERK}" }', ""),
      "trust.yaml": "version: 1\nvariables: [TASC_*, CLERK]\n",
    });
    commitBase(project.dir, ".");
    await project.write({
      "tasc.yaml": `${settings}, evil: {} }\n`,
      "targets/shop.yaml": shop("null", ', entryPointUrlPath: "/${env:CLERK}"'),
    });
    for (const stage of ["staging", "evil"]) {
      const plan = ["plan", "--stage", stage, "--base", "HEAD", "--out", "plan.json"];
      // oxlint-disable-next-line no-await-in-loop
      const ran = await project.run([...plan, "--trust", "trust.yaml"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      // oxlint-disable-next-line no-await-in-loop
      for (const text of [ran.stdout, await project.read("plan.json")]) {
        expect(text).toContain("/(sensitive)");
        expect(text).not.toContain("Sup3r");
      }
    }
  });
});

describe.concurrent("a protected test case", () => {
  const named = (key: string, status: string, rest = "") =>
    `target: shop\napp: Web Shop\ntestCases: { ${key}: { description: Log in, status: ${status} } }\n${rest}`;
  const POLICY = 'policy: { protected: ["testCase.shop.login"] }\n';

  test("is known from the base, even if the base lacks a file that the job creates", async ({
    expect: expectThat,
  }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const key = 'state: { fingerprintKey: "${file:./keys/job.key}" }\n';
      const rest = 'x-prompt: "${file:prompt.txt}"\n';
      await project.write({
        "tasc.yaml": (await project.read("tasc.yaml")) + POLICY + key,
        "targets/shop.yaml": named("login", "ENABLED", rest),
        "prompt.txt": "Log in.",
        "trust.yaml": "version: 1\n",
        "keys/job.key": "Zm9vYmFyYmF6-job-key",
      });
      commitBase(project.dir, "tasc.yaml", "targets", "prompt.txt");
      await project.write({ "targets/shop.yaml": named("login", "ENABLED", "# changed\n") });
      for (const limits of [[], ["--trust", "trust.yaml"]]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(["plan", "--base", "HEAD", ...limits]);
        expectThat(ran.code, ran.stdout + ran.stderr).toBe(0);
      }
      // A base without a project is invalid, even if the change contains a project.
      execFileSync("git", ["rm", "-q", "--cached", "tasc.yaml"], { cwd: project.dir });
      commitBase(project.dir, "prompt.txt");
      const ran = await project.run(["plan", "--base", "HEAD"]);
      expectThat(ran.code).toBe(1);
      expectThat(ran.stdout).toContain("the base has no valid manifests");
    });
  });

  test.for(["", "moved: [{ from: testCase.shop.login, to: testCase.shop.zzz }]\n"])(
    "cannot be renamed without an override, with or without `moved`: %j",
    async (moved, { expect: expectThat }) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        const settings = await project.read("tasc.yaml");
        await project.write({
          "tasc.yaml": settings + POLICY,
          "targets/shop.yaml": named("login", "ENABLED"),
        });
        expectThat((await project.run(["apply", "--auto-approve"])).code).toBe(0);
        await project.write({ "targets/shop.yaml": named("zzz", "ENABLED", moved) });
        for (const command of [["plan"], ["apply", "--auto-approve"]]) {
          // oxlint-disable-next-line no-await-in-loop
          const ran = await project.run(command);
          expectThat(ran.code).toBe(1);
          expectThat(ran.stdout + ran.stderr).toContain(
            '"protected": this test case would be renamed',
          );
        }
        expectThat((await project.run(["state", "list"])).stdout).toContain("testCase.shop.login");
        const renamed = await project.run([
          "apply",
          "--auto-approve",
          "--override-policy",
          "protected",
        ]);
        expectThat(renamed.code, renamed.stderr).toBe(0);
        expectThat((await project.run(["plan"])).code).toBe(0);
      });
    },
  );

  test("of the trust file cannot be renamed to an address that only the change protects", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const settings = await project.read("tasc.yaml");
      const trusted = ["--trust", "trust.yaml"];
      await project.write({
        "trust.yaml": `version: 1\n${POLICY}`,
        "targets/shop.yaml": named("login", "ENABLED"),
      });
      expect((await project.run(["apply", "--auto-approve", ...trusted])).code).toBe(0);
      const moved = "moved: [{ from: testCase.shop.login, to: testCase.shop.zzz }]\n";
      await project.write({
        "tasc.yaml": settings + POLICY.replace("login", "zzz"),
        "targets/shop.yaml": named("zzz", "ENABLED", moved),
      });
      const { code, stdout } = await project.run(["plan", ...trusted]);
      expect(code, stdout).toBe(1);
      expect(stdout).toContain('"protected": this test case would be renamed');
      expect(stdout.replaceAll(/\s+/g, " ")).toContain("protects it as testCase.shop.login");
      // A new address that the trust file also protects is allowed.
      await project.write({ "trust.yaml": `version: 1\n${POLICY.replace("login", "*")}` });
      expect((await project.run(["plan", ...trusted])).code).toBe(0);
    });
  });

  // A plan that releases the test case does not touch it, but later plans would not know that it is
  // protected.
  const LOGIN = named("login", "ENABLED");
  const RELEASES: readonly (readonly [string, (pay: string, target: string) => string])[] = [
    ["the id of another test case", (pay) => LOGIN.replace("{ desc", `{ id: ${pay}, desc`)],
    [
      "another key of its target",
      () => named("pay", "ENABLED").replace("shop", "b").replace("Log in", "Pay"),
    ],
    ["the id of another target", (_, target) => LOGIN.replace("app: Web Shop", `id: ${target}`)],
  ];
  test.for(RELEASES)("cannot be orphaned by %s", async ([, change], { expect: expectThat }) => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      const pay = service.addCase(target, { description: "Pay" });
      const back = seed(service, "Back Office");
      const settings = (await project.read("tasc.yaml")) + POLICY;
      await project.write({ "tasc.yaml": settings, "targets/shop.yaml": LOGIN });
      expectThat((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({ "targets/shop.yaml": change(pay.id, back.target.id) });
      for (const command of [["plan"], ["apply", "--auto-approve"]]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(command);
        expectThat(ran.code, ran.stdout + ran.stderr).toBe(1);
        // The id of another test case also gives that one the name of the protected one.
        expectThat(ran.stdout + ran.stderr).toMatch(
          /"protected": this test case would be (renamed and )?orphaned/,
        );
      }
    });
  });

  test("is accepted under a new target key after an apply with an override", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "tasc.yaml": (await project.read("tasc.yaml")) + POLICY,
        "targets/shop.yaml": named("login", "ENABLED"),
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({
        "targets/shop.yaml": named("login", "ENABLED").replace("shop", "shop2"),
      });
      expect((await project.run(["plan"])).stdout).toContain(
        '"protected": this test case would be renamed',
      );
      const override = ["--override-policy", "protected"];
      expect((await project.run(["apply", "--auto-approve", ...override])).code).toBe(0);
      const next = await project.run(["plan"]);
      expect(next.code, next.stdout).toBe(0);
    });
  });

  test("is known by its address in the base if the change uses another state path", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const settings = (await project.read("tasc.yaml")) + POLICY;
      await project.write({
        "tasc.yaml": settings,
        "targets/shop.yaml": named("login", "ENABLED"),
      });
      commitBase(project.dir, "tasc.yaml", "targets");
      await project.write({
        "tasc.yaml": `${settings}state: { path: .other }\n`,
        "targets/shop.yaml": named("zzz", "DISABLED"),
      });
      const refused = async () => {
        const ran = await project.run(["plan", "--base", "HEAD"]);
        expect(ran.code, ran.stdout + ran.stderr).toBe(1);
        expect(ran.stdout).toContain("protects it as testCase.shop.login");
      };
      await refused();
      await project.write({
        "targets/shop.yaml": named("zzz", "DISABLED").replace("shop", "shop2"),
      });
      await refused();
      // The plan does not read the base's target, but must still report its protected test case.
      await project.write({ "targets/shop.yaml": "target: shop\napp: Other\n" });
      const elsewhere = await project.run(["plan", "--base", "HEAD"]);
      expect(elsewhere.code, elsewhere.stdout + elsewhere.stderr).toBe(1);
      expect(elsewhere.stdout).toContain("testCase.shop.login");
    });
  });

  test("is not taken out of runs by another stage of the same service", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service, "Web Shop staging");
      const { login } = seed(service, "Web Shop production");
      const settings = `${await project.read("tasc.yaml")}policy: { protected: [testCase.shop.login] }\n`;
      await project.write({
        "tasc.yaml": `${settings}stages: { staging: {}, production: {} }\n`,
        "targets/shop.yaml":
          "target: shop\napp: Web Shop ${stage}\ntestCases: { login: { description: Log in } }\n",
      });
      const run = (stage: string, ...args: readonly string[]) =>
        project.run([...args, "--stage", stage]);
      for (const stage of ["staging", "production"]) {
        // oxlint-disable-next-line no-await-in-loop
        const applied = await run(stage, "apply", "--auto-approve");
        expect(applied.code, applied.stderr).toBe(0);
      }
      const taken = "target: more\napp: Web Shop production\nonlyStages: [staging]\n";
      for (const harm of ["", ", status: DISABLED"]) {
        const cases = `testCases: { x: { description: Log in${harm} } }\n`;
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ "targets/more.yaml": taken + cases });
        // oxlint-disable-next-line no-await-in-loop
        const ran = await run("staging", "plan");
        expect(ran.code, ran.stdout).toBe(1);
        expect(ran.stdout).toContain("protects it as testCase.shop.login");
        // oxlint-disable-next-line no-await-in-loop
        expect((await run("staging", "apply", "--auto-approve")).code).toBe(1);
      }
      // Nor where the target alone, which nothing protects, was taken on before.
      await project.write({ "targets/more.yaml": taken });
      const target = await run("staging", "apply", "--auto-approve");
      expect(target.code, target.stdout + target.stderr).toBe(0);
      await project.write({
        "targets/more.yaml": `${taken}testCases: { x: { description: Log in, status: DISABLED } }\n`,
      });
      expect((await run("staging", "apply", "--auto-approve")).code).toBe(1);
      expect(login.status).not.toBe("DISABLED");
    });
  });

  const PROTECTED = "policy: { protected: [testCase.shop.login] }\n";
  const STAGES = "stages: { staging: {}, production: {} }\n";
  test.for([
    [
      "the policy of that stage",
      `stages: { staging: {}, production: { ${PROTECTED.trim()} } }\n`,
      undefined,
      ["plan"],
      ["apply", "--auto-approve"],
    ],
    [
      "that stage, by a variable that only that stage's job has",
      "stages: { staging: {}, production: { policy: { protected: ['testCase.${env:ONLY_THERE}.*'] } } }\n",
      undefined,
      ["plan"],
      ["apply", "--auto-approve"],
    ],
    [
      "the trust file, for that stage",
      STAGES,
      undefined,
      ["plan", "--trust", "trust.yaml"],
      ["apply", "--auto-approve", "--trust", "trust.yaml"],
    ],
    [
      "the trust file, although the manifests no longer name that stage",
      STAGES,
      "stages: { staging: {} }\n",
      ["plan", "--trust", "trust.yaml"],
      ["apply", "--auto-approve", "--trust", "trust.yaml"],
    ],
    [
      "the base, before that stage was removed",
      PROTECTED + STAGES,
      `${PROTECTED}stages: { staging: {} }\n`,
      ["plan", "--base", "HEAD"],
    ],
  ] as const)(
    "is not adopted from another stage where it is protected by %s",
    async ([, settings, later, ...commands]) => {
      await scene({}, async ({ project, service }) => {
        const { login } = seed(service);
        const basic = await project.read("tasc.yaml");
        const cases = (more: string) => `testCases: { login: { description: Log in${more} } }\n`;
        await project.write({
          "tasc.yaml": basic + settings,
          "trust.yaml": `version: 1\nstages: { staging: {}, production: { ${PROTECTED.trim()} } }\n`,
          "targets/shop.yaml": `target: shop\napp: Web Shop\nonlyStages: [production]\n${cases("")}`,
        });
        commitBase(project.dir, "tasc.yaml", "targets");
        const there = { ONLY_THERE: "shop" };
        const applied = await project.run(
          ["apply", "--auto-approve", "--stage", "production"],
          there,
        );
        expect(applied.code, applied.stderr).toBe(0);
        await project.write({ "tasc.yaml": basic + (later ?? settings) });
        for (const key of later === undefined ? ["shop", "more"] : ["more"])
          for (const command of commands) {
            const taken = `target: ${key}\napp: Web Shop\nonlyStages: [staging]\n`;
            // oxlint-disable-next-line no-await-in-loop
            await project.write({ "targets/shop.yaml": taken + cases(", status: DISABLED") });
            // oxlint-disable-next-line no-await-in-loop
            const ran = await project.run([...command, "--stage", "staging"]);
            expect(ran.code, ran.stdout + ran.stderr).toBe(1);
            expect(ran.stderr + ran.stdout).toMatch(
              /taken\s+from\s+another\s+stage[^]*in\s+stage\s+production/,
            );
          }
        expect(login.status).not.toBe("DISABLED");
      });
    },
  );

  test("is refused in a stage or folder that the base lacks, unless plan and apply override it", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const settings = (await project.read("tasc.yaml")) + POLICY;
      await project.write({
        "e2e/tasc.yaml": settings,
        "e2e/targets/shop.yaml": named("login", "ENABLED"),
      });
      commitBase(project.dir, "e2e");
      const stages = "defaultStage: evil\nstages: { evil: {} }\n";
      for (const [folder, more] of [
        ["e2e", stages],
        ["moved", ""],
      ] as const) {
        const changed = named("zzz", "DISABLED");
        // oxlint-disable-next-line no-await-in-loop
        await project.write({
          [`${folder}/tasc.yaml`]: settings + more,
          [`${folder}/targets/shop.yaml`]: changed,
        });
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run([
          "plan",
          "--chdir",
          folder,
          "--base",
          "HEAD",
          "--out",
          "plan.json",
        ]);
        expect(ran.code, ran.stdout + ran.stderr).toBe(1);
        expect(ran.stdout + ran.stderr).toContain("the base has no valid manifests for stage");
      }
      // Apply does not read the base, so it uses the result recorded in the plan.
      const applied = await project.run(["apply", "plan.json", "--chdir", "moved"]);
      expect(applied.code, applied.stdout + applied.stderr).toBe(1);
      expect(applied.stderr).toContain("--override-policy protected");
      expect(service.writes()).toEqual([]);
      const override = ["--override-policy", "protected"];
      const allowed = [
        "plan",
        "--chdir",
        "e2e",
        "--base",
        "HEAD",
        "--out",
        "plan.json",
        ...override,
      ];
      expect((await project.run(allowed)).code).toBe(0);
      // Apply checks the policy again, since an override is valid for one command only.
      const saved = ["apply", "plan.json", "--chdir", "e2e"];
      expect((await project.run(saved)).stderr).toContain("--override-policy protected");
      expect((await project.run([...saved, ...override])).code).toBe(0);
    });
  });

  test("is known by its address in the base if only its new address is in scope", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      seed(service, "Back Office");
      const settings = (await project.read("tasc.yaml")) + POLICY;
      await project.write({
        "tasc.yaml": settings,
        "targets/shop.yaml": named("login", "ENABLED"),
        "targets/back.yaml":
          "target: back\napp: Back Office\ntestCases: { in: { description: Log in } }\n",
      });
      commitBase(project.dir, ".");
      const plan = (...scope: readonly string[]) =>
        project.run(["plan", "--base", "HEAD", ...scope]);
      for (const scope of [
        ["--only", "*.back.*"],
        ["--only", "*.shop.*"],
        ["--shard", "1/2"],
      ])
        // oxlint-disable-next-line no-await-in-loop
        expect((await plan(...scope)).code).toBe(0);
      await project.write({
        "tasc.yaml": `${settings}state: { path: .other }\n`,
        "targets/shop.yaml": named("zzz", "DISABLED"),
      });
      const shop = named("zzz", "DISABLED");
      for (const [file, manifest, only] of [
        ["shop", shop, "testCase.shop.zzz"],
        ["shop", shop.replace("shop", "shop2"), "*.shop2.*"],
        ["back", shop.replace("shop", `back\nid: ${target.id}`), "*.back.*"],
      ] as const) {
        // oxlint-disable-next-line no-await-in-loop
        await project.write({
          "targets/shop.yaml": named("login", "ENABLED"),
          [`targets/${file}.yaml`]: manifest,
        });
        // oxlint-disable-next-line no-await-in-loop
        const ran = await plan("--only", only);
        expect(ran.code, ran.stdout + ran.stderr).toBe(1);
        expect(ran.stdout).toContain("protects it as testCase.shop.login");
      }
    });
  });

  test("is known by its address in the base if .gitattributes changes how git reads files", async () => {
    await scene({}, async ({ project, service }) => {
      service.addCase(seed(service).target, { description: "Log in & pay" });
      const settings = (await project.read("tasc.yaml")) + POLICY;
      const shop = (key: string, status: string) =>
        `target: shop\napp: Web Shop\ntestCases:\n  ${key}:\n    description: Log in & pay\n    status: ${status}\n`;
      await project.write({
        "e2e/tasc.yaml": settings,
        "e2e/targets/shop.yaml": shop("login", "ENABLED"),
      });
      commitBase(project.dir, "e2e");
      await project.write({
        "e2e/tasc.yaml": `${settings}state: { path: .other }\n`,
        "e2e/targets/shop.yaml": shop("zzz", "DISABLED"),
        "e2e/targets/.gitattributes": "*.yaml working-tree-encoding=UTF-7\n",
      });
      const ran = await project.run(["plan", "--chdir", "e2e", "--base", "HEAD"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(1);
      expect(ran.stdout).toContain("protects it as testCase.shop.login");
    });
  });

  test("is known by its address in the base if committed state binds that address to another case", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      service.addCase(target, { description: "Pay" });
      const both = named("login", "ENABLED").replace(
        "ENABLED }",
        "ENABLED }, pay: { description: Pay }",
      );
      await project.write({
        "tasc.yaml": (await project.read("tasc.yaml")) + POLICY,
        "targets/shop.yaml": both,
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      commitBase(project.dir, ".");
      const file = ".tasc/state/default/shop.json";
      const forged = (await project.read(file))
        .replace("testCase.shop.login", "testCase.shop.zzz")
        .replace("testCase.shop.pay", "testCase.shop.login");
      await project.write({
        [file]: forged,
        "targets/shop.yaml": named("zzz", "DISABLED").replace(
          "DISABLED }",
          "DISABLED }, login: { description: Pay }",
        ),
      });
      const ran = await project.run(["plan", "--base", "HEAD"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(1);
      expect(ran.stdout).toContain("protects it as testCase.shop.login");
    });
  });
});
