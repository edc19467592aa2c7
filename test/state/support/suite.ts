import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type State, type StateEvent, emptyState } from "../../../src/model/state.ts";
import {
  type Backend,
  type DocumentKey,
  type HeldLock,
  NO_DOCUMENT,
} from "../../../src/state/backend.ts";
import { formatDocument } from "../../../src/state/document.ts";
import { applyEvents } from "../../../src/state/events.ts";
import { createLockInfo } from "../../../src/state/lock.ts";
import type { LockedState } from "../../../src/state/locked.ts";
import { openSession } from "./session.ts";
import { events as anyEvents } from "./arbitrary.ts";
import type { Fixture } from "./fixture.ts";
import { SHOP, numbered, plain } from "./numbered.ts";
import { problemOf, readOne } from "./result.ts";
import { steppedClock } from "./world.ts";

const WEB: DocumentKey = { ...SHOP, target: "web" };
const PRODUCTION: DocumentKey = { ...SHOP, stage: "production" };

const OPTIONS = { why: "tasc apply", timeout: 0 };

function fresh({ stage, target, service }: DocumentKey): State {
  return emptyState(stage, target, service);
}

/** Behaviour that all backends share. */
export function describeBackend(name: string, makeFixture: () => Promise<Fixture>): void {
  describe(`the ${name} backend`, () => {
    let fixture: Fixture;
    let backend: Backend;

    beforeEach(async () => {
      fixture = await makeFixture();
      backend = await fixture.open();
    });
    afterEach(async () => {
      await backend.close();
      await fixture.dispose();
    });

    const lock = async (key: DocumentKey, by = backend): Promise<HeldLock> =>
      await by.lock(key, createLockInfo(await fixture.world(), "tasc apply"));
    const session = async (key = SHOP, by = backend): Promise<LockedState> =>
      await openSession(by, key, await fixture.world(), OPTIONS);
    const stateIn = async (key: DocumentKey, by = backend): Promise<State | undefined> =>
      plain((await readOne(by, key))?.state);
    /** Runs one session from open to close. */
    const save = async (key: DocumentKey, ...list: StateEvent[]): Promise<void> => {
      const opened = await session(key);
      await opened.record(list);
      await opened.close();
    };

    describe("documents", () => {
      it("do not exist at first", async () => {
        expect(await stateIn(SHOP)).toBeUndefined();
        expect(await backend.list("staging")).toEqual([]);
      });

      it("are read back as they were written", async () => {
        const state = applyEvents(fresh(SHOP), [
          numbered(1),
          { type: "folder", name: "Prüfung – \u0000\u2028 😀", id: "f'1\"" },
        ]);
        const held = await lock(SHOP);
        const revision = await held.write(state, NO_DOCUMENT);
        expect(await readOne(backend, SHOP)).toEqual({ state, revision, journalled: false });
        await held.unlock();
      });

      it("are separate for each stage and target", async () => {
        await save(SHOP, numbered(1));
        await save(WEB, numbered(2));
        await save(PRODUCTION, numbered(3));
        expect(await stateIn(SHOP)).toEqual(applyEvents(fresh(SHOP), [numbered(1)]));
        expect(await stateIn(WEB)).toEqual(applyEvents(fresh(WEB), [numbered(2)]));
        expect(await stateIn(PRODUCTION)).toEqual(applyEvents(fresh(PRODUCTION), [numbered(3)]));
      });

      it("are listed by stage, in sorted order", async () => {
        await save(WEB, numbered(2));
        await save(SHOP, numbered(1));
        await save(PRODUCTION, numbered(3));
        expect(await backend.list("staging")).toEqual(["shop", "web"]);
        expect(await backend.list("production")).toEqual(["shop"]);
        expect(await backend.list("other")).toEqual([]);
      });

      it("are not overwritten if they were changed since they were read", async () => {
        const held = await lock(SHOP);
        const old = await held.write(fresh(SHOP), NO_DOCUMENT);
        await held.write(applyEvents(fresh(SHOP), [numbered(1)]), old);
        expect(
          (await problemOf(held.write(applyEvents(fresh(SHOP), [numbered(2)]), old))).kind,
        ).toBe("changed");
        expect(await stateIn(SHOP)).toEqual(applyEvents(fresh(SHOP), [numbered(1)]));
        await held.unlock();
      });

      it("are removed with their journal, unless they were changed, where that is possible", async () => {
        await save(WEB, numbered(2));
        const held = await lock(SHOP);
        const old = await held.write(fresh(SHOP), NO_DOCUMENT);
        const now = await held.write(applyEvents(fresh(SHOP), [numbered(1)]), old);
        await held.append?.([numbered(3)], now, true);
        if (held.remove !== undefined) {
          expect((await problemOf(held.remove(old))).kind).toBe("changed");
          await held.remove(now);
          expect(await stateIn(SHOP)).toBeUndefined();
          expect(await backend.list("staging")).toEqual(["web"]);
        }
        await held.unlock();
      });

      it("are not written as new if one exists", async () => {
        await save(SHOP, numbered(1));
        const held = await lock(SHOP);
        expect((await problemOf(held.write(fresh(SHOP), NO_DOCUMENT))).kind).toBe("changed");
        await held.unlock();
      });

      it.each([
        ["corrupt", formatDocument(fresh(SHOP)).replace("tasc-state", "something")],
        ["newer", formatDocument(fresh(SHOP)).replace('"version": 2', '"version": 99')],
        ["misplaced", formatDocument(fresh(WEB))],
        [
          "other-service",
          formatDocument({ ...fresh(SHOP), service: "https://elsewhere.example.com" }),
        ],
      ])("are rejected and left unchanged if they are %s", async (kind, text) => {
        await fixture.put(SHOP, text);
        expect((await problemOf(readOne(backend, SHOP))).kind).toBe(kind);
        const refused = openSession(backend, SHOP, await fixture.world(), OPTIONS);
        expect((await problemOf(refused)).kind).toBe(kind);
        expect(await fixture.text(SHOP)).toBe(text);
        // The rejected session has freed its lock.
        await (await lock(SHOP)).unlock();
      });
    });

    describe("locks", () => {
      it("have one holder, and report who it is, where, since when and why", async () => {
        const world = await fixture.world({
          user: "ci",
          workingFolder: "/builds/shop",
          clock: steppedClock(),
          environment: { CI_JOB_URL: "https://ci.example.com/jobs/7" },
        });
        const info = createLockInfo(world, "tasc apply --auto-approve");
        const held = await backend.lock(SHOP, info);
        const other = await fixture.open();
        const refused = await problemOf(other.lock(SHOP, createLockInfo(world, "tasc apply")));
        expect(refused).toEqual({ kind: "locked", key: SHOP, holder: info });
        expect(info).toMatchObject({
          who: `ci@${world.processes.self.host}`,
          since: "2026-01-02T03:04:05.000Z",
          job: "https://ci.example.com/jobs/7",
        });
        await held.unlock();
        await other.close();
      });

      it("also exclude other holders within one process", async () => {
        const held = await lock(SHOP);
        expect(
          (await problemOf(backend.lock(SHOP, createLockInfo(await fixture.world(), "x")))).kind,
        ).toBe("locked");
        await held.unlock();
        await (await lock(SHOP)).unlock();
      });

      it("are separate for each stage and target", async () => {
        const all = [await lock(SHOP), await lock(WEB), await lock(PRODUCTION)];
        for (const held of all) await held.unlock();
      });

      it("do not block a reader", async () => {
        await save(SHOP, numbered(1));
        const held = await lock(SHOP);
        const other = await fixture.open();
        expect(await stateIn(SHOP, other)).toEqual(applyEvents(fresh(SHOP), [numbered(1)]));
        await held.unlock();
        await other.close();
      });

      it("are granted to only one of many concurrent callers", async () => {
        const world = await fixture.world();
        const asked = await Promise.allSettled(
          Array.from({ length: 8 }, () => backend.lock(SHOP, createLockInfo(world, "tasc apply"))),
        );
        const taken = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        expect(taken).toHaveLength(1);
        for (const held of taken) await held.unlock();
      });

      it("are waited for until they are free", async () => {
        const held = await lock(SHOP);
        const clock = steppedClock(async () => {
          if (clock.slept.length === 3) await held.unlock();
        });
        const world = await fixture.world({ clock });
        const opened = await openSession(backend, SHOP, world, {
          why: "tasc apply",
          timeout: 60_000,
        });
        await opened.close();
        expect(clock.slept).toEqual([100, 200, 400]);
      });

      it("are waited for no longer than the timeout", async () => {
        const held = await lock(SHOP);
        const clock = steppedClock();
        const world = await fixture.world({ clock });
        const refused = openSession(backend, SHOP, world, { why: "tasc apply", timeout: 1_000 });
        expect((await problemOf(refused)).kind).toBe("locked");
        expect(clock.slept).toEqual([100, 200, 400, 300]);
        await held.unlock();
      });

      it("are waited for only until the user interrupts", async () => {
        const held = await lock(SHOP);
        const interrupt = new AbortController();
        const world = await fixture.world({ clock: steppedClock(() => interrupt.abort()) });
        const options = { why: "tasc apply", timeout: 60_000, signal: interrupt.signal };
        expect((await problemOf(openSession(backend, SHOP, world, options))).kind).toBe(
          "interrupted",
        );
        await held.unlock();
      });

      it("can be taken away, after which the former holder cannot write", async () => {
        const first = await session();
        await first.record([numbered(1)]);
        const other = await fixture.open();
        const holder = await other.forceUnlock(SHOP);
        expect(holder?.why).toBe("tasc apply");
        const second = await session(SHOP, other);
        await second.record([numbered(2)]);
        await expect(first.record([numbered(3)])).rejects.toMatchObject({
          problem: { kind: "lock-lost" },
        });
        await expect(first.close()).rejects.toMatchObject({ problem: { kind: "lock-lost" } });
        await second.record([numbered(4)]);
        await second.close();
        const kept = [numbered(1), numbered(2), numbered(4)];
        expect(await stateIn(SHOP, other)).toEqual(applyEvents(fresh(SHOP), kept));
        await other.close();
      });

      it("can be freed by force even if they are free already", async () => {
        expect(await backend.forceUnlock(SHOP)).toBeUndefined();
        await (await lock(SHOP)).unlock();
      });
    });

    describe("sessions", () => {
      it("begin with an empty state if there is no document, and report that it is new", async () => {
        const first = await session();
        expect(first.isNew).toBe(true);
        expect(plain(first.state)).toEqual(fresh(SHOP));
        await first.record([numbered(1)]);
        await first.close();
        const second = await session();
        expect(second.isNew).toBe(false);
        expect(plain(second.state)).toEqual(applyEvents(fresh(SHOP), [numbered(1)]));
        await second.close();
      });

      it("that record nothing write nothing", async () => {
        const opened = await session();
        await opened.record([]);
        await opened.close();
        expect(await fixture.text(SHOP)).toBeUndefined();
      });

      it("show their records to a reader without a lock", async () => {
        const opened = await session();
        const other = await fixture.open();
        await opened.record([numbered(1)]);
        expect(await stateIn(SHOP, other)).toEqual(applyEvents(fresh(SHOP), [numbered(1)]));
        expect(await other.list("staging")).toEqual(["shop"]);
        await opened.record([numbered(2)]);
        expect(await stateIn(SHOP, other)).toEqual(
          applyEvents(fresh(SHOP), [numbered(1), numbered(2)]),
        );
        await opened.close();
        expect(await stateIn(SHOP, other)).toEqual(
          applyEvents(fresh(SHOP), [numbered(1), numbered(2)]),
        );
        await other.close();
      });

      it("do not change a state that they returned earlier", async () => {
        const opened = await session();
        const before = opened.state;
        const recording = opened.record([numbered(1)]);
        expect(opened.state.bindings.size).toBe(1);
        expect(before.bindings.size).toBe(0);
        await recording;
        await opened.close();
      });

      it("save many concurrent records in order", async () => {
        const opened = await session();
        const list = Array.from({ length: 300 }, (_, n) => numbered(n % 100));
        await Promise.all(list.map((one) => opened.record([one])));
        await opened.close();
        expect(await stateIn(SHOP)).toEqual(applyEvents(fresh(SHOP), list));
      });

      it("save pending records when they are closed", async () => {
        const opened = await session();
        const recording = opened.record([numbered(1)]);
        await opened.close();
        await recording;
        await opened.close();
        expect(await stateIn(SHOP)).toEqual(applyEvents(fresh(SHOP), [numbered(1)]));
      });

      it("reject records after they are closed", async () => {
        const opened = await session();
        await opened.close();
        await expect(opened.record([numbered(1)])).rejects.toThrow("closed");
      });

      it("write the same document, byte for byte, as one write of all events", async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(anyEvents, { minLength: 1, maxLength: 4 }), async (lists) => {
            const before = (await stateIn(SHOP)) ?? fresh(SHOP);
            const opened = await session();
            await Promise.all(lists.map((list) => opened.record(list)));
            await opened.close();
            if (lists.flat().length === 0) return;
            const expected = applyEvents(before, lists.flat());
            expect(await stateIn(SHOP)).toEqual(expected);
            const text = (await fixture.text(SHOP))?.replace(
              / {2}"(?:serial|lineage)": .*,\n/g,
              "",
            );
            expect(text).toBe(formatDocument(expected));
          }),
          { numRuns: 15 },
        );
      });
    });
  });
}
