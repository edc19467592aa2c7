/**
 * The canonical form of a text: the same for a secret and for what encoders make of it. Escapes are
 * decoded, nested ones too; then everything that formats change is normalised: white space, the
 * marks that a diff or a quotation puts before lines, quotes, and letters that consist of several
 * characters. This may normalise more than one format would; then slightly too much is redacted.
 * Each step is one linear pass and records how its text maps to the previous one, so that matches
 * can be cut out of the original text.
 */
export interface Rewritten {
  readonly text: string;
  /** Unset for the original text. */
  readonly from?: Rewritten;
  /**
   * Pieces that differ, four numbers each: position and length in this text, position and length in
   * the previous one.
   */
  readonly pieces: readonly number[];
  /**
   * Whether a match takes only one character of a piece at its edge: after a quote in a secret, a
   * closing quote stays.
   */
  readonly narrow: boolean;
}

export function rawText(text: string): Rewritten {
  return { text, pieces: [], narrow: false };
}

/**
 * Maximum nesting of escapes, more than occurs in practice; the limit keeps hostile texts linear.
 */
const DEEPEST = 6;

/**
 * Returns the text in lower case, except for letters whose length would change, so that positions
 * stay the same.
 */
export function letterless(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replace(/[^]/gu, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  );
}

/** The signs that our own renderers draw. */
const DRAWN = "→↻…’│⋮▸▾";
/** Pattern of characters that may have an accented form: not ASCII, and not drawn. */
const LETTER = String.raw`[^\0-\u00bf${DRAWN}]`;
/** One of those, or `%`, `&` or a backslash: in one class, as V8 tries two one after the other. */
const ENCODED = new RegExp(String.raw`[^\0-$'-[\]-\u00bf${DRAWN}]`);

/**
 * A piece of new text, and the length of what it replaces. A match for which no pieces are returned
 * is unchanged.
 */
type Piece = readonly [text: string, length: number];

