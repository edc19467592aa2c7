import * as fc from "fast-check";

/**
 * Random YAML as people write it, in every style, for property tests. A shape is generated and
 * shrunk, and then written out. `wild` texts may leave words unquoted that need quotes, so they may
 * be invalid YAML.
 */
export type Shape = Scalar | Alias | Collection;
type Scalar = {
  kind: "scalar";
  word: string;
  style: Style;
  chomp: "" | "-" | "+";
  anchor: string | undefined;
};
type Alias = { kind: "alias"; name: string };
type Collection = {
  kind: "map" | "list";
  flow: boolean;
  step: number;
  entries: Entry[];
  anchor: string | undefined;
};
type Entry = { key: string; keyStyle: Style; value: Shape; above: string; comment: string };
type Style = "plain" | "single" | "double" | "literal" | "folded";

const SHORT = [
  "a b smoke a-b_c é 日本 😀 /login http://a/b?c=d#e a'b a\"b a\\b ${env:X} x:y x,y = - -- :: ... ---".split(
    " ",
  ),
  "ON yes null ~ true False 1 -1 +7 08 0x1F 0o17 1e3 1.0 .5 1. -0 1_000 0b1 12:30 2024-01-01".split(
    " ",
  ),
  ".inf .nan 9007199254740993 1e400 << *x &a !x @a %p `t` [x] {x} ?x :x | > #c __proto__".split(
    " ",
  ),
].flat();
const LONG = [
  [
    "",
    " lead",
    "trail ",
    "- x",
    "x: y",
    "x #c",
    "? x",
    "> x",
    "Log in as the test account.",
    "long text with: colon",
  ],
  [
    "two\nlines",
    "two\n\nparts\n",
    "  in\nout\n",
    "end\n\n\n",
    "\tt",
    "\n",
    "a\r\nb",
    "\f",
    "\u0085",
    "\ufeff",
  ],
].flat();
/** Texts that have caused errors in some reader or writer of YAML. */
export const WORDS = SHORT.concat(LONG);
const KEYS = [
  "a",
  "b",
  "c",
  "d",
  "e",
  "f",
  "tags",
  "status",
  "first key",
  "1",
  "true",
  "x-y",
  "constructor",
];

const styles: fc.Arbitrary<Style> = fc.constantFrom(
  "plain",
  "plain",
  "single",
  "double",
  "literal",
  "folded",
);
const anchors = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  fc.constantFrom("x", "y"),
);
const notesAbove = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  fc.constantFrom("# note\n", "\n", "# one\n\n# two\n"),
);
const comments = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  fc.constantFrom(" # why", "  #"),
);
const scalars: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constant("scalar" as const),
  word: fc.constantFrom(...WORDS),
  style: styles,
  chomp: fc.constantFrom("", "-", "+"),
  anchor: anchors,
});
const aliases: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constant("alias" as const),
  name: fc.constantFrom("x", "y"),
});

const { shape: shapes } = fc.letrec<{ shape: Shape; collection: Shape; entry: Entry }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4 },
    { weight: 3, arbitrary: scalars },
    { weight: 1, arbitrary: aliases },
    { weight: 4, arbitrary: tie("collection") },
  ),
  collection: fc.record({
    kind: fc.constantFrom("map" as const, "map" as const, "list" as const),
    flow: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
    step: fc.constantFrom(2, 2, 2, 1, 4, 0),
    entries: fc.array(tie("entry"), { maxLength: 4 }),
    anchor: anchors,
  }),
  entry: fc.record({
    key: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...KEYS) }, fc.constantFrom(...WORDS)),
    keyStyle: fc.oneof({ weight: 5, arbitrary: fc.constant("plain" as const) }, styles),
    value: tie("shape"),
    above: notesAbove,
    comment: comments,
  }),
}));

const roots = fc.record({
  kind: fc.constantFrom("map" as const, "map" as const, "map" as const, "list" as const),
  flow: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  step: fc.constant(2),
  entries: fc.array(
    fc.record({
      key: fc.constantFrom(...KEYS),
      keyStyle: styles,
      value: shapes,
      above: notesAbove,
      comment: comments,
    }),
    { minLength: 1, maxLength: 5 },
  ),
  anchor: fc.constant(undefined),
});

const frames = fc.record({
  start: fc.oneof(
    { weight: 5, arbitrary: fc.constant("") },
    fc.constantFrom("---\n", "# head\n", "# head\n---\n", "\n"),
  ),
  end: fc.constantFrom("\n", "\n", "", "\n\n", "\n# foot\n"),
  crlf: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
});

/** Texts that are nearly always valid YAML. A test that needs valid ones has to filter them. */
export const tidyTexts: fc.Arbitrary<string> = fc
  .tuple(roots, frames)
  .map(([shape, around]) => framed(write(shape, false), around));

/** Texts that may be invalid YAML, with up to three random mutations. */
export const wildTexts: fc.Arbitrary<string> = fc
  .tuple(roots, frames, fc.boolean(), fc.array(mutation(), { maxLength: 3 }))
  .map(([shape, around, wild, mutations]) =>
    mutations.reduce(mutated, framed(write(shape, wild), around)),
  );

