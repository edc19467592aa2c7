// Streams, formats, help, and the behaviour that all commands share.
import { execFileSync } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { expectNoStack, scene } from "./support/cli.ts";
import { at, list, object, parseJson } from "./support/json.ts";
import { expectPlanForm, seed } from "./support/story.ts";

const MANIFEST =
  "target: shop\napp: Web Shop\ntestIdAttribute: x\ntestCases: { login: { description: Log in, status: DRAFT } }\n";
// oxlint-disable-next-line no-control-regex
const ESCAPE = /\u001B/u;

describe.concurrent("streams", () => {
  test.each([
    [["plan", "--format", "json", "--log-level", "debug"]],
    [["plan", "--format", "json", "--out", "p.json", "--log-level", "debug"]],
    [["validate", "--format", "json", "--log-level", "debug"]],
    [["state", "list", "--format", "json", "--log-level", "debug"]],
    [["schema", "plan"]],
  ])("%j prints one JSON value to stdout", async (args) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(args);
      expect(ran.code, ran.stderr).toBe(0);
      parseJson(ran.stdout);
    });
  });

  test.each(["plan", "drift", "pull", "state list", "notifications", "reports list"])(
    "%s --format json prints errors as JSON, too",
    async (command) => {
      await scene({}, async ({ project }) => {
        await project.write({ "targets/shop.yaml": "target: shop\napp: Web Shop\nfoo: 1\n" });
        const ran = await project.run([...command.split(" "), "--format", "json"]);
        expect(ran.code, ran.stderr).toBe(3);
        const [first] = list(at(parseJson(ran.stdout), "diagnostics"));
        expect(first).toMatchObject({
          severity: "error",
          file: "targets/shop.yaml",
          line: 3,
          column: 1,
        });
        expect(ran.stderr).toContain("targets/shop.yaml:3:1");
      });
    },
  );

  test.each([
    ["sarif", '"ruleId"'],
    ["junit", "<testsuite"],
    ["github", "::error file=targets/shop.yaml,line=3"],
  ])(
    "a failed plan is also reported as %s, since a job always uploads the report",
    async (format, told) => {
      await scene({}, async ({ project }) => {
        await project.write({ "targets/shop.yaml": "target: shop\napp: Web Shop\nfoo: 1\n" });
        const ran = await project.run(["plan", "--format", format]);
        expect(ran.code, ran.stderr).toBe(3);
        expect(ran.stdout).toContain(told);
      });
    },
  );

  test("a successful apply prints nothing to stderr, not even a warning of V8", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["apply", "--auto-approve", "--log-level", "error"]);
      expect(ran.code, ran.stdout).toBe(0);
      expect(ran.stderr).toBe("");
    });
  });

  test("plan exits 1 if stdout cannot be written", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const full = await open("/dev/full", "w");
      try {
        const ran = await project.run(["plan", "--format", "json"], {}, full.fd);
        expect(ran.code).toBe(1);
        expect(ran.stderr).toContain("Standard output cannot be written");
      } finally {
        await full.close();
      }
    });
  });

  test("the same inputs give the same plan, except for createdAt", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const of = async (): Promise<string> =>
        (await project.run(["plan", "--format", "json"])).stdout.replace(
          /"createdAt": "[^"]*"/u,
          "",
        );
      expect(await of()).toBe(await of());
    });
  });

  test.each([
    { says: "NO_COLOR", args: ["plan"], env: { NO_COLOR: "1", FORCE_COLOR: "1" } },
    { says: "--no-color", args: ["plan", "--no-color"], env: { FORCE_COLOR: "1" } },
    { says: "no terminal", args: ["plan"], env: {} },
  ])("plan prints no colours with $says", async ({ args, env }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(args, env);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout + ran.stderr).not.toMatch(ESCAPE);
      expect(ran.stdout).toContain(
        "Plan: 0 to create, 2 to update, 0 to rediscover, 0 to disable, 0 unchanged (0 POST, 2 PATCH)",
      );
    });
  });

  test("a text plan contains no terminal escapes from live values", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      live.login.entryPointUrlPath = "\u001B[2J\u001B]0;owned\u0007/x";
      await project.write({
        "targets/shop.yaml":
          "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, entryPointUrlPath: /y } }\n",
      });
      const ran = await project.run(["plan"]);
      expect(ran.code).toBe(0);
      expect(ran.stdout).not.toMatch(ESCAPE);
    });
  });

  test("--log-level debug writes to stderr only", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const quiet = await project.run(["plan", "--log-level", "error"]);
      const loud = await project.run(["plan", "--log-level", "debug"]);
      expect(loud.stdout).toBe(quiet.stdout);
      expect(loud.stderr.length).toBeGreaterThan(quiet.stderr.length);
      expect(loud.stderr).toContain("/test-targets");
    });
  });

  test("--chdir makes a command work in another folder", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({
        "e2e/tasc.yaml": await project.read("tasc.yaml"),
        "e2e/targets/shop.yaml": MANIFEST,
      });
      await project.remove("tasc.yaml");
      const { ran, value: plan } = await project.json(["plan", "--chdir", "e2e"]);
      expect(ran.code, ran.stderr).toBe(0);
      expectPlanForm(plan);
    });
  });
});

