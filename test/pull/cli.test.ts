// `tasc pull` writes live values into the manifests and changes nothing else in them.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { isArray, parseJson } from "../../src/model/json.ts";
import {
  CART,
  COOKIE,
  KEY,
  LOGIN,
  MANIFEST,
  PROJECT,
  SECRETS,
  type Scene,
  TARGET,
  applied,
  at,
  id,
  json,
  listAt,
  scene,
  steady,
  textAt,
} from "../look/scene.ts";

async function unchanged(stage: Scene): Promise<void> {
  const plan = await stage.run(["plan", "--detailed-exitcode"]);
  if (plan.code !== 0) throw new Error(`the plan is not empty:\n${plan.stdout}${plan.stderr}`);
}

const MOVED = {
  assertion: { expectation: "VISIBLE" },
  selectors: [{ selectorType: "TEXT", selector: "Sum" }],
};

describe.concurrent("pull", () => {
  test("writes each live value where the field is declared, and the plan is empty then", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.edit(LOGIN, { status: "DISABLED", tags: ["smoke", "slow"], folderId: null });
      await stage.edit(COOKIE, { runStatus: "OFF" });
      await stage.edit(CART, { description: "The cart's total", tags: ["web", "cart"] });
      const before = stage.read("targets/shop.yaml");

      const rehearsed = await stage.run(["pull", "--dry-run"]);
      expect(rehearsed.code, rehearsed.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toBe(before);
      await expect(steady(rehearsed.stdout, stage)).toMatchFileSnapshot("golden/dry-run.txt");
      const data = await stage.run(["pull", "--dry-run", "--format", "json"]);
      await expect(steady(data.stdout, stage)).toMatchFileSnapshot("golden/dry-run.json");

      const ran = await stage.run(["pull"]);
      expect(ran.code, ran.stderr).toBe(0);
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/pull.txt");
      await expect(stage.read("targets/shop.yaml")).toMatchFileSnapshot("golden/shop.yaml");
      await unchanged(stage);

      const again = await stage.run(["pull"]);
      expect(again.stdout).toContain("Nothing to pull: no managed field was changed");
      expect(again.code).toBe(0);
    });
  });

  test("changes a default only if all test cases that share it have the same live value", async () => {
    await scene(async (stage) => {
      await applied(stage);
      for (const one of [COOKIE, LOGIN, CART]) await stage.edit(one, { runStatus: "OFF" });
      await stage.edit(COOKIE, { tags: ["banner"] });
      const ran = await stage.run(["pull", "--format", "json"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toContain(
        'testCases: { runStatus: "OFF", tags: [web] }',
      );
      expect(stage.read("targets/shop.yaml")).toMatch(/cookie banner\n {4}tags: \[banner\]\n/);
      await unchanged(stage);
    });
  });

  test("does not write interpolated, secret or unreadable values, and reports them as left", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.control("POST", "/edit", {
        kind: "environment",
        id: id(2),
        set: { discoveryUrl: "https://else.example.com" },
      });
      await stage.edit(LOGIN, {
        discovery: { status: "FINISHED", freePrompt: `Not ${SECRETS.QA_USER}` },
      });
      await stage.edit(CART, { folderId: id(0x99), status: "ENABLED" });
      await stage.edit(COOKIE, { description: `Accept ${SECRETS.QA_PASSWORD}` });
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace("data-testid", "data-qa").replace(
          "description: Cart",
          "folder: Carts\n    description: Cart",
        ),
      );
      const ran = await stage.run(["pull", "--all"]);
      expect(ran.code, ran.stderr).toBe(1);
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/left.txt");
      expect(ran.stdout + ran.stderr + stage.read("targets/shop.yaml")).not.toContain(
        SECRETS.QA_PASSWORD,
      );
    });
  });

  test("writes the other values if one cannot be edited by itself, and exits with 1", async () => {
    await scene(async (stage) => {
      const before = MANIFEST.replace(
        "tags: [smoke]",
        "tags: [smoke]\n    entryPointUrlPath: !!null",
      );
      stage.write("targets/shop.yaml", before);
      await applied(stage);
      await stage.edit(LOGIN, { status: "DISABLED", entryPointUrlPath: "/login" });
      const ran = await stage.run(["pull"]);
      expect(ran.code, ran.stderr).toBe(1);
      expect(ran.stdout).toContain("It cannot be written by itself");
      expect(stage.read("targets/shop.yaml")).toBe(
        before.replace("status: ENABLED", "status: DISABLED"),
      );
    });
  });

  test("can be limited by address and by field", async () => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.edit(LOGIN, { status: "DISABLED", tags: ["other"] });
      await stage.edit(COOKIE, { runStatus: "OFF" });
      const ran = await stage.run([
        "pull",
        "--only",
        "testCase.shop.login",
        "--fields",
        "tags,folder",
        "--format",
        "json",
      ]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(listAt(json(ran), "changes").length).toBe(1);
      expect(at(json(ran), "changes", 0, "path")).toEqual(["tags"]);
      const changed = stage.read("targets/shop.yaml");
      expect(changed).toBe(MANIFEST.replace("tags: [smoke]", "tags: [other]"));
    });
  });

  test("pulls elements by position, keeps their comments, and escapes ${", async () => {
    await scene(async (stage) => {
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace(
          "description: Cart total adds up\n",
          `description: Cart total adds up
    elements:
      # read it
      - interaction: { action: EXTRACT, calledWith: total } # here
        selectors: [{ selectorType: TEXT, selector: Total }]
      - assertion: { expectation: VISIBLE } # checked
        selectors: [{ selectorType: TEXT, selector: "Sum" }]
`,
        ),
      );
      await applied(stage);
      const elements = [
        {
          interaction: { action: "CLICK" },
          selectors: [{ selectorType: "TEXT", selector: "New" }],
        },
        {
          interaction: { action: "EXTRACT", calledWith: "total" },
          selectors: [{ selectorType: "TEXT", selector: "Total" }],
        },
        {
          assertion: { expectation: "VISIBLE" },
          selectors: [{ selectorType: "TEXT", selector: "Sum of ${all}" }],
        },
      ];
      await stage.edit(CART, { elements });
      const ran = await stage.run(["pull"]);
      expect(ran.code, ran.stderr).toBe(0);
      const text = stage.read("targets/shop.yaml");
      for (const comment of ["# read it", "# here", "# checked"]) expect(text).toContain(comment);
      expect(text).toContain('selector: "Sum of $${all}"');
      await unchanged(stage);
    });
  });

  test("replaces a locator line by the selectors that were set on the service instead", async () => {
    await scene(async (stage) => {
      const element =
        "- assertion: { expectation: VISIBLE } # seen\n        locatorLine: getByText('Total')";
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace("adds up\n", `adds up\n    elements:\n      ${element}\n`),
      );
      await applied(stage);
      const cases = await fetch(`${stage.server.url}/apiKey/v3/test-targets/${TARGET}/test-cases`, {
        headers: { "x-api-key": KEY },
      });
      const all = parseJson(await cases.text());
      const cart = (isArray(all) ? all : []).find((one) => at(one, "id") === CART) ?? null;
      const live = { ...MOVED, id: textAt(cart, "elements", 0, "id") };
      await stage.edit(CART, { elements: [live] });
      const ran = await stage.run(["pull"]);
      expect(ran.code, ran.stderr).toBe(0);
      const text = stage.read("targets/shop.yaml");
      expect(text).not.toContain("locatorLine");
      expect(text).toContain("selector: Sum");
      await unchanged(stage);
    });
  });

  test("writes to the layer that set the value, and does not change other values with the same anchor", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      const manifest = `target: shop # one
app: Web Shop
defaults:
  testCases: { runStatus: "ON" } # for all
testCases:
  cookie: { description: Accept the cookie banner, tags: &tags [web, "a b"] } # has the anchor
  login:
    description: "Log in" # by hand
    status: DRAFT
  cart: { description: Cart total adds up, tags: *tags }
stages:
  staging: { testCases: { login: { status: ENABLED } } } # only there
  production: {}`;
      stage.write("tasc.yaml", PROJECT + "stages: { staging: {}, production: {} }\n");
      stage.write("targets/shop.yaml", manifest.replaceAll("\n", "\r\n"));
      for (const one of [COOKIE, LOGIN, CART])
        await stage.edit(one, { runStatus: "ON", tags: ["web", "a b"] });
      await stage.edit(COOKIE, { tags: ["web"] });
      await stage.edit(LOGIN, { status: "OUTDATED", description: "Sign in" });
      stage.write(
        "targets/more.yaml",
        `target: shop\ntestCases: { night: { description: Nobody declares it } }`,
      );
      const adopt = ["state", "bind", "testCase.shop.login", LOGIN, "--stage", "staging"];
      expect((await stage.run(adopt)).code).toBe(0);
      const all = ["pull", "--stage", "staging", "--all"];
      const base = [...all, "--into", "base", "--fields", "tags,description"];
      const ran = await stage.run([...base, "--format", "json"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect((await stage.run(all)).code).toBe(0);
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/stages.json");
      const after = stage.read("targets/shop.yaml");
      expect(after).toBe(
        manifest
          .replace('tags: &tags [web, "a b"]', "tags: [web]")
          .replace("tags: *tags", "tags: [web, a b]")
          .replace('"Log in"', '"Sign in"')
          .replace("login: { status: ENABLED", "login: { status: OUTDATED")
          .replaceAll("\n", "\r\n"),
      );
    });
  });

  test("leaves what both sides changed, unless told otherwise, and what only the manifest changed", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      const early = await stage.run(["pull"]);
      expect(early.code, early.stderr).toBe(1);
      expect(early.stdout).toContain("no record of an apply or import");
      expect(early.stdout).toContain("`tasc pull --all`");
      expect(stage.read("targets/shop.yaml")).toBe(MANIFEST);

      const git = (...args: readonly string[]) =>
        spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
          cwd: stage.dir,
        });
      git("init", "-q");
      git("add", "-A");
      git("commit", "-qm", "applied");
      await applied(stage);
      await stage.edit(LOGIN, { status: "DISABLED", tags: ["slow"] });
      await stage.edit(COOKIE, { status: "ENABLED" });
      const edited = MANIFEST.replace("status: ENABLED", "status: DRAFT").replace(
        'runStatus: "ON"',
        'runStatus: "OFF"',
      );
      expect(edited).not.toBe(MANIFEST);
      stage.write("targets/shop.yaml", edited);
      const ran = await stage.run(["pull"]);
      expect(ran.code, ran.stderr).toBe(1);
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/conflict.txt");
      expect(stage.read("targets/shop.yaml")).toBe(edited.replace("[smoke]", "[slow]"));

      const wrong = await stage.run(["pull", "--theirs", "testCase.shop.logn"]);
      expect(wrong.code).toBe(3);
      const theirs = await stage.run(["pull", "--theirs", "testCase.shop.login"]);
      expect(theirs.code, theirs.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toBe(
        edited.replace("[smoke]", "[slow]").replace("status: DRAFT", "status: DISABLED"),
      );
      expect((await stage.run(["drift"])).code).toBe(0);
    });
  });

  test("rejects unknown fields and addresses, and writes nothing", async () => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.edit(LOGIN, { status: "DISABLED" });
      const field = await stage.run(["pull", "--fields", "satus"]);
      expect(field.code).toBe(3);
      expect(field.stderr).toContain("Did you mean status?");
      const address = await stage.run(["pull", "--only", "testCase.shop.logn"]);
      expect(address.code).toBe(3);
      expect(address.stderr).toMatch(/Did you mean\s+testCase.shop.login\?/);
      expect(stage.read("targets/shop.yaml")).toBe(MANIFEST);
    });
  });
});
