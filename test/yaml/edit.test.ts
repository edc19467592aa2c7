import { describe, expect, it } from "vitest";
import { editYaml } from "../../src/manifest/yaml/edit.ts";
import type { YamlEdit } from "../../src/manifest/yaml/value.ts";
import type { Json, Path } from "../../src/model/json.ts";

const set = (path: Path, value: Json): YamlEdit => ({ kind: "set", path, value });
const remove = (path: Path): YamlEdit => ({ kind: "delete", path });

type Row = [sentence: string, before: string, edits: YamlEdit | YamlEdit[], after: string];

function check(_: string, before: string, edits: YamlEdit | YamlEdit[], after: string): void {
  expect(editYaml(before, [edits].flat())).toMatchObject({ ok: true, text: after });
}

describe("a scalar keeps its style", () => {
  it.each<Row>([
    ["plain, with a comment behind it", "a: x # why\n", set(["a"], "w"), "a: w # why\n"],
    [
      "plain, where the new text needs quotes",
      "a: x # why\n",
      set(["a"], "y: z"),
      'a: "y: z" # why\n',
    ],
    ["plain as only YAML 1.2 allows it", "a: ON\n", set(["a"], "OFF"), "a: OFF\n"],
    [
      "plain, where only YAML 1.1 would misread the new text",
      "a: x\n",
      set(["a"], "OFF"),
      'a: "OFF"\n',
    ],
    ["double quotes", 'a: "x" # why\n', set(["a"], "y"), 'a: "y" # why\n'],
    ["single quotes", "a: 'x'\n", set(["a"], "it's"), "a: 'it''s'\n"],
    ["single quotes, where they would not do", "a: 'x'\n", set(["a"], "y\n"), 'a: "y\\n"\n'],
    ["a number for a text", 'a: "x"\n', set(["a"], 5), "a: 5\n"],
    ["a text for a number", "a: 5 # five\n", set(["a"], "6"), 'a: "6" # five\n'],
    [
      "null for a text, and for nothing",
      "a: x\nb:\n",
      [set(["a"], null), set(["b"], null)],
      "a: null\nb:\n",
    ],
    [
      "a text of several lines for a plain one",
      "a: x # why\nb: 1\n",
      set(["a"], "y\nz\n"),
      "a: | # why\n  y\n  z\nb: 1\n",
    ],
    [
      "one text for several plain lines",
      "a: x\n  y # why\nb: 1\n",
      set(["a"], "z"),
      "a: z # why\nb: 1\n",
    ],
    [
      "a value where none was",
      "a:\nb: # why\nc: 1\n",
      [set(["a"], "x"), set(["b"], "w")],
      "a: x\nb: w # why\nc: 1\n",
    ],
    ["an item in an empty place", "- \n-\n", [set([0], "x"), set([1], "w")], "- x \n- w\n"],
    [
      "in braces",
      "{ a: x, b: 'y', c: }\n",
      [set(["a"], "[z"), set(["b"], "q"), set(["c"], 1)],
      "{ a: \"[z\", b: 'q', c: 1 }\n",
    ],
    ["a key without a colon in braces", "{ a, b }\n", set(["a"], "x"), "{ a: x, b }\n"],
    [
      "a tag goes with the value it stood for",
      "a: !!str 1 # why\n",
      set(["a"], true),
      "a: true # why\n",
    ],
    ["an unused anchor stays", "a: &x 1\n", set(["a"], 2), "a: &x 2\n"],
  ])("%s", check);
});