describe.concurrent("help", () => {
  test.each(["init", "validate", "plan", "show", "apply", "state", "schema", "serve"])(
    "%s --help prints examples and common options to stdout and exits 0",
    async (command) => {
      await scene({}, async ({ project }) => {
        const ran = await project.run([command, "--help"]);
        expect(ran.code).toBe(0);
        expect(ran.stdout).toMatch(/Examples:[\s\S]*tasc /u);
        expect(ran.stderr).toBe("");
        for (const flag of ["--chdir", "--stage", "--dotenv", "--no-color", "--log-level"])
          expect(ran.stdout).toContain(flag);
      });
    },
  );

  test("running tasc without a command lists the commands", async () => {
    await scene({}, async ({ project }) => {
      const ran = await project.run([]);
      expect([0, 3]).toContain(ran.code);
      expect(ran.stdout + ran.stderr).toContain("plan");
      expectNoStack(ran);
    });
  });
});

describe.concurrent("schema and init", () => {
  test.each(["project", "target", "plan"])(
    "schema %s prints the file in schemas/, which uses draft 2020-12",
    async (which) => {
      await scene({}, async ({ project }) => {
        const ran = await project.run(["schema", which]);
        expect(ran.code).toBe(0);
        const schema = object(parseJson(ran.stdout));
        expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
        const root = process.env["TASC_CONTRACT_ROOT"] ?? ".";
        expect(schema).toEqual(
          parseJson(await readFile(`${root}/schemas/${which}.schema.json`, "utf8")),
        );
        expect(at(schema, "description")).toBeDefined();
      });
    },
  );

  test("init adds the files that git must ignore to the .gitignore of a repository", async () => {
    await scene({}, async ({ project }) => {
      await project.remove("tasc.yaml");
      await project.write({ ".gitignore": "node_modules" });
      execFileSync("git", ["init", "--quiet"], { cwd: project.dir });
      expect((await project.run(["init"])).code).toBe(0);
      const ignored = [
        "node_modules",
        "fingerprint.key",
        ".env",
        ".tasc/service/api-key",
        "plan.json",
      ];
      const git = execFileSync("git", ["check-ignore", ...ignored], {
        cwd: project.dir,
        encoding: "utf8",
      });
      expect(git.trim().split("\n")).toEqual(ignored);
    });
  });

  test.each([[".gitignore"], ["targets", "tasc.yaml"]])(
    "init reports a path that blocks a file, here %s, and stops",
    async (name, ...written) => {
      await scene({}, async ({ project }) => {
        await project.remove("tasc.yaml");
        await project.write(name === "targets" ? { targets: "" } : { ".gitignore/x": "" });
        const ran = await project.run(["init", "--json"]);
        expect(ran.code).toBe(1);
        expect(at(parseJson(ran.stdout), "error", "code")).toBe("unwritable");
        expect(at(parseJson(ran.stdout), "diagnostics", 0, "summary")).toContain(name);
        expect((await project.files()).filter((file) => !file.startsWith(name))).toEqual(written);
      });
    },
  );

  test("init writes a valid project with editor modelines, and overwrites nothing", async () => {
    await scene({}, async ({ project }) => {
      await project.remove("tasc.yaml");
      const ran = await project.run(["init"]);
      expect(ran.code, ran.stderr).toBe(0);
      const files = await project.files();
      expect(files).toContain("tasc.yaml");
      // The trust file is not a manifest.
      const yaml = files.filter((file) => /\.ya?ml$/u.test(file) && file !== "tasc-trust.yaml");
      expect(yaml.length).toBeGreaterThan(1);
      for (const file of yaml)
        // oxlint-disable-next-line no-await-in-loop
        expect(await project.read(file), file).toMatch(/^# yaml-language-server: \$schema=/mu);
      const valid = await project.run(["validate", "--allow-missing-secrets"]);
      expect(valid.code, valid.stdout + valid.stderr).toBe(0);
      const before = await project.everything();
      const again = await project.run(["init"]);
      expect(await project.everything()).toBe(before);
      expect(again.code).not.toBe(0);
    });
  });
});
