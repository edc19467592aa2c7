// A lock is lost while a request waits, with real processes and a real service: nothing more is
// sent.
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { describe, expect, it } from "vitest";
import { Fleet, type Running, servers, states } from "./support/fleet.ts";

const opened = servers();

const APPLY = ["apply", "--auto-approve", "--lock-timeout", "60s"];

/** Seconds that a request waits while other commands run, which takes one second in quiet. */
const LONG = 10;

async function untilSays(running: Running, words: string): Promise<void> {
  await new Promise<void>((resolve) => {
    let text = "";
    running.process.stderr?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes(words)) resolve();
    });
    running.process.stderr?.on("close", resolve);
  });
}

/** Waits until the service has asked the run to retry a request later. */
async function untilWaiting(running: Running): Promise<void> {
  await untilSays(running, "429");
}

describe.concurrent.each(["local", "postgres", "http"] as const)("with %s state", (name) => {
  it("a waiting creation is not sent after its lock is taken away", async () => {
    const fleet = await Fleet.open(1, states(opened(), "lost")[name]);
    try {
      await fleet.delayNext("POST", "/test-targets$", LONG);
      const first = fleet.start([...APPLY, "--log-level", "debug"]);
      await untilWaiting(first);
      const unlocked = await fleet.run("state", "unlock", "t0", "--json");
      expect(unlocked.code, unlocked.stderr).toBe(0);
      const second = await fleet.run(...APPLY);
      expect(second.code, second.stdout + second.stderr).toBe(0);
      const ended = await first.ended;
      expect(ended.code, ended.stdout + ended.stderr).toBe(1);
      expect(ended.stdout + ended.stderr).toMatch(/lock of target "t0"/);
      expect(await fleet.wrong()).toEqual([]);
      const again = await fleet.run(...APPLY);
      expect(again.code, again.stdout + again.stderr).toBe(0);
      expect((await fleet.run("plan", "--detailed-exitcode")).code).toBe(0);
      expect(await fleet.wrong()).toEqual([]);
    } finally {
      await fleet.close();
    }
  });
});

it("an answer that is not valid HTTP is retried, and the apply continues", async () => {
  const fleet = await Fleet.open(1, states(opened(), "lost").http);
  try {
    opened().keeper.documents.clear();
    const faults = new Set(["PUT", "POST", "GET"]);
    opened().keeper.fault = ({ method }) => (faults.delete(method) ? "malformed" : undefined);
    const ended = await fleet.run(...APPLY);
    expect(faults.size).toBeLessThan(3);
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    expect(await fleet.wrong()).toEqual([]);
  } finally {
    opened().keeper.fault = () => undefined;
    await fleet.close();
  }
});

it("a statement that the database rejects is reported as such, not as a lost lock", async () => {
  const fleet = await Fleet.open(1, states(opened(), "full").postgres);
  const sql = postgres(opened().database.url, { max: 1, onnotice: () => {} });
  try {
    expect((await fleet.run(...APPLY)).code).toBe(0);
    await sql.unsafe(
      `create function no_room() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$`,
    );
    for (const {
      name,
    } of await sql`select tablename as name from pg_tables where schemaname = 'full' and tablename !~ 'lock'`)
      await sql.unsafe(
        `create trigger no_room before insert or update on "full"."${name}" for each row execute function no_room()`,
      );
    const ended = await fleet.runWith("two", APPLY);
    expect(ended.code, ended.stdout + ended.stderr).toBe(1);
    expect(ended.stdout + ended.stderr).toMatch(/no room/i);
    expect(ended.stdout + ended.stderr).not.toMatch(/lost|connection ended/);
  } finally {
    await sql.end();
    await fleet.close();
  }
});

it("a waiting batch generation is not sent after its lock is taken away", async () => {
  const fleet = await Fleet.open(1, states(opened(), "batches").postgres);
  try {
    expect((await fleet.run(...APPLY)).code).toBe(0);
    writeFileSync(
      join(fleet.folder, "targets", "batch.yaml"),
      "target: t0\nbatchGenerations: { spring: { prompt: Cover spring., environment: default } }\n",
    );
    await fleet.delayNext("POST", "/batch-generations$", LONG);
    const first = fleet.start([...APPLY, "--log-level", "debug"]);
    await untilWaiting(first);
    expect((await fleet.run("state", "unlock", "t0")).code).toBe(0);
    const second = await fleet.run(...APPLY, "--run", "batchGeneration.t0.spring");
    expect(second.code, second.stdout + second.stderr).toBe(0);
    expect((await first.ended).code).toBe(1);
    expect(await fleet.sent("POST", "/batch-generations")).toBe(2);
    expect((await fleet.run("plan", "--detailed-exitcode")).code).toBe(0);
  } finally {
    await fleet.close();
  }
});

