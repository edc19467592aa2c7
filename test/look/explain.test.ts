// `tasc explain` shows the way from a line in a manifest to the reason for a call.
import { describe, expect, test } from "vitest";
import {
  applied,
  appliedScene,
  at,
  json,
  listAt,
  LOGIN,
  MANIFEST,
  scene,
  SECRETS,
  steady,
} from "./scene.ts";
import { isObject } from "../../src/model/json.ts";

describe.concurrent("explain", () => {
  test("shows each value from its manifest line to the planned action", async ({ expect }) => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.edit(LOGIN, { status: "DISABLED", folderId: null });
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace("tags: [smoke]", "tags: [smoke, auth]").replace(
          "data-testid",
          "data-test",
        ),
      );
      const texts = [];
      for (const address of [
        "target.shop",
        "environment.shop.default",
        "testCase.shop.login",
        "batchGeneration.shop.spring",
      ]) {
        const ran = await stage.run(["explain", address]);
        expect(ran.code, ran.stderr).toBe(0);
        texts.push(ran.stdout);
      }
      const text = steady(texts.join("\n----\n\n"), stage);
      for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
      await expect(text).toMatchFileSnapshot("golden/explain.txt");
    });
  });

  test("shows how each value of a new resource will be sent", async ({ expect }) => {
    await scene(async (stage) => {
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace("Web Shop", "Another Shop").replace(
          "description: Accept the cookie banner",
          "description: Accept the cookie banner\n    discovery: { prompt: Accept all. }",
        ),
      );
      const login = await stage.run(["explain", "testCase.shop.login"]);
      const target = await stage.run(["explain", "target.shop", "testIdAttribute"]);
      const environment = await stage.run(["explain", "environment.shop.default"]);
      const text = [target, environment, login].map(({ stdout }) => stdout).join("\n");
      await expect(steady(text, stage)).toMatchFileSnapshot("golden/explain-create.txt");
    });
  });
});

test("explain treats the variable constructor as unset, although every object has that property", async () => {
  await scene(async (stage) => {
    const own = `default: { discoveryUrl: "https://\${env:constructor:-own}.example.com" }`;
    stage.write("targets/own.yaml", `target: own\napp: Own\nenvironments: { ${own} }\n`);
    const { stdout } = await stage.run(["explain", "environment.own.default", "--offline"]);
    expect(stdout.replace(/\s+/g, " ")).toContain("own (the fallback: constructor is not set)");
  });
});

test("explain does not show headers of a lower layer that a higher layer clears", async () => {
  await scene(async (stage) => {
    const lower =
      "defaults: { environments: { additionalHeaderFields: { X-Key: header-of-the-base } } }";
    const own = `default: { discoveryUrl: "https://own.example.com", additionalHeaderFields: null }`;
    stage.write("targets/own.yaml", `target: own\napp: Own\n${lower}\nenvironments: { ${own} }\n`);
    const { stdout, code } = await stage.run(["explain", "environment.own.default", "--offline"]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("additionalHeaderFields");
    expect(stdout).not.toContain("header-of");
  });
});

describe.concurrent("tasc explain in an applied project", () => {
  const play = appliedScene();

  test("accepts one field, a part of a field, or the common parent of several fields", async () => {
    await play(async (stage) => {
      const names = async (...args: readonly string[]) =>
        listAt(json(await stage.run(["explain", ...args, "--format", "json"])), "fields").map(
          (field) => (isObject(field) ? field["name"] : undefined),
        );
      expect(await names("testCase.shop.login", "status")).toEqual(["status"]);
      expect(await names("testCase.shop.login", "discovery")).toEqual([
        "discovery.prompt",
        "discovery.type",
        "discovery.prerequisite",
      ]);
      expect(await names("environment.shop.default", "testAccount.password")).toEqual([
        "testAccount",
      ]);
    });
  });

  test("shows an undeclared field as not managed, with its live value", async () => {
    await play(async (stage) => {
      const ran = await stage.run(["explain", "testCase.shop.cart", "status", "--format", "json"]);
      const field = at(json(ran), "fields", 0);
      expect(at(field, "sources")).toEqual([]);
      expect(at(field, "live")).toBe("DRAFT");
      expect(at(field, "why")).toBe(
        "It is not declared, so it is not managed and nothing is sent.",
      );
    });
  });

  test("lists the layers, the interpolations and their places in JSON", async () => {
    await play(async (stage) => {
      const ran = await stage.run(["explain", "environment.shop.default", "--format", "json"]);
      const fields = at(json(ran), "fields");
      expect(at(fields, 0, "sources")).toEqual([
        {
          layer: "base",
          file: "targets/shop.yaml",
          line: 6,
          column: 19,
          written: "${var:url}",
          role: "counts",
        },
      ]);
      expect(at(fields, 0, "placeholders")).toEqual([
        {
          source: "${var:url}",
          file: "tasc.yaml",
          line: 6,
          column: 38,
          means: "https://${var:host}",
        },
        {
          source: "${var:host}",
          file: "tasc.yaml",
          line: 6,
          column: 15,
          means: "shop.example.com",
        },
      ]);
      expect(at(fields, 1, "value")).toEqual({ username: "qa", password: "(sensitive)" });
      expect(at(fields, 1, "sources", 0, "written")).toEqual({
        username: "qa",
        password: "${secret:QA_PASSWORD}",
      });
      expect(ran.stdout).not.toContain(SECRETS.QA_PASSWORD);
    });
  });

  test("needs neither service nor key with --offline, and does not compare state", async () => {
    await play(async (stage) => {
      const args = ["explain", "testCase.shop.login", "status", "--offline", "--format", "json"];
      const away = { TASC_API_KEY: "" };
      const ran = await stage.run(args, away);
      expect(ran.code, ran.stderr).toBe(0);
      const found = json(ran);
      expect(at(found, "action")).toBe("unknown");
      expect(at(found, "id")).toBe(LOGIN);
      expect(at(found, "fields", 0, "value")).toBe("ENABLED");
      expect(at(found, "fields", 0, "remembered")).toBe(
        "a record; the key of the fingerprints is needed to compare it",
      );
    });
  });

  test("exits with 3 for an unknown name and suggests the nearest one", async () => {
    await play(async (stage) => {
      const address = await stage.run(["explain", "testCase.shop.logn"]);
      expect(address.code).toBe(3);
      expect(address.stderr).toMatch(/Did you mean\s+testCase\.shop\.login\?/);
      const field = await stage.run(["explain", "testCase.shop.login", "sttus"]);
      expect(field.code).toBe(3);
      const code = await stage.run(["explain", "unknow-key"]);
      expect(code.code).toBe(3);
      expect(code.stderr).toMatch(/Did you\s+mean\s+unknown-key\?/);
      expect(field.stderr).toMatch(/Did you\s+mean\s+status\?/);
    });
  });
});
