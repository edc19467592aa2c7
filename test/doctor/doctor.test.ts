// `tasc doctor`, as a process with a real service and real state.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect as plainly, test } from "vitest";
import { LEAST_NODE, checkClock, checkVersion } from "../../src/commands/doctor.ts";
import { parseJson } from "../../src/model/json.ts";
import {
  PROJECT,
  type Ran,
  SECRETS,
  type Scene,
  appliedScene,
  at,
  json,
  listAt,
  steady,
  textAt,
} from "../look/scene.ts";

/** The report without the parts that depend on the machine or the time. */
function page(ran: Ran, stage: Scene): string {
  return steady(ran.stdout, stage)
    .replace(/answers in \d+ ms/, "answers in N ms")
    .replace(/tasc \S+ on Node \S+, \w+ \w+/, "tasc V on Node V, OS")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT");
}

const LOCK = {
  id: "somebody",
  who: "kim@build-7",
  since: "2030-01-01T00:00:00.000Z",
  why: "tasc apply",
  job: "https://ci.example.com/jobs/7",
  process: { host: "build-7", pid: 4711 },
};

describe.concurrent("tasc doctor", () => {
  const applied = appliedScene();

  test("reports no problems if everything works", async ({ expect }) => {
    await applied(async (stage) => {
      const ran = await stage.run(["doctor"]);
      expect(ran.code, ran.stdout).toBe(0);
      expect(ran.stderr).toBe("");
      await expect(page(ran, stage)).toMatchFileSnapshot("golden/well.txt");
      expect((await stage.run(["plan", "--detailed-exitcode"])).code).toBe(0);
    });
  });

  test("lists the same checks in JSON", async ({ expect }) => {
    await applied(async (stage) => {
      const ran = await stage.run(["doctor", "--format", "json"]);
      expect(ran.stderr).toBe("");
      expect(at(json(ran), "ok")).toBe(true);
      const names = listAt(json(ran), "checks").map((one) => textAt(one, "name"));
      expect(names).toEqual([
        "config",
        "stage",
        "key",
        "service",
        "clock",
        "version",
        "state",
        "lock",
      ]);
    });
  });

  test("continues after a failed check, and shows no secrets", async ({ expect }) => {
    await applied(async (stage) => {
      stage.write(".tasc/state/default/shop.lock", JSON.stringify(LOCK));
      const wrong = "not-the-key-of-this-service";
      const ran = await stage.run(["doctor"], { TASC_API_KEY: wrong, QA_PASSWORD: "" });
      expect(ran.code).toBe(1);
      expect(ran.stdout + ran.stderr).not.toContain(wrong);
      expect(ran.stdout + ran.stderr).not.toContain(SECRETS.QA_USER);
      await expect(page(ran, stage)).toMatchFileSnapshot("golden/unwell.txt");
      // The lock was not changed.
      expect(stage.read(".tasc/state/default/shop.lock")).toBe(JSON.stringify(LOCK));
    });
  });

  test("distinguishes an unreachable service from a missing key", async ({ expect }) => {
    await applied(async (stage) => {
      const gone = page(
        await stage.run(["doctor"], { TASC_BASE_URL: "http://127.0.0.1:9" }),
        stage,
      );
      expect(gone).toContain(
        "✗ service   fail http://127.0.0.1:PORT: The service cannot be reached",
      );
      expect(gone).toContain("- clock          not checked, since service failed");
      expect(gone).toContain("✗ state     fail State was created for a different service");
      const keyless = page(await stage.run(["doctor"], { TASC_API_KEY: "" }), stage);
      expect(keyless).toContain(
        "✗ key       fail `service.apiKey` is ${secret:TASC_API_KEY}, which is not set",
      );
      expect(keyless).toContain("- service        not checked, since key failed");
    });
  });

  test("reports one failure for a project that cannot be read, and for a missing stage", async ({
    expect,
  }) => {
    await applied(async (stage) => {
      const stray = page(await stage.run(["doctor", "--stage", "prod"]), stage);
      expect(stray).toContain("✗ stage     fail There is no stage `prod`");
      expect(stray).toContain("- lock           not checked, since stage failed");
      stage.write("tasc.yaml", `${PROJECT}polcy: {}\nstags: {}\n`);
      const ran = await stage.run(["doctor"]);
      expect(ran.code).toBe(1);
      expect(page(ran, stage)).toMatch(/✗ config {4}fail 2 errors; the first: .*tasc\.yaml:7:1/);
    });
  });

  test("warns if the clocks differ", async ({ expect }) => {
    await applied(async (stage) => {
      const late = createServer((_, response) => {
        response.sendDate = false;
        response.setHeader("Date", "Mon, 01 Jan 2001 00:00:00 GMT");
        response.setHeader("Content-Type", "application/json").end("[]");
      });
      await new Promise<void>((ready) => late.listen(0, "127.0.0.1", ready));
      const address = late.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const ran = await stage.run(["doctor"], { TASC_BASE_URL: `http://127.0.0.1:${port}` });
      late.close();
      expect(ran.stdout).toMatch(/! clock {5}warn this machine is \d+ min ahead of the service/);
    });
  });
});

test("clocks may differ by 30 seconds", () => {
  plainly(checkClock(30_000).status).toBe("ok");
  plainly(checkClock(-30_000).status).toBe("ok");
  plainly(checkClock(31_000).summary).toBe("this machine is 1 min ahead of the service");
  plainly(checkClock(-29 * 60_000).summary).toBe("this machine is 29 min behind the service");
});

test("a Node version that is too old fails the check", () => {
  const manifest = parseJson(readFileSync("package.json", "utf8"));
  plainly(at(manifest, "engines", "node")).toBe(`>=${LEAST_NODE}`);
  const on = (node: string) => checkVersion("1.0.0", node, "linux x64").status;
  plainly(["18.20.0", "20.9.0", "20.18.3"].map(on)).toEqual(["fail", "fail", "fail"]);
  plainly(["20.19.0", "22.1.0", "24.0.0"].map(on)).toEqual(["ok", "ok", "ok"]);
});
