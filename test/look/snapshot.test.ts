// `tasc snapshot`, `tasc plan --snapshot` and `tasc serve --from`, as processes.
import { describe, expect, test } from "vitest";
import {
  LOGIN,
  MANIFEST,
  PROJECT,
  type Running,
  SECRETS,
  applied,
  appliedScene,
  at,
  json,
  listAt,
  scene,
  steady,
  textAt,
} from "./scene.ts";

const WITHOUT_KEY = { TASC_API_KEY: "" };
const WITHOUT_SECRETS = { TASC_API_KEY: "", QA_PASSWORD: "", QA_USER: "" };

describe.concurrent("tasc snapshot", () => {
  const play = appliedScene();

  test("writes the same document without secrets to stdout and to a file for its owner only", async ({
    expect,
  }) => {
    await play(async (stage) => {
      const ran = await stage.run(["snapshot", "--out", "snapshot.json"]);
      expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(stage.mode("snapshot.json")).toBe(0o600);
      const text = stage.read("snapshot.json");
      for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
      const printed = await stage.run(["snapshot"]);
      expect(steady(printed.stdout, stage)).toBe(steady(text, stage));
      await expect(steady(text, stage)).toMatchFileSnapshot("golden/snapshot.json");
    });
  });

  test("sends the same requests as a plan", async () => {
    await scene(async (stage) => {
      await stage.run(["plan"]);
      const calls = async (): Promise<readonly string[]> => {
        const log = listAt({ log: await stage.control("GET", "/requests") }, "log");
        await stage.control("DELETE", "/requests");
        return log.map((entry) => `${textAt(entry, "method")} ${textAt(entry, "path")}`);
      };
      const ofPlan = await calls();
      await stage.run(["snapshot", "--out", "snapshot.json"]);
      expect(ofPlan).toHaveLength(2);
      expect(await calls()).toEqual(ofPlan);
    });
  });

  test("leaves no file and prints nothing to stdout if it fails", async () => {
    await play(async (stage) => {
      const refused = await stage.run(["snapshot", "--out", "refused.json"], {
        TASC_API_KEY: "another-key",
      });
      expect(refused.code).toBe(6);
      expect(() => stage.read("refused.json")).toThrow();
      const printed = await stage.run(["snapshot"], { TASC_API_KEY: "another-key" });
      expect(printed).toMatchObject({ code: 6, stdout: "" });
      const nowhere = await stage.run(["snapshot", "--out", "no/such/folder.json"]);
      expect(nowhere.code).toBe(1);
      expect(nowhere.stderr).toContain("Cannot write no/such/folder.json");
    });
  });
});

describe.concurrent("tasc plan --snapshot", () => {
  test("needs no network, no key and no state, and plans all fields that the service shows", async () => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.run(["snapshot", "--out", "snapshot.json"]);
      stage.write(
        "targets/shop.yaml",
        MANIFEST.replace("status: ENABLED", "status: DISABLED").replace(
          "username: qa",
          "username: other",
        ),
      );
      const online = json(await stage.run(["plan", "--format", "json"]));
      await stage.server.close();
      stage.write("tasc.yaml", `${PROJECT}state: { path: .tasc/none }\n`);
      const args = ["plan", "--snapshot", "snapshot.json", "--format", "json"];
      const offline = json(await stage.run(args, WITHOUT_KEY));
      expect(listAt(online, "changes").map((change) => at(change, "address"))).toEqual([
        "environment.shop.default",
        "testCase.shop.login",
      ]);
      expect(at(offline, "changes")).toEqual(listAt(online, "changes").slice(1));
      const warnings = listAt(offline, "diagnostics").map((one) => at(one, "summary"));
      expect(warnings).toContainEqual(
        expect.stringMatching(/^Planned from a snapshot of \d{4}-\d\d-\d\dT/),
      );

      const fork = await stage.run(
        [...args, "--allow-missing-secrets", "--detailed-exitcode"],
        WITHOUT_SECRETS,
      );
      expect(fork.code, fork.stderr).toBe(2);
      expect(at(json(fork), "changes")).toEqual(at(offline, "changes"));
    });
  });
});

