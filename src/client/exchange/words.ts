import { type Json, type JsonArray, type JsonObject, isArray, isObject } from "../../model/json.ts";
import { MAX_DEPTH, MAX_WORDS } from "../bounds.ts";
import { isDeeper, withoutBom } from "../json/bytes.ts";
import { parseJsonText } from "../json/text.ts";
import { textOfHtml } from "./html-text.ts";

/** Removes what must not show from a text. Asked before the text is cut, which could leave half a secret. */
export type Redact = (text: string) => string;

/**
 * What the service says in the body of an error. service-api.md, "Errors": shape not shown, so this takes the
 * shapes that services have: JSON with its message under one of many names, HTML, plain text, nothing.
 * @returns one line without control characters, of at most MAX_WORDS characters; undefined if nothing is said
 */
export function wordsOf(body: Uint8Array, redact: Redact): string | undefined {
  const bytes = withoutBom(body);
  const text = new TextDecoder().decode(bytes);
  const json = isDeeper(bytes, MAX_DEPTH) ? undefined : parseJsonText(text);
  const said = json?.ok === true ? wordsOfJson(json.value).join("; ") : wordsOfText(text);
  // Once more on the line, in case a secret was hidden by characters that are gone now.
  const line = redact(oneLine(redact(said)));
  return line === "" ? undefined : cut(line);
}

function wordsOfText(text: string): string {
  return /^\s*<[!a-z]/i.test(text) ? textOfHtml(text) : text;
}

/** Names under which services say what is wrong, the most telling first; only the first that says something counts. */
const MAIN_KEYS = [
  "message",
  "error_description",
  "detail",
  "error",
  "title",
  "description",
  "reason",
  "msg",
];
/** Names under which they list particulars, which are added to it. */
const LIST_KEYS = ["errors", "details", "issues", "violations", "constraints"];
/** Names under which an item of such a list says what it is about. */
const SUBJECT_KEYS = ["field", "property", "param", "path", "pointer", "loc"];

function wordsOfJson(json: Json): readonly string[] {
  if (typeof json === "string") return json.trim() === "" ? [] : [json.trim()];
  if (isArray(json)) return json.flatMap(wordsOfJson);
  return isObject(json) ? wordsOfObject(json) : [];
}

function wordsOfObject(object: JsonObject): readonly string[] {
  const main =
    MAIN_KEYS.map((key) => wordsOfJson(object[key] ?? null)).find((words) => words.length > 0) ?? [];
  const listed = LIST_KEYS.flatMap((key) => wordsOfJson(object[key] ?? null));
  const words = [...new Set([...main, ...listed])];
  return words.length > 0 ? about(subjectOf(object), words) : wordsUnderAnyName(object);
}

function wordsUnderAnyName(object: JsonObject): readonly string[] {
  return Object.entries(object).flatMap(([key, value]) => about(key, wordsOfJson(value)));
}

function about(subject: string | undefined, words: readonly string[]): readonly string[] {
  return subject === undefined ? words : words.map((word) => `${subject}: ${word}`);
}

function subjectOf(object: JsonObject): string | undefined {
  return SUBJECT_KEYS.map((key) => subjectText(object[key])).find((text) => text !== undefined);
}

function subjectText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return isArray(value) && value.length > 0 ? pathText(value) : undefined;
}

function pathText(path: JsonArray): string | undefined {
  const parts = path.filter((part) => typeof part === "string" || typeof part === "number");
  return parts.length === 0 ? undefined : parts.join(".");
}

/** Terminal sequences as a whole, then all that controls or hides: control and format characters, lone surrogates. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNWANTED = /\u001b\[[0-9;?]*[ -/]*[@-~]|(?!\s)\p{Cc}|[\p{Cf}\p{Cs}]/gu;

function oneLine(text: string): string {
  return text.replace(UNWANTED, "").replace(/\s+/g, " ").trim();
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_WORDS ? text : `${characters.slice(0, MAX_WORDS - 1).join("")}…`;
}
