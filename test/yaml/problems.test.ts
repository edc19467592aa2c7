import { describe, expect, it, test } from "vitest";
import { readSlow } from "../../src/manifest/yaml/read-slow.ts";
import { readFast } from "../../src/manifest/yaml/fast.ts";

/** `line:column code: message (hint)`, as the user sees it. */
function problemsOf(text: string): string[] {
  const reading = readSlow(text);
  if (reading.ok) return [];
  return reading.problems.map(
    ({ line, column, code, message, hint }) =>
      `${line}:${column} ${code}: ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
}

type Row = [sentence: string, text: string, ...problems: string[]];

describe("tabs", () => {
  it.each<Row>([
    [
      "a tab before a key",
      "a:\n\tb: 1\n",
      "2:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
    [
      "a tab after spaces",
      "a:\n  \tb: 1\n  c: 2\n",
      "2:3 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
    [
      "a tab before a list item",
      "a:\n\t- x\n",
      "2:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
    [
      "a tab, and lines below that are out of place only because of it",
      "t:\n  a:\n    d: x\n    s:\n\t  p: y\n    q: z\n  b:\n    d: x\n",
      "5:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
    [
      "tabs under two keys of the document",
      "a:\n\tb: 1\n\tc: 2\nd: 1\ne:\n\tf: 1\n",
      "2:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
      "6:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
    [
      "a tab inside braces over several lines",
      "a: {\n\tb: 1\n}\n",
      "2:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
    [
      "a tab before the text of a block",
      "a: |\n\ttext\n",
      "2:1 tab: a tab is used to indent this line; YAML allows only spaces there (replace the tab with spaces)",
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

test("a merge conflict is one mistake, whatever else is wrong because of it", () => {
  const conflict = "<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> theirs\n";
  const wanted =
    "merge-conflict: a merge conflict begins here (decide what remains of both sides, and delete the lines with `<<<<<<<`, `=======` and `>>>>>>>`)";
  expect(problemsOf(`a:\n${conflict}c:\n${conflict}`)).toEqual([`2:1 ${wanted}`, `8:1 ${wanted}`]);
  const text = "a: |\n  <<<<<<< HEAD\n  =======\nb: 1\n";
  expect(problemsOf(text)).toEqual([]);
});

describe("colons, keys and values", () => {
  it.each<Row>([
    [
      "a colon and a space in an unquoted value",
      "a: 1\nb: note: this\nc: 2\n",
      "2:4 syntax: the value has a `: ` in it, which makes its first part a key, and a key cannot begin here (put the value in quotes; or, if a map is meant, begin it on the next line)",
    ],
    [
      "no space after a colon",
      "a: 1\nb:2\nc: 3\n",
      "2:1 syntax: there is no space after the colon, so this is read as one text and not as a key and its value (write a space after the colon)",
    ],
    [
      "no space after the first colon of the text",
      "a:1\nb: 2\n",
      "1:1 syntax: there is no space after the colon, so this is read as one text and not as a key and its value (write a space after the colon)",
    ],
    [
      "a line without a colon",
      "a: 1\nb\nc: 2\n",
      "2:1 syntax: this line is not `key: value` (add the colon; or, if it continues the text above, indent it deeper than the key of that text)",
    ],
    [
      "a key indented under a value",
      "a:\n  b: 1\n   c: 2\n",
      "3:4 syntax: this line is indented under a line that already has a value (begin it in the same column as the keys it belongs to)",
    ],
    [
      "one key too deep, and those below it",
      "a:\n   b: 1\n  c: 2\n  d: 3\n  e: 4\n",
      "3:3 syntax: the indentation of this line fits none of the lines above it (the keys of one map, and the items of one list, begin in the same column; their contents are indented further)",
    ],
    [
      "a key in no column of those above",
      "a:\n    b: 1\n  c: 2\n",
      "3:3 syntax: the indentation of this line fits none of the lines above it (the keys of one map, and the items of one list, begin in the same column; their contents are indented further)",
    ],
    [
      "a list item among keys",
      "a: 1\n- b\n",
      "2:1 syntax: there is a list item among the keys of a map (indent it under the key that it belongs to)",
    ],
    [
      "a key after a list",
      "- a\nb: 1\n",
      "2:1 syntax: this line belongs to nothing above it: the list, map or text before it has ended (check its indentation; a list and a map cannot be mixed at the same level)",
    ],
    [
      "text after a quoted value",
      'a: "x" y\nb: 1\n',
      "1:8 syntax: the value ends before this, so nothing but a comment may follow on its line (if this belongs to the value, put the whole value in quotes)",
    ],
    [
      "text after a bracket",
      "a: [x] y\nb: 1\n",
      "1:8 syntax: the value ends before this, so nothing but a comment may follow on its line (if this belongs to the value, put the whole value in quotes)",
    ],
    [
      "text on the line of a block's mark",
      "a: |x\n  text\n",
      "1:5 syntax: a block of text begins on the line after its `|` or `>` (move this text to the next line and indent it; put a text that itself begins with `|` or `>` in quotes)",
    ],
    [
      "a comment that touches the value",
      "a: 'x'#c\n",
      "1:7 syntax: a comment needs a space before its `#` (add a space; if the `#` belongs to the text, put the whole text in quotes)",
    ],
    [
      "an unquoted value that begins with a reserved character",
      "a: @bob\nb: `y`\nc: %d\n",
      "1:4 syntax: an unquoted string cannot begin with `@` (put the text in quotes)",
      "2:4 syntax: an unquoted string cannot begin with a backtick (put the text in quotes)",
      "3:4 syntax: an unquoted string cannot begin with `%` (put the text in quotes)",
    ],
    [
      "a colon without a key",
      "a: 1\n: x\n",
      "2:1 key: there is no key here (write the key, or quote the text)",
    ],
    [
      "an explicit key that is missing",
      "? \n",
      "1:1 key: there is no key here (write the key, or quote the text)",
    ],
    [
      "a list as a key",
      "? [a]\n: b\n",
      "1:3 key: a key must be text, and here it is a list (quote it if it is text)",
    ],
    [
      "an alias as a key",
      "a: &x b\n*x : c\n",
      "2:1 key: a key must be text, and here it is an alias (quote it if it is text)",
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe("quotes, brackets, braces", () => {
  it.each<Row>([
    [
      "a double quote that is never closed",
      'a: "foo\nb: c\n',
      '1:4 syntax: the `"` here is never closed (close it with `"`; inside the text a `"` is written `\\"`)',
    ],
    [
      "a single quote that is never closed",
      "a: 'it''s\nb: c\n",
      "1:4 syntax: the `'` here is never closed (close it with `'`; inside the text a `'` is written twice)",
    ],
    [
      "a closing quote that is escaped",
      'a: "foo\\"',
      '1:4 syntax: the `"` here is never closed (close it with `"`; inside the text a `"` is written `\\"`)',
    ],
    [
      "an unknown escape",
      'a: "C:\\dir"\n',
      "1:7 syntax: `\\d` is not a valid escape in a double-quoted string (write `\\\\` for a backslash, or use single quotes)",
    ],
    [
      "a bracket that is never closed",
      "a: [x, y\nb: c\n",
      "1:4 syntax: the `[` here is never closed (close it with `]`, and indent every line inside it deeper than its key)",
    ],
    [
      "a brace that is never closed",
      "a: { x: 1\nb: c\n",
      "1:4 syntax: the `{` here is never closed (close it with `}`, and indent every line inside it deeper than its key)",
    ],
    [
      "a comma too many",
      "a: { b: 1,, c: 2 }\n",
      "1:11 syntax: there is nothing before this `,` (remove the comma)",
    ],
    [
      "a comma too few between pairs",
      "a: { b: 1 c: 2 }\n",
      "1:9 syntax: inside `{ }` and `[ ]` a `,` must stand between the parts, and `: ` between a key and its value (add it, or put a text with `,`, `:`, brackets or braces in it in quotes)",
    ],
    [
      "a comma too few between items",
      'a: ["x" "y"]\n',
      "1:9 syntax: inside `{ }` and `[ ]` a `,` must stand between the parts, and `: ` between a key and its value (add it, or put a text with `,`, `:`, brackets or braces in it in quotes)",
    ],
    [
      "an unquoted interpolation in braces",
      "a: { b: ${env:X} }\nc: d\n",
      '1:9 syntax: inside `{ }` and `[ ]` an unquoted string ends at a brace, so `${…}` cannot be read (put the whole text in quotes, as in "${…}")',
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe("YAML features that manifests do not support", () => {
  it.each<Row>([
    [
      "a duplicate key, with the line of the first",
      "a: 1\nb: 2\na: 3\n",
      "3:1 duplicate-key: the key `a` was already set on line 1 (keep one of them)",
    ],
    [
      "a key that is written in two ways is one key",
      "b:\n  1: x\n  '1': y\n",
      "3:3 duplicate-key: the key `1` was already set on line 2 (keep one of them)",
    ],
    [
      "a third time is told as well",
      "a: 1\na: 2\na: 3\n",
      "2:1 duplicate-key: the key `a` was already set on line 1 (keep one of them)",
      "3:1 duplicate-key: the key `a` was already set on line 1 (keep one of them)",
    ],
    [
      "a merge key",
      "x: &x { a: 1 }\nb:\n  <<: *x\n  c: 1\n",
      "3:3 merge-key: merge keys (`<<`) are not supported: they are not part of YAML 1.2 (write the keys out, or use `defaults`)",
    ],
    [
      "a tag of one's own",
      "a: !secret b\n",
      "1:4 tag: the tag `!secret` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps (remove it; quote text that begins with `!`)",
    ],
    [
      "a tag of YAML 1.1",
      "a: !!binary aGk=\nb: !!timestamp 2001-12-14\nc: !!set { x }\n",
      "1:4 tag: the tag `!!binary` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps (remove it; quote text that begins with `!`)",
      "2:4 tag: the tag `!!timestamp` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps (remove it; quote text that begins with `!`)",
      "3:4 tag: the tag `!!set` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps (remove it; quote text that begins with `!`)",
    ],
    [
      "a tag that the value belies",
      "a: !!int x\nb: !!map [c]\n",
      "1:4 tag: the tag `!!int` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps (remove it; quote text that begins with `!`)",
      "2:4 tag: the tag `!!map` does not fit here: a manifest holds text, numbers, true, false, null, lists and maps (remove it; quote text that begins with `!`)",
    ],
    [
      "a second document",
      "a: 1\n---\nb: 2\n",
      "2:1 multiple-documents: a second document begins here (tasc.yaml holds one document; in other manifest files, begin each document with `---`)",
    ],
    [
      "a directive",
      "%YAML 1.1\n---\na: yes\n",
      "1:1 directive: `%YAML 1.1` is not supported: a manifest is YAML 1.2 without directives (delete this line and write the tags in full)",
    ],
    [
      "a tag directive",
      "%TAG ! tag:x,2000:\n---\na: 1\n",
      "1:1 directive: `%TAG ! tag:x,2000:` is not supported: a manifest is YAML 1.2 without directives (delete this line and write the tags in full)",
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe("aliases", () => {
  it.each<Row>([
    [
      "an alias to nothing, mostly a text that begins with an asterisk",
      "host: *.example.com\n",
      "1:7 unknown-alias: `*.example.com` is an alias, and there is no anchor `&.example.com` above it (quote text that begins with `*`)",
    ],
    [
      "an alias before its anchor",
      "a: *x\nb: &x 1\n",
      "1:4 unknown-alias: `*x` is an alias, and there is no anchor `&x` above it (quote text that begins with `*`)",
    ],
    [
      "an alias in its own value",
      "a: &x\n  b: *x\n",
      "2:6 cyclic-alias: `*x` is inside the value that it refers to (write the value itself here)",
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe("numbers", () => {
  it.each<Row>([
    [
      "not a number, and infinity",
      "a: .nan\nb: -.INF\n",
      "1:4 number: `.nan` is not a finite number (quote it if it is text)",
      "2:4 number: `-.INF` is not a finite number (quote it if it is text)",
    ],
    [
      "too large for any number",
      "a: 1e999\n",
      "1:4 number: `1e999` is not a finite number (quote it if it is text)",
    ],
    [
      "an integer that loses digits",
      "a: 9007199254740993\nb: 0xFFFFFFFFFFFFFFFF\n",
      "1:4 number: the number `9007199254740993` is too large to be kept exactly (quote it if it is an identifier)",
      "2:4 number: the number `0xFFFFFFFFFFFFFFFF` is too large to be kept exactly (quote it if it is an identifier)",
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe("the file as a whole", () => {
  it.each<Row>([
    ["nothing in it", "", "1:1 empty: the file is empty (write a manifest, or delete the file)"],
    [
      "white space",
      "\n  \n",
      "1:1 empty: the file is empty (write a manifest, or delete the file)",
    ],
    [
      "comments",
      "# tasc\n\n# nothing yet\n",
      "1:1 empty: the file contains only comments (write a manifest, or delete the file)",
    ],
    [
      "an empty document",
      "---\n...\n",
      "1:1 empty: the document in this file is empty (write a manifest, or delete the file)",
    ],
    [
      "control characters",
      "a: \u001b[31m\nb: \u007f\u0000\n",
      "1:4 control-character: the control character U+001B is not allowed in a YAML file (delete it, or write it as `\\x1b` in double quotes)",
      "2:4 control-character: the control character U+007F is not allowed in a YAML file (delete it, or write it as `\\x7f` in double quotes)",
      "2:5 control-character: the control character U+0000 is not allowed in a YAML file (delete it, or write it as `\\x00` in double quotes)",
    ],
    [
      "line ends of old Macs, told once",
      "a: 1\rb: .inf\r",
      "1:5 line-break: a line ends in a carriage return alone, which YAML parsers do not agree on (save the file with LF or CRLF line endings)",
      "2:4 number: `.inf` is not a finite number (quote it if it is text)",
    ],
    [
      "several problems, in the order of the text",
      "a: *x\nb: 1\nb: [2\nc: 3\n",
      "1:4 unknown-alias: `*x` is an alias, and there is no anchor `&x` above it (quote text that begins with `*`)",
      "3:1 duplicate-key: the key `b` was already set on line 2 (keep one of them)",
      "3:4 syntax: the `[` here is never closed (close it with `]`, and indent every line inside it deeper than its key)",
    ],
    [
      "lines end as on Windows",
      "a: 1\r\nb: x: y\r\na: 2\r\n",
      "2:4 syntax: the value has a `: ` in it, which makes its first part a key, and a key cannot begin here (put the value in quotes; or, if a map is meant, begin it on the next line)",
    ],
    [
      "columns count UTF-16 units",
      '{ "😀é": 1, a: .inf }\n',
      "1:16 number: `.inf` is not a finite number (quote it if it is text)",
    ],
  ])("%s", (_, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

describe("limits", () => {
  it("aliases of aliases are rejected before they are expanded", () => {
    const levels = "abcdefghij".split("").map((name, at, names) => {
      const inner = at === 0 ? "lol" : `*${names[at - 1]}`;
      return `${name}: &${name} [${Array.from({ length: 10 }, () => inner).join(", ")}]\n`;
    });
    const [first, ...more] = problemsOf(levels.join(""));
    expect(first).toBe(
      "5:20 alias-budget: with this one, the aliases of the file stand for more than 250000 characters of text (aliases of aliases multiply; write them out)",
    );
    expect(more).toEqual([]);
  });

  it("a few aliases to a very large text are rejected too", () => {
    const text = `a: &a ${"x".repeat(130_000)}\nb: *a\nc: *a\n`;
    expect(problemsOf(text)).toHaveLength(1);
    expect(readFast(text)).toBeUndefined();
    const half = text.replace("c: *a\n", "");
    expect(problemsOf(half)).toEqual([]);
  });

  it("100 levels of nesting are read, 101 are rejected", () => {
    expect(problemsOf(nested(100))).toEqual([]);
    expect(problemsOf(nested(101))).toEqual([
      "1:101 too-deep: maps and lists are nested more than 100 deep",
    ]);
  });

  it("nesting that is too deep for the parser is reported and does not throw", () => {
    expect(problemsOf("[".repeat(20_000))).toEqual([
      "1:101 too-deep: maps and lists are nested more than 100 deep",
    ]);
    for (const text of ["- ", "a: ", "? "]) expect(problemsOf(text.repeat(5000))).not.toEqual([]);
  });
});
