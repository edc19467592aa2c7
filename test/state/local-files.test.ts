import { createHash } from "node:crypto";
import {
  appendFile,
  chmod,
  mkdir,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StateEvent } from "../../src/model/state.ts";
import type { Backend } from "../../src/state/backend.ts";
import { erroredFile } from "../../src/state/errored.ts";
import { readIfThere } from "../../src/state/files.ts";
import { journalLine, pathsOf, readFiles, revisionOf, targetOf } from "../../src/state/local.ts";
import { formatDocument, storedState } from "../../src/state/document.ts";
import { createLockInfo } from "../../src/state/lock.ts";
import type { LockedState } from "../../src/state/locked.ts";
import { openSession } from "./support/session.ts";
import { type LocalFixture, localFixture } from "./support/local-fixture.ts";
import { SHOP, numbered, stateAfter, plain } from "./support/numbered.ts";
import { problemOf, readOne } from "./support/result.ts";
import { steppedClock } from "./support/world.ts";

const CASE_0 = "testCase.shop.case-0";
const CASE_1 = "testCase.shop.case-1";

let fixture: LocalFixture;
let backend: Backend;
beforeEach(async () => {
  fixture = await localFixture();
  backend = await fixture.open();
});
afterEach(async () => {
  await fixture.dispose();
});

async function session(): Promise<LockedState> {
  return await openSession(backend, SHOP, await fixture.world(), { why: "tasc apply", timeout: 0 });
}

const path = (ending: string): string => fixture.path(SHOP, ending);
const fileText = async (ending: string): Promise<string | undefined> =>
  await readFile(path(ending), "utf8").catch(() => undefined);

async function save(...numbers: readonly number[]): Promise<void> {
  const opened = await session();
  await opened.record(numbers.map(numbered));
  await opened.close();
}

/** A session that ended without folding: its events are in the journal. */
async function interrupted(...numbers: readonly number[]): Promise<string> {
  const opened = await session();
  for (const n of numbers) await opened.record([numbered(n)]);
  await backend.forceUnlock(SHOP);
  await expect(opened.close()).rejects.toMatchObject({ problem: { kind: "lock-lost" } });
  return (await fileText(".journal")) ?? "";
}

/** The lines of a journal with recomputed checksums. */
function resealed(journal: string): string {
  const lines = journal.split("\n").slice(0, -1);
  return lines
    .map((line) => {
      const text = line.slice(0, line.lastIndexOf("\t"));
      return `${text}\t${createHash("sha256").update(text).digest("base64url").slice(0, 12)}\n`;
    })
    .join("");
}

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;
const count = async (): Promise<number> => (await readOne(backend, SHOP))?.state.bindings.size ?? 0;

