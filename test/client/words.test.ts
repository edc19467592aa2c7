import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wordsOf } from "../../src/service/refusal.ts";
import { MAX_ERROR_BYTES, MAX_WORDS } from "../../src/service/request.ts";

const asIs = (text: string): string => text;

function withoutPassword(text: string): string {
  return text.replaceAll("hunter2", "***").replaceAll("hunter  2\n", "***");
}

function words(body: string | Uint8Array): string | undefined {
  return wordsOf(Buffer.from(body), asIs);
}

test.each([
  ["is deep and says nothing", `${'{"message":'.repeat(24)}{}${"}".repeat(24)}`],
  [
    "has long names around many words",
    `${`{"${"k".repeat(600)}":`.repeat(50)}[${'"a",'.repeat(8000)}"a"]${"}".repeat(50)}`,
  ],
  [
    "lists many words in lists of long fields",
    `${`{"field":"${"k".repeat(400)}","errors":`.repeat(40)}[${Array.from({ length: 8000 }, (_, at) => `"${at.toString(36)}"`).join()}]${"}".repeat(40)}`,
  ],
])("a body that %s is processed quickly", (_, body) => {
  const started = process.cpuUsage();
  words(body);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

describe("the service's words", () => {
  test.each<[string, unknown, string | undefined]>([
    ["a message", { message: "no such app" }, "no such app"],
    [
      "a message beside other things",
      { statusCode: 400, message: "no such app", error: "Bad Request" },
      "no such app",
    ],
    [
      "several messages",
      { message: ["app is empty", "url is not a URL"] },
      "app is empty; url is not a URL",
    ],
    ["an error", { error: "no such app" }, "no such app"],
    ["an error with a message", { error: { code: 7, message: "no such app" } }, "no such app"],
    ["OAuth", { error: "invalid_request", error_description: "no such app" }, "no such app"],
    [
      "problem details",
      { type: "about:blank", title: "Not Found", detail: "no such app" },
      "no such app",
    ],
    [
      "problem details without detail",
      { type: "about:blank", title: "Not Found", status: 404 },
      "Not Found",
    ],
    ["errors in a list", { errors: ["one", { message: "two" }] }, "one; two"],
    [
      "errors by field",
      { errors: { name: ["is too short"], url: "is no URL" } },
      "name: is too short; url: is no URL",
    ],
    [
      "a message and particulars",
      { message: "Validation failed", errors: [{ field: "status", message: "is unknown" }] },
      "Validation failed; status: is unknown",
    ],
    [
      "issues with a path",
      {
        success: false,
        error: { name: "ZodError", issues: [{ path: ["a", 0, "b"], message: "Required" }] },
      },
      "a.0.b: Required",
    ],
    [
      "constraints",
      [{ property: "app", constraints: { isString: "app must be a string" } }],
      "app: isString: app must be a string",
    ],
    [
      "other names",
      { code: "NOT_FOUND", hint: "look elsewhere" },
      "code: NOT_FOUND; hint: look elsewhere",
    ],
    ["the same twice", { message: "no", errors: ["no"] }, "no"],
    ["an empty message", { message: "", error: "Bad Request" }, "Bad Request"],
    ["a string", "no such app", "no such app"],
    ["a number", 7, undefined],
    ["null", null, undefined],
    ["an empty object", {}, undefined],
    ["an empty list", [], undefined],
  ])("JSON with %s", (_name, body, said) => {
    expect(words(JSON.stringify(body))).toBe(said);
  });

  test.each([
    ["nothing", "", undefined],
    ["blanks", " \n\t", undefined],
    ["plain text", "no such app\n", "no such app"],
    ["several lines", "no\r\n  such\n\napp", "no such app"],
    ["JSON that is cut off", '{"message":"no', '{"message":"no'],
    ["a byte order mark", '\ufeff{"message":"no"}', "no"],
    ["brackets without end", "[".repeat(300), "[".repeat(300)],
    [
      "a page",
      "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>a{}</style></head><body><h1>Bad&nbsp;Gateway</h1><script>x<y</script><!-- hidden --> &lt;nginx&gt; &#33;&#x21;</body></html>",
      "502 Bad Gateway Bad Gateway <nginx> !!",
    ],
    ["a page whose script has no end", "<h1>no</h1><script>x<y", "no"],
    ["a page whose comment has no end", "<h1>no</h1><!-- x<y", "no"],
    ["a piece of a page", "<p>no such <b>app</b></p>", "no such app"],
    [
      "text with an odd entity",
      "<p>&unknown; &#99999999; &#x110000;</p>",
      "&unknown; &#99999999; &#x110000;",
    ],
  ])("%s", (_name, body, said) => {
    expect(words(body)).toBe(said);
  });

  test("contain no terminal sequences, control characters or characters that reverse the text", () => {
    expect(words("\u001b[31mred\u001b[0m \u0007bell\u202e turned\u200b \u0000 \u009b end")).toBe(
      "red bell turned end",
    );
  });

  test("are redacted before blanks are normalised, because a secret may contain blanks", () => {
    expect(wordsOf(Buffer.from("not hunter  2\n!"), withoutPassword)).toBe("not ***!");
  });

  test("are redacted before they are shortened, and again if hidden characters split a secret", () => {
    expect(
      wordsOf(Buffer.from(`${"x".repeat(MAX_WORDS - 4)} hunter2`), withoutPassword),
    ).not.toContain("hun");
    expect(wordsOf(Buffer.from("hunt\u200ber2"), withoutPassword)).toBe("***");
  });

  test("contain no beginning of a secret that the limit on bodies cut off", () => {
    for (const blank of [" ", "<b></b>"]) {
      const body = blank.repeat(MAX_ERROR_BYTES).slice(0, MAX_ERROR_BYTES - 6);
      for (const start of ["", "<p>"])
        expect(
          wordsOf(
            Buffer.from(`${start}${body}hunter`).subarray(-MAX_ERROR_BYTES),
            withoutPassword,
          ) ?? "",
        ).not.toContain("hunter");
    }
    expect(words(`It is full. ${" ".repeat(MAX_ERROR_BYTES)}`)).toBe("It is full.");
  });

  test("law: any bytes give at most one short clean line", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 2000 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (body) => {
          const said = words(body) ?? "-";
          expect(said).not.toMatch(/[\p{Cc}\p{Cs}]/u);
          expect(said.trim()).not.toBe("");
          expect(Array.from(said).length).toBeLessThanOrEqual(MAX_WORDS);
        },
      ),
      { numRuns: 500 },
    );
  });
});
