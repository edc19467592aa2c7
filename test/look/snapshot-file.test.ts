// A snapshot's file: what goes in comes out, however it is cut, laid out or tried again.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Snapshot, type SnapshotHead, openSnapshot, splitDocument } from "../../src/app/snapshot.ts";
import { fileSink, memorySink, writeSnapshot } from "../../src/app/write-snapshot.ts";
import { TascError } from "../../src/model/error.ts";
import { type Json, isObject, parseJson } from "../../src/model/json.ts";
import type { LiveTestCase } from "../../src/model/live.ts";
import { emptyState } from "../../src/model/state.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { applyEvents } from "../../src/state/events.ts";
import { liveCase } from "./live.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "tasc-snapshot-"));
  folders.push(folder);
  return join(folder, "snapshot.json");
}

const STATE = applyEvents(emptyState("staging", "shop", "https://service.example.com"), [
  { type: "keyed", keyCheck: "KEYCHECK" },
  { type: "bound", address: "target.shop", id: "t", fields: { app: "FINGERPRINT" } },
  { type: "bound", address: "testCase.shop.login", id: "c", fields: { status: "FINGERPRINT" } },
  { type: "folder", name: "Authentication", id: "f" },
  {
    type: "batch",
    address: "batchGeneration.shop.spring",
    record: { status: "done", content: "FINGERPRINT" },
  },
  {
    type: "intended",
    address: "batchGeneration.shop.summer",
    intent: { at: "2030-01-01T00:00:00Z", existing: [], fields: {}, content: "FINGERPRINT" },
  },
]);

const HEAD: SnapshotHead = {
  tool: "tasc 1.0.0",
  stage: "staging",
  baseUrl: "https://service.example.com",
  createdAt: "2030-01-01T00:00:00.000Z",
  states: [STATE],
  targets: [
    { id: "t", app: "Web Shop", environments: [{ id: "e", type: "DEFAULT", discoveryUrl: undefined }] },
    { id: "u", app: "Back Office", environments: [] },
  ],
  read: ["t", "u"],
};

const NO_SECRETS = createRedactor([]);

function textOf(cases: ReadonlyMap<string, readonly LiveTestCase[]>, secrets = NO_SECRETS): string {
  const sink = memorySink();
  const writer = writeSnapshot(sink, HEAD, secrets);
  for (const [target, list] of cases) {
    const collector = writer.testCases(target);
    for (const one of list) collector.add(one);
    collector.result();
  }
  writer.end();
  return sink.pieces().join("");
}

function opened(text: string): Snapshot {
  const file = newFile();
  writeFileSync(file, text);
  return openSnapshot(file, "snapshot.json");
}

const lists = fc.record({ t: fc.array(liveCase, { maxLength: 5 }), u: fc.array(liveCase, { maxLength: 5 }) });

