// `tasc state show|mv|rm|bind|unlock`, as processes with a real service and real state.
import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type StateRuntime, lockInfoIn } from "../../src/state/backend.ts";
import { LocalBackend } from "../../src/state/local.ts";
import { createLockInfo, readProcesses } from "../../src/state/lock.ts";
import {
  CART,
  COOKIE,
  ENVIRONMENT,
  LOGIN,
  type Scene,
  TARGET,
  appliedScene,
  at,
  id,
  json,
  scene,
  steady,
} from "./scene.ts";

const applied = appliedScene();

/** The addresses that state knows, with their ids, as `state list` prints them. */
async function listed(stage: Scene): Promise<readonly string[]> {
  const ran = await stage.run(["state", "list"]);
  expect(ran.code, ran.stderr).toBe(0);
  return ran.stdout.trim().split("\n");
}

const ALL = [
  `target.shop  ${TARGET}`,
  `environment.shop.default  ${ENVIRONMENT}`,
  `testCase.shop.cart  ${CART}`,
  `testCase.shop.cookie  ${COOKIE}`,
  `testCase.shop.login  ${LOGIN}`,
  "batchGeneration.shop.spring  held",
];

describe.concurrent("state show", () => {
  test("prints id, recorded fields and, for a target, its folders", async ({ expect }) => {
    await applied(async (stage) => {
      const login = await stage.run(["state", "show", "testCase.shop.login"]);
      const target = await stage.run(["state", "show", "target.shop"]);
      const batch = await stage.run(["state", "show", "batchGeneration.shop.spring"]);
      const environment = await stage.run(["state", "show", "environment.shop.default"]);
      const text = [login, target, batch, environment].map(({ stdout }) => stdout).join("\n");
      await expect(steady(text, stage)).toMatchFileSnapshot("golden/state-show.txt");
      expect([login, target, batch, environment].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    });
  });

  test("prints one JSON value without fingerprints", async () => {
    await applied(async (stage) => {
      const ran = await stage.run([
        "state",
        "show",
        "environment.shop.default",
        "--format",
        "json",
      ]);
      expect(json(ran)).toEqual({
        address: "environment.shop.default",
        stage: "default",
        id: ENVIRONMENT,
        fields: { discoveryUrl: true, testAccount: ["password", "username"] },
      });
    });
  });

  test("exits with 3 for an unknown address and suggests the nearest one", async () => {
    await applied(async (stage) => {
      const misspelt = await stage.run(["state", "show", "testCase.shop.logn"]);
      expect(misspelt.code).toBe(3);
      expect(misspelt.stderr).toMatch(/Did you mean\s+testCase\.shop\.login\?/);
      expect(misspelt.stdout).toBe("");
      const none = await stage.run(["state", "show", "login"]);
      expect(none.code).toBe(3);
      expect(none.stderr).toContain("login is not an address");
    });
  });

  test("needs no secrets", async () => {
    await applied(async (stage) => {
      const bare = { TASC_API_KEY: "", QA_PASSWORD: "", QA_USER: "" };
      const ran = await stage.run(["state", "show", "target.shop"], bare);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stderr).toBe("");
    });
  });
});

describe.concurrent("state mv", () => {
  test("changes the address within a target and keeps its recorded fields", async () => {
    await applied(async (stage) => {
      const before = json(
        await stage.run(["state", "show", "testCase.shop.login", "--format", "json"]),
      );
      const ran = await stage.run(["state", "mv", "testCase.shop.login", "testCase.shop.sign-in"]);
      expect(ran).toEqual({
        code: 0,
        stdout: "testCase.shop.login is now testCase.shop.sign-in.\n",
        stderr: "",
      });
      const after = json(
        await stage.run(["state", "show", "testCase.shop.sign-in", "--format", "json"]),
      );
      expect(at(after, "id")).toEqual(LOGIN);
      expect(at(after, "fields")).toEqual(at(before, "fields"));
      expect(await listed(stage)).not.toContain(`testCase.shop.login  ${LOGIN}`);
    });
  });

  test("moves a target with its whole document, and a plan under the new key is empty", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "mv", "target.shop", "target.web"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(await listed(stage)).toEqual(ALL.map((line) => line.replace(".shop", ".web")));
      const folders = json(await stage.run(["state", "show", "target.web", "--format", "json"]));
      expect(at(folders, "folders")).toEqual({ Authentication: id(0x20) });
      const gone = await stage.run(["state", "show", "target.shop"]);
      expect(gone.code).toBe(3);
      stage.write(
        "targets/shop.yaml",
        stage.read("targets/shop.yaml").replace("target: shop", "target: web"),
      );
      const plan = json(await stage.run(["plan", "--format", "json"]));
      expect(at(plan, "changes")).toEqual([]);
      expect(at(plan, "orphaned")).toEqual([]);
    });
  });

  test("rejects a taken address, another kind, another target and unknown addresses", async () => {
    await applied(async (stage) => {
      const before = stage.read(".tasc/state/default/shop.json");
      const moves = [
        ["testCase.shop.login", "testCase.shop.cart", 1, "testCase.shop.cart is taken"],
        ["testCase.shop.login", "environment.shop.login", 3, "different kinds"],
        ["testCase.shop.login", "testCase.web.login", 3, "different targets"],
        ["testCase.shop.login", "testCase.shop.login", 3, "the same"],
        [
          "testCase.shop.nobody",
          "testCase.shop.somebody",
          3,
          "State does not contain testCase.shop.nobody",
        ],
        ["target.nobody", "target.somebody", 3, "State does not contain target.nobody"],
      ] as const;
      for (const [from, to, code, words] of moves) {
        const ran = await stage.run(["state", "mv", from, to]);
        expect(ran.code, `${from} ${to}`).toBe(code);
        expect(ran.stderr).toContain(words);
      }
      expect(stage.read(".tasc/state/default/shop.json")).toBe(before);
    });
  });
});

