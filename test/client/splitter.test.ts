import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonSplitter } from "../../src/service/json-stream.ts";
import { type Fault, FaultError } from "../../src/service/failure.ts";
import { MAX_DEPTH, MAX_ITEM_BYTES } from "../../src/service/request.ts";

type Split = { readonly items: unknown[] } | { readonly fault: Fault };

/** The fault with which a splitter rejects a piece, if any. */
function faultAt(splitter: JsonSplitter, piece: Uint8Array): Fault | undefined {
  try {
    splitter.push(piece);
    return undefined;
  } catch (error) {
    if (error instanceof FaultError) return error.fault;
    throw error;
  }
}

function split(pieces: readonly Uint8Array[]): Split {
  const items: unknown[] = [];
  const splitter = new JsonSplitter((item, index) => {
    expect(index).toBe(items.length);
    items.push(item);
  });
  try {
    for (const piece of pieces) splitter.push(piece);
    splitter.end();
    return { items };
  } catch (error) {
    if (error instanceof FaultError) return { fault: error.fault };
    throw error;
  }
}

/** Cuts a text at the given fractions of its length; two equal fractions make an empty piece. */
function cutAt(bytes: Uint8Array, shares: readonly number[]): Uint8Array[] {
  const cuts = shares
    .map((share) => Math.floor(share * (bytes.length + 1)))
    .toSorted((a, b) => a - b);
  return [0, ...cuts].map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length));
}

const singleBytes = (bytes: Uint8Array): Uint8Array[] =>
  Array.from(bytes, (byte) => Uint8Array.of(byte));

const shares = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  maxLength: 20,
});
/** Values whose strings are full of characters that matter to the scan. */
const value = fc.jsonValue({
  stringUnit: fc.oneof(
    fc.constantFrom(...Array.from('"\\[]{},:n ')),
    fc.string({ unit: "grapheme", maxLength: 1 }),
  ),
});
const blanks = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 3 });
const listText = fc
  .tuple(
    fc.array(value, { maxLength: 6 }),
    fc.constantFrom(0, 2),
    blanks,
    blanks,
    fc.constantFrom("", "\ufeff"),
  )
  .map(([list, indent, before, after, bom]) => ({
    list,
    text: `${bom}${before}${JSON.stringify(list, undefined, indent)}${after}`,
  }))
  // A byte order mark is only valid at the very beginning.
  .filter(({ text }) => text.lastIndexOf("\ufeff") <= 0);

