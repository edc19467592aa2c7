import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/render/redact.ts";

const SECRET = 'p@ss "w\\rd" <ä/ü>\té👩‍👩‍👧+?';

/** What an encoder makes of a text, and the encoder's name. */
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
    (text) => encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`),
  ],
  [
    "HTML",
    (text) =>
      text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ],
  ["HTML by number", (text) => text.replace(/[^A-Za-z0-9 ]/gu, (sign) => `&#${sign.codePointAt(0)};`)],
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
];

function ascii(text: string, digits: (hex: string) => string = (hex) => hex): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`);
}

describe("a secret is found", () => {
  test.each(FORMS)("as %s, and nothing of it is left", (_, encode) => {
    const out = createRedactor([SECRET]).text(`before [${encode(SECRET)}] after`);
    // What may be left: quotes around it, and in base64 or a form what came before it.
    expect(out).toMatch(
      /^before \[(\\*"|q=|[A-Za-z0-9]{0,9})*\(sensitive\)(\\*"|[A-Za-z0-9]{0,6}=*)*\] after$/,
    );
  });

  test.each(FORMS)("whatever it is, as %s", (_, encode) => {
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

/** Texts in which finding "(sensitive)" proves something. */
function secretText(): fc.Arbitrary<string> {
  return fc
    .string({ unit: "grapheme", minLength: 4, maxLength: 24 })
    .filter((text) => text === text.trim() && !"(sensitive)<<>>".includes(text) && /[A-Za-z0-9]/.test(text));
}

const word = fc.string({ unit: fc.constantFrom("a", "b", "%", "\\", " "), minLength: 4, maxLength: 8 });

describe("several secrets", () => {
  test("the longer one wins", () => {
    expect(createRedactor(["hunter2", "hunter22"]).text("hunter22 hunter2")).toBe("(sensitive) (sensitive)");
  });

  test("overlapping ones leave no rest", () => {
    expect(createRedactor(["abcdef", "defghi"]).text("xabcdefghiy")).toBe("x(sensitive)y");
    expect(createRedactor(["abcdefgh", "cdef", "ghij"]).text("abcdefghij")).toBe("(sensitive)");
  });

  test("none is left whatever the text", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.array(word), (secrets, words) => {
        const out = createRedactor(secrets).text(words.join(""));
        for (const secret of secrets) expect(out.includes(secret)).toBe(false);
      }),
    );
  });
});

describe("what is not secret stays", () => {
  test("values under four characters are not looked for", () => {
    expect(createRedactor(["abc", ""]).text("abc abcabc")).toBe("abc abcabc");
    expect(createRedactor(["abcd"]).text("abcd")).toBe("(sensitive)");
  });

  test("text without it is the same text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("x", "y", "%", "\\", "&", "\n") }), (text) => {
        expect(createRedactor(["hunter2!"]).text(text)).toBe(text);
      }),
    );
  });
});

describe("secrets of several lines", () => {
  const key = "-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END KEY-----\n";
  test("whole, and with the signs of a diff before each line", () => {
    const redactor = createRedactor([key]);
    expect(redactor.text(`[${key}]`)).toBe("[(sensitive)]");
    expect(redactor.text(key.trim().replaceAll("\n", "\n    │ + "))).toBe("(sensitive)");
    expect(redactor.text(key.replaceAll("\n", "\r\n").trim())).toBe("(sensitive)");
  });
  test("a line of eight characters by itself", () => {
    expect(createRedactor([key]).text("log: MIIEowIBAAKCAQEA, abc")).toBe("log: (sensitive), abc");
  });
  test("a space where a line was broken", () => {
    expect(createRedactor(["correct horse battery"]).text("is correct\n  horse battery.")).toBe(
      "is (sensitive).",
    );
  });
});

describe("plain data", () => {
  test("strings, keys and numbers", () => {
    const redactor = createRedactor(["4711", "hunter2-pass", "password"]);
    expect(
      redactor.json({ "hunter2-pass": ["a hunter2-pass", 4711, 14711, 1, null, true], password: "password" }),
    ).toEqual({
      "(sensitive)": ["a (sensitive)", "(sensitive)", "(sensitive)", 1, null, true],
      password: "(sensitive)",
    });
  });
});

describe("a text in pieces", () => {
  test("comes out as it would in one piece", () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 3 }),
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "%", "\\", " ", "0"), maxLength: 900 })),
        (secrets, chunks) => {
          const redactor = createRedactor(secrets);
          const stream = redactor.stream();
          const out = chunks.map((chunk) => stream.write(chunk)).join("") + stream.end();
          expect(out).toBe(redactor.text(chunks.join("")));
        },
      ),
    );
  });
  test("is let out before its end", () => {
    const stream = createRedactor(["hunter2"]).stream();
    expect(stream.write("x".repeat(5000)).length).toBeGreaterThan(3000);
    expect(stream.write("hunt")).not.toContain("hunt");
  });
});

test("many secrets in a big output take no time worth mentioning", () => {
  const secrets = [...Array(40).keys()].map((at) => `S3cr3t/${at}-${"x".repeat(at)}="'`);
  const text =
    'testCase.shop.case "description": "Log in with valid credentials 4 %20 \\u00e4 &amp; x"\n'.repeat(
      20_000,
    );
  expect(createRedactor(secrets).text(text)).toBe(text);
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
