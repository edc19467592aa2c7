// Backups, migration and the history of applies, tested with real processes.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, object, parseJson } from "../contract/support/json.ts";
import { Fleet } from "./support/fleet.ts";
import { startHttpServer } from "./support/http-server.ts";
import { makeOpenFolder, openToOthers } from "./support/open-folder.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres();
});
afterAll(async () => {
  await database.stop();
});

const APPLY = ["apply", "--auto-approve"];

/** Copies the states of the place in old.yaml. */
const migrate = (fleet: Fleet, ...more: readonly string[]) =>
  fleet.run("state", "migrate", ...more, "--from-config", join(fleet.folder, "old.yaml"));

async function withFleet(state: string, work: (fleet: Fleet) => Promise<void>): Promise<void> {
  const fleet = await Fleet.open(2, state);
  try {
    await work(fleet);
  } finally {
    await fleet.close();
  }
}

describe("state", () => {
  it("can be migrated to another backend, after which the plan is empty", async () => {
    await withFleet("{ backend: local }", async (fleet) => {
      expect((await fleet.run(...APPLY)).code).toBe(0);
      fleet.setState(`{ backend: postgres, url: "${database.url}", schema: moved }`);
      const warned = await fleet.run("plan");
      expect(warned.stderr).toContain("tasc state migrate --from-config");
      writeFileSync(join(fleet.folder, "old.yaml"), "backend: local\n");
      const migrated = await migrate(fleet);
      expect(migrated.code, migrated.stderr).toBe(0);
      expect(migrated.stdout).toContain("2 targets");
      const plan = await fleet.run("plan", "--detailed-exitcode");
      expect(plan.code, plan.stdout).toBe(0);
      expect(plan.stderr).not.toContain("migrate");
      const again = await migrate(fleet, "--json");
      expect(JSON.parse(again.stdout)).toMatchObject({ copied: [], same: ["t0", "t1"] });
    });
  });

  it("in the project's folder keeps an apply with an empty backend from creating all of it again", async () => {
    const schema = (name: string) =>
      `{ backend: postgres, url: "${database.url}", schema: ${name} }`;
    await withFleet("{ backend: local }", async (fleet) => {
      expect((await fleet.run(...APPLY)).code).toBe(0);
      const posted = await fleet.sent("POST", "/");
      // What matching finds is not refused.
      fleet.setState(schema("found"));
      const found = await fleet.run(...APPLY);
      expect([found.code, found.stderr]).toEqual([0, expect.stringContaining("--new-state")]);

      const manifest = join(fleet.folder, "targets", "t0.yaml");
      const renamed = readFileSync(manifest, "utf8").replace("description: A,", "description: C,");
      writeFileSync(
        manifest,
        `${renamed.replace("  a:", "  c:")}moved:
  - { from: testCase.t0.a, to: testCase.t0.c }
`,
      );
      fleet.setState(schema("doubling"));
      const file = join(fleet.folder, "plan.json");
      expect((await fleet.run("plan", "--out", file)).code).toBe(0);
      // Twice, because the first may leave nothing in the new backend that allows the second.
      for (const args of [APPLY, ["apply", file], APPLY]) {
        const refused = await fleet.run(...args);
        expect([refused.code, refused.stderr], args.join(" ")).toEqual([
          1,
          expect.stringMatching(
            /testCase\.t0\.c: the postgres backend[^]*tasc state migrate --from-config FILE[^]*--new-state/,
          ),
        ]);
      }
      const json = await fleet.run(...APPLY, "--format", "json");
      expect(parseJson(json.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
        error: { code: "state-not-migrated" },
        next: ["tasc state migrate --from-config FILE", "tasc apply --new-state"],
      });
      // Targets that are found are not kept from anything.
      expect((await fleet.run(...APPLY, "--only", "*.t1.*")).code).toBe(0);
      expect(await fleet.sent("POST", "/")).toBe(posted);

      expect((await fleet.run(...APPLY, "--new-state")).code).toBe(0);
      expect(await fleet.sent("POST", "/")).toBe(posted + 1);
      fleet.setState("{ backend: local, path: elsewhere }");
      expect((await fleet.run("plan")).stderr).toContain("local backend has no state");
    });
  });

  it("that cannot be reached is reported with what helps against this cause", async () => {
    const folder = makeOpenFolder("tasc-hba-");
    const hba = join(folder, "pg_hba.conf");
    const line = (user: string, method: string) => `host all ${user} 127.0.0.1/32 ${method}\n`;
    writeFileSync(hba, line("ci", "scram-sha-256") + line("tasc,guest", "trust"));
    openToOthers(folder);
    const [guarded, server] = await Promise.all([
      startPostgres(undefined, { hba_file: hba }),
      startHttpServer(),
    ]);
    const sql = postgres(guarded.url, { max: 1 });
    await sql.unsafe("create role ci login password 'right'; create role guest login");
    await sql.end();
    const url = (login: string, query = "") =>
      `{ backend: postgres, url: "${guarded.url.replace("tasc@", login)}${query}" }`;
    const http = `{ backend: http, address: "${server.address}/{stage}/{target}" }`;
    const answered = (status: number, method = "") => {
      server.fault = (call) => (method === "" || call.method === method ? status : undefined);
    };
    try {
      await withFleet("{ backend: local }", async (fleet) => {
        for (const [state, args, advice, prepare] of [
          [url("ci:${secret:DB_PASSWORD}@"), ["plan"], "Check the user and the password"],
          [url("stranger@"), ["plan"], "pg_hba.conf"],
          [url("guest@"), APPLY, "Grant the role"],
          [url("tasc@", "?sslmode=require"), ["plan"], "Turn on TLS at the server"],
          [http, ["plan"], "state.username and state.password", () => answered(401)],
          [http, APPLY, "does not accept it: its log says why", () => answered(422, "POST")],
          ["{ backend: local, path: tasc.yaml }", ["plan"], "Check this path"],
        ] as const) {
          prepare?.();
          fleet.setState(state);
          const { code, stdout, stderr } = await fleet.run(...args);
          const told = (stdout + stderr).replaceAll(/\s+/g, " ");
          expect([code, told]).toEqual([1, expect.stringContaining(advice)]);
          expect(told).not.toMatch(/free space|from-your-secret/i);
        }
      });
    } finally {
      await Promise.all([guarded.stop(), server.stop()]);
      rmSync(folder, { recursive: true });
    }
  });

  it("is migrated only from a valid state section, which is read as in tasc.yaml", async () => {
    await withFleet("{ backend: local }\nvars: { place: of-old }", async (fleet) => {
      const file = join(fleet.folder, "old.yaml");
      const migrate = async (section: string) => {
        writeFileSync(file, section);
        return await fleet.run("state", "migrate", "--from-config", file);
      };
      fleet.setState("{ backend: local, path: of-old }");
      expect((await fleet.run(...APPLY)).code).toBe(0);
      fleet.setState("{ backend: local }\nvars: { place: of-old }");
      for (const [section, words] of [
        ["backend: postgres", /`state.url` is missing/],
        ["backend: local\nplace: x", /Unknown key `place`|place/],
        ['backend: local\npath: "${var:nowhere}"', /nowhere/],
        ['backend: http\naddress: "${secret:NO_SUCH}"', /NO_SUCH/],
        ["backend: [", /is not a state section/],
        ["local", /is not a state section/],
      ] as const) {
        const refused = await migrate(section);
        expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(words)]);
      }
      const migrated = await migrate('state: { backend: local, path: "${var:place}" }');
      expect([migrated.code, migrated.stdout]).toEqual([0, expect.stringContaining("2 targets")]);
      expect((await fleet.run("plan", "--detailed-exitcode")).code).toBe(0);
    });
  });

  it("that is missing on a new http server causes a warning, and can be migrated from its database", async () => {
    const keeper = await startHttpServer();
    const old = `{ backend: postgres, url: "${database.url.replace("tasc@", "tasc:${secret:DB_PASSWORD}@")}", schema: left }`;
    await withFleet(old, async (fleet) => {
      expect((await fleet.run(...APPLY)).code).toBe(0);
      fleet.setState(`{ backend: http, address: "${keeper.address}" }`);
      const warned = await fleet.run("plan");
      expect(warned.stderr).toMatch(
        /http backend has no state of stage "default", but it was in "left"\."state"/,
      );
      expect(warned.stderr).toContain("tasc state migrate --from-config FILE");
      expect(warned.stderr).not.toContain("from-your-secret-store");
      writeFileSync(join(fleet.folder, "old.yaml"), `state: ${old}\n`);
      const migrated = await migrate(fleet);
      expect(migrated.code, migrated.stderr).toBe(0);
      const plan = await fleet.run("plan", "--detailed-exitcode");
      expect([plan.code, plan.stderr]).toEqual([0, expect.not.stringContaining("migrate")]);
      expect((await fleet.runWith("two", [...APPLY, "--only", "testCase.t0.a"])).code).toBe(0);
      fleet.setState(`{ backend: http, address: "${keeper.address}/other" }`);
      // An apply that was refused has not moved the state.
      expect((await fleet.run("apply")).code).toBe(1);
      expect((await fleet.run("plan")).stderr).toContain(`but it was in ${keeper.address} before`);
    });
    await keeper.stop();
  });

  it("can use another backend for one stage", async () => {
    const base = `{ backend: postgres, url: "${database.url}", schema: staged }`;
    await withFleet(
      `${base}\nstages: { one: {}, two: { state: { backend: local, path: two } } }`,
      async (fleet) => {
        for (const stage of ["one", "two"])
          expect((await fleet.run(...APPLY, "--stage", stage)).code, stage).toBe(0);
        expect(readdirSync(join(fleet.folder, "two", "two"))).toEqual(["t0.json", "t1.json"]);
        const versions = await fleet.run("state", "history", "t0", "--stage", "one", "--json");
        expect(versions.code).toBe(0);
        for (const stage of ["one", "two"])
          expect(
            (await fleet.run("plan", "--stage", stage, "--detailed-exitcode")).code,
            stage,
          ).toBe(0);
      },
    );
  });

  it("accepts a backup only if it has the same lineage and is not older", async () => {
    await withFleet(
      `{ backend: postgres, url: "${database.url}", schema: pushed }`,
      async (fleet) => {
        expect((await fleet.runWith("one", APPLY)).code).toBe(0);
        const file = join(fleet.folder, "backup.json");
        const pulled = await fleet.run("state", "pull");
        writeFileSync(file, pulled.stdout);
        expect((await fleet.run("state", "push", file)).code).toBe(0);
        expect((await fleet.runWith("two", APPLY)).code).toBe(0);
        const older = await fleet.run("state", "push", file);
        expect([older.code, older.stderr]).toEqual([1, expect.stringContaining("is older")]);
        const lineage = JSON.stringify(pulled.stdout).replace(
          /(\\"lineage\\": \\")[^\\]*/g,
          "$1other",
        );
        writeFileSync(file, String(JSON.parse(lineage)));
        const other = await fleet.run("state", "push", file);
        expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("lineage")]);
        writeFileSync(
          file,
          readFileSync(file, "utf8").replaceAll("other", String.raw`x\n  tasc apply\n`),
        );
        const advising = await fleet.run("state", "push", file, "--json");
        expect(advising.stdout).not.toContain('"tasc apply"');
        expect((await fleet.run("state", "push", file, "--force")).code).toBe(0);
        writeFileSync(file, pulled.stdout.replaceAll('"t0"', '".."'));
        const escaping = await fleet.run("state", "push", file, "--force");
        expect([escaping.code, escaping.stderr]).toEqual([
          3,
          expect.stringContaining("No target has the key .."),
        ]);
        const versions = await fleet.run("state", "history", "t0", "--json");
        expect(versions.stdout.match(/"serial"/g)?.length).toBeGreaterThan(1);
      },
    );
  });

  it("lists each target on an http server, whichever command wrote it first", async () => {
    const keeper = await startHttpServer();
    await withFleet(`{ backend: http, address: "${keeper.address}" }`, async (fleet) => {
      const targets = async () =>
        Object.keys(object(at(parseJson((await fleet.run("state", "pull")).stdout), "documents")));
      expect((await fleet.run(...APPLY)).code).toBe(0);
      const manifest = join(fleet.folder, "targets", "t1.yaml");
      writeFileSync(
        manifest,
        readFileSync(manifest, "utf8").replace("target: t1", "target: moved"),
      );
      expect((await fleet.run("state", "mv", "target.t1", "target.moved")).code).toBe(0);
      expect(await targets()).toEqual(["moved", "t0", "t1"]);
      const file = join(fleet.folder, "backup.json");
      writeFileSync(file, (await fleet.run("state", "pull")).stdout);
      const [, id = ""] =
        /target.moved {2}(\S+)/.exec((await fleet.run("state", "list")).stdout) ?? [];
      keeper.documents.clear();
      expect((await fleet.run("state", "push", file)).code).toBe(0);
      expect(await targets()).toEqual(["moved", "t0", "t1"]);
      keeper.documents.clear();
      expect((await fleet.run("state", "bind", "target.moved", id)).code).toBe(0);
      expect(await targets()).toEqual(["moved"]);
      // Simulates an index that a concurrent run has overwritten.
      keeper.documents.delete("/base/default/_index");
      expect((await fleet.run(...APPLY)).code).toBe(0);
      expect(await targets()).toEqual(["moved", "t0"]);
    });
    await keeper.stop();
  });
});

