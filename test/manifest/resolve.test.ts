// How one declared value is filled in, converted and hidden.
import { expect, test } from "vitest";
import { Interpolator } from "../../src/manifest/interpolation.ts";
import type { ManifestProblem } from "../../src/manifest/problem.ts";
import { resolveValue } from "../../src/manifest/resolve.ts";
import { type ManifestPart, bare } from "../../src/manifest/shape.ts";
import { type Json, isArray } from "../../src/model/json.ts";
import { Secret, UNKNOWN, type Value, isValueObject } from "../../src/model/value.ts";

const TEXT = bare({ type: "string" });
const HIDDEN: ManifestPart = { ...TEXT, sensitive: true };
const PASSWORD: ManifestPart = { ...TEXT, secret: true };
const OPEN: ManifestPart = { ...TEXT, open: true };
const NUMBER = bare({ type: "integer" });
const SWITCH = bare({ type: "enum", values: ["ON", "OFF"] });
const HEADERS = bare({ type: "map", of: { type: "string" }, sensitive: true });
const ACCOUNT = bare({ type: "object", parts: { username: TEXT, password: PASSWORD } });

/** Resolves a value, and returns it with secrets in words, what must not show, and the problems. */
function resolved(part: ManifestPart, json: Json) {
  const interpolator = new Interpolator({
    stage: "dev",
    env: { HOST: "host", PORT: "80", PASS: " pass word ", EMPTY: "" },
    files: new Map(),
    vars: new Map(),
    allowMissingSecrets: true,
  });
  const problems: ManifestProblem[] = [];
  const path = ["testCases", "login"];
  const value = resolveValue(part, json, path, {
    interpolator,
    originOf: (at) => ({ file: "a.yaml", path: at }),
    report: (problem) => problems.push(problem),
  });
  const told = problems.map(({ code, severity, summary, detail, within, origin }) =>
    [severity, code, origin.path.join("."), within, summary, detail].join(" | "),
  );
  return { value: inWords(value), hidden: [...interpolator.secrets], told };
}

function inWords(value: Value): Json {
  if (value instanceof Secret)
    return `secret ${value.reveal()} of ${value.literal ?? "no template"}`;
  if (value === UNKNOWN) return "unknown";
  if (isArray(value)) return value.map(inWords);
  if (!isValueObject(value)) return typeof value === "object" ? null : value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inWords(part)]));
}

const rows: readonly (readonly [string, ManifestPart, Json, Json, readonly string[]])[] = [
  ["a text", TEXT, "a", "a", []],
  ["a text with a variable", TEXT, "http://${env:HOST}:${env:PORT}", "http://host:80", []],
  ["a text with a literal", TEXT, "$${env:HOST}", "${env:HOST}", []],
  ["null", HIDDEN, null, null, []],
  ["a list", bare({ type: "list", of: { type: "string" } }), ["${stage}", "b"], ["dev", "b"], []],
  [
    "plain data of any shape",
    bare({ type: "json" }),
    { a: ["${stage}", 1, null] },
    { a: ["dev", 1, null] },
    [],
  ],
  ["a number from a text", NUMBER, "${env:PORT}", 80, []],
  ["a number", NUMBER, 5, 5, []],
  ["a word of some", SWITCH, "${env:SWITCH:-ON}", "ON", []],
  [
    "a secret in a text",
    TEXT,
    "a${secret:PASS}",
    "secret a pass word  of a(sensitive)",
    [" pass word ", "pass word", "a pass word ", "a pass word"],
  ],
  ["a hidden text", HIDDEN, "a", "secret a of no template", ["a"]],
  ["a hidden number", HIDDEN, 5, "secret 5 of no template", ["5"]],
  [
    "a hidden text with a variable",
    HIDDEN,
    "${env:HOST}!",
    "secret host! of (sensitive)!",
    ["host!"],
  ],
  ["a hidden text with a literal", HIDDEN, "$${a", "secret ${a of ${a", ["${a"]],
  [
    "headers",
    HEADERS,
    { A: "${env:HOST}", B: "b", C: 1 },
    { A: "secret host of (sensitive)", B: "secret b of no template", C: "secret 1 of no template" },
    ["host", "b", "1"],
  ],
  [
    "a password",
    ACCOUNT,
    { username: "${env:HOST}", password: "${secret:PASS}" },
    { username: "host", password: "secret  pass word  of (sensitive)" },
    [" pass word ", "pass word"],
  ],
];
test.each(rows)("%s", (_, part, json, value, hidden) => {
  expect(resolved(part, json)).toEqual({ value, hidden, told: [] });
});

const wrong: readonly (readonly [string, ManifestPart, Json, string, string])[] = [
  [
    "a password in clear",
    PASSWORD,
    "${env:HOST}",
    "error | secret-in-clear | testCases.login | ${env:HOST} | `testCases.login` must come from a secret or a file",
    "At `testCases.login`. `${env:HOST}` brings in other values. Write `${secret:NAME}` or `${file:path}`; a `${var:name}` is possible if it resolves to nothing but these.",
  ],
  [
    "a secret where others refer to it",
    OPEN,
    "${secret:PASS}",
    "error | secret-misplaced | testCases.login | ${secret:PASS} | `testCases.login` cannot be a secret",
    "At `testCases.login`. `${secret:PASS}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
  ],
  [
    "a secret number",
    NUMBER,
    "${secret:PASS}",
    "error | secret-misplaced | testCases.login | ${secret:PASS} | `testCases.login` cannot be a secret",
    "At `testCases.login`. `${secret:PASS}` contains a secret, and this value is shown in plans and messages. Use `${env:NAME}` instead.",
  ],
  [
    "no number",
    NUMBER,
    "${env:HOST}",
    "error | bad-value | testCases.login | ${env:HOST} | `testCases.login` must be an integer",
    'At `testCases.login`. `${env:HOST}` resolved to the string "host".',
  ],
  [
    "a secret word of some that is none",
    SWITCH,
    "${secret:PASS}",
    "error | bad-value | testCases.login | ${secret:PASS} | `testCases.login` must be one of `ON` or `OFF`",
    "At `testCases.login`. `${secret:PASS}` resolved to a string.",
  ],
];
test.each(wrong)("%s", (_, part, json, about, detail) => {
  const found = resolved(part, json);
  expect([found.value, found.told]).toEqual(["unknown", [`${about} | ${detail}`]]);
});

test("a missing secret is unknown, and only that is told", () => {
  for (const part of [TEXT, HIDDEN, PASSWORD, SWITCH]) {
    const { value, told } = resolved(part, "${secret:NONE}");
    const [about = "", ...others] = told.map((one) => one.split(" | ").slice(0, 4).join(" | "));
    expect([value, about, others]).toEqual([
      "unknown",
      "warning | missing-secret | testCases.login | ${secret:NONE}",
      [],
    ]);
  }
});

test("a place inside a value is told", () => {
  const { told } = resolved(bare({ type: "list", of: { type: "integer" } }), [1, "${env:HOST}"]);
  expect(told.map((one) => one.split(" | ")[2])).toEqual(["testCases.login.1"]);
});
