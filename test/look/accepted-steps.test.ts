// The life of reviewed steps with the local service: generated, accepted, weakened, promoted.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Json, type JsonObject, isArray, isObject } from "../../src/model/json.ts";
import { KEY, type Ran, type Scene, at, json, listAt, scene, textAt } from "./scene.ts";

const PROJECT = `version: 1
service: { baseUrl: "\${env:TASC_BASE_URL}", apiKey: "\${secret:TASC_API_KEY}", retries: 0 }
policy: { steps: reviewed, protected: ["testCase.shop.pay"] }
defaultStage: staging
stages: { staging: {}, production: {} }
`;
const testCase = (key: string, prompt: string): string =>
  `  ${key}: { description: ${key}, status: ENABLED, runStatus: "ON", discovery: { prompt: ${prompt} } }\n`;
const MANIFEST = `target: shop
app: Shop \${stage}
environments: { default: { discoveryUrl: "https://\${stage}.example.com" } }
testCases:
${testCase("pay", "Pay by card.")}${testCase("voucher", "Use a voucher.")}`;
const IN_STAGING = "stages: { staging: { testCases: { pay: { tags: [smoke] } } } }\n";

const PAY = "steps/staging/shop/pay.txt";
const VOUCHER = "steps/staging/shop/voucher.txt";

async function caseNamed(stage: Scene, description: string): Promise<JsonObject> {
  const data = await stage.control("GET", "/data");
  const found = listAt(data, "testCases").find((one) => textAt(one, "description") === description);
  return isObject(found) ? found : {};
}

/** Changes a test case through the interface of the service, as a colleague's script would. */
async function patch(stage: Scene, testCase: JsonObject, body: JsonObject): Promise<void> {
  const path = `/test-targets/${textAt(testCase, "testTargetId")}/test-cases/${textAt(testCase, "id")}`;
  const response = await fetch(`${stage.server.url}/apiKey/v3${path}`, {
    method: "PATCH",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(200);
}

function without(object: JsonObject, left: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== left));
}

/** The elements as a PATCH takes them. */
function elementsOf({ elements }: JsonObject): readonly JsonObject[] {
  return (isArray(elements) ? elements.filter(isObject) : []).map(({ selectors, ...element }) => ({
    ...without(element, "scrollState"),
    selectors: (isArray(selectors) ? selectors.filter(isObject) : []).map((selector) =>
      without(selector, "scrollStateId"),
    ),
  }));
}

async function passAll(stage: Scene, description: string): Promise<void> {
  const testCase = await caseNamed(stage, description);
  const id = textAt(testCase, "id");
  const begun = await stage.control("POST", "/reports", {
    testTargetId: textAt(testCase, "testTargetId"),
    testCaseIds: [id],
  });
  const results = { [id]: "PASSED" };
  await stage.control("POST", `/reports/${textAt(begun, "id")}/results`, { results });
}

const codes = (plan: Json) =>
  listAt(plan, "attention").map((row) => `${textAt(row, "code")} ${textAt(row, "severity")}`);

