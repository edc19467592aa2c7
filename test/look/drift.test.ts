// `tasc drift` reports only the changes on the service since the last apply.
import { describe, expect, test } from "vitest";
import {
  applied,
  appliedScene,
  at,
  CART,
  COOKIE,
  id,
  json,
  listAt,
  LOGIN,
  MANIFEST,
  PROJECT,
  scene,
  SECRETS,
  steady,
} from "./scene.ts";

describe.concurrent("drift", () => {
  test("is shown like a plan, from the applied values to the live values", async ({ expect }) => {
    await scene(async (stage) => {
      await applied(stage);
      const none = await stage.run(["drift"]);
      expect(none.code, none.stderr).toBe(0);
      expect(none.stdout).toContain("No drift. Managed fields match the last apply.");
      expect(none.stderr).toBe("");

      await stage.edit(LOGIN, { status: "DISABLED", tags: ["other"] });
      await stage.edit(COOKIE, { runStatus: "OFF" });
      await stage.remove(CART);
      const ran = await stage.run(["drift"]);
      expect(ran.code, ran.stderr).toBe(2);
      await expect(steady(ran.stdout, stage)).toMatchFileSnapshot("golden/drift.txt");

      const data = await stage.run(["drift", "--format", "json", "--only", "testCase.shop.c*"]);
      expect(data.code).toBe(2);
      await expect(steady(data.stdout, stage)).toMatchFileSnapshot("golden/drift.json");
    });
  });

  test("leaves out changes of the manifests, and marks fields that both sides changed", async () => {
    await scene(async (stage) => {
      await applied(stage);
      stage.write("targets/shop.yaml", MANIFEST.replace("status: ENABLED", "status: OUTDATED"));
      expect((await stage.run(["drift"])).code).toBe(0);
      expect((await stage.run(["plan", "--detailed-exitcode"])).code).toBe(2);
      await stage.edit(LOGIN, { status: "DISABLED" });
      const ran = await stage.run(["drift", "--format", "json"]);
      expect(ran.code).toBe(2);
      expect(at(json(ran), "changes", 0, "fields")).toEqual([
        { path: ["status"], declared: "OUTDATED", live: "DISABLED", changedBy: "both" },
      ]);
    });
  });

  test("lists orphaned resources, which are not drift by themselves", async () => {
    await scene(async (stage) => {
      await applied(stage);
      stage.write("targets/shop.yaml", MANIFEST.replace(/^ {2}cart:[^]*?(?=^ {2}\w|^\w)/m, ""));
      const ran = await stage.run(["drift"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toContain(
        `Orphaned: removed from the manifests but still on the service\n  testCase.shop.cart  ${CART}\n`,
      );
      const data = json(await stage.run(["drift", "--json"]));
      expect(at(data, "summary", "orphaned")).toBe(1);
      expect(at(data, "orphaned", 0, "address")).toBe("testCase.shop.cart");
    });
  });

  test("marks a changed secret as changed without showing values", async () => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.edit(LOGIN, {
        discovery: { status: "FINISHED", freePrompt: `Not ${SECRETS.QA_USER}` },
      });
      const ran = await stage.run(["drift", "--format", "json"]);
      expect(ran.code).toBe(2);
      expect(at(json(ran), "changes", 0, "fields")).toEqual([
        { path: ["discovery", "prompt"], sensitive: true, changedBy: "service" },
      ]);
      expect(ran.stdout + ran.stderr).not.toContain(SECRETS.QA_USER);
    });
  });

  test("counts a resource as removed even if another one has taken its name", async () => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.remove(CART);
      await stage.edit(id(0x13), {
        description: "Cart total adds up",
        tags: ["web"],
        runStatus: "ON",
      });
      const ran = await stage.run(["drift", "--format", "json"]);
      expect(ran.code).toBe(2);
      expect(listAt(json(ran), "removed")).toEqual([
        { address: "testCase.shop.cart", id: CART, replacedBy: id(0x13) },
      ]);
    });
  });
});

describe.concurrent("drift that cannot be detected", () => {
  const play = appliedScene();

  test("exits with 1 if the fingerprint key has changed", async () => {
    await play(async (stage) => {
      stage.write("tasc.yaml", `${PROJECT}state: { fingerprintKey: "\${secret:OTHER}" }\n`);
      const ran = await stage.run(["drift"], { OTHER: "another-fingerprint-key" });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toContain("Error: Cannot detect drift");
    });
  });

  test("is not an error if nothing was applied yet, but a warning", async () => {
    await play(async (stage) => {
      stage.write("tasc.yaml", `${PROJECT}state: { path: .tasc/elsewhere }\n`);
      const ran = await stage.run(["drift"]);
      expect(ran.code).toBe(0);
      expect(ran.stderr).toContain(
        "Warning: Nothing was applied yet, so there is no drift to report",
      );
    });
  });

  test("exits with 1 for plan errors, 6 for a wrong key, 3 for a pattern without matches", async () => {
    await play(async (stage) => {
      expect((await stage.run(["drift"], { TASC_API_KEY: "another-key" })).code).toBe(6);
      expect((await stage.run(["drift", "--only", "testCase.web.*"])).code).toBe(3);
      stage.write(
        "targets/shop.yaml",
        `${MANIFEST}  summer: { prompt: P., prerequisite: { description: Nobody } }\n`,
      );
      const ran = await stage.run(["drift", "--format", "json"]);
      expect(ran.code).toBe(1);
      expect(at(json(ran), "diagnostics", 0, "address")).toBe("batchGeneration.shop.summer");
    });
  });
});
