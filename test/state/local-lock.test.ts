import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { LockInfo, ProcessTraits, StateRuntime } from "../../src/state/backend.ts";
import { takeLock } from "../../src/state/lock.ts";
import { createLockInfo, isGone, readProcesses } from "../../src/state/lock.ts";
import { openSession } from "./support/session.ts";
import { type Child, buildChild, startChild } from "./support/child.ts";
import { type LocalFixture, localFixture } from "./support/local-fixture.ts";
import { SHOP, numbered } from "./support/numbered.ts";
import { problemOf } from "./support/result.ts";
import { goneProcess } from "./support/world.ts";

const OPTIONS = { why: "tasc apply", timeout: 0 };

let fixture: LocalFixture;
let world: StateRuntime;
beforeEach(async () => {
  fixture = await localFixture();
  world = await fixture.world();
});
afterEach(async () => {
  await fixture.dispose();
});

/** A lock of a process that has ended. */
function leftBehind(): LockInfo {
  return { ...createLockInfo(world, "tasc apply"), process: goneProcess(world.processes.self) };
}

async function leaveLock(path: string): Promise<LockInfo> {
  const info = leftBehind();
  await writeFile(path, JSON.stringify(info));
  return info;
}

describe("whether a process is gone", () => {
  const here: ProcessTraits = {
    host: "runner",
    pid: 10,
    machine: "m-1",
    boot: "b-1",
    namespace: "pid:[1]",
    started: "100",
  };
  const running = new Map([
    [10, "100"],
    [11, "200"],
  ]);
  const processes = { self: here, startOf: (pid: number) => Promise.resolve(running.get(pid)) };
  const onlyName = { host: "runner", pid: 11 };

  const rows: readonly (readonly [string, ProcessTraits, boolean])[] = [
    ["it runs", { ...here, pid: 11, started: "200" }, false],
    ["its pid is not in use", { ...here, pid: 12 }, true],
    ["another process has its pid now", { ...here, pid: 11, started: "150" }, true],
    ["it is this process", here, false],
    ["another machine's", { ...here, host: "laptop", pid: 12 }, false],
    ["another machine's of the same name", { ...here, machine: "m-2", pid: 12 }, false],
    // Machines made from one image share a name and an id; only the boot id differs.
    [
      "of the machine before it restarted, or of a copy of it",
      { ...here, boot: "b-0", pid: 10 },
      false,
    ],
    [
      "possibly of another machine, because neither has an id",
      { host: "runner", pid: 12, boot: "b-0" },
      false,
    ],
    [
      "another container's, whose pids are not ours",
      { ...here, namespace: "pid:[2]", pid: 12 },
      false,
    ],
    ["known by name and pid alone, and that pid is in use", onlyName, false],
    ["known by name and pid alone, and that pid is not in use", { ...onlyName, pid: 12 }, true],
  ];
  test.each(rows)("%s", async (_, process, gone) => {
    expect(await isGone(process, processes)).toBe(gone);
  });

  it("is answered with no if the system does not report when processes started", async () => {
    const blind = { self: here, startOf: () => Promise.resolve("unknown") };
    expect(await isGone({ ...here, pid: 11, started: "150" }, blind)).toBe(false);
  });

  it("is answered correctly for real processes", async () => {
    const real = await readProcesses("here", process.pid);
    expect(await isGone(real.self, real)).toBe(false);
    expect(await isGone({ ...real.self, pid: 2 ** 22 + 1 }, real)).toBe(true);
    expect(await isGone({ ...real.self, started: "1" }, real)).toBe(process.platform === "linux");
  });
});

describe("a lock that was left behind", () => {
  it("is taken over, and the former holder is reported", async () => {
    const backend = await fixture.open();
    const left = await backend.lock(SHOP, leftBehind());
    await left.append?.([numbered(0)], "", true);
    const session = await openSession(backend, SHOP, world, OPTIONS);
    expect(session.takenOver).toMatchObject({ why: "tasc apply", process: { pid: 1 } });
    expect(session.state.bindings.size).toBe(1);
    await left.unlock(); // changes nothing: another session has the lock
    await session.close();
    expect(await readdir(join(fixture.folder, ".tasc/state/staging"))).toEqual(["shop.json"]);
  });

  it("is not taken over if its holder ran on another machine", async () => {
    const backend = await fixture.open();
    const process = { ...goneProcess(world.processes.self), host: "another" };
    const holder = { ...leftBehind(), process };
    await backend.lock(SHOP, holder);
    const problem = await problemOf(openSession(backend, SHOP, world, OPTIONS));
    expect(problem).toMatchObject({ kind: "locked", holder });
  });

  it("is kept until it is freed by force if its file is not a lock of tasc", async () => {
    const backend = await fixture.open();
    await (await backend.lock(SHOP, createLockInfo(world, "x"))).unlock();
    await writeFile(fixture.path(SHOP, ".lock"), "");
    expect(await problemOf(backend.lock(SHOP, createLockInfo(world, "x")))).toEqual({
      kind: "locked",
      key: SHOP,
    });
    expect(await backend.forceUnlock(SHOP)).toBeUndefined();
    await (await backend.lock(SHOP, createLockInfo(world, "x"))).unlock();
  });

  it("is taken over by only one of many attempts in this process", async () => {
    const path = join(fixture.folder, "lock");
    for (let round = 0; round < 20; round += 1) {
      const left = await leaveLock(path);
      const takings = await Promise.all(
        Array.from({ length: 10 }, () =>
          takeLock(path, createLockInfo(world, "race"), world.processes),
        ),
      );
      const taken = takings.filter((taking) => taking.taken);
      expect(taken).toEqual([{ taken: true, other: left }]);
    }
  });

  it("is taken over by only one of many processes", async () => {
    const script = await buildChild("race", fixture.folder);
    const children = Array.from({ length: 4 }, () => startChild(script, fixture.folder));
    const hearAll = () => Promise.all(children.map((child: Child) => child.hear()));
    await hearAll();
    for (let round = 0; round < 60; round += 1) {
      const path = join(fixture.folder, `lock-${round}`);
      await leaveLock(path);
      for (const child of children) child.say(path);
      const answers = await hearAll();
      expect(answers.filter((answer) => answer === "taken")).toHaveLength(1);
    }
    for (const child of children) await child.kill();
  });

  it("is taken over even if a process was killed while taking it over", async () => {
    const path = join(fixture.folder, "lock");
    const first = await leaveLock(path);
    await leaveLock(`${path}.${first.id}`); // killed just before it replaced the first
    const info = createLockInfo(world, "x");
    expect(await takeLock(path, info, world.processes)).toEqual({ taken: true, other: first });
    expect(await readdir(fixture.folder)).toEqual(["lock"]);
  });
});