test("steps are generated, accepted, switched on, weakened, accepted again and promoted", () =>
  scene(
    async (stage) => {
      const run = async (line: string): Promise<Ran> => stage.run(line.split(" "));
      const code = async (line: string): Promise<number | null> => (await run(line)).code;
      stage.write("tasc.yaml", PROJECT);
      stage.write("targets/shop.yaml", MANIFEST + IN_STAGING);

      // The test cases are created and stay off.
      const created = await run("apply --auto-approve");
      expect(created.code, created.stdout + created.stderr).toBe(0);
      expect(await caseNamed(stage, "pay")).not.toMatchObject({
        status: "ENABLED",
        runStatus: "ON",
      });
      expect((await run("steps")).stdout).toContain("not generated yet");
      await stage.control("POST", "/discoveries/finish");
      const held = await run("plan --detailed-exitcode");
      expect([held.code, held.stdout]).toEqual([
        0,
        expect.stringContaining("2 test cases stay off until their steps are accepted"),
      ]);
      const open = await run("steps --detailed-exitcode");
      expect([open.code, open.stdout]).toEqual([
        2,
        expect.stringMatching(/2 not accepted[^]*testCase\.shop\.pay +not accepted/),
      ]);

      // The merge of the accepted steps switches them on.
      const named = await run("steps accept");
      expect([named.code, named.stderr]).toEqual([3, expect.stringContaining("testCase.shop.pay")]);
      expect((await run("steps accept --all --dry-run")).stdout).toContain(`+ ${PAY}`);
      expect(existsSync(join(stage.dir, PAY))).toBe(false);
      expect(await code("steps accept --all")).toBe(0);
      expect(stage.read(PAY)).toMatch(/^# testCase\.shop\.pay\n1 {2}click [^]*expect VISIBLE/);
      expect(await code("plan --detailed-exitcode")).toBe(2);
      expect(await code("apply --auto-approve")).toBe(0);
      expect(await caseNamed(stage, "pay")).toMatchObject({ status: "ENABLED", runStatus: "ON" });
      for (const quiet of ["plan", "drift", "steps"])
        // oxlint-disable-next-line no-await-in-loop
        expect(await code(quiet + (quiet === "drift" ? "" : " --detailed-exitcode"))).toBe(0);

      // Somebody weakens both on the service.
      const [pay, voucher] = [await caseNamed(stage, "pay"), await caseNamed(stage, "voucher")];
      await patch(stage, pay, { elements: elementsOf(pay).filter((one) => one["interaction"]) });
      await patch(stage, voucher, {
        elements: elementsOf(voucher).map((one) => ({ ...one, ignoreFailure: true })),
      });
      const told = /2 test cases check less than was accepted[^]*testCase\.shop\.voucher/;
      for (const format of ["text", "markdown", "html"]) {
        // oxlint-disable-next-line no-await-in-loop
        const plan = await run(`plan --format ${format}`);
        expect([plan.code, plan.stdout], format).toEqual([1, expect.stringMatching(told)]);
      }
      const unprotected = await run("plan --only testCase.shop.voucher --json");
      expect(unprotected.code, unprotected.stderr).toBe(0);
      expect(codes(json(unprotected))).toEqual(["steps-weakened danger"]);
      const drift = await run("drift");
      expect([drift.code, drift.stdout]).toEqual([
        2,
        expect.stringMatching(/testCase\.shop\.voucher[^]*weakened/),
      ]);
      const steps = await run("steps --json --detailed-exitcode");
      expect(steps.code).toBe(2);
      expect(at(json(steps), "summary", "weakened")).toBe(2);
      expect(at(json(steps), "testCases", 0, "differences")).toMatchObject([
        { kind: "removed", class: "weakened" },
      ]);
      await passAll(stage, "pay");
      const promote = "promote --from staging --to production --gate";
      const refused = await run(promote);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/testCase\.shop\.pay[^]*its steps there were weakened/),
      ]);

      // The weakening is accepted, the file is the review.
      expect(await code("steps accept testCase.shop.pay testCase.shop.voucher")).toBe(0);
      expect(stage.read(PAY)).not.toContain("expect");
      expect(stage.read(VOUCHER)).toContain("ignoring failure");
      expect([await code("plan --detailed-exitcode"), await code("drift")]).toEqual([0, 0]);
      const promoted = await run(promote);
      expect(promoted.code, promoted.stdout + promoted.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toMatch(/pay:.*tags: \[smoke\]/);

      // A regenerated test case keeps running, and is told.
      stage.write("targets/shop.yaml", MANIFEST.replace("Use a voucher", "Use two vouchers"));
      expect(await code("apply --auto-approve")).toBe(0);
      await stage.control("POST", "/discoveries/finish");
      const regenerated = await run("plan --detailed-exitcode --json");
      expect(await caseNamed(stage, "voucher")).toMatchObject({
        status: "ENABLED",
        runStatus: "ON",
      });
      expect([regenerated.code, codes(json(regenerated))]).toEqual([0, ["steps-changed caution"]]);

      // What the service itself switches on stays on.
      stage.write("targets/shop.yaml", `${MANIFEST}${testCase("new", "Look.")}`);
      expect(await code("apply --auto-approve")).toBe(0);
      await stage.control("POST", "/discoveries/finish");
      await patch(stage, await caseNamed(stage, "new"), { status: "ENABLED", runStatus: "ON" });
      const on = await run("plan --only testCase.shop.new --detailed-exitcode --json");
      expect([on.code, codes(json(on))]).toEqual([0, ["steps-new danger"]]);
    },
    { seed: {} },
  ));

