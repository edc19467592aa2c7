// Checks the pages for operators: the SQL on a real database, and the figures of docs/scale.md.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { blocksOf } from "../docs/page.ts";
import { Fleet } from "./support/fleet.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";

const PAGE = "docs/how-to/operate-postgres.md";
const [CREATE = "", PLAN = "", ALTER = "", HOLDERS = "", CONNECTIONS = "", LOCKS = ""] = blocksOf(
  PAGE,
)
  .filter(({ language }) => language === "sql")
  .map(({ text }) => text);

describe("the SQL of docs/how-to/operate-postgres.md", () => {
  let database: PostgresServer;
  let sql: postgres.Sql;
  beforeAll(async () => {
    database = await startPostgres();
    sql = postgres(database.url, { max: 1, onnotice: () => {} });
  });
  afterAll(async () => {
    await sql.end();
    await database.stop();
  });

  const state = (user: string) =>
    `{ backend: postgres, owner: tasc_apply, url: "${database.url.replace("tasc@", `${user}:\${secret:DB_PASSWORD}@`)}" }`;

  it("lets one role apply and another role only plan, and shows the locks", async () => {
    await sql.unsafe(CREATE);
    await sql.unsafe(ALTER);
    const fleet = await Fleet.open(1, state("tasc_apply"));
    try {
      expect((await fleet.run("apply", "--auto-approve")).code).toBe(0);
      await sql.unsafe(PLAN);
      fleet.setState(state("tasc_plan"), ", rateLimit: 1000/s");
      const plan = await fleet.run("plan", "--detailed-exitcode");
      expect([plan.code, plan.stderr]).toEqual([0, expect.not.stringContaining("not shared")]);
      expect((await fleet.runWith("two", ["apply", "--auto-approve"])).code).toBe(1);
      fleet.setState(state("tasc_apply"));
      await fleet.delayNext("PATCH", "/test-cases/", 60);
      const running = fleet.start(["apply", "--auto-approve", "--log-level", "debug"], "two");
      await new Promise<void>((resolve) => {
        running.process.stderr?.on("data", (bytes: Buffer) => {
          if (bytes.toString().includes("429")) resolve();
        });
      });
      const [holder] =
        await sql.unsafe<{ stage: string; target: string; id: string; who: string }[]>(HOLDERS);
      expect(holder).toMatchObject({ stage: "default", target: "t0" });
      expect(await sql.unsafe(CONNECTIONS)).toMatchObject([{ usename: "tasc_apply", locks: "1" }]);
      const [own] = await sql.unsafe<{ usename: string; lock: string }[]>(LOCKS);
      expect(own).toMatchObject({ usename: "tasc_apply" });
      expect((await fleet.run("state", "unlock", "t0", holder?.id ?? "")).code).toBe(0);
      expect((await running.ended).code).toBe(1);
      expect(await sql.unsafe(CONNECTIONS)).toEqual([]);

      // Another role takes all advisory locks that it can.
      await sql.unsafe("create role nosy login");
      const nosy = postgres(database.url.replace("tasc@", "nosy@"), { max: 1 });
      await nosy.unsafe(`select pg_advisory_lock(${own?.lock})`);
      expect(await sql.unsafe(LOCKS)).toMatchObject([{ usename: "nosy", lock: own?.lock }]);
      const blocked = await fleet.run("apply", "--auto-approve");
      expect([blocked.code, blocked.stderr]).toEqual([5, expect.stringContaining("the role nosy")]);
      const refused = await fleet.run("state", "unlock", "t0");
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining("pg_signal_backend"),
      ]);
      await sql.unsafe("grant pg_signal_backend to tasc_apply");
      const unlocked = await fleet.run("state", "unlock", "t0");
      expect([unlocked.code, unlocked.stdout]).toEqual([
        0,
        expect.stringContaining("the role nosy"),
      ]);
      await nosy.end({ timeout: 1 }).catch(() => {});
      expect((await fleet.run("apply", "--auto-approve")).code).toBe(0);
    } finally {
      await fleet.close();
    }
  });
});

test("docs/scale.md has the figures of scripts/scale.mjs", () => {
  const tableOf = (text: string) =>
    [...text.matchAll(/^\|(.+)\|$/gm)]
      .map(([, row = ""]) => row.split("|").map((cell) => cell.trim()))
      .filter(([name = ""]) => /\w/.test(name));
  const page = readFileSync("docs/scale.md", "utf8");
  const sizes = [[], ["--targets", "100", "--cases", "200", "--shards", "1", "--changed", "1"]];
  const made = sizes.map((args) =>
    execFileSync("node", ["scripts/scale.mjs", ...args], { encoding: "utf8" }),
  );
  expect(tableOf(page.replace(/^## Fleets$[^]*/m, ""))).toEqual(made.flatMap(tableOf));
  for (const { text } of blocksOf("docs/scale.md")) execFileSync("bash", ["-e", "-c", text]);
});
