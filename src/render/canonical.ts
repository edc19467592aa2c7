/**
 * The canonical form of a text: the same for a secret and for whatever encoders made of it. Escapes are decoded until
 * none is left, however they were nested; then what formats change is levelled: white space, the signs that a diff or a
 * quotation puts in front of lines, quotes, letters that consist of several characters. It may level more than one
 * format would; then a little too much is redacted. Each step is one linear pass and keeps how its text lies in the one
 * before, so that what is found can be cut out of the text as it came.
 */
export interface Rewritten {
  readonly text: string;
  /** Nothing for the text as it came. */
  readonly from?: Rewritten;
  /** Pieces that differ, four numbers each: place and length in this text, place and length in the one before. */
  readonly pieces: readonly number[];
  /** What several characters became belongs to the inner ones: a quote that ends a text must not go with a doubled one. */
  readonly narrow: boolean;
}

export function rawText(text: string): Rewritten {
  return { text, pieces: [], narrow: false };
}

/** No one nests deeper than this; the limit keeps hostile texts linear. */
const DEEPEST = 6;

/** Case apart; the lengths stay, so that places do. */
export function letterless(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replace(/[^]/gu, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  );
}

/** Not what has no form with an accent of its own: ASCII, and the signs that our own renderers draw. */
const LETTER = String.raw`[^\0-\u00bf→↻…’│⋮▸▾]`;
const ENCODED = new RegExp(String.raw`[\\%&]|${LETTER}`);

/** What a match becomes: pieces of new text, each with the length of what it replaces. Nothing: it stays. */
type Piece = readonly [text: string, length: number];

function rewrite(
  from: Rewritten,
  pattern: RegExp,
  piecesOf: (match: RegExpExecArray) => readonly Piece[] | undefined,
  narrow: boolean,
): Rewritten {
  const { text } = from;
  const parts: string[] = [];
  const pieces: number[] = [];
  let [taken, length] = [0, 0];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const replaced = piecesOf(match);
    if (replaced === undefined) continue;
    parts.push(text.slice(taken, match.index));
    length += match.index - taken;
    taken = match.index;
    for (const [piece, replacedLength] of replaced) {
      parts.push(piece);
      pieces.push(length, piece.length, taken, replacedLength);
      length += piece.length;
      taken += replacedLength;
    }
  }
  if (pieces.length === 0) return from;
  parts.push(text.slice(taken));
  return { text: parts.join(""), from, pieces, narrow };
}

/** Where a stretch of a rewritten text lies in the text as it came. */
export function toOriginal(
  { from, pieces, narrow }: Rewritten,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } {
  if (from === undefined) return { start, end };
  const first = pieceAt(pieces, start);
  const last = pieceAt(pieces, end - 1);
  return toOriginal(
    from,
    first.inside ? (narrow ? first.end - 1 : first.start) : first.start,
    last.inside ? (narrow ? last.start + 1 : last.end) : last.end,
  );
}

/** The place that a character had before, or the piece that it belongs to. */
function pieceAt(pieces: readonly number[], at: number) {
  let [low, high] = [0, pieces.length / 4];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle * 4] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return { inside: false, start: at, end: at + 1 };
  const [place = 0, length = 0, oldPlace = 0, oldLength = 0] = pieces.slice(low * 4 - 4, low * 4);
  if (at < place + length) return { inside: true, start: oldPlace, end: oldPlace + oldLength };
  const start = oldPlace + oldLength + at - place - length;
  return { inside: false, start, end: start + 1 };
}

const HEX = "[0-9A-Fa-f]";
/**
 * One escape: backslashes, as many as quoting again and again makes of one, with what they escape; bytes by percent;
 * a character of HTML by name or number; a letter with some accents (to sort them all takes too long).
 */
const ESCAPE =
  String.raw`\\+(?:[uU](?<unit>${HEX}{4})|u\{(?<code>${HEX}{1,6})\}|[xX](?<byte>${HEX}{2})|(?<plain>[^\\]|$))` +
  `|(?<bytes>(?:%(?:25)*${HEX}{2})+)` +
  `|&(?:amp;|AMP;)*(?:#(?<decimal>\\d{1,9})|#[xX](?<hex>${HEX}{1,8})|(?<name>[A-Za-z]{2,8}));` +
  String.raw`|(?<letter>${LETTER}\p{M}{0,30})`;