test("an import accepts what it takes over, and the files are checked, explained and moved", () =>
  scene(
    async (stage) => {
      const run = async (line: string): Promise<Ran> => stage.run(line.split(" "));
      const git = (...args: readonly string[]): string =>
        execFileSync("git", ["-C", stage.dir, ...args], { encoding: "utf8" }).trim();
      stage.write("tasc.yaml", PROJECT);
      stage.write("targets/shop.yaml", MANIFEST);
      expect((await run("apply --auto-approve")).code).toBe(0);
      await stage.control("POST", "/discoveries/finish");
      rmSync(join(stage.dir, "targets"), { recursive: true });
      rmSync(join(stage.dir, ".tasc"), { recursive: true });

      const imported = await run("import");
      expect([imported.code, imported.stdout]).toEqual([
        0,
        expect.stringContaining("steps/staging/  (accepted steps of 2 test cases)"),
      ]);
      expect((await run("steps --detailed-exitcode")).stdout).toBe("shop  2 accepted\n");
      expect((await run("plan --detailed-exitcode")).code).toBe(0);
      // A second import accepts nothing.
      const pay = await caseNamed(stage, "pay");
      await patch(stage, pay, { elements: elementsOf(pay).slice(0, 1) });
      expect((await run("import")).code).toBe(0);
      expect((await run("steps --detailed-exitcode")).code).toBe(2);
      await stage.edit(textAt(pay, "id"), { elements: pay["elements"] ?? [] });

      const explained = async (address: string) => json(await run(`explain ${address} --json`));
      git("init", "--quiet");
      git("add", ".");
      git("-c", "user.name=qa", "-c", "user.email=qa@example.com", "commit", "-qm", "All");
      const known = { file: PAY, commit: git("log", "-1", "--format=%h") };
      expect(at(await explained("testCase.shop.pay"), "stepsAccepted")).toMatchObject(known);
      expect((await run("explain testCase.shop.pay")).stdout).toContain(
        `commit ${known.commit} of`,
      );

      // A file that cannot be read is an error with its line, in validate and in a plan.
      const text = stage.read(PAY);
      for (const [broken, why] of [
        [text.replace("1  ", "x  "), "not a step as tasc writes it"],
        [`${text}<<<<<<< mine\n`, "the markers of a merge conflict"],
      ] as const) {
        stage.write(PAY, broken);
        const at = `${PAY}:${broken.includes("<<<") ? text.split("\n").length : 2}:1`;
        for (const command of ["validate", "plan"]) {
          // oxlint-disable-next-line no-await-in-loop
          const refused = await run(command);
          // A plan reads a file whose steps differ.
          expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining(at)]);
          expect(refused.stderr).toContain(why);
        }
      }
      // A fingerprint under another key reads as unknown: it holds nothing, and is told once.
      const other = text.replace(/^(1 {2}.*?)"[^"]*"/m, "$1(sensitive AAAAbbbbccccddddeeee)");
      expect(other).not.toBe(text);
      stage.write(PAY, other);
      for (const command of ["plan --detailed-exitcode", "steps --detailed-exitcode"]) {
        // oxlint-disable-next-line no-await-in-loop
        const told = await run(command);
        expect([told.code, (told.stdout + told.stderr).split("under another key")]).toEqual([
          0,
          [expect.any(String), expect.stringContaining(PAY)],
        ]);
      }
      stage.write(PAY, text);

      // The file under the old key counts until accept moves it. One of no test case is a warning.
      const manifest = stage.read("targets/shop.yaml");
      const renamed = manifest
        .replace(/^ {2}pay:/m, "  payment:")
        .replace(/^ {2}voucher:[^]*/m, "");
      const moved = "moved: [{ from: testCase.shop.pay, to: testCase.shop.payment }]\n";
      stage.write("targets/shop.yaml", renamed + moved);
      const valid = await run("validate");
      expect([valid.code, valid.stderr]).toEqual([0, expect.stringContaining(`${VOUCHER}:1:1`)]);
      expect((await run("steps --detailed-exitcode")).code).toBe(0);
      expect(at(await explained("testCase.shop.payment"), "stepsAccepted")).toMatchObject(known);
      expect((await run("steps accept --all")).code).toBe(0);
      expect(git("status", "--short", "-uall", "steps").split("\n").toSorted()).toEqual(
        [
          "?? steps/staging/shop/payment.txt",
          " D steps/staging/shop/pay.txt".trim(),
          " D steps/staging/shop/voucher.txt",
        ].toSorted(),
      );
      stage.write(
        "targets/shop.yaml",
        (renamed + moved).replace(
          "payment:\n",
          "payment:\n    elements: [{ interaction: { action: CLICK } }]\n",
        ),
      );
      const both = await run("validate");
      expect([both.code, both.stderr]).toEqual([
        3,
        expect.stringMatching(
          /testCase\.shop\.payment declares elements, and steps\/\S+payment\.txt/,
        ),
      ]);
    },
    { seed: {} },
  ));