describe("laws", () => {
  test("any list in any pieces is split as JSON.parse reads it", () => {
    fc.assert(
      fc.property(listText, shares, ({ list, text }, cuts) => {
        const items: unknown = JSON.parse(JSON.stringify(list));
        expect(split(cutAt(Buffer.from(text), cuts))).toEqual({ items });
        expect(split(singleBytes(Buffer.from(text)))).toEqual({ items });
      }),
      { numRuns: 500 },
    );
  });

  test("any truncated list is rejected", () => {
    fc.assert(
      fc.property(
        listText,
        shares,
        fc.double({ min: 0, max: 1, noNaN: true }),
        ({ text }, cuts, share) => {
          const whole = Buffer.from(text.trimEnd());
          const part = whole.subarray(0, Math.floor(share * (whole.length - 1)));
          expect(split(cutAt(part, cuts))).toHaveProperty("fault");
        },
      ),
      { numRuns: 500 },
    );
  });

  test("any text is accepted if and only if JSON.parse reads a list from it", () => {
    const almostJson = fc.array(
      fc.constantFrom("[", "]", "{", "}", ",", ":", '"a"', '"', "\\", "1", "null", " "),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(almostJson, shares, (parts, cuts) => {
        const text = `[${parts.join("")}`;
        const expected = listOrNothing(text);
        const found = split(cutAt(Buffer.from(text), cuts));
        expect("items" in found ? found.items : undefined).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

function listOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe("rejected input", () => {
  test.each([
    ["nothing", "", { kind: "unreadable", why: "empty", offset: undefined }],
    ["blanks", " \n", { kind: "unreadable", why: "empty", offset: undefined }],
    ["an object", ' {"a":[1]}', { kind: "unreadable", why: "not-a-list", offset: 1 }],
    ["a broken byte order mark", "\u00ef[]", { kind: "unreadable", why: "not-a-list", offset: 0 }],
    [
      "a byte order mark elsewhere",
      " \ufeff[]",
      { kind: "unreadable", why: "not-a-list", offset: 1 },
    ],
    ["a list cut off", "[1,2", { kind: "broken", code: "CUT_OFF" }],
    ["a list cut off within a string", '[1,"a', { kind: "broken", code: "CUT_OFF" }],
    ["two lists", "[1] []", { kind: "unreadable", why: "not-json", offset: 4 }],
    ["a comma at the end", "[1,]", { kind: "unreadable", why: "not-json", offset: 3 }],
    ["a comma alone", "[,]", { kind: "unreadable", why: "not-json", offset: 1 }],
    ["items without comma", "[1 2]", { kind: "unreadable", why: "not-json", offset: 1 }],
    ["brackets that do not match", "[1}", { kind: "unreadable", why: "not-json", offset: 2 }],
    [
      "inner brackets that do not match",
      "[1,[{]},2]",
      { kind: "unreadable", why: "not-json", offset: 3 },
    ],
  ])("%s", (_name, text, fault) => {
    expect(split([Buffer.from(text)])).toEqual({ fault });
    expect(split(singleBytes(Buffer.from(text)))).toEqual({ fault });
  });

  test("bytes that are not UTF-8", () => {
    const bytes = Buffer.from([0x5b, 0x22, 0xc3, 0x28, 0x22, 0x5d]);
    const fault = { kind: "unreadable", why: "not-utf-8", offset: 1 };
    expect(split([bytes])).toEqual({ fault });
    expect(split(singleBytes(bytes))).toEqual({ fault });
  });
});

function nested(depth: number): Buffer {
  return Buffer.from("[".repeat(depth) + "]".repeat(depth));
}

describe("bounds", () => {
  test("nesting is accepted up to the limit and rejected beyond it", () => {
    expect(split([nested(MAX_DEPTH)])).toHaveProperty("items");
    expect(split([nested(MAX_DEPTH + 1)])).toEqual({
      fault: { kind: "too-big", what: "depth", limit: MAX_DEPTH },
    });
  });

  test("brackets in strings do not count as nesting", () => {
    expect(split([Buffer.from(JSON.stringify(["[".repeat(500)]))])).toHaveProperty("items");
  });

  test("items beyond the limit are rejected", () => {
    const taken: unknown[] = [];
    const splitter = new JsonSplitter((item) => void taken.push(item), 3);
    expect(faultAt(splitter, Buffer.from("[1,2,3,"))).toBeUndefined();
    expect(faultAt(splitter, Buffer.from("4,5"))).toEqual({
      kind: "too-big",
      what: "items",
      limit: 3,
    });
    expect(taken).toEqual([1, 2, 3]);
  });

  test("an item that is too long is rejected while it arrives", () => {
    const splitter = new JsonSplitter(() => undefined);
    expect(faultAt(splitter, Buffer.from('["'))).toBeUndefined();
    const piece = Buffer.alloc(1024 * 1024, "x");
    let pieces = 0;
    let fault: Fault | undefined;
    for (; fault === undefined; pieces++) fault = faultAt(splitter, piece);
    expect(fault).toEqual({ kind: "too-big", what: "item", limit: MAX_ITEM_BYTES });
    expect(pieces).toBe(MAX_ITEM_BYTES / piece.length);
  });

  test("an item that is too long is also rejected if it arrives in one piece", () => {
    const text = `[1,"${"x".repeat(MAX_ITEM_BYTES)}"]`;
    expect(split([Buffer.from(text)])).toMatchObject({ fault: { kind: "too-big", what: "item" } });
  });
});

test("the callback for items can stop the splitter", () => {
  const taken: unknown[] = [];
  const stop: Fault = { kind: "interrupted" };
  const splitter = new JsonSplitter((item) => {
    taken.push(item);
    if (item === 2) throw new FaultError(stop);
  });
  expect(faultAt(splitter, Buffer.from("[1,2,3]"))).toBe(stop);
  expect(taken).toEqual([1, 2]);
});