function framed(
  text: string,
  { start, end, crlf }: { start: string; end: string; crlf: boolean },
): string {
  const whole = start + text.replace(/^\n/, "") + end;
  return crlf ? whole.replaceAll("\n", "\r\n") : whole;
}

type Mutation = { at: number; cut: number; insert: string };

function mutation(): fc.Arbitrary<Mutation> {
  const bits = [
    ": ",
    "- ",
    "\n",
    "  ",
    " ",
    "#",
    " #",
    "&x ",
    "*x",
    "'",
    '"',
    "[",
    "]",
    "{",
    "}",
    ",",
    "|",
    ">",
    "? ",
    "!",
    "!!str ",
  ];
  const odd = [
    "---\n",
    "...\n",
    "\t",
    "<<: ",
    "%",
    "@",
    "\r\n",
    "\r",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\\",
    "-",
    ":",
    "\n\n",
    "|2\n",
    "\u0000",
  ];
  return fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(3),
    insert: fc.constantFrom("", "", ...bits, ...odd),
  });
}

function mutated(text: string, { at, cut, insert }: Mutation): string {
  const place = Math.floor(at * text.length);
  return text.slice(0, place) + insert + text.slice(place + cut);
}

/** The place of a value, and the anchors that are defined above it. */
type Context = { indent: number; inFlow: boolean; wild: boolean; anchored: Set<string> };

function write(shape: Shape, wild: boolean): string {
  return written(shape, { indent: -1, inFlow: false, wild, anchored: new Set() });
}

function written(shape: Shape, context: Context): string {
  if (shape.kind === "scalar") return ` ${propsOf(shape, context)}${scalarText(shape, context)}`;
  if (shape.kind === "alias")
    return context.wild || context.anchored.has(shape.name) ? ` *${shape.name} ` : " none";
  if (shape.flow || context.inFlow || shape.entries.length === 0)
    return ` ${flowText(shape, { ...context, inFlow: true })}`;
  return blockText(shape, context);
}

function propsOf({ anchor: name }: { anchor: string | undefined }, { anchored }: Context): string {
  if (name !== undefined) anchored.add(name);
  return name === undefined ? "" : `&${name} `;
}

function flowText(shape: Collection, context: Context): string {
  // The anchor is registered after the items, because an alias inside its own value is a cycle.
  const items = shape.entries.map(({ key, keyStyle, value }) => {
    const item = written(value, context).trim();
    return shape.kind === "list" ? item : `${keyText(key, keyStyle, context)}: ${item}`;
  });
  const props = propsOf(shape, context);
  const gap = shape.step === 0 ? `,\n${" ".repeat(context.indent + 2)}` : ", ";
  return props + (shape.kind === "list" ? `[${items.join(gap)}]` : `{ ${items.join(gap)} }`);
}

function blockText(shape: Collection, context: Context): string {
  const step = context.indent < 0 || shape.kind === "list" ? shape.step : Math.max(1, shape.step);
  const indent = context.indent < 0 ? 0 : context.indent + step;
  const lines = shape.entries.map(({ key, keyStyle, value, above, comment }) => {
    const text = written(value, { ...context, indent });
    const head = shape.kind === "list" ? "-" : `${keyText(key, keyStyle, context)}:`;
    const noted = comment !== "" && !text.includes("\n") ? `${text}${comment}` : text;
    return above.replaceAll("#", `${" ".repeat(indent)}#`) + " ".repeat(indent) + head + noted;
  });
  const props = context.indent < 0 ? "" : propsOf(shape, context);
  return `${props && ` ${props.trim()}`}\n${lines.join("\n")}`;
}

function keyText(word: string, style: Style, { inFlow, wild }: Context): string {
  if (style === "plain" && (wild || isPlain(word, inFlow)) && !word.includes("\n")) return word;
  return style === "single" && !/[\n\r\f]/.test(word) ? single(word) : JSON.stringify(word);
}

function scalarText({ word, style, chomp }: Scalar, { indent, inFlow, wild }: Context): string {
  if (style === "plain" && (isPlain(word, inFlow) || (wild && !word.includes("\n")))) return word;
  if (style === "single" && !/[\n\r\f]/.test(word)) return single(word);
  if (
    (style === "literal" || style === "folded") &&
    !inFlow &&
    !/^[\s]|[\r\f]/.test(word) &&
    word !== ""
  ) {
    const pad = " ".repeat(Math.max(indent, 0) + 2);
    const lines = word.split("\n").map((line) => (line === "" ? "" : pad + line));
    return `${style === "literal" ? "|" : ">"}${chomp}\n${lines.join("\n")}`;
  }
  return JSON.stringify(word);
}

function single(word: string): string {
  return `'${word.replaceAll("'", "''")}'`;
}

function isPlain(word: string, inFlow: boolean): boolean {
  if (/^$|^[\s\-?:,[\]{}#&*!|>'"%@`]|[\s\ufeff]$|: |:$| #|[\n\r\t\f]|^(---|\.\.\.)|<</.test(word))
    return false;
  if (/^[-+]?\.(inf|nan)|^9007199254740993$|^1e400$/.test(word)) return false;
  return !(inFlow && /[,[\]{}]/.test(word));
}
