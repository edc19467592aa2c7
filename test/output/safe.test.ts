import { describe, expect, test } from "vitest";
import {
  annotationMessage,
  annotationProperty,
  html,
  markdownBlock,
  markdownCellCode,
  markdownCode,
  markdownText,
  printedJson,
  safeLine,
  safeLines,
  safeOutput,
  withoutWorkflowCommands,
} from "../../src/render/escape.ts";

describe("one line of external text", () => {
  test.each([
    ["plain text stays", "Log in – ok", "Log in – ok"],
    ["a line break", "a\nb\r\nc", "a\\nb\\r\\nc"],
    ["a tab", "a\tb", "a\\tb"],
    ["a colour", "\u001b[31mred", "\\u001b[31mred"],
    ["C1, where CSI is one character", "\u009b2J\u007f", "\\u009b2J\\u007f"],
    ["a title for the terminal", "\u001b]0;x\u0007", "\\u001b]0;x\\u0007"],
    ["bidirectional controls", "\u202ea\u2066b\u200fc\u061c", "\\u202ea\\u2066b\\u200fc\\u061c"],
    [
      "spaces that show nothing",
      "a\u200bb\ufeffc\u00add\u2060",
      "a\\u200bb\\ufeffc\\u00add\\u2060",
    ],
    ["line separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["invisible letters", "a\u{e0041}", "a\\u{e0041}"],
    ["half a character", "\ud800a", "\\ud800a"],
    ["private use", "\uf8ff", "\\uf8ff"],
    ["a filler that passes for a space", "a\u3164b", "a\\u3164b"],
    ["a sign of Braille without a dot", "a\u2800b", "a\\u2800b"],
  ])("%s", (_, text, expected) => {
    expect(safeLine(text)).toBe(expected);
  });

  test.each([
    ["a family", "👩‍👩‍👧"],
    ["skin colour and profession", "🧑🏽‍🚀"],
    ["a heart", "❤️"],
    ["a keycap", "1️⃣"],
    ["the flag of England", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
    ["a rainbow flag", "🏳️‍🌈"],
    ["Persian with a joiner's opposite", "می‌خواهم"],
    ["Hindi with a joiner", "क्‍ष"],
  ])("%s is not changed", (_, text) => {
    expect(safeLine(text)).toBe(text);
  });

  test.each([
    ["between Latin letters", "a\u200db"],
    ["at the edge of an emoji", "👩\u200d"],
    ["a selector on a letter", "a\ufe0f"],
    ["a selector on a digit, which is no keycap", "case 1\ufe0f"],
    ["between Latin letters with accents", "Fü\u200dße"],
    ["between Cyrillic letters", "вх\u200dод"],
  ])("an invisible character is shown as an escape: %s", (_, text) => {
    expect(safeLine(text)).toMatch(/\\u(200d|fe0f)/);
  });
});

test("several lines keep their breaks and tabs", () => {
  expect(safeLines("a\r\n\tb\rc\u001b")).toBe("a\n\tb\\rc\\u001b");
});

describe("a whole output", () => {
  test("keeps our colours if they are enabled, and no other controls", () => {
    const text = "\u001b[1mbold\u001b[22m \u001b[2J \u001b]0;x\u0007";
    expect(safeOutput(text, { colour: true })).toBe(
      "\u001b[1mbold\u001b[22m \\u001b[2J \\u001b]0;x\\u0007",
    );
    expect(safeOutput(text, { colour: false })).toBe(
      "\\u001b[1mbold\\u001b[22m \\u001b[2J \\u001b]0;x\\u0007",
    );
  });

  test.each([
    ["at the start of a line", "::error::x", ": :error::x"],
    ["after white space", "a\n \t\u3000::stop-commands::x", "a\n \t\u3000: :stop-commands::x"],
    ["with something invisible between", "\u200b:\ufe0f:error::x", "\u200b: \ufe0f:error::x"],
    ["anywhere in the old form", "a ##[group]b", "a # #[group]b"],
    ["of Azure and TeamCity", "##vso[x] ##teamcity[y]", "# #vso[x] # #teamcity[y]"],
    ["but not in the middle of a line", "a::b", "a::b"],
    ["nor a heading", "## Heading [x]", "## Heading [x]"],
  ])("neutralizes workflow commands: %s", (_, text, expected) => {
    expect(withoutWorkflowCommands(text)).toBe(expected);
  });

  test("with invisible blanks is checked in less than 1 s of CPU time", () => {
    const started = process.cpuUsage();
    expect(withoutWorkflowCommands("\ufeff".repeat(28))).toBe("\ufeff".repeat(28));
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  });
});

describe("the escape functions", () => {
  test.each([
    [annotationMessage, "a%b\nc:d,e", "a%25b%0Ac:d,e"],
    [annotationMessage, "##[group]x\r\ny\r", "# #[group]x%0Ay\\r"],
    [annotationProperty, "a:b,c%\n", "a%3Ab%2Cc%25%0A"],
    [markdownCode, "a", "`a`"],
    [markdownCode, "", ""],
    [markdownCode, "a `b` ``c", "```a `b` ``c```"],
    [markdownCode, "`a`", "`` `a` ``"],
    [markdownCode, " a ", "`  a  `"],
    [markdownCode, "a\nb", "`a\\nb`"],
    [markdownCode, "##[error]x", "`# #[error]x`"],
    [markdownCellCode, "a\\b", "`a\\b`"],
    [markdownCellCode, "a|b\\|c", "<code>a&#124;b&#92;&#124;c</code>"],
    [markdownText, "a_b @x #1", "a&#95;b &#64;&#8203;x &#35;&#8203;1"],
    [markdownText, "see 1234567890abcdef", "see 1&#8203;234567890abcdef"],
    [html, `<a href="x" b='y'>&\``, "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;&#96;"],
    [html, "]]>\n ::error", "]]&gt;\n &#58;:error"],
    [html, "\u0000\uffff\ud800", "\\u0000\\uffff\\ud800"],
    [
      printedJson,
      '"\u009b\u202e\u{e0041} ##[x]"',
      '"\\u009b\\u202e\\udb40\\udc41 \\u0023\\u0023[x]"',
    ],
  ])("%o of %j", (escape, text, expected) => {
    expect(escape(text)).toBe(expected);
  });

  test("a Markdown block has a longer fence than any fence in its text", () => {
    expect(markdownBlock("a\n````\nb", "diff")).toBe("`````diff\na\n````\nb\n`````\n");
    expect(markdownBlock("`\n".repeat(300_000), "")).toMatch(/^```\n`\n/);
  });
});
