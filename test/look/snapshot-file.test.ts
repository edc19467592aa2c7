// The file of a snapshot: its content can be read back, in any layout, and damage is reported.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Snapshot, type SnapshotHead, openSnapshot } from "../../src/app/snapshot.ts";
import { writeSnapshot } from "../../src/commands/snapshot.ts";
import { TascError } from "../../src/model/error.ts";
import { isObject, parseJson } from "../../src/model/json.ts";
import type { LiveTestCase } from "../../src/model/live.ts";
import { emptyState } from "../../src/model/state.ts";
import { writeWhole } from "../../src/files/output.ts";
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
    {
      id: "t",
      app: "Web Shop",
      environments: [{ id: "e", type: "DEFAULT", discoveryUrl: undefined }],
    },
    { id: "u", app: "Back Office", environments: [] },
  ],
  read: ["t", "u"],
};

const NO_SECRETS = createRedactor([]);

function textOf(cases: ReadonlyMap<string, readonly LiveTestCase[]>, secrets = NO_SECRETS): string {
  const pieces: string[] = [];
  const writer = writeSnapshot((piece) => void pieces.push(piece), HEAD, secrets);
  for (const [target, list] of cases) writer.add(list.map((one) => writer.lineOf(one, target)));
  writer.end();
  return pieces.join("");
}

function opened(text: string): Snapshot {
  const file = newFile();
  writeFileSync(file, text);
  return openSnapshot(file, "snapshot.json");
}

const lists = fc.record({
  t: fc.array(liveCase, { maxLength: 5 }),
  u: fc.array(liveCase, { maxLength: 5 }),
});

describe("a snapshot that is read from its file", () => {
  test("contains the test cases of several targets, also if read in parallel and repeatedly", async () => {
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
        const both = await Promise.all([
          reader.listTestCases("t", same),
          reader.listTestCases("u", same),
        ]);
        expect(both).toEqual([t, u]);
        expect(await reader.listTestCases("u", same)).toEqual(u);
      }),
      { numRuns: 30 },
    );
  });

  test("contains targets and states without fingerprints", async () => {
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
        // Its request was interrupted, so it is unknown whether it ran.
        ["batchGeneration.shop.summer", { status: "uncertain" }],
      ]),
    );
    expect({ ...head, states: [] }).toEqual({ ...HEAD, states: [] });
  });

  test("can have any order of members and any white space", async () => {
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

const PLACE = { root: "/", host: { cwd: "/" } };

describe("the file", () => {
  test("is readable by its owner only, and exists under its name only when it is complete", async () => {
    const path = newFile();
    await writeWhole(path, PLACE, "unwritable", async (write) => {
      write(textOf(new Map()));
      const names = readdirSync(join(path, ".."));
      expect(names).toHaveLength(1);
      expect(names).not.toContain("snapshot.json");
      for (const name of names) expect(statSync(join(path, "..", name)).mode & 0o777).toBe(0o600);
    });
    expect(readdirSync(join(path, ".."))).toEqual(["snapshot.json"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const broken = writeWhole(path, PLACE, "unwritable", async (write) => {
      write("{");
      throw new Error("broken off");
    });
    await expect(broken).rejects.toThrow("broken off");
    expect(readdirSync(join(path, ".."))).toEqual(["snapshot.json"]);
    expect(opened(readFileSync(path, "utf8")).head.stage).toBe("staging");
  });

  test("contains no secret in any field", () => {
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
          expect(JSON.stringify(parseJson(text))).not.toContain(
            JSON.stringify(secret).slice(1, -1),
          );
          expect(text).toContain("a (sensitive) b");
        },
      ),
      { numRuns: 30 },
    );
  });

  test("contains no scroll states, which no plan reads and which can have any keys", () => {
    const [any] = fc.sample(liveCase, 1);
    if (any === undefined) throw new Error("no case");
    const raw = { id: "e1", scrollState: { swordfish: 1 }, testCaseId: "c1" };
    const one = { ...any, elements: [{ id: "e1", parts: {}, raw }] };
    const text = textOf(new Map([["t", [one]]]), createRedactor(["swordfish"]));
    expect(text).not.toContain("swordfish");
    expect(text).toContain('"testCaseId":"c1"');
  });

  test("hides fields last written with a secret, even if the secret is no longer known", () => {
    const old = "rotated-away-0815";
    const state = applyEvents(STATE, [
      { type: "bound", address: "target.shop", id: "t", fields: {}, secrets: ["app"] },
      {
        type: "bound",
        address: "testCase.shop.login",
        id: "c1",
        fields: {},
        // Elements are generated from the prompt.
        secrets: ["description", "discovery.prompt", "tags"],
      },
    ]);
    const discovery = { status: "FINISHED", freePrompt: old, abortCause: undefined, message: old };
    const raw = { id: "e1", action: "CLICK", selectors: [{ selectorType: "TEXT", selector: old }] };
    const [any] = fc.sample(liveCase, 1);
    if (any === undefined) throw new Error("no case");
    const shown = { ...any, id: "c1", description: old, tags: [old], status: "ENABLED", discovery };
    const pieces: string[] = [];
    const targets = [{ id: "t", app: old, environments: [] }];
    const head = { ...HEAD, targets, states: [state] };
    const writer = writeSnapshot((piece) => void pieces.push(piece), head, NO_SECRETS);
    writer.add([writer.lineOf({ ...shown, elements: [{ id: "e1", parts: {}, raw }] }, "t")]);
    writer.end();
    const text = pieces.join("");
    expect(text).not.toContain(old);
    expect(text).toContain('"action":"CLICK"');
    expect(text).toContain('"status":"ENABLED"');
  });

  test("is rejected with the reason", () => {
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
    expect(refusal('{"format":"tasc-state"}')).toBe(
      "snapshot.json is not a snapshot: it is something else",
    );
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

describe("reading a document", () => {
  const text = textOf(new Map([["t", fc.sample(liveCase, 3)]]));

  test("reports a document that is truncated at any position", () => {
    for (let length = 0; length < text.length - 2; length += 17)
      expect(() => opened(text.slice(0, length)).eachTestCase(() => undefined)).toThrow(TascError);
  });

  test("ignores lists with other names, and values that equal the name of a list", async () => {
    const document = parseJson(text);
    const more = {
      testCasesOf: [1],
      other: { testCases: [2] },
      name: "testCases",
      list: [["testCases", [3]]],
    };
    const { reader } = opened(JSON.stringify({ ...more, ...(isObject(document) ? document : {}) }));
    expect(await reader.listTestCases("t", (one) => one)).toHaveLength(3);
  });

  test.each([
    [/\]\n\}\n$/, "\n}\n"],
    [/\]\n\}\n$/, "}\n}\n"],
    [/\]\n\}\n$/, ",]\n}\n"],
    [/\}\n$/, "} x\n"],
    [/"stage":/, '"stage"'],
  ])("reports a document as damaged if %s is replaced by %s", (where, instead) => {
    expect(() => opened(text.replace(where, instead)).eachTestCase(() => undefined)).toThrow(
      TascError,
    );
  });
});