function decodedPieces({ 0: whole, groups = {} }: RegExpExecArray): readonly Piece[] | undefined {
  const { unit, code, byte, plain, bytes, decimal, hex, name, letter } = groups;
  const { length } = whole;
  if (letter !== undefined) {
    const parts = letter.normalize("NFD");
    return parts === letter ? undefined : [[parts, length]];
  }
  if (bytes !== undefined) return bytePieces(bytes);
  if (plain !== undefined) return [[WHITE[plain.toLowerCase()] ?? plain, length]];
  if (name !== undefined) {
    const accent = ACCENTS[name.slice(1).toLowerCase()];
    const character = NAMES[name.toLowerCase()] ?? (accent && `${name.charAt(0)}${accent}`);
    return character === undefined || name.startsWith(character) ? undefined : [[character, length]];
  }
  const number = Number.parseInt(
    unit ?? code ?? byte ?? decimal ?? hex ?? "",
    decimal === undefined ? 16 : 10,
  );
  if (number > 0x10ffff) return undefined;
  return [[unit === undefined ? String.fromCodePoint(number) : String.fromCharCode(number), length]];
}

const WHITE: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", b: "\b" };

/** As UTF-8, and where that cannot be, each byte as the character of Latin-1. */
function bytePieces(text: string): readonly Piece[] {
  const bytes = [...text.matchAll(/%(?:25)*([0-9A-Fa-f]{2})/g)].map(
    ([whole, digits = ""]): readonly [number, number] => [Number.parseInt(digits, 16), whole.length],
  );
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length;) {
    const [first = 0] = bytes[at] ?? [];
    const wanted = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
    const own = bytes.slice(at, at + wanted);
    const character = Buffer.from(own.map(([byte]) => byte)).toString();
    const isOne = /^[^\ufffd]$/u.test(character);
    const taken = isOne ? own : own.slice(0, 1);
    const length = taken.reduce((sum, [, one]) => sum + one, 0);
    pieces.push([isOne ? character : String.fromCharCode(first), length]);
    at += taken.length;
  }
  return pieces;
}

const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "amp& lt< gt> quot\" apos' nbsp\u00a0 sol/ bsol\\ plus+ num# excl! dollar$ percnt% lpar( rpar) ast* comma, " +
    "period. colon: semi; equals= quest? commat@ lsqb[ lbrack[ rsqb] rbrack] hat^ lowbar_ grave` lcub{ lbrace{ " +
    "rcub} rbrace} verbar| vert| tab\t newline\n szlig\u00df aelig\u00e6 oslash\u00f8 eth\u00f0 thorn\u00fe " +
    "euro\u20ac sect\u00a7 para\u00b6 copy\u00a9 reg\u00ae deg\u00b0 pound\u00a3 yen\u00a5 cent\u00a2 micro\u00b5"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);
const ACCENTS: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  uml: "\u0308",
  ring: "\u030a",
  cedil: "\u0327",
};

/**
 * White space with all blanks and line signs that follow, and the plus that a form writes for a blank, become one
 * blank; quotes of any kind that touch become one. A lone blank and a lone double quote are so already.
 */
const SIGNS = String.raw`[\s+|│>~\-]`;
const LEVEL = new RegExp(` ${SIGNS}+|[^\\S ]${SIGNS}*|\\+${SIGNS}*|"["'\`]+|['\`]["'\`]*`, "g");

export function canonicalText(raw: Rewritten): Rewritten {
  let text = raw;
  for (let depth = 0; depth < DEEPEST && ENCODED.test(text.text); depth++) {
    const next = rewrite(text, new RegExp(ESCAPE, "gu"), decodedPieces, false);
    if (next === text) break;
    text = next;
  }
  return rewrite(text, LEVEL, ([whole]) => [[/^["'`]/.test(whole) ? '"' : " ", whole.length]], true);
}

/** Where long base64 was broken into lines. */
const WRAP = /\r?\n(?<=[\w+/-]{60}\r?\n)[ \t|│>~]*(?=[\w+/-])/g;

/** The text for base64: decoded and not levelled, long words in one piece. */
export function encodedWords(canonical: Rewritten): Rewritten {
  const plain = canonical.narrow && canonical.from !== undefined ? canonical.from : canonical;
  if (!plain.text.includes("\n")) return plain;
  return rewrite(plain, WRAP, ({ 0: whole }) => [["", whole.length]], false);
}
