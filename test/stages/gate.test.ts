// `tasc promote --gate` only promotes test cases that passed in the newest finished report.
import { describe, expect, test } from "vitest";
import { CART, LOGIN, type Scene, TARGET, at, json, scene, textAt } from "../look/scene.ts";
import { MANIFEST, writeStages } from "./project.ts";

const PROMOTE = ["promote", "--from", "staging", "--to", "production", "--gate"];
const ONLY = ["--exclude", "testCase.shop.only-here"];
const SECRETS = { STAGING_USER: "user-of-staging", PROD_USER: "user-of-production" };

/** The manifest with changes of `login` and `cart`, all of which can be promoted. */
const GATED = MANIFEST.replace("PROD_USER", "STAGING_USER");

async function reported(stage: Scene, results: Readonly<Record<string, string>>): Promise<string> {
  const begun = await stage.control("POST", "/reports", {
    testTargetId: TARGET,
    testCaseIds: Object.keys(results),
  });
  const report = textAt(begun, "id");
  const done = Object.fromEntries(
    Object.entries(results).filter(([, status]) => status !== "WAITING"),
  );
  await stage.control("POST", `/reports/${report}/results`, { results: done });
  return report;
}

describe.concurrent("the gate", () => {
  test("opens if each test case to be changed has passed", async ({ expect }) => {
    await scene(async (stage) => {
      writeStages(stage, GATED);
      const report = await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
      const ran = await stage.run([...PROMOTE, ...ONLY], SECRETS);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stderr).toContain(`Gate: 2 test cases passed in report ${report} of shop.`);
      expect(stage.read("targets/shop.yaml")).not.toBe(GATED);
      const again = await stage.run([...PROMOTE, ...ONLY], {
        ...SECRETS,
        TASC_BASE_URL: "http://127.0.0.1:9",
      });
      expect(again.code, "with nothing to promote nobody is asked").toBe(0);
    });
  });

  test("lists failed, missing and skipped test cases, and writes nothing", async ({ expect }) => {
    await scene(async (stage) => {
      const more = GATED.replace(
        "login: { runStatus",
        'cookie: { runStatus: "OFF" }\n      login: { runStatus',
      );
      writeStages(stage, more);
      await reported(stage, { [LOGIN]: "FAILED", [CART]: "SKIPPED" });
      const ran = await stage.run([...PROMOTE, ...ONLY], SECRETS);
      expect(ran.code).toBe(1);
      expect(stage.read("targets/shop.yaml")).toBe(more);
      await expect(ran.stderr).toMatchFileSnapshot("golden/gate.txt");
      const data = await stage.run([...PROMOTE, ...ONLY, "--format", "json"], SECRETS);
      expect(data.code).toBe(1);
      await expect(data.stdout).toMatchFileSnapshot("golden/gate.json");
    });
  });

  test("uses the newest finished report, even if it is not on the first page", async () => {
    let now = Date.UTC(2030, 0, 1);
    await scene(
      async (stage) => {
        writeStages(stage, GATED);
        await reported(stage, { [LOGIN]: "FAILED", [CART]: "PASSED" });
        now += 1000;
        await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
        for (let waiting = 0; waiting < 60; waiting++) {
          now += 1000;
          await reported(stage, { [LOGIN]: "WAITING" });
        }
        const ran = await stage.run([...PROMOTE, ...ONLY, "--dry-run"], SECRETS);
        expect(ran.code, ran.stderr).toBe(0);
        now += 1000;
        await reported(stage, { [LOGIN]: "FAILED" });
        const refused = await stage.run([...PROMOTE, ...ONLY, "--dry-run"], SECRETS);
        expect(refused.code).toBe(1);
      },
      { clock: () => now },
    );
  });

  test("ignores reports from before the last apply of the test case", async () => {
    await scene(
      async (stage) => {
        writeStages(stage, GATED);
        await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
        const only = ["--only", "testCase.shop.login"];
        await stage.edit(LOGIN, { status: "DRAFT" });
        const applied = await stage.run(
          ["apply", "--auto-approve", "--stage", "staging", ...only],
          SECRETS,
        );
        expect(applied.code, applied.stderr).toBe(0);
        const old = await stage.run([...PROMOTE, ...only], SECRETS);
        expect(old.code).toBe(1);
        expect(old.stderr).toContain("no report has finished since it was applied");
        expect(stage.read("targets/shop.yaml")).toBe(GATED);
        await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
        const fresh = await stage.run([...PROMOTE, ...only], SECRETS);
        expect(fresh.code, fresh.stderr).toBe(0);
      },
      { clock: () => Date.now() },
    );
  });

  test("refuses test cases whose manifest is not applied to the source stage", async () => {
    await scene(async (stage) => {
      writeStages(stage, GATED);
      const only = ["--only", "testCase.shop.login"];
      const applied = await stage.run(
        ["apply", "--auto-approve", "--stage", "staging", ...only],
        SECRETS,
      );
      expect(applied.code, applied.stderr).toBe(0);
      await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
      // A field whose value changed, and a field that is declared for the first time.
      for (const untested of [
        GATED.replace("smoke", "untested"),
        GATED.replace("tags: [web, smoke]", "tags: [web, smoke], folder: Untested"),
      ]) {
        writeStages(stage, untested);
        // oxlint-disable-next-line no-await-in-loop
        const ran = await stage.run([...PROMOTE, ...only], SECRETS);
        expect(ran.code).toBe(1);
        expect(ran.stderr).toContain("it does not match its manifest; apply it there first");
        expect(stage.read("targets/shop.yaml")).toBe(untested);
      }
    });
  });

  test("ignores reports from before a change on the service that was later pulled", async () => {
    await scene(
      async (stage) => {
        writeStages(stage, GATED);
        const only = ["--only", "testCase.shop.login"];
        const apply = ["apply", "--auto-approve", "--stage", "staging", ...only];
        expect((await stage.run(apply, SECRETS)).code).toBe(0);
        await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
        await stage.edit(LOGIN, { tags: ["web", "untested"] });
        const pulled = await stage.run(["pull", "--stage", "staging", ...only], SECRETS);
        expect(pulled.code, pulled.stderr).toBe(0);
        expect(stage.read("targets/shop.yaml")).toContain("untested");
        const refused = await stage.run([...PROMOTE, ...only], SECRETS);
        expect(refused.stderr).toContain("it was changed on the service since it was last applied");
        expect(refused.code).toBe(1);
        // An apply of the pulled change sends nothing, and the report is still older.
        const { stdout: nothing } = await stage.run(apply, SECRETS);
        expect(nothing).toContain("No changes.");
        expect(nothing).not.toContain("Applied:");
        const { stdout: history } = await stage.run(["history", "--stage", "staging"], SECRETS);
        expect(history.split("\n").slice(1, 2)).toEqual([
          `  done     record      testCase.shop.login`,
        ]);
        const old = await stage.run([...PROMOTE, ...only], SECRETS);
        expect(old.stderr).toContain("no report has finished since it was applied");
        expect(old.code).toBe(1);
        await reported(stage, { [LOGIN]: "PASSED", [CART]: "PASSED" });
        const fresh = await stage.run([...PROMOTE, ...only], SECRETS);
        expect(fresh.code, fresh.stderr).toBe(0);
      },
      { clock: () => Date.now() },
    );
  });

  test("ignores reports from before the end of a discovery", async () => {
    let now = Date.UTC(2030, 0, 1);
    await scene(
      async (stage) => {
        writeStages(stage, GATED);
        const only = ["--only", "testCase.shop.login"];
        const staging = ["apply", "--auto-approve", "--stage", "staging", ...only];
        const applied = await stage.run(staging, SECRETS);
        expect(applied.code, applied.stderr).toBe(0);
        await stage.control("PUT", "/settings", { discoveryTime: 600_000 });
        const path = GATED.replace("Log in as", "Go in as");
        writeStages(stage, path);
        const generating = await stage.run(staging, SECRETS);
        expect(generating.code, generating.stderr).toBe(0);
        const promoted = async () => {
          now = Math.max(now, Date.now()) + 1000;
          await reported(stage, { [LOGIN]: "PASSED" });
          return stage.run([...PROMOTE, ...only, "--dry-run"], SECRETS);
        };
        expect((await promoted()).stderr).toContain("it has not run since its discovery ended");
        now += 1000;
        await stage.control("POST", "/discoveries/finish", {});
        expect((await stage.run([...PROMOTE, ...only, "--dry-run"], SECRETS)).code).toBe(1);
        expect((await promoted()).code).toBe(0);
      },
      { clock: () => now },
    );
  });

  test("refuses a changed field that also contains a missing secret", async () => {
    await scene(async (stage) => {
      const secret = GATED.replace("${var:path}", '"/in?${secret:CODE}"');
      writeStages(stage, secret);
      const only = ["--only", "testCase.shop.login"];
      const env = { ...SECRETS, CODE: "2468-code" };
      const applied = await stage.run(
        ["apply", "--auto-approve", "--stage", "staging", ...only],
        env,
      );
      expect(applied.code, applied.stderr).toBe(0);
      await reported(stage, { [LOGIN]: "PASSED" });
      const path = 'entryPointUrlPath: "/untested?${secret:CODE}"';
      const untested = secret.replace("login: { status", `login: { ${path}, status`);
      writeStages(stage, untested);
      const ran = await stage.run([...PROMOTE, ...only, "--allow-missing-secrets"], SECRETS);
      expect(ran.code, ran.stdout).toBe(1);
      expect(ran.stderr).toContain("a secret is missing");
      expect(stage.read("targets/shop.yaml")).toBe(untested);
    });
  });

  test("refuses if the report or the live test case is missing, or the service cannot be used", async () => {
    await scene(async (stage) => {
      writeStages(stage, GATED);
      const none = await stage.run([...PROMOTE, ...ONLY, "--format", "json"], SECRETS);
      expect(none.code).toBe(1);
      expect(at(json(none), "gate", "refused", 0, "why")).toBe(
        "no test report of its target has finished",
      );
      await reported(stage, { [LOGIN]: "PASSED" });
      await stage.remove(CART);
      const gone = await stage.run([...PROMOTE, ...ONLY, "--format", "json"], SECRETS);
      expect(at(json(gone), "gate", "refused", 0, "why")).toBe("it is not live there");
      const key = await stage.run([...PROMOTE, ...ONLY], {
        ...SECRETS,
        TASC_API_KEY: "a-wrong-key",
      });
      expect(key.code).toBe(6);
      const away = await stage.run([...PROMOTE, ...ONLY], {
        ...SECRETS,
        TASC_BASE_URL: "http://127.0.0.1:9",
      });
      expect(away.code).toBe(6);
      expect(stage.read("targets/shop.yaml")).toBe(GATED);
    });
  });
});
