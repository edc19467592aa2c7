// Runs `tasc rehearse` as a process.
import { describe, expect, test } from "vitest";
import { isArray, isObject, parseJson, type Json } from "../../src/model/json.ts";
import { applied, MANIFEST, SECRETS, type Scene, scene, TARGET, LOGIN } from "../look/scene.ts";

const CHANGED = MANIFEST.replace(
  "  cart:\n",
  `  voucher:
    description: Redeem a voucher
    status: ENABLED
    folder: Vouchers
    discovery: { prompt: "Redeem the voucher.", prerequisite: checkout }
  checkout:
    description: Check out
    discovery: { prompt: "Check out as \${secret:QA_USER}." }
  cart:
    entryPointUrlPath: /cart
`,
).replace(
  "status: ENABLED\n    folder: Authentication",
  "status: DISABLED\n    folder: Authentication",
);

async function writes(stage: Scene): Promise<number> {
  const requests = await stage.control("GET", "/requests");
  if (!isArray(requests)) throw new Error("no list");
  return requests.filter((one) => isObject(one) && one["method"] !== "GET").length;
}

function part(json: Json | undefined, ...path: string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    json,
  );
}

describe.concurrent("tasc rehearse", () => {
  test("applies to a copy, plans again, and does not change the service or state", async () => {
    await scene(async (stage) => {
      await applied(stage);
      stage.write("targets/shop.yaml", CHANGED);
      const before = [
        await stage.control("GET", "/data"),
        stage.read(".tasc/state/default/shop.json"),
      ];
      const sent = await writes(stage);
      const ran = await stage.run(["rehearse", "--format", "json"]);
      expect(ran.stderr).toBe("");
      expect(ran.code).toBe(0);
      const shown = parseJson(ran.stdout);
      expect(part(shown, "calls")).toEqual([
        call("POST", "testCase.shop.checkout", "/discoveries", false),
        call("POST", "testCase.shop.voucher", "/discoveries", false),
        call(
          "PATCH",
          "testCase.shop.cart",
          "/test-cases/00000000-0000-4000-8000-000000000012",
          false,
        ),
        call("PATCH", "testCase.shop.login", `/test-cases/${LOGIN}`, false),
        // After their generations have ended.
        call("PATCH", "testCase.shop.checkout", "/test-cases/(known after apply)", true),
        call("PATCH", "testCase.shop.voucher", "/test-cases/(known after apply)", true),
      ]);
      expect(part(shown, "secondPlan")).toEqual({ empty: true, changes: [] });
      expect(part(shown, "planned", "disable")).toBe(1);
      expect(part(shown, "ok")).toBe(true);
      for (const secret of Object.values(SECRETS)) expect(ran.stdout).not.toContain(secret);
      expect(await writes(stage)).toBe(sent);
      expect([
        await stage.control("GET", "/data"),
        stage.read(".tasc/state/default/shop.json"),
      ]).toEqual(before);
    });
  });

  test("accepts a saved plan and rejects a stale one", async () => {
    await scene(async (stage) => {
      await applied(stage);
      stage.write("targets/shop.yaml", CHANGED);
      expect(
        (await stage.run(["plan", "--out", "plan.json", "--only", "testCase.shop.login"])).code,
      ).toBe(0);
      const ran = await stage.run(["rehearse", "plan.json", "--format", "markdown"]);
      expect(ran.stdout).toContain(
        "The rehearsal succeeded: everything was applied, and a second plan is empty.",
      );
      expect(ran.stdout).toContain(
        `| 1 | PATCH | \`testCase.shop.login\` | \`/apiKey/v3/test-targets/${TARGET}/test-cases/${LOGIN}\` |`,
      );
      expect(ran.code).toBe(0);
      await stage.edit(LOGIN, { status: "OUTDATED" });
      const stale = await stage.run(["rehearse", "plan.json"]);
      expect(stale.code).toBe(4);
      expect(stale.stdout).toBe("");
    });
  });

  test("does not wait for discoveries that are running on the service", async () => {
    await scene(async (stage) => {
      stage.write("targets/shop.yaml", CHANGED);
      await applied(stage);
      stage.write("targets/shop.yaml", CHANGED.replace("Check out as", "Pay and check out as"));
      const ran = await stage.run(["rehearse"]);
      expect(ran.stdout).toContain("The rehearsal succeeded");
      expect(ran.code).toBe(0);
    });
  });

  test("fails if the apply would fail", async () => {
    await scene(async (stage) => {
      stage.write("tasc.yaml", `${stage.read("tasc.yaml")}policy: { maxChanges: 1 }\n`);
      const refused = await stage.run(["rehearse"]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("maxChanges");
      const allowed = await stage.run(["rehearse", "--override-policy", "maxChanges"]);
      expect(allowed.stdout).toContain("The rehearsal succeeded");
      expect(allowed.code).toBe(0);
    });
  });
});

function call(method: string, address: string, path: string, followUp: boolean): Json {
  return { address, method, path: `/apiKey/v3/test-targets/${TARGET}${path}`, followUp };
}