describe("a block scalar stays a block scalar", () => {
  it.each<Row>([
    [
      "with its mark, its comment and its indentation",
      "a: |- # why\n     x\n     y\nb: 1\n",
      set(["a"], "x\n\nz"),
      "a: |- # why\n     x\n\n     z\nb: 1\n",
    ],
    ["of one line, too", "a: |\n  x\n  y\nb: 1\n", set(["a"], "z\n"), "a: |\n  z\nb: 1\n"],
    [
      "its chomping changes where the text asks for it",
      "a: |\n  x\nb: 1\n",
      set(["a"], "y"),
      "a: |-\n  y\nb: 1\n",
    ],
    [
      "keeping all line ends",
      "a: |+\n  x\n\n\nb: 1\n",
      set(["a"], "y\n\n"),
      "a: |+\n  y\n\nb: 1\n",
    ],
    [
      "an explicit indentation is removed",
      "a: |2\n   x\nb: 1\n",
      set(["a"], "y\n"),
      "a: |\n   y\nb: 1\n",
    ],
    [
      "folded, of which only one paragraph changes",
      "a: >\n  one\n  two three\n\n  four five\n  six\n",
      set(["a"], "one two three\nfour 5 six\n"),
      "a: >\n  one\n  two three\n\n  four 5\n  six\n",
    ],
    [
      "folded in one long line",
      "a: >-\n  one two three\n",
      set(["a"], "one two three four five six"),
      "a: >-\n  one two three four five six\n",
    ],
    [
      "folded, but the new text cannot be",
      "a: >\n  x\n",
      set(["a"], "x\n  y\nz\n"),
      "a: |\n  x\n    y\n  z\n",
    ],
    [
      "unless no block can hold the new text",
      "a: |\n  x\nb: 1\n",
      set(["a"], " y\n"),
      'a: " y\\n"\nb: 1\n',
    ],
    [
      "nor one that ends in empty lines",
      "a: |\n  x\nb: 1\n",
      set(["a"], "y\n\n"),
      'a: "y\\n\\n"\nb: 1\n',
    ],
    ["folded or not", "a: >-\n  x\nb: 1\n", set(["a"], "y\n\n"), 'a: "y\\n\\n"\nb: 1\n'],
    [
      "and then its comment stays",
      "a: | # why\n  x\nb: 1\n",
      set(["a"], " y\n"),
      'a: " y\\n" # why\nb: 1\n',
    ],
    ["beside null as well", "a: > # why\n  x\nb: 1\n", set(["a"], null), "a: null # why\nb: 1\n"],
    [
      "at the end of a file without its last line end",
      "a: |-\n  x",
      set(["a"], "y\nz"),
      "a: |-\n  y\n  z",
    ],
  ])("%s", check);
});