describe.concurrent("state rm", () => {
  test("removes one address without calling the service", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "rm", "testCase.shop.cart"], { TASC_API_KEY: "" });
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toBe("testCase.shop.cart is forgotten. The service was not called.\n");
      expect(await listed(stage)).toEqual(
        ALL.filter((line) => !line.startsWith("testCase.shop.cart")),
      );
      expect((await stage.run(["state", "rm", "testCase.shop.cart"])).code).toBe(3);
    });
  });

  test("removes a target with all its addresses", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "rm", "target.shop"]);
      expect(ran.stdout).toBe(
        "target.shop is forgotten, with all that is in it (6 addresses). The service was not called.\n",
      );
      expect((await stage.run(["state", "list"])).stdout).toBe("");
    });
  });

  test("warns that a removed batch generation counts as not run", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "rm", "batchGeneration.shop.spring"]);
      expect(ran.code).toBe(0);
      expect(ran.stderr).toContain("batchGeneration.shop.spring is now recorded as not run");
    });
  });
});

describe.concurrent("state bind", () => {
  test("binds to a listed id and records no fields, so that write-only fields are sent again", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "bind", "environment.shop.default", ENVIRONMENT]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toBe(`environment.shop.default is bound to ${ENVIRONMENT}.\n`);
      const shown = json(
        await stage.run(["state", "show", "environment.shop.default", "--format", "json"]),
      );
      expect(at(shown, "fields")).toEqual({});
      const plan = json(await stage.run(["plan", "--format", "json"]));
      expect(at(plan, "changes", 0, "calls", 0, "body")).toEqual({
        testAccount: { password: "(sensitive)", username: "qa" },
      });
    });
  });

  test("replaces the previous id and prints it", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "bind", "testCase.shop.cart", id(0x13)]);
      expect(ran.stdout).toBe(
        `testCase.shop.cart is bound to ${id(0x13)}. It was bound to ${CART}.\n`,
      );
      const plan = json(
        await stage.run(["plan", "--only", "testCase.shop.cart", "--format", "json"]),
      );
      expect(at(plan, "changes", 0, "id")).toBe(id(0x13));
    });
  });

  test("rejects ids that are missing, of another kind, or already bound", async () => {
    await applied(async (stage) => {
      const before = stage.read(".tasc/state/default/shop.json");
      const refusals = [
        [
          "testCase.shop.login",
          id(0x99),
          1,
          `The service lists no test case with the id ${id(0x99)}`,
        ],
        ["testCase.shop.login", ENVIRONMENT, 1, `It is the id of an environment`],
        ["testCase.shop.login", CART, 1, `${CART} is bound to testCase.shop.cart`],
        ["environment.shop.default", LOGIN, 1, "The service lists no environment"],
        ["target.shop", id(0x98), 1, "The service lists no target"],
        [
          "batchGeneration.shop.spring",
          LOGIN,
          3,
          "Batch generations have no id and cannot be bound",
        ],
        ["testCase.web.login", LOGIN, 3, "There is no target web"],
      ] as const;
      for (const [address, liveId, code, words] of refusals) {
        const ran = await stage.run(["state", "bind", address, liveId]);
        expect(ran.code, `${address} ${liveId}: ${ran.stderr}`).toBe(code);
        expect(ran.stderr).toContain(words);
      }
      expect(stage.read(".tasc/state/default/shop.json")).toBe(before);
    });
  });

  test("rejects a deleted test case", async () => {
    await scene(async (stage) => {
      await stage.edit(CART, { status: "DELETED" });
      const ran = await stage.run(["state", "bind", "testCase.shop.cart", CART]);
      expect(ran.code).toBe(1);
    });
  });

  test("holds the batch generations of a newly bound target, so that none runs twice", async () => {
    await scene(async (stage) => {
      const ran = await stage.run(["state", "bind", "target.shop", TARGET]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(await listed(stage)).toEqual([
        `target.shop  ${TARGET}`,
        "batchGeneration.shop.spring  held",
      ]);
      const plan = json(await stage.run(["plan", "--format", "json"]));
      expect(at(plan, "summary", "calls", "POST")).toBe(0);
    });
  });

  test("binds an address that no manifest declares, with a warning", async () => {
    await applied(async (stage) => {
      const ran = await stage.run(["state", "bind", "testCase.shop.more", id(0x13)]);
      expect(ran.code).toBe(0);
      expect(ran.stderr).toContain("No manifest declares testCase.shop.more");
    });
  });

  test("exits with 6 if the service rejects the key or is unreachable", async () => {
    await scene(async (stage) => {
      const args = ["state", "bind", "testCase.shop.login", LOGIN];
      expect((await stage.run(args, { TASC_API_KEY: "another-key" })).code).toBe(6);
      expect((await stage.run(args, { TASC_BASE_URL: "http://127.0.0.1:9" })).code).toBe(6);
    });
  });
});

