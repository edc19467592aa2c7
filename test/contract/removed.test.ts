// Whole targets that are removed from the manifests, with and without the policy `onRemove:
// disable`.
import { describe, expect, test } from "vitest";
import { scene, type Project } from "./support/cli.ts";
import { at, list, text } from "./support/json.ts";
import { changed, diagnostics, seed, type Live } from "./support/story.ts";

const DESK =
  "target: desk\napp: Help Desk\ntestCases: { ask: { description: Ask }, tell: { description: Tell } }\n";
const SHOP = "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in } }\n";

/** Applies a project with two targets, then removes one of them from the manifests. */
async function left(project: Project, { service }: Live, policy: string): Promise<void> {
  const desk = service.addTarget("Help Desk");
  for (const description of ["Ask", "Tell", "Never managed"])
    service.addCase(desk, { description });
  await project.write({
    "tasc.yaml": `${await project.read("tasc.yaml")}${policy}`,
    "targets/desk.yaml": DESK,
    "targets/shop.yaml": SHOP,
  });
  const ran = await project.run(["apply", "--auto-approve"]);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  await project.remove("targets/desk.yaml");
  service.forget();
}

describe.concurrent("a target removed from the manifests", () => {
  test("is listed as orphaned and not changed, and its test cases are not read", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "");
      const { value } = await project.json(["plan"]);
      expect(value["changes"]).toEqual([]);
      expect(list(value["orphaned"]).map((one) => at(one, "address"))).toEqual([
        "target.desk",
        "testCase.desk.ask",
        "testCase.desk.tell",
      ]);
      expect(service.log).toHaveLength(2);
    });
  });

  test("a rename is only suggested if everything but key and description is unchanged", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const manifest = (key: string, name: string, prompt: string): string =>
        `target: shop
app: Web Shop
testCases:
  log-in: { description: Log in, discovery: { prompt: Log in., type: LOGIN } }
  ${key}: { description: ${name}, discovery: { prompt: ${prompt}, prerequisite: log-in } }
`;
      await project.write({ "targets/shop.yaml": manifest("pay", "Pay", "Pay it.") });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      const hints = async (prompt: string): Promise<readonly string[]> => {
        await project.write({ "targets/shop.yaml": manifest("check-out", "Check out", prompt) });
        const { value } = await project.json(["plan"]);
        const summaries = list(value["diagnostics"]).map((one) => text(at(one, "summary")));
        return summaries.filter((summary) => summary.includes("looks renamed"));
      };
      expect(await hints("Pay it.")).toEqual([
        "testCase.shop.check-out looks renamed from testCase.shop.pay",
      ]);
      expect(await hints("Check it.")).toEqual([]);
    });
  });

  test("has its managed test cases disabled once if policy.onRemove is disable", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "policy: { onRemove: disable }\n");
      const { value } = await project.json(["plan", "--out", "plan.json"]);
      expect(changed(value)).toEqual(["disable testCase.desk.ask", "disable testCase.desk.tell"]);
      expect(value["summary"]).toMatchObject({
        update: 0,
        disable: 2,
        unchanged: 2,
        orphaned: 3,
        unmanaged: 2,
      });
      expect(service.log).toHaveLength(3);
      expect((await project.run(["snapshot", "--out", "snapshot.json"])).code).toBe(0);
      const { value: offline } = await project.json(["plan", "--snapshot", "snapshot.json"]);
      expect(changed(offline)).toEqual(changed(value));
      const ran = await project.run(["apply", "plan.json"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      const desk = service.targets.find(({ app }) => app === "Help Desk");
      expect(desk?.cases.map(({ status }) => status)).toEqual(["DISABLED", "DISABLED", "ENABLED"]);
      const { value: again } = await project.json(["plan"]);
      expect(again["changes"]).toEqual([]);
      expect(list(again["orphaned"])).toHaveLength(3);
    });
  });

  test("its test cases are reported as still off if declared again without status or runStatus", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "policy: { onRemove: disable }\n");
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      const said = async (): Promise<readonly string[]> =>
        diagnostics((await project.json(["plan"])).value).filter((one) =>
          one.includes("is still "),
        );
      expect(await said()).toEqual([]);
      await project.write({ "targets/desk.yaml": DESK });
      expect(await said()).toEqual([
        expect.stringContaining("testCase.desk.ask"),
        expect.stringContaining("testCase.desk.tell"),
      ]);
      await project.write({
        "targets/desk.yaml": DESK.replace("Ask", "Ask, status: ENABLED").replace(
          "Tell",
          "Tell, status: DISABLED",
        ),
      });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({
        "targets/desk.yaml": DESK.replace("Ask", 'Ask, runStatus: "OFF"').replace(
          "Tell",
          "Tell, status: DISABLED",
        ),
      });
      expect(await said()).toEqual([]);
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({ "targets/desk.yaml": DESK.replace("Tell", "Tell, status: DISABLED") });
      expect(await said()).toEqual([expect.stringContaining("runStatus is still OFF")]);
    });
  });

  test.each([
    { says: "by its name", policy: "policy: { onRemove: disable }\n", id: false },
    { says: "by an explicit id", policy: "policy: { onRemove: disable }\n", id: true },
    { says: "by its name, without onRemove: disable", policy: "", id: false },
  ])(
    "is not orphaned, duplicated or disabled if another key matches it $says",
    async ({ policy, id }) => {
      await scene({}, async ({ project, service }) => {
        await left(project, seed(service), policy);
        const own = service.targets.find(({ app }) => app === "Help Desk")?.id ?? "";
        const renamed = DESK.replace("target: desk", `target: help${id ? `\nid: ${own}` : ""}`);
        await project.write({ "targets/help.yaml": renamed });
        for (const round of [1, 2]) {
          const { ran, value } = await project.json(["plan"]);
          expect(ran.code, ran.stderr).toBe(0);
          expect([round, value["changes"], value["orphaned"]]).toEqual([round, [], []]);
          expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
        }
        expect(service.writes()).toEqual([]);
      });
    },
  );

  test.each([
    ["--only", "*.desk.*"],
    ["--exclude", "*.help*"],
    ["--only", "*.desk.*", "--exclude", "*.shop*"],
  ])(
    "is not orphaned or disabled if it has a new key, even if that key is out of scope: %j",
    async (...scope) => {
      await scene({}, async ({ project, service }) => {
        await left(project, seed(service), "policy: { onRemove: disable }\n");
        await project.write({ "targets/help.yaml": DESK.replace("target: desk", "target: help") });
        for (const narrowed of [[], scope]) {
          // oxlint-disable-next-line no-await-in-loop
          const { value } = await project.json(["plan", ...narrowed]);
          expect(changed(value)).toEqual([]);
          expect(value["orphaned"]).toEqual([]);
        }
        await project.run(["apply", "--auto-approve", ...scope]);
        expect(service.writes()).toEqual([]);
      });
    },
  );

  test("is not disabled if a new key matches it ambiguously, even if that key is out of scope", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "policy: { onRemove: disable }\n");
      service.addTarget("Help Desk");
      await project.write({ "targets/help.yaml": DESK.replace("target: desk", "target: help") });
      const whole = await project.run(["plan"]);
      expect([whole.code, whole.stdout + whole.stderr]).toEqual([
        1,
        expect.stringContaining("2 live test targets fit"),
      ]);
      expect((await project.run(["apply", "--auto-approve", "--only", "*.desk.*"])).code).toBe(0);
      expect(service.writes()).toEqual([]);
    });
  });

  test("is not disabled if import or `state bind` bound it and no apply has used the binding", async () => {
    await scene({}, async ({ project, service }) => {
      const { target } = seed(service);
      const { id } = service.addCase(target, { description: "By hand" });
      service.addCase(service.addTarget("Help Desk"), { description: "Ask" });
      const policy = "policy: { onRemove: disable }\n";
      await project.write({
        "tasc.yaml": `${await project.read("tasc.yaml")}${policy}`,
        "targets/shop.yaml": SHOP,
      });
      const apply = async (): Promise<void> => {
        const ran = await project.run(["apply", "--auto-approve"]);
        expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      };
      const planned = async (...args: readonly string[]): Promise<readonly unknown[]> => {
        const { value } = await project.json(["plan", ...args]);
        return [changed(value), list(value["orphaned"]).map((one) => at(one, "address"))];
      };
      await apply();
      for (const args of [
        ["bind", "testCase.shop.by-hand", id],
        ["rm", "testCase.shop.by-hand"],
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        expect((await project.run(["state", ...args])).code).toBe(0);
        // oxlint-disable-next-line no-await-in-loop
        expect(await planned()).toEqual([[], args[0] === "bind" ? ["testCase.shop.by-hand"] : []]);
      }
      expect((await project.run(["import"])).code).toBe(0);
      const branch = ["targets/help-desk.yaml", "targets/shop.yaml"];
      const texts = await Promise.all(branch.map((file) => project.read(file)));
      const leave = async (): Promise<void> => {
        await project.remove("targets/help-desk.yaml");
        await project.write({ "targets/shop.yaml": SHOP });
      };
      await leave();
      const orphaned = [
        "target.help-desk",
        "environment.help-desk.default",
        "testCase.help-desk.ask",
        "environment.shop.default",
        "environment.shop.preview-example-com",
        "testCase.shop.by-hand",
      ];
      expect(await planned()).toEqual([[], orphaned]);
      expect((await project.run(["snapshot", "--out", "snapshot.json"])).code).toBe(0);
      expect(await planned("--snapshot", "snapshot.json")).toEqual([[], orphaned]);
      await apply();
      for (const [at, file] of branch.entries())
        // oxlint-disable-next-line no-await-in-loop
        await project.write({ [file]: texts[at] ?? "" });
      await apply();
      expect(service.writes()).toEqual([]);
      await leave();
      expect(await planned()).toEqual([
        ["disable testCase.help-desk.ask", "disable testCase.shop.by-hand"],
        orphaned,
      ]);
    });
  });

  test("and declared again as ENABLED is shown as changed in the manifest, not as drift", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "policy: { onRemove: disable }\n");
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await project.write({
        "targets/desk.yaml": DESK.replaceAll(" }", ", status: ENABLED }").replace(
          ", status: ENABLED }\n",
          " }\n",
        ),
      });
      expect((await project.run(["drift"])).code).toBe(0);
      const { stdout } = await project.run(["plan"]);
      expect(stdout).toContain("changed in the manifest");
      expect(stdout).not.toContain("changed on the service");
    });
  });

  test("that the service no longer has is not reported", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "policy: { onRemove: disable }\n");
      service.targets.splice(
        service.targets.findIndex(({ app }) => app === "Help Desk"),
        1,
      );
      const { value } = await project.json(["plan"]);
      expect([value["changes"], value["orphaned"]]).toEqual([[], []]);
    });
  });

  test("is forgotten in each stage at its next apply if `removed:` names it, without a call", async () => {
    await scene({}, async ({ project, service }) => {
      await left(project, seed(service), "");
      const base = await project.read("tasc.yaml");
      await project.write({
        "tasc.yaml": `${base}policy: { protected: ["*.tell"] }\nremoved: [{ address: target.desk }]\n`,
      });
      const refused = await project.json(["plan"]);
      expect(refused.ran.code).toBe(1);
      expect(diagnostics(refused.value)).toEqual([
        expect.stringMatching(/testCase.desk.tell.*would be forgotten/s),
      ]);
      await project.write({ "tasc.yaml": `${base}removed: [{ address: target.desk }]\n` });
      const { value } = await project.json(["plan", "--out", "plan.json"]);
      expect(changed(value)).toEqual([
        "forget target.desk",
        "forget testCase.desk.ask",
        "forget testCase.desk.tell",
      ]);
      expect(value).toMatchObject({ orphaned: [], summary: { forget: 3, orphaned: 0 } });
      const shown = await project.run(["show", "plan.json"]);
      expect(shown.stdout).toContain("0 to disable, 3 to forget, 2 unchanged (0 POST, 0 PATCH)");
      expect(shown.stdout).toContain(
        "Caution: 3 resources are in no manifest any more: target.desk",
      );
      const explained = await project.run(["explain", "testCase.desk.ask"]);
      expect(explained.stdout).toMatch(/action +forget[^]*removed +tasc.yaml:\d+:\d+/);
      service.forget();
      const ran = await project.run(["apply", "plan.json"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(service.log.every(({ method }) => method === "GET")).toBe(true);
      // The removed target is not read: one list of targets, and the test cases of the other one.
      expect(service.log).toHaveLength(2);
      expect(await project.run(["state", "list"]).then(({ stdout }) => stdout)).not.toContain(
        "desk",
      );
      const history = await project.run(["history", "testCase.desk.ask"]);
      expect(history.stdout).toMatch(/done +forget +testCase.desk.ask/);
      for (const text of [`${base}removed: [{ address: target.desk }]\n`, base]) {
        await project.write({ "tasc.yaml": text });
        const again = await project.json(["plan"]);
        expect([again.value["changes"], again.value["orphaned"]]).toEqual([[], []]);
        expect(JSON.stringify(again.value["attention"])).not.toContain("leaves-management");
      }
      // Declared and removed.
      await project.write({
        "targets/desk.yaml": DESK,
        "targets/shop.yaml": `${SHOP}removed: [{ address: testCase.shop.login }, { address: testCase.desk.ask }]\n`,
        "tasc.yaml": `${base}removed: [{ address: target.desk }]\n`,
      });
      const wrong = await project.run(["validate"]);
      expect(wrong.code).toBe(3);
      expect(wrong.stderr).toContain("target.desk is both declared and removed");
      expect(wrong.stderr).toContain("testCase.shop.login is both declared and removed");
      expect(wrong.stderr).toContain("testCase.desk.ask does not belong to target shop");
    });
  });
});
