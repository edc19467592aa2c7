import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Secrets } from "../../src/model/value.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { Search } from "../../src/render/search.ts";

const SECRET = 'p@ss "w\\rd" <ä/ü>\té👩‍👩‍👧+?';

/** The name and the function of each encoder. */
const FORMS: readonly (readonly [string, (text: string) => string])[] = [
  ["plain", (text) => text],
  ["JSON", (text) => JSON.stringify(text)],
  ["JSON quoted in JSON", (text) => JSON.stringify(JSON.stringify(text))],
  ["JSON three times", (text) => JSON.stringify(JSON.stringify(JSON.stringify(text)))],
  ["JSON in ASCII", (text) => ascii(JSON.stringify(text))],
  ["JSON in ASCII, upper case", (text) => ascii(JSON.stringify(text), (hex) => hex.toUpperCase())],
  ["JSON with escaped slashes", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
  ["a URL's component", encodeURIComponent],
  [
    "a URL's component, lower case",
    (text) => encodeURIComponent(text).replace(/%../g, (hex) => hex.toLowerCase()),
  ],
  ["a URL's component, twice", (text) => encodeURIComponent(encodeURIComponent(text))],
  ["a form", (text) => new URLSearchParams({ q: text }).toString()],
  [
    "a strict URL",
    (text) =>
      encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`),
  ],
  [
    "HTML",
    (text) =>
      text
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;"),
  ],
  [
    "HTML by number",
    (text) => text.replace(/[^A-Za-z0-9 ]/gu, (sign) => `&#${sign.codePointAt(0)};`),
  ],
  [
    "HTML by hex number",
    (text) => text.replace(/[^A-Za-z0-9 ]/gu, (sign) => `&#x${sign.codePointAt(0)?.toString(16)};`),
  ],
  ["base64", (text) => Buffer.from(text).toString("base64")],
  ["base64 of a longer text", (text) => Buffer.from(`user:${text}`).toString("base64")],
  ["base64 one byte further", (text) => Buffer.from(`users:${text}@host`).toString("base64")],
  ["base64 two bytes further", (text) => Buffer.from(`a user:${text}\n`).toString("base64")],
  ["base64url", (text) => Buffer.from(`x${text}`).toString("base64url")],
  ["base64 in a URL", (text) => encodeURIComponent(Buffer.from(`x${text}`).toString("base64"))],
  ["Markdown", (text) => text.replace(/[!-/:-@[-`{-~]/g, "\\$&")],
  ["base64 twice", (text) => base64(base64(text))],
  ["base64 of base64 of a longer text", (text) => base64(base64(`u:${text}!`))],
  ["base64 in lines", (text) => base64(`${"-".repeat(50)}${text}`).replace(/.{76}/g, "$&\r\n")],
  ["base64 of UTF-16", (text) => Buffer.from(text, "utf16le").toString("base64")],
  [
    "base64 of UTF-16, big end first",
    (text) => Buffer.from(text, "utf16le").swap16().toString("base64"),
  ],
  ["base64 of JSON", (text) => base64(JSON.stringify({ k: text }))],
  ["base64 in JSON", (text) => JSON.stringify(base64(`??${text}`)).replaceAll("/", "\\/")],
  ["hex", (text) => Buffer.from(text).toString("hex")],
  ["hex, upper case", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["base32", base32],
  ["base32 of a longer text, lower case", (text) => base32(`ab${text}c`).toLowerCase()],
  ["a shell's word", (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`],
  ["SQL and YAML", (text) => `'${text.replaceAll("'", "''")}'`],
  ["CSV", (text) => `"${text.replaceAll('"', '""')}"`],
  ["upper case", (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
  ["lower case", (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())],
  ["NFD", (text) => text.normalize("NFD")],
  ["NFC", (text) => text.normalize("NFC")],
  ["UTF-8 read as Latin-1", (text) => Buffer.from(text).toString("latin1")],
  [
    "UTF-8 read as Windows-1252",
    (text) => new TextDecoder("windows-1252").decode(Buffer.from(text)),
  ],
  ["bytes of Python", (text) => text.replace(/[^ -~]+/g, python)],
  [
    "a URL's every byte",
    (text) =>
      [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  ],
  ["HTML in JSON in ASCII", (text) => ascii(JSON.stringify(html(text))).replaceAll("&", "\\u0026")],
  ["JSON in HTML", (text) => html(JSON.stringify(text))],
  ["HTML in a URL", (text) => encodeURIComponent(html(text))],
  ["a URL in HTML", (text) => html(encodeURIComponent(text))],
  ["HTML twice", (text) => html(html(text))],
  ["HTML in base64", (text) => base64(`<p>${html(text)}</p>`)],
  [
    "JSON in upper case",
    (text) => JSON.stringify(text.replace(/[a-z]/g, (letter) => letter.toUpperCase())),
  ],
];

function python(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function html(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const signs = (bits.match(/.{1,5}/g) ?? []).map(
    (five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five.padEnd(5, "0"), 2)] ?? "",
  );
  return signs.join("").padEnd(Math.ceil(signs.length / 8) * 8, "=");
}

function ascii(text: string, digits: (hex: string) => string = (hex) => hex): string {
  return text.replace(
    /[^ -~]/g,
    (unit) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`,
  );
}

describe("a secret is found", () => {
  test.each(FORMS)("as %s and redacted completely", (_, encode) => {
    const out = createRedactor([SECRET]).text(`before [${encode(SECRET)}] after`);
    // May remain: quotes, text that is quoted with it, and in encodings such as base64 the text
    // before and after.
    expect(out).toMatch(
      /^before \[((?:\\+u0022|&quot;|[\\"']|q=)|[A-Za-z0-9+/\r\n]{0,77})*\(sensitive\)((?:\\+u0022|&quot;|[\\"'])|[A-Za-z0-9/+]{0,9}=*)*\] after$/,
    );
  });

  test.each(FORMS)("as %s, with what looks like a character of HTML", (_, encode) => {
    for (const secret of ["Tr0ub&Qq;dor9", "b&em;D2-xy7pq"])
      expect(createRedactor([secret]).text(`<<${encode(secret)}>>`)).toContain("(sensitive)");
  });

  test.each(FORMS)("as %s, in plain words", (_, encode) => {
    fc.assert(
      fc.property(plainSecret, plainWords, plainWords, (secret, before, after) => {
        const written = encode(secret);
        const text = `${before} ${written} ${after}`;
        expect(createRedactor([secret]).text(text)).toContain("(sensitive)");
      }),
      { numRuns: 40 },
    );
  });

  test.each(FORMS)("as %s, for any value", (_, encode) => {
    fc.assert(
      fc.property(secretText(), (secret) => {
        const out = createRedactor([secret]).text(`<<${encode(secret)}>>`);
        expect(out).toContain("(sensitive)");
        expect(out).not.toContain(encode(secret));
      }),
      { numRuns: 40 },
    );
  });
});

/**
 * Texts for which "(sensitive)" proves that they were found. White space and the markers at the
 * start of a diff line count as one character, so a secret of little else is too short to be found
 * in other forms. U+FFFD stands for invalid bytes.
 */
function secretText(): fc.Arbitrary<string> {
  return fc
    .string({ unit: "grapheme", minLength: 8, maxLength: 24 })
    .filter((text) => text.replaceAll(/[\s+|│>~-]/g, "").length >= 8 && !text.includes("\ufffd"))
    .filter(
      (text) =>
        text === text.trim() && !"(sensitive)<<>>".includes(text) && /[A-Za-z0-9]/.test(text),
    );
}

/** A secret of signs that stay as they are in most forms, and words around it that have no escape. */
const plainSecret = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{6,24}[A-Za-z0-9]$/);
const plainWords = fc.stringMatching(/^[a-z.,:;()=/]{1,6}(?: [a-z.,:;()=/]{1,6}){0,5}$/);

const word = fc.string({
  unit: fc.constantFrom("a", "b", "%", "\\", " "),
  minLength: 4,
  maxLength: 8,
});

describe("several secrets", () => {
  test("are redacted completely if one is the beginning of another", () => {
    expect(createRedactor(["hunter2", "hunter22"]).text("hunter22 hunter2")).toBe(
      "(sensitive) (sensitive)",
    );
  });

  test("are redacted completely if they overlap", () => {
    expect(createRedactor(["abcdef", "defghi"]).text("xabcdefghiy")).toBe("x(sensitive)y");
    expect(createRedactor(["abcdefgh", "cdef", "ghij"]).text("abcdefghij")).toBe("(sensitive)");
  });

  test("are redacted in any text", () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        fc.array(word),
        (secrets, words) => {
          const out = createRedactor(secrets).text(words.join(""));
          for (const secret of secrets) expect(out.includes(secret)).toBe(false);
        },
      ),
    );
  });
});

describe("the redactor", () => {
  test("ignores values of fewer than four characters", () => {
    expect(createRedactor(["abc", ""]).text("abc abcabc")).toBe("abc abcabc");
    expect(createRedactor(["abcd"]).text("abcd")).toBe("(sensitive)");
  });

  test.each(["&#x2&#54;;", "%2&#54;", "&am&#112;;", "%&#50;6"])(
    "finds a secret whose %s is an escape only after decoding, far behind other escapes",
    (sign) => {
      const text = `100% ${"x".repeat(200)} Tr0ub${sign}Qdor9`;
      expect(createRedactor(["Tr0ub&Qdor9"]).text(text)).toContain("(sensitive)");
    },
  );

  test("does not change a text without secrets", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("x", "y", "%", "\\", "&", "\n") }), (text) => {
        expect(createRedactor(["hunter2!"]).text(text)).toBe(text);
      }),
    );
  });
});

describe("a secret of several lines", () => {
  test("is redacted after two encoders in sequence", () => {
    const line = fc.oneof(
      fc.string({ maxLength: 70 }),
      fc.base64String({ minLength: 64, maxLength: 64 }),
    );
    const secret = fc
      .tuple(fc.stringMatching(/^[a-z0-9]{8}$/), fc.array(line, { minLength: 1, maxLength: 40 }))
      .chain(([first, lines]) =>
        fc.constantFrom("\n", "\r\n").map((end) => [first, ...lines].join(end)),
      );
    const encoders = FORMS.filter(([name]) => !/base|hex/.test(name));
    const one = fc.constantFrom(...encoders.map(([, encode]) => encode));
    fc.assert(
      fc.property(secret, one, one, fc.string({ maxLength: 30 }), (text, first, second, around) => {
        const out = createRedactor([text]).text(`${around}\n${second(first(text))} ${around}`);
        expect(out).toContain("(sensitive)");
        // The first line, which no other text contains.
        expect(out.toLowerCase()).not.toContain(text.slice(0, 8));
      }),
      { numRuns: 300 },
    );
  });
  const key = "-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END KEY-----\n";
  test("is redacted as a whole, also with diff markers before each line", () => {
    const redactor = createRedactor([key]);
    expect(redactor.text(`[${key}]`)).toBe("[(sensitive)]");
    expect(redactor.text(key.trim().replaceAll("\n", "\n    │ + "))).toBe("(sensitive)");
    expect(redactor.text(key.replaceAll("\n", "\r\n").trim())).toBe("(sensitive)");
  });
  test("is redacted line by line, except for short lines", () => {
    expect(createRedactor([key]).text("log: MIIEowIBAAKCAQEA, abc")).toBe("log: (sensitive), abc");
  });
  test("is redacted if a space in it was replaced by a line break", () => {
    expect(createRedactor(["correct horse battery"]).text("is correct\n  horse battery.")).toBe(
      "is (sensitive).",
    );
  });
});

describe("plain data", () => {
  test("is redacted in strings, keys and numbers", () => {
    const redactor = createRedactor(["4711", "hunter2-pass", "password"]);
    const values = ["a hunter2-pass", 4711, 14711, 1, null, true];
    const redacted = ["a (sensitive)", "(sensitive)", "(sensitive)", 1, null, true];
    expect(redactor.json({ "hunter2-pass": values, password: "password" })).toEqual({
      "(sensitive)": redacted,
      password: "(sensitive)",
    });
    // Keys of free-form data are not our own words, so they are redacted as well.
    expect(redactor.freeJson({ "X-password": values, a: { 4711: 1 } })).toEqual({
      "X-(sensitive)": redacted,
      a: { "(sensitive)": 1 },
    });
  });
});

test.each([
  ["24 line breaks, repeated without the end", "a\nb".repeat(24), "a\nb".repeat(23)],
  ["one letter, in a text of that letter", "a".repeat(3000), "a".repeat(100_000)],
  ["blanks, in a text of blanks", `x${" ".repeat(3000)}y`, `x${" ".repeat(100_000)}`],
  ["backslashes", "\\".repeat(3000), "\\".repeat(100_000)],
  ["percents", "%25".repeat(1000), "%25".repeat(33_000)],
  ["entities", "&amp;".repeat(600), "&amp;".repeat(20_000)],
  ["accents in no order", "accented", `e${"\u0301\u0316".repeat(100_000)}`],
  ["base64", "a".repeat(3000), Buffer.from("a".repeat(75_000)).toString("base64")],
])("the search takes less than 5 s of CPU time: %s", (_, secret, text) => {
  const started = process.cpuUsage();
  createRedactor([secret, `${secret}1`, `${secret}2`]).text(text);
  const { user } = process.cpuUsage(started);
  // A linear search takes milliseconds, and a quadratic one takes minutes.
  expect(user).toBeLessThan(5_000_000);
});

test("20,000 secrets can be searched for", () => {
  const secrets = Array.from({ length: 20_000 }, (_, at) => `value-${at}-of-a-header`);
  expect(createRedactor(secrets).text("X: value-19999-of-a-header.")).toBe("X: (sensitive).");
});

test("8000 lines with the same beginning are found in a text of that beginning in less than 5 s", () => {
  const begin = "a".repeat(20);
  const lines = Array.from({ length: 8000 }, (_, at) => `${begin}${at}b`);
  const started = process.cpuUsage();
  const out = createRedactor([lines.join("\n")]).text(`${"a".repeat(60_000)}-${lines[77]}-`);
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  expect(out.slice(60_000)).toBe("-(sensitive)-");
});

test("450 secrets that each begin with the previous one are found as one match at each place", () => {
  const secrets = Array.from({ length: 450 }, (_, at) => "1a".repeat(4 + at));
  const text = "1a".repeat(3_000);
  // Storing the matches of every secret at every position took 7 s and 2 GB in a longer text.
  const places: number[] = [];
  new Search(secrets.map((own) => ({ text: own }))).scan(text, (start) => places.push(start));
  expect(places.length).toBe(new Set(places).size);
  expect(createRedactor(secrets).text(text)).toBe("(sensitive)");
});

test("a long secret in base64 is redacted to its end, even if another secret is its beginning", () => {
  const begin = "0123456789abcdef".repeat(3);
  const encoded = Buffer.from(`${begin}and-the-rest-of-it`).toString("base64");
  expect(createRedactor([`${begin}and-the-rest-of-it`, begin]).text(encoded)).toBe("(sensitive)");
});

test("a hostile text cannot make the search slow", () => {
  const secrets = [
    "\\\\\\\\\\\\\\\\\\\\x",
    "          y          z",
    'a\\"\\"\\"\\"b',
    "%25%25%25%25x",
    "&&&&&&&&z",
    "\n\n\n\n\nabc\n\n\n\nz",
  ];
  const hostile = ["\\", " ", "\n ", "%25", "&amp;", '\\"', "\r\n"]
    .map((unit) => unit.repeat(20_000))
    .join("a");
  createRedactor(secrets).text(hostile);
});

test("an address of the project shows whole, even if a key in it is also a secret", () => {
  const secrets = new Secrets(["preview-2024", "pay"]);
  const redactor = createRedactor(secrets.add("checkout"));
  secrets.addresses.push(() => ["environment.shop.preview-2024", "testCase.shop.checkout"]);
  expect(redactor.text("testCase.shop.checkout: checkout")).toBe(
    "testCase.shop.checkout: (sensitive)",
  );
  // Nobody else's name may use the form to show a secret.
  expect(redactor.text("testCase.shop.checkout2, testCase.own.checkout")).toBe(
    "testCase.shop.(sensitive)2, testCase.own.(sensitive)",
  );
  expect(redactor.json({ "environment.shop.preview-2024": "preview-2024" })).toEqual({
    "environment.shop.preview-2024": "(sensitive)",
  });
});