describe.concurrent.each(["local", "postgres", "http"] as const)(
  "a suspended process, with %s state",
  (name) => {
    it("continues if it still has its lock, and sends nothing if it has lost it", async () => {
      const fleet = await Fleet.open(
        1,
        states(opened(), "stopped")[name].replace("/base", "/stopped"),
      );
      const stopped = async () => {
        await fleet.delayNext("POST", "/test-targets$", 4);
        const run = fleet.start([...APPLY, "--log-level", "debug"]);
        await untilWaiting(run);
        run.process.kill("SIGSTOP");
        return run;
      };
      try {
        const loser = await stopped();
        const refused = await fleet.run("apply", "--auto-approve");
        expect(refused.code, refused.stderr).toBe(5);
        const id = /Lock\s+id:\s+([\w-]+)/.exec(refused.stderr)?.[1] ?? "";
        const wrong = await fleet.run("state", "unlock", "t0", id.replace(/^.{4}/, "0000"));
        expect(wrong.code, wrong.stderr).toBe(5);
        const waiting = fleet.start(["apply", "--auto-approve", "--lock-timeout", "60s"]);
        await untilSays(waiting, 'Waiting for the lock of target "t0"');
        waiting.process.kill("SIGINT");
        expect(await waiting.ended).toMatchObject({ code: 130 });
        expect((await fleet.run("state", "unlock", "t0", id)).code).toBe(0);
        const winner = await stopped();
        loser.process.kill("SIGCONT");
        const lost = await loser.ended;
        expect(lost.code, lost.stdout + lost.stderr).toBe(1);
        expect((await fleet.run("apply", "--auto-approve")).code).toBe(5);
        winner.process.kill("SIGCONT");
        const won = await winner.ended;
        expect(won.code, won.stdout + won.stderr).toBe(0);
        expect(await fleet.wrong()).toEqual([]);
      } finally {
        await fleet.close();
      }
    });
  },
);