describe.concurrent("a snapshot that does not match", () => {
  const play = appliedScene();
  const STAGES = "stages: { staging: {}, production: {} }\n";

  test("is rejected with exit code 3 if it is of another stage or service", async () => {
    await play(async (stage) => {
      stage.write("tasc.yaml", `${PROJECT}${STAGES}`);
      await stage.run(["snapshot", "--stage", "staging", "--out", "staging.json"]);
      const plan = ["plan", "--snapshot", "staging.json", "--stage"];
      expect((await stage.run([...plan, "staging"])).code).toBe(0);
      const other = await stage.run([...plan, "production"]);
      expect(other).toMatchObject({ code: 3, stdout: "" });
      expect(other.stderr).toContain(
        "The snapshot is of stage staging, but this plan is for production",
      );
      const moved = await stage.run([...plan, "staging"], {
        TASC_BASE_URL: "https://service.example.com",
      });
      expect(moved.code).toBe(3);
      expect(moved.stderr).toContain("The snapshot is from another service");
      expect(
        (await stage.run([...plan, "staging"], { TASC_BASE_URL: `${stage.server.url}/` })).code,
      ).toBe(0);
    });
  });

  test("is rejected with exit code 3 if it is not a snapshot or lacks a declared target", async () => {
    await play(async (stage) => {
      const none = await stage.run(["plan", "--snapshot", "tasc.yaml"]);
      expect(none.code).toBe(3);
      expect(none.stderr).toContain("tasc.yaml is not a snapshot: it is not JSON");
      await stage.run(["snapshot", "--out", "snapshot.json"]);
      const text = stage.read("snapshot.json");
      stage.write("snapshot.json", text.replace(/"read": \[[^\]]*\]/, '"read": []'));
      const lacking = await stage.run(["plan", "--snapshot", "snapshot.json"]);
      expect(lacking.code).toBe(3);
      expect(lacking.stderr).toContain(
        'The snapshot does not contain the test cases of "Web Shop"',
      );
    });
  });
});

describe.concurrent("tasc serve --from", () => {
  test("serves the snapshot's data, and after a restart the data already in its folder", async () => {
    await scene(async (stage) => {
      await applied(stage);
      await stage.run(["snapshot", "--out", "snapshot.json"]);
      const serve = [
        "serve",
        "--port",
        "0",
        "--data",
        "copy",
        "--from",
        "snapshot.json",
        "--api-key",
        "copy-key",
      ];
      const first = stage.start(serve);
      await first.saw(/Serving on (http\S+)[^]*Ctrl-C/);
      const cases = await casesAt(first);
      expect(cases.map((one) => at(one, "description"))).toEqual([
        "Accept the cookie banner",
        "Log in",
        "Cart total adds up",
        "Nobody declares it",
      ]);
      const login = cases.find((one) => at(one, "id") === LOGIN) ?? null;
      expect(at(login, "tags")).toEqual(["smoke"]);
      // The prompt was written with a secret, so the snapshot leaves it out.
      expect(at(login, "discovery")).toMatchObject({ status: "FINISHED" });
      expect(at(login, "discovery")).not.toHaveProperty("freePrompt");
      first.child.kill("SIGTERM");
      expect((await first.done).code).toBe(0);

      const again = stage.start(serve);
      await again.saw(/Serving on/);
      again.child.kill("SIGTERM");
      const ran = await again.done;
      expect(ran.stderr).toContain(
        "already contains data, which is served; snapshot.json was not read",
      );
    });
  });

  test("rejects an invalid snapshot and leaves no partly filled folder", async () => {
    await scene(async (stage) => {
      await stage.run(["snapshot", "--out", "snapshot.json"]);
      stage.write("snapshot.json", stage.read("snapshot.json").replaceAll(LOGIN, "no-uuid"));
      const serve = ["serve", "--port", "0", "--data", "copy", "--from", "snapshot.json"];
      const ran = await stage.run(serve);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toContain("The local service cannot load the snapshot");
      expect(() => stage.mode("copy")).toThrow();
      expect(
        (await stage.run(["serve", "--port", "0", "--data", "copy", "--from", "none.json"])).code,
      ).toBe(3);
    });
  });

  async function casesAt(running: Running) {
    const url = /http:\S+/.exec(running.said())?.[0] ?? "";
    const targets = await get(`${url}/apiKey/v3/test-targets`);
    return listAt(
      { cases: await get(`${url}/apiKey/v3/test-targets/${textAt(targets, 0, "id")}/test-cases`) },
      "cases",
    );
  }

  async function get(url: string) {
    const response = await fetch(url, { headers: { "x-api-key": "copy-key" } });
    return json({ code: 0, stdout: await response.text(), stderr: "" });
  }
});