describe("a symbolic link", () => {
  it("in place of the state folder is rejected, and nothing is written through it", async () => {
    const elsewhere = join(fixture.folder, "elsewhere");
    await mkdir(elsewhere);
    const folder = dirname(path(".json"));
    await mkdir(dirname(folder), { recursive: true });
    await symlink(elsewhere, folder);
    const refused = openSession(backend, SHOP, await fixture.world(), { why: "x", timeout: 0 });
    expect(await problemOf(refused)).toMatchObject({ kind: "failed" });
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it("in place of the temporary file is not written through", async () => {
    await save(0);
    const victim = join(fixture.folder, "victim");
    await writeFile(victim, "mine");
    await symlink(victim, path(".json.tmp"));
    await save(1);
    expect(await readFile(victim, "utf8")).toBe("mine");
    expect(await count()).toBe(2);
  });
});

describe("events that could not be saved", () => {
  const key = { ...SHOP, target: "shop" };
  it("are kept in a file, which the next session takes in", async () => {
    const first = await session();
    await first.record([numbered(0)]);
    await rm(path(".lock"));
    await expect(first.record([numbered(1)])).rejects.toMatchObject({
      problem: { kind: "lock-lost" },
    });
    await expect(first.close()).rejects.toMatchObject({ problem: { kind: "lock-lost" } });
    expect(await readFile(erroredFile(await fixture.world(), key), "utf8")).toContain("case-1");
    const next = await session();
    expect(next.takenIn).toMatch(/errored\/.*shop\.json$/);
    await next.close();
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(2));
    expect(
      await readFile(erroredFile(await fixture.world(), key), "utf8").catch(() => "gone"),
    ).toBe("gone");
  });

  it("do not hide values that another session has written since", async () => {
    const first = await session();
    await first.record([numbered(0)]);
    await rm(path(".lock"));
    const wrote = (status: string): StateEvent => ({
      type: "wrote",
      address: CASE_0,
      fields: { status },
    });
    await first.record([wrote("ours"), numbered(1)]).catch(() => {});
    const other = await session();
    await other.record([wrote("theirs")]);
    await other.close();
    await first.close().catch(() => {});
    const next = await session();
    expect(next.state.bindings.get(CASE_0)?.fields).toEqual({});
    expect(next.state.bindings.get(CASE_1)?.id).toBe("id-1");
    await next.close();
  });
});

describe("a lost lock", () => {
  it("is noticed after 100 ms by ordinary records, and at once by records that must be durable", async () => {
    let now = Date.now();
    backend = await fixture.open({ clock: { now: () => new Date(now), sleep: async () => {} } });
    const first = await session();
    await first.record([numbered(1)], false);
    await rm(path(".lock"));
    await first.record([numbered(2)], false);
    now += 100;
    await expect(first.record([numbered(3)], false)).rejects.toMatchObject({
      problem: { kind: "lock-lost" },
    });
    const other = await session();
    await other.record([numbered(4)], false);
    await rm(path(".lock"));
    await expect(other.record([numbered(5)])).rejects.toMatchObject({
      problem: { kind: "lock-lost" },
    });
    for (const lost of [first, other])
      await expect(lost.close()).rejects.toMatchObject({ problem: { kind: "lock-lost" } });
  });
});

describe("files of the local backend", () => {
  it("are accessible only to their owner, whatever their permissions were before", async () => {
    await save(0);
    await chmod(path(".json"), 0o644);
    const opened = await session();
    await opened.record([numbered(1)]);
    expect(await modeOf(path(".journal"))).toBe(0o600);
    expect(await modeOf(path(".lock"))).toBe(0o600);
    await opened.close();
    expect(await modeOf(path(".json"))).toBe(0o600);
    for (const folder of [".tasc", ".tasc/state", ".tasc/state/staging"])
      expect(await modeOf(join(fixture.folder, folder))).toBe(0o700);
  });

  it("are named after stage and target, and never lie outside the folder", () => {
    expect(documentOf("staging")).toBe("/state/staging/shop.json");
    expect(documentOf("../..")).toBe("/state/%2E.%2F../shop.json");
    expect(documentOf(".")).toBe("/state/%2E/shop.json");
    expect(documentOf("a b/ä")).toBe("/state/a%20b%2F%C3%A4/shop.json");
    expect(
      ["shop.json", "shop.journal", "shop.json.tmp", "shop.lock", "%.json"].map(targetOf),
    ).toEqual(["shop", "shop", undefined, undefined, undefined]);
  });

  it("are not changed by a reader, even after an interrupted session", async () => {
    await save(0);
    const journal = await interrupted(1);
    const before = await Promise.all([stat(path(".json")), stat(path(".journal"))]);
    expect(await count()).toBe(2);
    const after = await Promise.all([stat(path(".json")), stat(path(".journal"))]);
    expect(after.map(({ mtimeMs, ino }) => [mtimeMs, ino])).toEqual(
      before.map(({ mtimeMs, ino }) => [mtimeMs, ino]),
    );
    expect(await fileText(".journal")).toBe(journal);
  });

  it("are reported as a problem if they cannot be read or written", async () => {
    await mkdir(path(".json"), { recursive: true });
    expect(await problemOf(readOne(backend, SHOP))).toMatchObject({
      kind: "failed",
      where: path(".json"),
    });
    await rm(dirname(path(".json")), { recursive: true });
    await writeFile(dirname(path(".json")), "a file where a folder should be");
    const locked = backend.lock(SHOP, createLockInfo(await fixture.world(), "x"));
    expect(await problemOf(locked)).toMatchObject({ kind: "failed", where: path(".lock") });
  });

  it("are rejected and left unchanged if git marked a conflict in them", async () => {
    await save(0);
    const text = `<<<<<<< HEAD\n${await fileText(".json")}=======\n{}\n>>>>>>> other\n`;
    await fixture.put(SHOP, text);
    expect(await problemOf(readOne(backend, SHOP))).toEqual({
      kind: "conflicted",
      where: path(".json"),
      line: 1,
    });
    expect(await fileText(".json")).toBe(text);
  });
});

describe("the journal", () => {
  it("receives all records, while the document is unchanged until the session closes", async () => {
    await save(0);
    const before = await stat(path(".json"));
    const opened = await session();
    for (let n = 1; n <= 50; n += 1) await opened.record([numbered(n)]);
    expect((await stat(path(".json"))).mtimeMs).toBe(before.mtimeMs);
    expect((await fileText(".journal"))?.split("\n")).toHaveLength(52);
    await opened.close();
    expect(await fileText(".journal")).toBeUndefined();
    expect(await count()).toBe(51);
  });

  it("gets few lines for many concurrent records", async () => {
    const opened = await session();
    await Promise.all(Array.from({ length: 100 }, (_, n) => opened.record([numbered(n)])));
    expect((await fileText(".journal"))?.split("\n").length).toBeLessThanOrEqual(4);
    await opened.close();
    expect(await count()).toBe(100);
  });

  it("of an interrupted session is folded in by the next session", async () => {
    await save(0);
    await interrupted(1, 2);
    const opened = await session();
    expect(plain(opened.state)).toEqual(stateAfter(3));
    expect(await fileText(".journal")).toBeUndefined();
    await opened.close();
    expect(await count()).toBe(3);
  });

  it("of an interrupted first session is a valid state without a document", async () => {
    await interrupted(0, 1);
    expect(await fileText(".json")).toBeUndefined();
    expect(await backend.list("staging")).toEqual(["shop"]);
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(2));
    await save(2);
    expect(plain((await readOne(backend, SHOP))?.state)).toEqual(stateAfter(3));
  });

  it("is read up to its last whole line if it was truncated, at any byte", async () => {
    await save(0);
    const journal = Buffer.from(await interrupted(1, 2, 3));
    for (let length = 0; length <= journal.length; length += 7) {
      await writeFile(path(".journal"), journal.subarray(0, length));
      const whole = journal.subarray(0, length).toString().split("\n").length - 2;
      expect(await count()).toBe(1 + Math.max(0, whole));
    }
  });

  it("is folded in up to its last whole line if it was truncated", async () => {
    await save(0);
    const journal = await interrupted(1, 2);
    await writeFile(path(".journal"), journal.slice(0, -20));
    await save(9);
    expect([...((await readOne(backend, SHOP))?.state.bindings.keys() ?? [])]).toEqual([
      "testCase.shop.case-0",
      "testCase.shop.case-1",
      "testCase.shop.case-9",
    ]);
  });

  it("is read up to the zeros that a power cut left at its end", async () => {
    await save(0);
    await interrupted(1);
    await appendFile(path(".journal"), Buffer.alloc(4096));
    expect(await count()).toBe(2);
    await appendFile(path(".journal"), "]\n");
    expect(await count()).toBe(2);
  });

  it("is rejected if a byte has changed, even in its last line", async () => {
    await save(0);
    const journal = await interrupted(1);
    await writeFile(path(".journal"), journal.replace("s-1", "s-7"));
    expect(await problemOf(readOne(backend, SHOP))).toMatchObject({ kind: "corrupt" });
  });

  it("is rejected and left unchanged if it is damaged before its end", async () => {
    await save(0);
    const journal = await interrupted(1, 2, 3);
    const damaged = journal.replace("case-2", 'case"2');
    await writeFile(path(".journal"), damaged);
    const problem = await problemOf(readOne(backend, SHOP));
    expect(problem).toEqual({
      kind: "corrupt",
      where: path(".journal"),
      reason: "line 3 is not in the expected format",
    });
    const world = await fixture.world();
    expect(await problemOf(openSession(backend, SHOP, world, { why: "x", timeout: 0 }))).toEqual(
      problem,
    );
    expect(await fileText(".journal")).toBe(damaged);
  });

  it.each([
    ["newer", '"version":2', '"version":3'],
    ["misplaced", '"target":"shop"', '"target":"web"'],
    ["other-service", "service.example.com", "other.example.com"],
    ["corrupt", "tasc-journal", "something"],
  ])("is rejected if it is %s", async (kind, from, to) => {
    await save(0);
    const journal = await interrupted(1);
    await writeFile(path(".journal"), resealed(journal.replace(from, to)));
    expect((await problemOf(readOne(backend, SHOP))).kind).toBe(kind);
  });

  it("is not folded twice if the end of a session was interrupted", async () => {
    const unbound: StateEvent = { type: "unbound", address: "testCase.shop.case-0" };
    const opened = await session();
    await opened.record([numbered(0)]);
    const journal = (await fileText(".journal")) ?? "";
    await opened.close();
    const document = (await fileText(".json")) ?? "";
    const folded = `${journal}${foldedMark(document)}`;
    // Before the document was replaced: the journal still counts.
    await rm(path(".json"));
    await writeFile(path(".journal"), folded);
    expect(await count()).toBe(1);
    // After the document was replaced: it contains the journal's events.
    await writeFile(path(".json"), document);
    expect((await readOne(backend, SHOP))?.journalled).toBe(false);
    const next = await session();
    await next.record([unbound]);
    expect(await count()).toBe(0);
    await next.close();
    expect(await count()).toBe(0);
  });

  it("is rejected if its document was replaced by another, and both files stay", async () => {
    await save(0);
    const other = (await fileText(".json")) ?? "";
    await save(1);
    const journal = await interrupted(2);
    await fixture.put(SHOP, other);
    expect(await problemOf(readOne(backend, SHOP))).toEqual({
      kind: "stranded-journal",
      where: path(".json"),
      journal: path(".journal"),
    });
    expect([await fileText(".json"), await fileText(".journal")]).toEqual([other, journal]);
  });

  it("does not overwrite a document that is replaced during a session", async () => {
    await save(0);
    const opened = await session();
    await opened.record([numbered(1)]);
    const changed = `${(await fileText(".json")) ?? ""}\n`;
    await fixture.put(SHOP, changed);
    await expect(opened.close()).rejects.toMatchObject({ problem: { kind: "stranded-journal" } });
    expect(await fileText(".json")).toBe(changed);
  });

  it("is read completely by readers while sessions open and close", async () => {
    const sessions = 15;
    const write = async () => {
      for (let n = 0; n < sessions; n += 1) await save(n);
    };
    const watch = async () => {
      for (let last = 0; last < sessions;) {
        const seen = await count();
        expect(seen).toBeGreaterThanOrEqual(last);
        last = seen;
      }
    };
    await Promise.all([write(), ...Array.from({ length: 3 }, watch)]);
  });
});

