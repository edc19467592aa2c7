import { decodedText, letterless, levelledText, needsLevelling, rawText } from "./canonical.ts";
import { uriPart } from "./escape.ts";
import { type Pattern, Search } from "./search.ts";

/**
 * Minimum length of a secret to search for; shorter values are too common in other text (design
 * contract, section 1).
 */
export const SHORTEST_SECRET = 4;

/** Minimum length of secrets that match in any case: a match by chance is unlikely. */
const CASELESS = 8;
/**
 * Minimum length of a line of a longer secret to count as a secret itself; shorter lines are `}` or
 * `-----`.
 */
const SHORTEST_LINE = 8;
/** Decoder of UTF-8 that is misread as Windows-1252: each byte of a letter becomes a character. */
const WINDOWS = new TextDecoder("windows-1252");

export type Searches = ReturnType<typeof searchesFor>;

/**
 * Returns the searches for secrets, in each form in which one may be written: as it is, escaped,
 * misread, line by line, and encoded.
 */
export function searchesFor(secrets: readonly string[]) {
  /** Secrets as they are: the text around one can make an escape of its first or last character. */
  const raw: Pattern[] = [];
  /** Canonical forms, hex and base32; long ones match in any case. */
  const canonical: Pattern[] = [];
  const base64: Pattern[] = [];
  for (const secret of secrets) {
    const whole = secret.replace(/^\\+|\\+$/g, "");
    raw.push({ text: whole });
    // Each line is searched for too: services trim values, and logs show one line at a time.
    const lines = secret.split(/\r\n|\r|\n/).filter((line) => line.trim().length >= SHORTEST_LINE);
    const bytes = Buffer.from(secret);
    const misread = [bytes.toString("latin1"), WINDOWS.decode(bytes)];
    for (const part of new Set([secret, ...lines, ...misread])) {
      const pattern = canonicalPattern(part);
      if (pattern !== undefined) canonical.push(pattern);
      // Too little is left of punctuation once quotes and blanks are normalised: search only for
      // its usual written forms.
      else raw.push(...writtenForms(part).map((text) => ({ text })));
    }
    canonical.push(...[HEX, BASE32].flatMap((alphabet) => encodedForms(bytes, alphabet)));
    base64.push(...base64Forms(secret));
  }
  const enough = raw.filter(({ text }) => text.length >= SHORTEST_SECRET);
  return {
    raw: new Search(enough),
    canonical: new Search(canonical),
    base64: new Search(base64),
    level: canonical.some(({ text }) => needsLevelling(text)),
  };
}

function canonicalPattern(secret: string): Pattern | undefined {
  const all = levelledText(decodedText(rawText(secret))).text;
  // At the start of a line, these would be mistaken for the marks of a diff or a quotation.
  const exact = all.replace(/^[ |│>~-]+/, "").trimEnd();
  if (exact.length < SHORTEST_SECRET) return undefined;
  const lead = all.length - all.replace(/^[|│>~-]+/, "").length;
  const text = letterless(exact);
  return { text, lead, ...(exact.length < CASELESS ? { exact } : {}) };
}

function writtenForms(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const tags = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  // Quotes as written by PHP, by lodash and Ruby, by Python, and by Go.
  const html = ["&quot; &#039;", "&quot; &#39;", "&quot; &#x27;", "&#34; &#39;"].map((quotes) => {
    const [double = "", single = ""] = quotes.split(" ");
    return tags.replaceAll('"', double).replaceAll("'", single);
  });
  const ascii = json.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [...new Set([secret, secret.trim(), json, ascii, uriPart(secret), tags, ...html])];
}

const ENOUGH = 48;

/** Returns the base64 of a secret, its written forms, its Latin-1, its UTF-16 and its base64. */
function base64Forms(secret: string): readonly Pattern[] {
  const begin = secret.slice(0, ENOUGH);
  const little = Buffer.from(begin, "utf16le");
  const own = encodedForms(Buffer.from(secret), BASE64, SHORTEST_SECRET);
  const others = [
    ...writtenForms(begin).flatMap((form) => (form === begin ? [] : [Buffer.from(form)])),
    ...(LATIN.test(begin) ? [Buffer.from(begin, "latin1")] : []),
    little,
    Buffer.from(little).swap16(),
    ...own.map(({ text }) => Buffer.from(text)),
  ];
  const all = [...own, ...others.flatMap((bytes) => encodedForms(bytes, BASE64))];
  const forUrls = all.map((one) => ({
    ...one,
    text: one.text.replaceAll("+", "-").replaceAll("/", "_"),
  }));
  return [...all, ...forUrls.filter(({ text }) => /[-_]/.test(text))];
}

const LATIN = /^[\0-\u00ff]*[\u0080-\u00ff][\0-\u00ff]*$/;

/**
 * An encoding: `bits` per character, and `group`, the number of bytes after which the alignment
 * repeats.
 */
const BASE64 = {
  encode: (bytes: Buffer) => bytes.toString("base64"),
  bits: 6,
  group: 3,
  tail: /[\w+/-]*/y,
};
/** Lower case, like base32, because the text is searched without regard to case. */
const HEX = {
  encode: (bytes: Buffer) => bytes.toString("hex"),
  bits: 4,
  group: 1,
  tail: /[0-9a-f]*/y,
};
const BASE32 = { encode: base32, bits: 5, group: 5, tail: /[a-z2-7]*/y };

/** Leaves out the last bits if they are fewer than five. */
function base32(bytes: Buffer): string {
  const letters = "abcdefghijklmnopqrstuvwxyz234567";
  let [text, value, bits] = ["", 0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5;) text += letters.charAt((value >> (bits -= 5)) & 31);
  }
  return text;
}

/**
 * Returns the encoded forms of a secret. Within a longer text there are three in base64 and five in
 * base32, depending on where it starts. They contain only characters that the secret alone
 * determines; a few more bits are in their neighbours.
 */
function encodedForms(all: Buffer, { encode, bits, group, tail }: typeof HEX, shortest = CASELESS) {
  const bytes = all.subarray(0, ENOUGH);
  const padded = Buffer.concat([Buffer.alloc(group - 1), bytes]);
  const forms = Array.from({ length: group }, (_, offset) =>
    encode(padded.subarray(group - 1 - offset)).slice(
      Math.ceil((offset * 8) / bits),
      Math.floor(((offset + bytes.length) * 8) / bits),
    ),
  );
  return forms
    .filter(({ length }) => length >= shortest)
    .map((text) => (bytes.length === all.length ? { text } : { text, tail }));
}