describe.concurrent("a lock held by another process", () => {
  const world = async (stage: Scene): Promise<StateRuntime> => ({
    projectFolder: stage.dir,
    clock: { now: () => new Date(Date.UTC(2030, 0, 1)), sleep: async () => undefined },
    newId: () => "the-lock",
    processes: await readProcesses(hostname(), process.pid),
    user: "ada",
    workingFolder: "/srv/e2e",
    environment: { CI_JOB_URL: "https://ci.example.com/jobs/7" },
  });

  async function held(stage: Scene, target: string): Promise<() => Promise<void>> {
    const here = await world(stage);
    const backend = new LocalBackend({ backend: "local", path: ".tasc/state" }, here);
    const key = { stage: "default", target, service: stage.server.url };
    const lock = await backend.lock(key, createLockInfo(here, "tasc apply"));
    return () => lock.unlock();
  }

  test("makes commands exit with 5 and name the holder, after --lock-timeout if given", async () => {
    await applied(async (stage) => {
      const before = stage.read(".tasc/state/default/shop.json");
      const release = await held(stage, "shop");
      const tries = [
        ["state", "mv", "testCase.shop.login", "testCase.shop.sign-in"],
        ["state", "mv", "target.shop", "target.a"],
        ["state", "rm", "testCase.shop.login", "--lock-timeout", "1ms"],
        ["state", "bind", "testCase.shop.login", LOGIN],
      ];
      for (const args of tries) {
        const ran = await stage.run(args);
        expect(ran.code, ran.stderr).toBe(5);
        expect(ran.stderr).toMatch(/Held by ada@/);
      }
      expect(stage.read(".tasc/state/default/shop.json")).toBe(before);
      await release();
      // The second try took the lock of target a first; it must have released that lock.
      expect((await stage.run(["state", "rm", "testCase.shop.login"])).code).toBe(0);
      expect((await stage.run(["state", "mv", "target.shop", "target.a"])).code).toBe(0);
    });
  });

  test("is waited for with --lock-timeout", async () => {
    await applied(async (stage) => {
      const release = await held(stage, "shop");
      const running = stage.start(["state", "rm", "testCase.shop.login", "--lock-timeout", "1m"]);
      await release();
      expect((await running.done).code).toBe(0);
    });
  });

  test("is removed by unlock, which prints its holder", async () => {
    await applied(async (stage) => {
      await held(stage, "shop");
      const ran = await stage.run(["state", "unlock", "shop"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toMatch(
        /^Target shop in stage default is unlocked\. Held by ada@.*, process \d+ in /,
      );
      expect(ran.stdout).toContain("since 2030-01-01T00:00:00.000Z, for: tasc apply.");
      expect(ran.stdout).toContain("https://ci.example.com/jobs/7");
      expect((await stage.run(["state", "rm", "testCase.shop.login"])).code).toBe(0);
      const again = await stage.run(["state", "unlock", "target.shop"]);
      expect(again.stdout).toBe("Target shop in stage default was not locked.\n");
    });
  });

  test("is removed by unlock, also if a process of another host left the guard of its takeover", async () => {
    await applied(async (stage) => {
      await held(stage, "shop");
      const file = ".tasc/state/default/shop.lock";
      const lock = lockInfoIn(stage.read(file));
      const left = { ...lock, process: { host: "another", pid: 1 } };
      stage.write(file, JSON.stringify(left));
      const guard = `${file}.${lock?.id}`;
      stage.write(guard, JSON.stringify({ ...left, id: "of-the-guard" }));
      stage.write(`${guard}.of-the-guard`, "not a lock");
      const ran = await stage.run(["state", "unlock", "shop"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toContain("is unlocked");
      expect((await stage.run(["state", "rm", "testCase.shop.login"])).code).toBe(0);
      expect(readdirSync(join(stage.dir, ".tasc/state/default"))).toEqual(["shop.json"]);
    });
  });

  test("is removed by unlock with JSON output, but an unknown target is an error", async () => {
    await applied(async (stage) => {
      await held(stage, "shop");
      const ran = await stage.run(["state", "unlock", "shop", "--format", "json"]);
      const found = json(ran);
      expect(at(found, "target")).toBe("shop");
      expect(at(found, "holder", "why")).toBe("tasc apply");
      const free = json(await stage.run(["state", "unlock", "shop", "--format", "json"]));
      expect(at(free, "holder")).toBeNull();
      const misspelt = await stage.run(["state", "unlock", "shp"]);
      expect(misspelt.code).toBe(3);
      expect(misspelt.stderr).toContain("Did you mean shop?");
    });
  });
});
