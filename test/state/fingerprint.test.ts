import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Json, isArray, isObject, sameJson } from "../../src/model/json.ts";
import { Secret } from "../../src/model/value.ts";
import { canonicalJson, createFingerprinter } from "../../src/state/fingerprint.ts";
import { json } from "./support/arbitrary.ts";

const { of: fingerprint, keyCheck } = createFingerprinter(new Secret("the stage's key"), "staging");
const other = createFingerprinter(new Secret("another key"), "staging");

/** The same value with the keys of every object in reverse order. */
function turned(value: Json): Json {
  if (isArray(value)) return value.map(turned);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([key, part]) => [key, turned(part)]));
}

describe("a fingerprint", () => {
  it("has 16 characters that are safe in any file", () => {
    fc.assert(
      fc.property(fc.string(), json, (context, value) => {
        expect(fingerprint(context, value)).toMatch(/^[\w-]{16}$/);
      }),
    );
  });

  it("is equal for equal values, whatever the order of keys, and different otherwise", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(fingerprint("context", turned(a))).toBe(fingerprint("context", a));
        expect(fingerprint("context", a) === fingerprint("context", b)).toBe(sameJson(a, b));
      }),
    );
  });

  it("differs by context", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), json, (one, two, value) => {
        expect(fingerprint(one, value) === fingerprint(two, value)).toBe(one === two);
      }),
    );
  });

  it("separates the end of the context from the start of the value", () => {
    expect(fingerprint("a", 11)).not.toBe(fingerprint("a1", 1));
    expect(fingerprint("1:a", 1)).not.toBe(fingerprint("a", 1));
  });

  it("differs by stage, as does the key check", () => {
    const production = createFingerprinter(new Secret("the stage's key"), "production");
    expect(production.of("testCase.shop.login status", "A")).not.toBe(
      fingerprint("testCase.shop.login status", "A"),
    );
    expect(production.keyCheck).not.toBe(keyCheck);
  });

  it("differs by key", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(fingerprint("context", value)).not.toBe(other.of("context", value));
      }),
    );
  });

  it("is the same on every machine and in every release", () => {
    expect(keyCheck).toBe("uUoPjRnS4MXDuQBj");
    expect(fingerprint("testCase.shop.login discovery.prompt", { b: [1, "ä"], a: null })).toBe(
      "ooIPly5yJE07g697",
    );
  });
});

describe("the key", () => {
  it("is derived by a slow function, only once, when the first digest is needed", () => {
    const derive = vi.spyOn(crypto, "scryptSync");
    syncBuiltinESMExports();
    onTestFinished(() => {
      derive.mockRestore();
      syncBuiltinESMExports();
    });
    const { of } = createFingerprinter(new Secret("a third key"), "staging");
    expect(derive).not.toHaveBeenCalled();
    for (const value of ["A", "B"]) of("testCase.shop.login status", value);
    expect(derive).toHaveBeenCalledOnce();
  });
});

describe("the key check", () => {
  it("is equal for equal keys and differs for different keys", () => {
    expect(createFingerprinter(new Secret("the stage's key"), "staging").keyCheck).toBe(keyCheck);
    expect(other.keyCheck).not.toBe(keyCheck);
  });

  it("differs from fingerprints of similar inputs", () => {
    expect(keyCheck).not.toBe(fingerprint("key check", "the stage's key"));
    expect(keyCheck).not.toBe(fingerprint("", ""));
  });

  it("cannot be made from an empty key", () => {
    expect(() => createFingerprinter(new Secret(""), "staging")).toThrow(TypeError);
  });
});

describe("canonical JSON", () => {
  it("parses back to the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        const again: unknown = JSON.parse(canonicalJson(value));
        expect(again).toEqual(value);
      }),
    );
  });

  it("sorts keys by code unit at every depth and has no white space", () => {
    expect(canonicalJson({ b: { d: 1, c: [true, null] }, B: "x y", a: 2, 10: 0, 9: 0 })).toBe(
      '{"10":0,"9":0,"B":"x y","a":2,"b":{"c":[true,null],"d":1}}',
    );
  });

  it("formats an infinite number differently from null, so that a seal does not match both", () => {
    expect(canonicalJson(JSON.parse('{ "a": [1e999, -1e999, 1, null] }'))).toBe(
      '{"a":[Infinity,-Infinity,1,null]}',
    );
  });
});
