// A fleet of jobs on shared state: processes are killed, lose their locks and lose their database.
// At the end, every resource exists exactly once. `npm run test:fleet` runs this for two minutes
// with each backend.
import { describe, expect, it } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { Fleet, type Running, servers, states } from "./support/fleet.ts";

const LONG = process.env["TASC_FLEET"] === "all";
const [PROCESSES, TARGETS, MILLISECONDS] = LONG ? [8, 50, 120_000] : [3, 6, 2_500];
const PAUSES = LONG ? [500, 3_000, 12_000] : [300];

const opened = servers();

const pick = <T>(items: readonly T[]): T => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
};

describe.each(["local", "postgres", "http"] as const)("a fleet with %s state", (name) => {
  it(
    "creates every resource exactly once, whatever is killed or lost",
    async () => {
      const fleet = await Fleet.open(TARGETS, states(opened(), "fleet")[name]);
      const running = new Set<Running>();
      const [end, counts] = [Date.now() + MILLISECONDS, { runs: 0, kills: 0, losses: 0 }];
      const key = () => `t${Math.floor(Math.random() * TARGETS)}`;
      const job = async (): Promise<void> => {
        while (Date.now() < end) {
          const targets = [key(), key(), key()].flatMap((one) => [
            "--only",
            `*.${one}`,
            "--only",
            `*.${one}.*`,
          ]);
          const args = ["apply", "--auto-approve", "--lock-timeout", "5s", ...targets];
          const run = fleet.start(args, String(counts.runs++));
          running.add(run);
          await run.ended;
          running.delete(run);
        }
      };
      const chaos = async (): Promise<void> => {
        while (Date.now() < end) {
          await delay(50 + Math.random() * 600);
          const [victim] = running.size === 0 ? [] : [pick([...running])];
          switch (pick(["kill", "kill", "stop", "unlock", "database"])) {
            case "kill":
              counts.kills += victim?.process.kill("SIGKILL") === true ? 1 : 0;
              break;
            case "stop":
              victim?.process.kill("SIGSTOP");
              await delay(pick(PAUSES));
              victim?.process.kill("SIGCONT");
              break;
            case "unlock":
              counts.losses += 1;
              await fleet.run("state", "unlock", key());
              break;
            case "database":
              if (name !== "postgres") break;
              counts.losses += 1;
              if (Math.random() < 0.5) opened().way.cut();
              else opened().way.pause(pick(PAUSES));
          }
        }
      };
      try {
        await Promise.all([...Array.from({ length: PROCESSES }, job), chaos()]);
        // The http server keeps the lock of a killed process until somebody frees it.
        if (name === "http") opened().keeper.locks.clear();
        let last = await fleet.run("apply", "--auto-approve");
        for (let again = 0; last.code !== 0 && again < 2; again += 1)
          last = await fleet.run("apply", "--auto-approve");
        const story = `${JSON.stringify(counts)}\n${last.stdout}\n${last.stderr}`;
        expect(last.code, story).toBe(0);
        expect(await fleet.wrong(), story).toEqual([]);
        expect((await fleet.run("plan", "--detailed-exitcode")).code, story).toBe(0);
        expect(fleet.errored.filter((file) => file.endsWith(".json"))).toEqual([]);
        expect((await fleet.run("doctor")).stdout).toMatch(/lock +ok +free/);
        if (LONG) process.stdout.write(`${name} ${JSON.stringify(counts)}\n`);
      } finally {
        for (const run of running) run.process.kill("SIGKILL");
        await fleet.close();
      }
    },
    MILLISECONDS * 2 + 300_000,
  );
});