it("an edit reads the header of a block scalar quickly", () => {
  const blanks = " ".repeat(100_000);
  const started = process.cpuUsage();
  check("", `a: |${blanks}\n  x\n`, set(["a"], ""), 'a: ""\n');
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

describe("maps", () => {
  it.each<Row>([
    [
      "a key comes last in its map",
      "a:\n  b: 1 # why\n  # end of a\nc: 2\n",
      set(["a", "d"], "x"),
      "a:\n  b: 1 # why\n  d: x\n  # end of a\nc: 2\n",
    ],
    [
      "missing parents are made",
      "a: 1\n",
      set(["b", "c", "d"], ["x"]),
      "a: 1\nb:\n  c:\n    d: [x]\n",
    ],
    [
      "also where null is, or nothing",
      "a:\nb: ~\n",
      [set(["a", "x"], 1), set(["b", "x"], 2)],
      "a:\n  x: 1\nb:\n  x: 2\n",
    ],
    [
      "new lines indent like the others",
      "a:\n    b: 1\n    l:\n    - 1\n",
      set(["c"], { d: { e: 1 }, f: [1] }),
      "a:\n    b: 1\n    l:\n    - 1\nc:\n    d:\n        e: 1\n    f:\n    - 1\n",
    ],
    [
      "behind a block of text",
      "a:\n  b: |\n    x\nc: 1\n",
      set(["a", "d"], 2),
      "a:\n  b: |\n    x\n  d: 2\nc: 1\n",
    ],
    ["a key goes with its line", "a: 1\nb: 2 # why\nc: 3\n", remove(["b"]), "a: 1\nc: 3\n"],
    [
      "a comment above it stays",
      "a: 1\n# on b\nb: 2\nc: 3\n",
      remove(["b"]),
      "a: 1\n# on b\nc: 3\n",
    ],
    [
      "a key goes with all that is in it",
      "a: 1\nb:\n  c: |\n    x\n  d: [1,\n    2]\ne: 3\n",
      remove(["b"]),
      "a: 1\ne: 3\n",
    ],
    [
      "the first key behind a dash",
      "- a: 1 # why\n  # on b\n  b: 2\n",
      remove([0, "a"]),
      "- # on b\n  b: 2\n",
    ],
    [
      "the last key of a map leaves an empty one",
      "a:\n  b: 1\nc: 2\n",
      remove(["a", "b"]),
      "a: {}\nc: 2\n",
    ],
    [
      "an empty map is filled in block style",
      "a: {} # why\n",
      set(["a", "b"], 1),
      "a: # why\n  b: 1\n",
    ],
    [
      "the last line goes from a file that does not end in a line end",
      "a: 1\nb: 2",
      remove(["b"]),
      "a: 1",
    ],
    ["and comes to one", "a: 1", set(["b"], 2), "a: 1\nb: 2"],
    [
      "in braces keys come and go with their commas",
      "{ a: 1, b: 2, c: 3 }\n",
      [remove(["b"]), set(["d"], [1])],
      "{ a: 1, c: 3, d: [1] }\n",
    ],
    [
      "the first and the last",
      "a: { b: 1, c: 2, d: 3 } # why\n",
      [remove(["a", "b"]), remove(["a", "d"])],
      "a: { c: 2 } # why\n",
    ],
    ["all of them", "a: { b: 1 } # why\n", remove(["a", "b"]), "a: {} # why\n"],
    [
      "in braces over several lines",
      "a: {\n  b: 1, # one\n  c: 2 # two\n}\n",
      set(["a", "d"], 3),
      "a: {\n  b: 1, # one\n  c: 2, # two\n  d: 3\n}\n",
    ],
    [
      "a map set onto another one changes where they differ",
      "a: # m\n  b: 1 # keep\n  c: 2\n",
      set(["a"], { d: 3, b: 1 }),
      "a: # m\n  b: 1 # keep\n  d: 3\n",
    ],
    ["a map for a scalar", "a: 1 # why\nb: 2\n", set(["a"], { c: 1 }), "a: # why\n  c: 1\nb: 2\n"],
    [
      "a scalar for a map",
      "a: # why\n  c: 1\n  d: 2\nb: 2\n",
      set(["a"], "x"),
      "a: x # why\nb: 2\n",
    ],
    ["a list for a map", "a:\n  c: 1\nb: 2\n", set(["a"], ["x"]), "a: [x]\nb: 2\n"],
    [
      "the whole document",
      "# head\na: 1 # one\n# foot\n",
      set([], ["x"]),
      "# head\n- x # one\n# foot\n",
    ],
    [
      "nothing, where the value is what it was",
      "a: 0x10   # hex\nb: [ 1,2 ]\n",
      [set(["a"], 16), set(["b"], [1, 2])],
      "a: 0x10   # hex\nb: [ 1,2 ]\n",
    ],
    [
      "nothing, where there was nothing to delete",
      "a: 1\n",
      [remove(["b"]), remove(["a", "b"])],
      "a: 1\n",
    ],
  ])("%s", check);

  it("with `prune`, a deletion also removes parents that become empty", () => {
    const text = "a:\n  b:\n    c: [1]\n  # left\nd: {}\n";
    expect(editYaml(text, [remove(["a", "b", "c", 0])], { prune: true })).toMatchObject({
      ok: true,
      text: "  # left\nd: {}\n",
    });
    expect(editYaml(text, [remove(["d", "x"])], { prune: true })).toMatchObject({ ok: true, text });
  });
});

describe("lists", () => {
  it.each<Row>([
    [
      "in brackets, one item replaced",
      "a: [x, 'y', z] # why\n",
      set(["a"], ["x", "w", "z"]),
      "a: [x, 'w', z] # why\n",
    ],
    ["one gone, one come", "a: [ x, y, z ]\n", set(["a"], ["y", "z", "w"]), "a: [ y, z, w ]\n"],
    ["one put between", "a: [x, z]\n", set(["a"], ["x", "y z", "z"]), "a: [x, y z, z]\n"],
    ["one put first", "a: [x]\n", set(["a"], ["w", "x"]), "a: [w, x]\n"],
    [
      "in brackets over several lines",
      "a: [\n  x, # one\n  y, # two\n  z # three\n]\n",
      set(["a"], ["x", "z", "w"]),
      "a: [\n  x, # one\n  z, # three\n  w\n]\n",
    ],
    [
      "where comments have commas in them",
      "a: [\n  x, # one, two\n  z # three, four\n]\n",
      set(["a"], ["x", "z", "w"]),
      "a: [\n  x, # one, two\n  z, # three, four\n  w\n]\n",
    ],
    [
      "with a comma behind the last one",
      "a: [\n  x,\n  y, # two\n]\n",
      set(["a"], ["x", "y", "z"]),
      "a: [\n  x,\n  y, # two\n  z,\n]\n",
    ],
    [
      "of which the last goes",
      "a: [\n  x, # one\n  y # two\n]\n",
      set(["a"], ["x"]),
      "a: [\n  x, # one\n]\n",
    ],
    [
      "of which the last has a bracket behind it",
      "a: [x, # one\n  y]\n",
      set(["a"], ["x"]),
      "a: [x, # one\n  ]\n",
    ],
    [
      "by lines, one gone, one come",
      "a:\n- x # one\n# on y\n- y\n- z\n",
      set(["a"], ["x", "z", "w"]),
      "a:\n- x # one\n# on y\n- z\n- w\n",
    ],
    [
      "one put first",
      "a:\n  # on x\n  - x\n",
      set(["a"], ["w", "x"]),
      "a:\n  # on x\n  - w\n  - x\n",
    ],
    [
      "one put first in a list in a list",
      "- - x\n  - y\n",
      set([0], ["w", "x", "y"]),
      "- - w\n  - x\n  - y\n",
    ],
    [
      "one appended by its index",
      "a:\n  - x: 1\n",
      set(["a", 1], { x: 2, z: [3] }),
      "a:\n  - x: 1\n  - x: 2\n    z:\n      - 3\n",
    ],
    [
      "a key of an item",
      "a:\n  - x: 1 # one\n    y: 2\n  - x: 3\n",
      set(["a", 0, "x"], 9),
      "a:\n  - x: 9 # one\n    y: 2\n  - x: 3\n",
    ],
    [
      "an item changed and one gone keep the rest of both",
      "- a: 1 # one\n  b: 2\n- c: 3 # three\n",
      set([], [{ a: 1, b: 5 }]),
      "- a: 1 # one\n  b: 5\n",
    ],
    ["emptied", "a:\n  - x\nb: 1\n", set(["a"], []), "a: []\nb: 1\n"],
    ["filled", "a: []\nb: 1\n", set(["a"], ["x"]), "a: [x]\nb: 1\n"],
    [
      "a new one of words stays on a line",
      "a: 1\n",
      set(["b"], ["x", "y z"]),
      "a: 1\nb: [x, y z]\n",
    ],
    [
      "unless the first one of the file does not",
      "a:\n  - x\nb: [1]\n",
      set(["c"], ["x"]),
      "a:\n  - x\nb: [1]\nc:\n  - x\n",
    ],
    ["or a word needs quotes", "a: 1\n", set(["b"], ["x", "on"]), 'a: 1\nb:\n  - x\n  - "on"\n'],
    [
      "or it is long",
      "a: 1\n",
      set(["b"], ["x".repeat(30), "y".repeat(30)]),
      `a: 1\nb:\n  - ${"x".repeat(30)}\n  - ${"y".repeat(30)}\n`,
    ],
    [
      "a map for an item",
      "- x # why\n- y\n",
      set([0], { a: 1, b: 2 }),
      "- a: 1 # why\n  b: 2\n- y\n",
    ],
    [
      "a pair without braces gets them when it needs them",
      "[a: 1, b]\n",
      set([0, "c"], 2),
      "[{ a: 1, c: 2 }, b]\n",
    ],
  ])("%s", check);
});

describe("aliases", () => {
  it.each<Row>([
    [
      "are written out where another value is set",
      "a: &x [1]\nb: *x # why\n",
      set(["b"], [2]),
      "a: &x [1]\nb: # why\n  - 2\n",
    ],
    [
      "and where one is set inside of what they stand for",
      "a: &x { k: 1, l: 2 }\nb: *x\nc: *x\n",
      set(["b", "l"], 3),
      "a: &x { k: 1, l: 2 }\nb:\n  k: 1\n  l: 3\nc: *x\n",
    ],
    [
      "leave the line of their anchor alone when none is left",
      "x-tags: &tags [a, b] # ours\nt: *tags\n",
      set(["t"], ["a", "c"]),
      "x-tags: &tags [a, b] # ours\nt: [a, c]\n",
    ],
    [
      "keep the old value when their anchor's changes",
      "a: &x one # why\nb: *x\nc: *x\n",
      set(["a"], "two"),
      "a: two # why\nb: &x one\nc: *x\n",
    ],
    ["the last one needs no anchor", "a: &x one\nb: *x\n", set(["a"], "two"), "a: two\nb: one\n"],
    [
      "keep it when the anchor is deleted",
      "a: &x\n  k: 1\nb: *x\nc: *x\n",
      remove(["a"]),
      "b: &x\n  k: 1\nc: *x\n",
    ],
    [
      "stay when all are to change alike",
      "a: &x one\nb: *x\n",
      [set(["a"], "two"), set(["b"], "two")],
      "a: &x two\nb: *x\n",
    ],
    ["in brackets", "[&x one, *x , *x ]\n", set([0], "two"), "[two, &x one , *x ]\n"],
    [
      "behind a dash",
      "- &x\n  k: 1\n- *x\n- *x\n",
      set([0, "k"], 2),
      "-\n  k: 2\n- &x\n  k: 1\n- *x\n",
    ],
  ])("%s", check);
});

describe("an edit keeps", () => {
  it.each<Row>([
    [
      "line ends of Windows, in new lines too",
      "a: 1\r\nb: |\r\n  x\r\n",
      [set(["b"], "y\nz\n"), set(["c"], ["w"])],
      "a: 1\r\nb: |\r\n  y\r\n  z\r\nc: [w]\r\n",
    ],
    ["a byte order mark", "\ufeffa: 1\n", set(["a"], 2), "\ufeffa: 2\n"],
    [
      "the mark of the document, comments and blank lines",
      "# head\n---\n\na: 1\n\n# foot\n",
      set(["b"], 2),
      "# head\n---\n\na: 1\nb: 2\n\n# foot\n",
    ],
    ["explicit keys", "? a\n: b\n? c\n: d\n", [set(["a"], "x"), remove(["c"])], "? a\n: x\n"],
    [
      "white space at the ends of lines",
      "a: 1  \nb: 2\t# tab\nc: 3 \n",
      set(["b"], 4),
      "a: 1  \nb: 4\t# tab\nc: 3 \n",
    ],
  ])("%s", check);
});

describe("a new key", () => {
  const put = (path: Path, after: string | undefined, comment?: string): YamlEdit => ({
    kind: "set",
    path,
    value: { v: 1 },
    after,
    comment,
  });
  it.each<Row>([
    [
      "goes behind the key that its edit names, in the order of the edits",
      "m:\n  a: 1\n  # of b\n  b: 2\n",
      [put(["m", "x"], "a"), put(["m", "w"], "a", "Why.\nWhat."), put(["m", "z"], "gone")],
      "m:\n  a: 1\n  x:\n    v: 1\n  # Why.\n  # What.\n  w:\n    v: 1\n  # of b\n  b: 2\n  z:\n    v: 1\n",
    ],
    [
      "has its comment also in a map that is new",
      "a: 1\nn: {}\n",
      [put(["m", "x"], undefined, "Why."), put(["n", "w"], undefined, "So.")],
      "a: 1\nn:\n  # So.\n  w:\n    v: 1\nm:\n  # Why.\n  x:\n    v: 1\n",
    ],
    [
      "goes behind another one between braces",
      "m: { a: 1, b: 2 }\n",
      put(["m", "x"], "a"),
      "m: { a: 1, x: { v: 1 }, b: 2 }\n",
    ],
  ])("%s", check);
});

describe("an edit is rejected for", () => {
  it.each<[string, string, YamlEdit, string]>([
    [
      "a text that cannot be read",
      "a: 1\na: 2\n",
      set(["a"], 3),
      "line 2: the key `a` was already set on line 1",
    ],
    [
      "a way through a scalar",
      "a: 1\n",
      set(["a", "b", "c"], 3),
      "`b` cannot be set: what it would be part of is not a map",
    ],
    [
      "a place behind the end of a list",
      "[1]\n",
      set([2], 3),
      "`2` cannot be set: what it would be part of is not a map",
    ],
    [
      "a comment between braces",
      "m: { a: 1 }\n",
      { kind: "set", path: ["m", "b"], value: 2, comment: "Why." },
      "a comment has no place between braces",
    ],
    ["the deletion of everything", "a: 1\n", remove([]), "the whole document cannot be deleted"],
    [
      "a tag without a value",
      "a: !!str\n",
      set(["a"], "x"),
      "a tag without a value cannot be edited",
    ],
    [
      "a result that would mean more: blank lines that a kept line end would take in",
      "- a: |+\n    x\n- b\n\n",
      remove([1]),
      "this cannot be changed without changing more than that; edit the file by hand",
    ],
  ])("%s", (_, text, edit, reason) => {
    expect(editYaml(text, [edit])).toEqual({ ok: false, reason });
  });
});

it("a value with 150,000 line ends is set quickly", () => {
  const started = process.cpuUsage();
  const value = `y${"\n".repeat(150_000)}z`;
  expect(editYaml("a: |+\n  x\n\nb: 1\n", [set(["a"], value)])).toMatchObject({ ok: true });
  expect(process.cpuUsage(started).user).toBeLessThan(4_000_000);
});
