import { deepStrictEqual } from "node:assert/strict";
import { applyPatch } from "diff";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { patchOf } from "../../src/edit/patch.ts";
import { editYaml } from "../../src/manifest/yaml/edit.ts";
import { EditRefusal, type YamlEdit, editValue } from "../../src/manifest/yaml/value.ts";
import { entriesAlong } from "../../src/manifest/yaml/nodes.ts";
import { parseTree } from "../../src/manifest/yaml/tree.ts";
import { readSlow } from "../../src/manifest/yaml/read-slow.ts";
import { type Json, type Path, isArray, isObject } from "../../src/model/json.ts";
import { oracle } from "./oracle.ts";
import { WORDS, tidyTexts } from "./texts.ts";

const words = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom("x", "new value", "two\nlines\n"),
);
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), words) },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(words, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    },
  ),
})).value;

/** A random request that becomes an edit once the value of the text is known. */
const wishes = fc.record({
  kind: fc.constantFrom("set", "delete", "add", "list"),
  where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  value: values,
  at: fc.nat(5),
});
type Wish = typeof wishes extends fc.Arbitrary<infer T> ? T : never;

function editFor({ kind, where, value, at }: Wish, now: Json): YamlEdit {
  const paths = [...pathsOf(now)];
  const [path, old] = paths[Math.floor(where * paths.length)] ?? [[], now];
  if (kind === "delete") return { kind, path };
  if (kind === "add") return { kind: "set", path: [...path, `new ${at}`], value };
  if (kind === "list" && isArray(old)) return { kind: "set", path, value: changed(old, value, at) };
  return { kind: "set", path, value };
}

function changed(list: readonly Json[], value: Json, at: number): Json {
  if (at < 2) return list.toSpliced(at, 1);
  return at < 4 ? list.toSpliced(at - 2, 0, value) : list.toSpliced(at - 4, 2, value);
}

function* pathsOf(value: Json, path: Path = []): Generator<[Path, Json]> {
  yield [path, value];
  if (isArray(value)) for (const [at, item] of value.entries()) yield* pathsOf(item, [...path, at]);
  if (isObject(value))
    for (const [key, inner] of Object.entries(value)) yield* pathsOf(inner, [...path, key]);
}

/** The edits that are possible, and the resulting value. */
function planned(
  before: Json,
  all: readonly Wish[],
  prune: boolean,
): { edits: YamlEdit[]; after: Json } {
  const edits: YamlEdit[] = [];
  let after = before;
  for (const wish of all) {
    const edit = editFor(wish, after);
    try {
      after = editValue(after, [edit], prune);
      edits.push(edit);
    } catch (error) {
      if (!(error instanceof EditRefusal)) throw error;
    }
  }
  return { edits, after };
}

function valueOf(text: string): Json | undefined {
  const reading = readSlow(text);
  return reading.ok ? reading.value : undefined;
}

describe("for random edits", () => {
  it("the yaml library reads the edited value, and less than 1% of the edits are refused", () => {
    let made = 0;
    let refused = 0;
    fc.assert(
      fc.property(
        tidyTexts,
        fc.array(wishes, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        (text, all, prune, ranks) => {
          const before = valueOf(text);
          fc.pre(before !== undefined);
          const { edits, after } = planned(before, all, prune);
          const rank = (_: Path, key: string): number => (key.codePointAt(0) ?? 0) % ranks;
          const edited = editYaml(text, edits, { prune, rank });
          if (!edited.ok) refused++;
          if (!edited.ok) return;
          made++;
          deepStrictEqual({ value: after }, oracle(edited.text));
          expect(edited.text.endsWith("\n")).toBe(text.endsWith("\n"));
          const patch = patchOf({
            file: "a.yaml",
            bom: false,
            before: text,
            after: edited.text,
            splices: edited.splices,
          });
          if (!text.includes("\r")) expect(applyPatch(text, patch)).toBe(edited.text);
        },
      ),
      { numRuns: 250 },
    );
    expect(refused / made).toBeLessThan(0.01);
  });

  it("setting a value to itself changes nothing", () => {
    fc.assert(
      fc.property(
        tidyTexts,
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (text, places) => {
          const value = valueOf(text);
          fc.pre(value !== undefined);
          const paths = [...pathsOf(value)];
          const edits = places.map((place): YamlEdit => {
            const [path, old] = paths[Math.floor(place * paths.length)] ?? [[], value];
            return { kind: "set", path, value: old };
          });
          const { tree: _, ...edited } = { tree: undefined, ...editYaml(text, edits) };
          deepStrictEqual(edited, { ok: true, text, splices: [] });
        },
      ),
      { numRuns: 200 },
    );
  });

  it("lines outside the edited entry are unchanged", () => {
    fc.assert(
      fc.property(tidyTexts, wishes, (text, wish) => {
        const before = valueOf(text);
        // An alias elsewhere may have to be written out. edit.test.ts covers those cases.
        fc.pre(before !== undefined && !/[&*][xy]/.test(text));
        const { edits } = planned(before, [wish], false);
        const edited = editYaml(text, edits);
        const [edit] = edits;
        fc.pre(edited.ok && edit !== undefined);
        const { first, last } = touchedLines(text, edit);
        const oldLines = text.split("\n");
        const newLines = edited.text.split("\n");
        deepStrictEqual(newLines.slice(0, first), oldLines.slice(0, first));
        const below = oldLines.slice(last + 1);
        deepStrictEqual(below.length === 0 ? [] : newLines.slice(-below.length), below);
      }),
      { numRuns: 250 },
    );
  });
});

/**
 * The lines, from 0, that an edit may change: of the entry if a value is set, of the parent map or
 * list if an entry is added or deleted.
 */
function touchedLines(text: string, { kind, path }: YamlEdit): { first: number; last: number } {
  const steps = entriesAlong(parseTree(text).root, kind === "set" ? path : path.slice(0, -1));
  const { start, value } = steps.at(-1) ?? { start: 0, value: { end: text.length } };
  const end = text[value.end - 1] === "\n" ? value.end - 1 : Math.max(value.end, start);
  return { first: lineOf(text, start), last: lineOf(text, end) };
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length - 1;
}