describe("a reader without a lock", () => {
  it("reads a document again if another program was writing it", async () => {
    const fixture = await localFixture();
    const whole = formatDocument(stateAfter(1));
    const clock = steppedClock(() => fixture.put(SHOP, whole));
    await fixture.put(SHOP, whole.slice(0, 100));
    const backend = await fixture.open({ clock });
    expect((await readOne(backend, SHOP))?.state).toEqual(stateAfter(1));
    expect(clock.slept).toHaveLength(1);
    await fixture.dispose();
  });

  it("sees the records of a session that ends while it reads", async () => {
    const opened = await session();
    await opened.record([numbered(0)]);
    expect(await readDuring(async () => await opened.close())).toBe(1);
  });

  it("sees the records of two sessions if one ends and another begins while it reads", async () => {
    const opened = await session();
    await opened.record([numbered(0)]);
    const both = async () => {
      await opened.close();
      await interrupted(1);
    };
    expect(await readDuring(both)).toBe(2);
  });

  it("still sees all earlier records if a session begins while it reads", async () => {
    await save(0);
    expect(await readDuring(async () => void (await interrupted(1)))).toBe(1);
  });
});

/**
 * Counts the bindings that a reader sees if `happens` runs between reading the journal and reading
 * the document.
 */
async function readDuring(happens: () => Promise<void>): Promise<number> {
  let hasHappened = false;
  const paths = pathsOf(join(fixture.folder, ".tasc/state"), SHOP);
  const files = await readFiles(paths, SHOP, async (file) => {
    if (file === paths.document && !hasHappened) await happens();
    hasHappened ||= file === paths.document;
    return await readIfThere(file);
  });
  return storedState(files, SHOP, "here")?.state.bindings.size ?? 0;
}

function documentOf(stage: string): string {
  return pathsOf("/state", { stage, target: "shop" }).document;
}

/** The line that a session appends to the journal before it replaces the document. */
function foldedMark(document: string): string {
  return journalLine({ folded: revisionOf(Buffer.from(document)) });
}