describe("what goes in comes out", () => {
  test("test cases of several targets, read side by side, and once more", async () => {
    await fc.assert(
      fc.asyncProperty(lists, async ({ t, u }) => {
        const { reader } = opened(
          textOf(
            new Map([
              ["t", t],
              ["u", u],
            ]),
          ),
        );
        const same = (one: LiveTestCase): LiveTestCase => one;
        const both = await Promise.all([reader.listTestCases("t", same), reader.listTestCases("u", same)]);
        expect(both).toEqual([t, u]);
        expect(await reader.listTestCases("u", same)).toEqual(u);
      }),
      { numRuns: 30 },
    );
  });

  test("targets and states, without any fingerprint", async () => {
    const text = textOf(new Map());
    expect(text).not.toMatch(/FINGERPRINT|KEYCHECK/);
    const { head, reader } = opened(text);
    expect(await reader.listTargets()).toEqual(HEAD.targets);
    const [state] = head.states;
    expect(state?.bindings).toEqual(
      new Map([
        ["target.shop", { id: "t", fields: {} }],
        ["testCase.shop.login", { id: "c", fields: {} }],
      ]),
    );
    expect(state?.folders).toEqual(new Map([["Authentication", "f"]]));
    expect(state?.batchGenerations).toEqual(
      new Map([
        ["batchGeneration.shop.spring", { status: "done" }],
        // It was cut off while it was sent: nobody knows whether it ran.
        ["batchGeneration.shop.summer", { status: "uncertain" }],
      ]),
    );
    expect({ ...head, states: [] }).toEqual({ ...HEAD, states: [] });
  });

  test("whatever the order of its members and its white space", async () => {
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 0, max: 8 }),
        fc.boolean(),
        async ({ t, u }, indent, turned) => {
          const text = textOf(
            new Map([
              ["t", t],
              ["u", u],
            ]),
          );
          const document = parseJson(text);
          const members = Object.entries(isObject(document) ? document : {});
          const other = Object.fromEntries(turned ? members.toReversed() : members);
          const { reader, head } = opened(JSON.stringify(other, null, indent));
          expect(head.targets).toEqual(HEAD.targets);
          expect(await reader.listTestCases("t", (one) => one)).toEqual(t);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("the file", () => {
  test("a try that broke leaves nothing behind", () => {
    fc.assert(
      fc.property(lists, ({ t, u }) => {
        const whole = textOf(
          new Map([
            ["t", t],
            ["u", u],
          ]),
        );
        const path = newFile();
        const file = fileSink(path, "/");
        const memory = memorySink();
        for (const sink of [file, memory]) {
          const writer = writeSnapshot(sink, HEAD, NO_SECRETS);
          for (const [target, list, broken] of [
            ["t", t, u],
            ["u", u, t],
          ] as const) {
            const first = writer.testCases(target);
            for (const one of broken) first.add(one);
            const second = writer.testCases(target);
            for (const one of list) second.add(one);
            second.result();
          }
          writer.end();
        }
        file.keep();
        expect(memory.pieces().join("")).toBe(whole);
        expect(readFileSync(path, "utf8")).toBe(whole);
        rmSync(path);
      }),
      { numRuns: 20 },
    );
  });

  test("is for its owner alone, and in its place only when it is whole", () => {
    const path = newFile();
    const sink = fileSink(path, "/");
    const writer = writeSnapshot(sink, HEAD, NO_SECRETS);
    const names = readdirSync(join(path, ".."));
    expect(names).not.toContain("snapshot.json");
    for (const name of names) expect(statSync(join(path, "..", name)).mode & 0o777).toBe(0o600);
    writer.end();
    sink.keep();
    sink.drop();
    expect(readdirSync(join(path, ".."))).toEqual(["snapshot.json"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const second = fileSink(path, "/");
    writeSnapshot(second, { ...HEAD, stage: "other" }, NO_SECRETS);
    second.drop();
    expect(readdirSync(join(path, ".."))).toEqual(["snapshot.json"]);
    expect(opened(readFileSync(path, "utf8")).head.stage).toBe("staging");
  });

  test("holds no secret, in whatever field it stands", () => {
    fc.assert(
      fc.property(
        liveCase,
        fc.constantFrom("description", "externalId", "entryPointUrlPath"),
        (one, field) => {
          const secret = 'pass"word\\of\u00e4';
          const text = textOf(
            new Map([["t", [{ ...one, [field]: `a ${secret} b` }]]]),
            createRedactor([secret]),
          );
          expect(JSON.stringify(parseJson(text))).not.toContain(JSON.stringify(secret).slice(1, -1));
          expect(text).toContain("a (sensitive) b");
        },
      ),
      { numRuns: 30 },
    );
  });

  test("hides what was last written with a secret, though nobody knows the secret any more", () => {
    const old = "rotated-away-0815";
    const state = applyEvents(STATE, [
      { type: "bound", address: "target.shop", id: "t", fields: {}, secrets: ["app"] },
      {
        type: "bound",
        address: "testCase.shop.login",
        id: "c1",
        fields: {},
        // Elements are made from the prompt.
        secrets: ["description", "discovery.prompt", "tags"],
      },
    ]);
    const discovery = { status: "FINISHED", freePrompt: old, abortCause: undefined, message: old };
    const raw = { id: "e1", action: "CLICK", selectors: [{ selectorType: "TEXT", selector: old }] };
    const [any] = fc.sample(liveCase, 1);
    if (any === undefined) throw new Error("no case");
    const shown = { ...any, id: "c1", description: old, tags: [old], status: "ENABLED", discovery };
    const sink = memorySink();
    const targets = [{ id: "t", app: old, environments: [] }];
    const writer = writeSnapshot(sink, { ...HEAD, targets, states: [state] }, NO_SECRETS);
    writer.testCases("t").add({ ...shown, elements: [{ id: "e1", parts: {}, raw }] });
    writer.end();
    const text = sink.pieces().join("");
    expect(text).not.toContain(old);
    expect(text).toContain('"action":"CLICK"');
    expect(text).toContain('"status":"ENABLED"');
  });

  test("is refused with the reason", () => {
    const text = textOf(new Map());
    const refusal = (content: string): string => {
      const file = newFile();
      writeFileSync(file, content);
      try {
        openSnapshot(file, "snapshot.json").eachTestCase(() => undefined);
        return "fine";
      } catch (error) {
        return error instanceof TascError ? error.message : "";
      }
    };
    expect(refusal(text)).toBe("fine");
    expect(refusal("")).toBe("snapshot.json is not a snapshot: it is not JSON");
    expect(refusal("[]")).toBe("snapshot.json is not a snapshot: it is not JSON");
    expect(refusal("{}")).toBe("snapshot.json is not a snapshot: it is something else");
    expect(refusal('{"format":"tasc-state"}')).toBe("snapshot.json is not a snapshot: it is something else");
    expect(refusal(text.replace('"version": 1', '"version": 2'))).toBe(
      "snapshot.json is not a snapshot: it has version 2, and this tasc reads 1",
    );
    expect(refusal(text.replace('"app":"Web Shop"', '"app":7'))).toBe(
      "snapshot.json is not a snapshot: a part of it is missing or damaged",
    );
    expect(refusal(text.slice(0, -4))).toBe(
      "snapshot.json is not a snapshot: a test case in it is damaged, or the file is truncated",
    );
  });
});

describe("splitting a document", () => {
  const document = fc.record({
    a: fc.jsonValue(),
    list: fc.array(fc.jsonValue(), { maxLength: 6 }),
    z: fc.jsonValue(),
  });

  /** The parts that come out, and how it ended. */
  function split(bytes: Uint8Array, size: number) {
    const members: [string, Json][] = [];
    const items: Json[] = [];
    function* pieces() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
    }
    const end = splitDocument(pieces(), "list", {
      member: (name, value) => members.push([name, value]) > 0,
      item: (value) => void items.push(value),
    });
    return { end, members, items };
  }

  test("gives what JSON.parse gives, wherever the pieces end", () => {
    fc.assert(
      fc.property(
        document,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 3 }),
        (value, size, indent) => {
          const text = JSON.stringify(value, null, indent);
          const plain = parseJson(text);
          const { a, list, z } = isObject(plain) ? plain : {};
          expect(split(Buffer.from(text), size)).toEqual({
            end: "whole",
            members: [
              ["a", a],
              ["z", z],
            ],
            items: list,
          });
        },
      ),
    );
  });

  test("never calls whole what was cut short", () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 1, max: 40 }), fc.nat(), (value, size, cut) => {
        const bytes = Buffer.from(JSON.stringify(value));
        expect(split(bytes.subarray(0, cut % bytes.length), size).end).toBe("damaged");
      }),
    );
  });

  test.each([
    "[1]",
    "7",
    '{"a":}',
    '{"a":1}}',
    '{"a":1} x',
    "{a:1}",
    '{"list":[1,]}x',
    '{"list":[1}',
    '{"a" 1}',
  ])("finds %s damaged", (text) => {
    expect(split(Buffer.from(text), 3).end).toBe("damaged");
  });
});