function rewrite(
  from: Rewritten,
  matches: Iterable<RegExpExecArray>,
  piecesOf: (match: RegExpExecArray) => readonly Piece[] | undefined,
  narrow: boolean,
): Rewritten {
  const { text } = from;
  const parts: string[] = [];
  const pieces: number[] = [];
  let [taken, length] = [0, 0];
  for (const match of matches) {
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

/** Maps a range of a rewritten text to the original text. */
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

/** Returns the previous position of a character, or of the piece that it belongs to. */
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
 * One escape: backslashes (repeated quoting multiplies them) with the character that they escape;
 * percent-encoded bytes; an HTML character by name or number; or a letter with some accents
 * (sorting all of them takes too long).
 */
const ESCAPE =
  String.raw`\\+(?:[uU](${HEX}{4})|u\{(${HEX}{1,6})\}|[xX](${HEX}{2})|([^\\]|$))` +
  `|((?:%(?:25)*${HEX}{2})+)` +
  `|&(?:amp;|AMP;)*(?:#(\\d{1,9})|#[xX](${HEX}{1,8})|([A-Za-z]{2,8}));` +
  String.raw`|(${LETTER}\p{M}{0,30})`;

/**
 * More than the characters between the beginning of what is not yet an escape, or not one that
 * changes anything, and what makes it one: two digits after a percent sign, the name or number of
 * an HTML character, or the 30 accents of a letter.
 */
const REACH = 64;

/**
 * Finds the escapes of a text. Few characters of a document begin one, and the small pattern finds
 * those several times as fast; next to one escape there often is another, e.g. the next letter.
 * @param first where the first of them may begin
 */
function* escapesIn(text: string, first: number): Iterable<RegExpExecArray> {
  const [begin, escape] = [new RegExp(ENCODED, "g"), new RegExp(ESCAPE, "uy")];
  for (let at = first; at < text.length;) {
    escape.lastIndex = at;
    const match = escape.exec(text);
    if (match !== null) {
      at = escape.lastIndex;
      yield match;
    } else {
      begin.lastIndex = at + 1;
      at = begin.exec(text)?.index ?? text.length;
    }
  }
}

/** The groups have no names, for which V8 makes an object of each match: a page has 100,000. */
function decodedPieces(match: RegExpExecArray): readonly Piece[] | undefined {
  const [whole, unit, code, byte, plain, bytes, decimal, hex, name, letter] = match;
  const { length } = whole;
  if (letter !== undefined) {
    const parts = letter.normalize("NFD");
    return parts === letter ? undefined : [[parts, length]];
  }
  if (bytes !== undefined) return bytePieces(bytes);
  if (plain !== undefined) return [[WHITE[plain.toLowerCase()] ?? plain, length]];
  if (name !== undefined) {
    const lower = name.toLowerCase();
    const accent = ACCENTS[lower.slice(1)];
    const character = NAMES[lower] ?? (accent && `${name.charAt(0)}${accent}`);
    // An unknown name behind `&amp;` is plain text behind an escaped `&`.
    if (character === undefined && length > name.length + 2) return [[`&${name};`, length]];
    return character === undefined || name.startsWith(character)
      ? undefined
      : [[character, length]];
  }
  const number = Number.parseInt(
    unit ?? code ?? byte ?? decimal ?? hex ?? "",
    decimal === undefined ? 16 : 10,
  );
  if (number > 0x10ffff) return undefined;
  return [
    [unit === undefined ? String.fromCodePoint(number) : String.fromCharCode(number), length],
  ];
}

const WHITE: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  f: "\f",
  v: "\v",
  b: "\b",
};

/** Decodes bytes as UTF-8; a byte that is not valid UTF-8 becomes the Latin-1 character. */
function bytePieces(text: string): readonly Piece[] {
  const bytes = [...text.matchAll(/%(?:25)*([0-9A-Fa-f]{2})/g)].map(
    ([whole, digits = ""]): readonly [number, number] => [
      Number.parseInt(digits, 16),
      whole.length,
    ],
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
 * White space with all blanks and line marks after it becomes one blank, as does the plus that a
 * form writes for a blank; adjacent quotes of any kind become one. A single blank and a single
 * double quote stay as they are.
 */
const SIGNS = String.raw`[\s+|│>~\-]`;
const BLANKS = String.raw` ${SIGNS}+|[^\S ]${SIGNS}*|\+${SIGNS}*`;
const QUOTES = `"["'\`]+|['\`]["'\`]*`;
const [BLANK_RUN, QUOTE_RUN] = [new RegExp(BLANKS, "g"), new RegExp(QUOTES, "g")];
const LEVEL = new RegExp(`${BLANKS}|${QUOTES}`, "g");

/** Returns a text without its escapes. */
export function decodedText(raw: Rewritten): Rewritten {
  // No level of decoding changes what is in front of the first escape.
  const first = raw.text.search(ENCODED);
  if (first < 0) return raw;
  let [text, from] = [raw, first];
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = rewrite(text, escapesIn(text.text, from), decodedPieces, false);
    if (next === text) break;
    // Only what reaches into decoded text can have become an escape.
    from = Math.max(first, (next.pieces[0] ?? 0) - REACH);
    text = next;
  }
  return text;
}

/**
 * Whether a text is its own canonical form, for most that are: ASCII without escapes and runs. One
 * class has all other characters, as V8 tries two one after the other: what is not printable ASCII,
 * and "%&'+\`|~.
 */
export function isCanonical(text: string): boolean {
  return !/[^ !#$(-*,-[\]-_a-{}]| (?:[ >-]|$)/.test(text);
}

/**
 * Returns a decoded text without its formatting, which is its canonical form. Pieces are many, as a
 * document has one in each line, and few documents have a match for which they are needed, so they
 * are collected for the first one.
 */
export function levelledText(from: Rewritten): Rewritten {
  const text = from.text.replace(BLANK_RUN, " ").replace(QUOTE_RUN, '"');
  if (text === from.text) return from;
  let pieces: readonly number[] | undefined;
  const collect = (): readonly number[] =>
    rewrite(
      from,
      from.text.matchAll(LEVEL),
      ([run]) => [[/^["'`]/.test(run) ? '"' : " ", run.length]],
      true,
    ).pieces;
  return {
    text,
    from,
    narrow: true,
    get pieces() {
      return (pieces ??= collect());
    },
  };
}

/** A line break in long base64. */
const WRAP = /\r?\n(?<=[\w+/-]{60}\r?\n)[ \t|│>~]*(?=[\w+/-])/g;

/**
 * Whether a secret in canonical form can be found only in levelled texts. Levelling makes blanks
 * and quotes of what it replaces, so a secret without them is found in a decoded text as well.
 */
export function needsLevelling(canonical: string): boolean {
  return /[^!#-~]/.test(canonical);
}

/** Returns the text in which to search for base64: decoded, with long words in one piece. */
export function encodedWords(decoded: Rewritten): Rewritten {
  if (!decoded.text.includes("\n")) return decoded;
  const wraps = decoded.text.matchAll(WRAP);
  return rewrite(decoded, wraps, ({ 0: whole }) => [["", whole.length]], false);
}