describe("http state, a run that was stopped while the answer to its last save was on its way", () => {
  it("sends nothing after it has lost its lock, and the next plan sends again what was in flight", async () => {
    const fleet = await Fleet.open(1, states(opened(), "lost").http.replace("/base", "/woken"));
    const [saved, arrived] = [new AbortController(), new AbortController()];
    const aborted = async ({ signal }: AbortController) =>
      signal.aborted || (await once(signal, "abort"));
    try {
      const environments = Array.from(
        { length: 12 },
        (_, n) => `  e${n}:
    discoveryUrl: https://e${n}.example.com
    testAccount: { username: qa, password: "\${secret:ROUND}" }\n`,
      );
      writeFileSync(
        join(fleet.folder, "targets", "t0.yaml"),
        `target: t0\napp: App 0\nenvironments:
  default: { discoveryUrl: "https://t0.example.com" }\n${environments.join("")}`,
      );
      expect(await fleet.runWith("first-password", APPLY)).toMatchObject({ code: 0 });
      await fleet.slowDown("PATCH", "/environments/", 1_000, { nth: 5, times: 4 });
      const first = fleet.start(APPLY, "stale-password");
      let saves = 0;
      opened().keeper.delay = ({ method, body }) => {
        const isSave = method === "POST" && body.includes('"bindings"');
        if (!isSave || (saves += 1) < 2) return undefined;
        arrived.abort();
        return aborted(saved).then(() => {});
      };
      await aborted(arrived);
      // With the first answers it saves them and sends four more. It is stopped after that: between
      // the check of the lock and the send, nothing could keep a request back.
      await expect.poll(async () => await fleet.sent("PATCH", "/environments/")).toBe(8);
      first.process.kill("SIGSTOP");
      opened().keeper.delay = () => undefined;
      const [[path = "", lock = ""] = []] = opened().keeper.locks;
      opened().keeper.locks.set(path, lock.replaceAll(/"ID":"[^"]*"/g, '"ID":"of-another-run"'));
      saved.abort();
      // Longer than a check of a lock is valid.
      await delay(2_100);
      const before = await fleet.sent("PATCH", "/environments/");
      first.process.kill("SIGCONT");
      const ended = await first.ended;
      expect(ended.code, ended.stdout + ended.stderr).toBe(1);
      expect(ended.stdout + ended.stderr).toMatch(/lock of target "t0"/);
      expect((await fleet.sent("PATCH", "/environments/")) - before).toBe(0);
      expect(fleet.errored.filter((file) => file.endsWith(".json"))).toHaveLength(1);
      opened().keeper.locks.delete(path);

      // The other run is in another checkout, which does not have these records.
      const [kept, aside] = [".tasc/errored", "aside"].map((name) => join(fleet.folder, name));
      renameSync(kept ?? "", aside ?? "");
      expect(await fleet.runWith("newer-password", APPLY)).toMatchObject({ code: 0 });
      renameSync(aside ?? "", kept ?? "");
      const between = await fleet.sent("PATCH", "/environments/");
      const planned = await fleet.runWith("newer-password", [
        "plan",
        "--json",
        "--detailed-exitcode",
      ]);
      expect(planned.code, planned.stderr).toBe(2);
      expect(planned.stderr).toContain("records that state does not have yet");
      const again = await fleet.runWith("newer-password", APPLY);
      expect(again.code, again.stdout + again.stderr).toBe(0);
      const calls = (await fleet.sent("PATCH", "/environments/")) - between;
      expect(calls).toBeGreaterThan(0);
      expect(JSON.parse(planned.stdout)).toMatchObject({ summary: { calls: { PATCH: calls } } });
      const after = await fleet.runWith("newer-password", ["plan", "--detailed-exitcode"]);
      expect(after).toMatchObject({ code: 0 });
      expect(after.stderr).not.toContain("records that state does not have yet");
    } finally {
      opened().keeper.delay = () => undefined;
      saved.abort();
      await fleet.close();
    }
  });
});

describe("with a database that fails", () => {
  it("an apply starts no new changes and ends if its database stops answering", async () => {
    const fleet = await Fleet.open(12, states(opened(), "silent").postgres);
    try {
      expect((await fleet.run(...APPLY)).code).toBe(0);
      const before = await fleet.sent("PATCH", "/test-cases/");
      await fleet.slowDown("PATCH", "/test-cases/", 1_000);
      const run = fleet.start([...APPLY, "--log-level", "debug"], "two");
      await untilSays(run, "PATCH");
      opened().way.pause(120_000);
      const began = Date.now();
      const ended = await run.ended;
      expect(Date.now() - began).toBeLessThan(100_000);
      expect(ended.code, ended.stdout + ended.stderr).toBe(1);
      // 24 in all, four at once: only those within two seconds of the last lock check are sent.
      expect((await fleet.sent("PATCH", "/test-cases/")) - before).toBeLessThanOrEqual(16);
      opened().way.cut();
      expect((await fleet.run(...APPLY)).code).toBe(0);
      expect(await fleet.wrong()).toEqual([]);
    } finally {
      await fleet.close();
    }
  });

  it("an apply ends with its summary if the connection is cut, and the next apply takes in unsaved events", async () => {
    const fleet = await Fleet.open(3, states(opened(), "gone").postgres);
    try {
      await fleet.delayNext("POST", "/discoveries$", 120);
      const first = fleet.start([...APPLY, "--log-level", "debug"]);
      await untilWaiting(first);
      const began = Date.now();
      opened().way.cut();
      const ended = await first.ended;
      expect(Date.now() - began).toBeLessThan(100_000);
      expect(ended.code, ended.stdout + ended.stderr).toBe(1);
      expect(ended.stdout + ended.stderr).toMatch(/Applied|done|failed|skipped/);
      const again = await fleet.run(...APPLY);
      expect(again.code, again.stdout + again.stderr).toBe(0);
      expect(fleet.errored.filter((file) => file.endsWith(".json"))).toEqual([]);
      expect(await fleet.wrong()).toEqual([]);
      const history = await fleet.run("history", "--json");
      expect(history.stdout).toContain('"outcome": "done"');
    } finally {
      await fleet.close();
    }
  });
});