describe("the history of applies", () => {
  it("has an entry for each apply, with its changes but no values", async () => {
    await withFleet("{ backend: local }", async (fleet) => {
      expect((await fleet.runWith("first-value", APPLY)).code).toBe(0);
      expect(
        (await fleet.runWith("second-value", [...APPLY, "--only", "testCase.t0.a"])).code,
      ).toBe(0);
      const all = await fleet.run("history", "--json");
      expect(JSON.parse(all.stdout)).toMatchObject([
        {
          ended: true,
          changes: [{ address: "testCase.t0.a", action: "update", outcome: "done" }],
        },
        { ended: true },
      ]);
      expect(all.stdout).not.toContain("-value");
      const one = await fleet.run("history", "testCase.t1.b");
      expect(one.stdout.trim().split("\n")).toHaveLength(2);
    });
  });

  it("reports the changes of a killed run, both before and after the next run", async () => {
    await withFleet("{ backend: local }", async (fleet) => {
      await fleet.delayNext("POST", "/discoveries$", 60);
      const first = fleet.start([...APPLY, "--log-level", "debug"]);
      await new Promise<void>((resolve) => {
        first.process.stderr?.on("data", (bytes: Buffer) => {
          if (bytes.toString().includes("429")) resolve();
        });
      });
      first.process.kill("SIGKILL");
      await first.ended;
      fleet.now = () => Date.now() + 60_000;
      // Which discovery is sent first depends on the machine.
      const someCase: unknown = expect.stringMatching(/^testCase\./);
      const changes: unknown = expect.arrayContaining([
        { address: "target.t0", action: "create", outcome: "done" },
        { address: someCase, action: "create", outcome: "unknown" },
      ]);
      const expected = { ended: false, changes };
      const before = await fleet.run("history", "--json");
      expect(JSON.parse(before.stdout)).toMatchObject([expected]);
      expect((await fleet.run(...APPLY)).code).toBe(0);
      const after = await fleet.run("history", "--json");
      expect(JSON.parse(after.stdout)).toMatchObject([{ ended: true }, expected]);
    });
  });
});
