import { compareText } from "../model/address.ts";
import { cached } from "../model/collections.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Json, type JsonObject, defined, isArray, isObject } from "../model/json.ts";
import type { LiveElement, LiveResource } from "../model/live.ts";
import type { Acceptance, Step, StepClass, StepDifference } from "../model/steps.ts";
import { SENSITIVE } from "../model/value.ts";
import { alignLists } from "./align.ts";
import type { MatchedTarget } from "./matched-target.ts";
import type { Fingerprinter, LiveSteps, StepsReview } from "./input.ts";
import { generationOf } from "./generation.ts";

/*
 * Reviewed steps (design contract, section 7): the steps of a generated test case as lines of text, and how live steps
 * differ from those that a person accepted. A line has every part that changes what a step does. Two different steps
 * never have the same line, because a line can be read back: bare words come from a small alphabet, and all else is
 * quoted or in brackets.
 */

/** How secrets are written: recognized by value, shown as a fingerprint under the stage's key. */
export interface StepWords {
  readonly isSecret: (text: string) => boolean;
  /** Undefined without the key; redacted text and all fingerprints are then unknown. */
  readonly fingerprints: Fingerprinter | undefined;
}

/** Words of the form; a name of the service that would read like one is quoted. */
const RESERVED: ReadonlySet<string> = new Set(
  "at by do expect failure ignoring nothing or with".split(" "),
);
/** Stands for a missing name or selector. */
const MISSING = "~";

/**
 * Makes a function that returns the properties of a part that service-api.md does not describe. Most
 * services show none, and always in the same order, so the names of the last part are compared
 * before they are looked up: a plan asks for 100,000 parts.
 */
function undescribed(described: string): (part: Json | undefined) => Members {
  const known = new Set(`${OWN} ${described}`.split(" "));
  const last: string[] = [];
  return (part) => {
    if (!isObject(part)) return NONE;
    let at = 0;
    for (const name in part) {
      if (name !== last[at]) {
        if (!known.has(name)) return Object.entries(part).filter(([one]) => !known.has(one));
        last[at] = name;
      }
      at++;
    }
    return NONE;
  };
}

type Members = readonly (readonly [string, Json])[];
const NONE: Members = [];

/** Properties without meaning for what a step does: ids, positions, times and scroll states. */
const OWN = "id index createdAt updatedAt";
const undescribedIn = {
  element: undescribed("testCaseId scrollState interaction assertion selectors ignoreFailure"),
  interaction: undescribed("testCaseElementId action calledWith"),
  assertion: undescribed("testCaseElementId expectation calledWith"),
  selector: undescribed("testCaseElementId scrollStateId selector selectorType options"),
};

/** Returns the steps of a live test case in words. */
export function stepsOf(live: LiveSteps, words: StepWords): readonly Step[] {
  return stepsIn(words)(live);
}

/** The same for many test cases. */
export function stepsIn(words: StepWords): (live: LiveSteps) => readonly Step[] {
  const write = writerOf(words);
  return ({ id, elements = [] }) => elements.map((element) => stepOf(element, id, write));
}

function stepOf({ parts, raw }: LiveElement, testCaseId: string, write: Writer): Step {
  const { interaction, assertion, selectors, ignoreFailure } = parts;
  let found = "";
  for (const one of isArray(selectors) ? selectors : []) {
    if (!isObject(one)) continue;
    const { selectorType, selector, options } = one;
    const how = write.name("by", selectorType);
    found += `${found === "" ? "" : " or "}${how} ${write.value(selector)}${write.options(options)}`;
  }
  return {
    interaction: isObject(interaction)
      ? `${write.name("do", interaction["action"])}${write.argument(interaction["calledWith"])}`
      : "",
    assertion: isObject(assertion)
      ? `expect ${write.expectation(assertion["expectation"])}${write.argument(assertion["calledWith"])}`
      : "",
    selectors: found,
    ignoreFailure: ignoreFailure === true,
    extra: write.object(extraOf(raw, testCaseId)),
  };
}

const PARTS = ["interaction", "assertion"] as const;

function extraOf(raw: JsonObject, testCaseId: string): Members {
  const { selectors, testCaseId: of } = raw;
  // Nothing is added to nearly all of 100,000 elements, so no list is made for them.
  let found = undescribedIn.element(raw);
  for (const name of PARTS) {
    const own = undescribedIn[name](raw[name]);
    if (own.length > 0) found = [...found, [name, Object.fromEntries(own)]];
  }
  if (isArray(selectors) && selectors.some(isUndescribed)) {
    const own = selectors.map((one) => Object.fromEntries(undescribedIn.selector(one)));
    found = [...found, ["selectors", own]];
  }
  // A step of another test case is one that calls it.
  return typeof of === "string" && of !== testCaseId ? [...found, ["testCaseId", of]] : found;
}

function isUndescribed(selector: Json): boolean {
  return undescribedIn.selector(selector).length > 0;
}

type Writer = ReturnType<typeof writerOf>;

function writerOf({ isSecret, fingerprints }: StepWords) {
  const isHidden = (text: string): boolean =>
    fingerprints === undefined ? text.includes(SENSITIVE) || isSecret(text) : isSecret(text);
  const secret = (text: string): string =>
    fingerprints === undefined
      ? SENSITIVE
      : `(sensitive ${markOf(fingerprints)}${fingerprints.of("steps", text)})`;
  const text = (value: string): string => (isHidden(value) ? secret(value) : quoted(value));
  const json = (value: Json): string => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number")
      return isHidden(String(value)) ? secret(String(value)) : String(value);
    // An empty object among others is nothing between commas. Alone, it would read as an empty list.
    if (isArray(value)) return `[${value.map(json).join(",") || (value.length === 1 ? "{}" : "")}]`;
    return isObject(value) ? object(Object.entries(value)) : String(value);
  };
  const object = (members: Members): string =>
    members.length === 0
      ? ""
      : `{${members
          .toSorted(([a], [b]) => compareText(a, b))
          .map(([key, value]) => `${text(key)}:${json(value) || "{}"}`)
          .join(",")}}`;
  const isBare = (name: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(name) && !isHidden(name);
  const orMissing = (value: Json | undefined): string =>
    value === undefined || value === null
      ? MISSING
      : typeof value === "string"
        ? text(value)
        : `=${json(value) || "{}"}`;
  const names = { do: new Map<string, string>(), by: new Map<string, string>() };
  return {
    object,
    value: orMissing,
    /** A type of interaction or selector: `click` for CLICK, and any other after a keyword. */
    name: (keyword: "do" | "by", value: Json | undefined): string =>
      typeof value === "string"
        ? cached(names[keyword], value, () => {
            const bare = value.toLowerCase();
            return isBare(value) && !RESERVED.has(bare) ? bare : `${keyword} ${text(value)}`;
          })
        : `${keyword} ${orMissing(value)}`,
    expectation: (value: Json | undefined): string =>
      typeof value === "string" && isBare(value) ? value : orMissing(value),
    argument: (value: Json | undefined): string =>
      value === undefined || value === null ? "" : ` ${orMissing(value)}`,
    options: (value: Json | undefined): string => {
      const all = isObject(value) ? object(Object.entries(value)) : "";
      return all === "" ? "" : ` ${all}`;
    },
  };
}

/** Marks the key of a fingerprint: those of another key cannot be compared. */
function markOf({ keyCheck }: Fingerprinter): string {
  return keyCheck.slice(0, 4);
}

/**
 * Characters that do not show, or that change how others show: controls, bidirectional and other
 * format characters, and spaces but the usual one. A list, because the classes of Unicode grow, and
 * the same steps must give the same bytes with every version of Node.
 */
const UNSEEN = new RegExp(
  String.raw`[\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u1680\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]|\ud834[\udd73-\udd7a]|\udb40[\udc00-\udfff]`,
  "g",
);

/** Most texts: printable, and without `"`, `(` and `\\`. */
const PLAIN = /^[ !#-')-[\]-~]*$/;

/** Returns a text in quotes. `(sensitive` is escaped: unquoted it stands for a secret. */
function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const json = JSON.stringify(text);
  const seen = /^[ -~]*$/.test(json) ? json : json.replaceAll(UNSEEN, escaped);
  return seen.replaceAll("(sensitive", String.raw`\u0028sensitive`);
}

function escaped(unseen: string): string {
  return Array.from(
    unseen.split(""),
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Returns a step as one line, without its number. */
export function lineOf(step: Step): string {
  const { interaction, assertion, selectors, ignoreFailure, extra } = step;
  const does = interaction !== "" && assertion !== "" ? " " : "";
  let line = `${interaction}${does}${assertion}`;
  const add = (part: string): void => {
    line += line === "" ? part : ` ${part}`;
  };
  if (selectors !== "") add(line === "" ? `at ${selectors}` : selectors);
  if (ignoreFailure) add("ignoring failure");
  if (extra !== "") add(`with ${extra}`);
  return line === "" ? "nothing" : line;
}

/** Reads a line back; undefined if it is not one that `lineOf` writes. */
export function readLine(line: string): Step | undefined {
  const tokens = tokensOf(line);
  if (tokens === undefined) return undefined;
  let at = 0;
  const take = (test: (token: string) => boolean): string | undefined => {
    const token = tokens[at];
    if (token === undefined || !test(token)) return undefined;
    at++;
    return token;
  };
  const words = (...some: readonly (string | undefined)[]): string =>
    some.filter((one) => one !== undefined).join(" ");
  const is = (word: string) => take((token) => token === word);
  const isName = (token: string): boolean =>
    /^[a-z][a-z0-9_]*$/.test(token) && !RESERVED.has(token);
  const isValue = (token: string): boolean => /^["(=]/.test(token) || token === MISSING;
  const argument = () => take((token) => /^["(=]/.test(token));
  /** A bare name, or a keyword and any name. */
  const named = (keyword: string): string | undefined => {
    const bare = take(isName);
    if (bare !== undefined || is(keyword) === undefined) return bare;
    return words(keyword, take(isValue) ?? BROKEN);
  };
  const does = named("do");
  const interaction = does === undefined ? "" : words(does, argument());
  const expectation =
    is("expect") && (take((token) => /^[A-Z][A-Z0-9_]*$/.test(token) || isValue(token)) ?? BROKEN);
  const assertion = expectation === undefined ? "" : words("expect", expectation, argument());
  const found: string[] = [];
  const first = interaction + assertion === "" ? is("at") && named("by") : named("by");
  for (let type = first; type !== undefined; type = is("or") && (named("by") ?? BROKEN))
    found.push(
      words(
        type,
        take(isValue) ?? BROKEN,
        take((token) => token.startsWith("{")),
      ),
    );
  const ignoreFailure = is("ignoring") !== undefined && is("failure") !== undefined;
  const extra = is("with") === undefined ? "" : (take((token) => token.startsWith("{")) ?? BROKEN);
  is("nothing");
  const step = { interaction, assertion, selectors: found.join(" or "), ignoreFailure, extra };
  return at === tokens.length && lineOf(step) === line ? step : undefined;
}

/** No token can be this, so a step with it never equals the line that it was read from. */
const BROKEN = "\n";

/** Cuts a line into words, quoted texts, secrets and brackets. */
function tokensOf(line: string): readonly string[] | undefined {
  const tokens: string[] = [];
  for (let at = 0; at <= line.length;) {
    const end = tokenEnd(line, at);
    if (end === undefined || end === at || (end < line.length && line[end] !== " "))
      return undefined;
    tokens.push(line.slice(at, end));
    at = end + 1;
  }
  return tokens;
}

const PIECE = /"[^"\\]*(?:\\.[^"\\]*)*"|\(sensitive(?: [\w-]+)?\)|[{}[\]]|[^\s"(){}[\]]+/y;

/** Returns where a token ends: a bracket as a whole, with the texts in it. */
function tokenEnd(line: string, start: number): number | undefined {
  let depth = 0;
  let at = line[start] === "=" ? start + 1 : start;
  do {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(line)?.[0];
    if (piece === undefined) return undefined;
    at += piece.length;
    if (piece === "{" || piece === "[") depth++;
    if (piece === "}" || piece === "]") depth--;
  } while (depth > 0);
  return at;
}

/**
 * Returns the state of a test case's steps. `undefined` if the policy does not ask for it, or if the
 * manifest declares the steps: then they are reviewed there.
 */
export function reviewed(
  steps: StepsReview | undefined,
  { address, fields }: DesiredResource,
  live: LiveSteps,
): Acceptance | undefined {
  if (steps === undefined || fields["elements"] !== undefined) return undefined;
  return live.acceptance ?? steps.of(address, live);
}

/** A test case of a plan whose steps `policy.steps` compares with accepted ones. */
export interface ReviewedCase {
  readonly resource: DesiredResource<"testCase">;
  readonly live: LiveResource;
  readonly acceptance: Acceptance;
  readonly mode: StepsReview["mode"];
}

/**
 * Returns the live test cases of a plan whose steps are compared, in the order of the manifests.
 * @param isMeant only these, of which there are few among 10,000
 */
export function reviewedCases(
  matched: Pick<ReadonlyMap<string, MatchedTarget>, "values">,
  isMeant: (acceptance: Acceptance) => boolean = () => true,
): readonly ReviewedCase[] {
  const found: ReviewedCase[] = [];
  for (const { steps, target, matches } of matched.values()) {
    if (steps === undefined) continue;
    for (const resource of target.testCases) {
      const live = matches.get(resource.address)?.live;
      if (live === undefined) continue;
      const acceptance = reviewed(steps, resource, live);
      if (acceptance !== undefined && isMeant(acceptance))
        found.push({ resource, live, acceptance, mode: steps.mode });
    }
  }
  return found;
}

/**
 * Compares the live steps of a test case with those that were accepted.
 * @param accepted the steps of its file; undefined without a file
 */
export function acceptanceOf(
  accepted: readonly Step[] | undefined,
  live: LiveSteps,
  words: StepWords,
): Acceptance {
  const steps = stepsOf(live, words);
  if (steps.length === 0 && (accepted ?? []).length === 0) {
    const generation = generationOf(live, { before: "", isFirst: true, needsSteps: false });
    if (generation.kind === "open" && live.discovery !== undefined)
      return { state: "generating", differences: [] };
    const { cause, message } = generation.kind === "failed" ? generation : {};
    const why = [cause, message].filter((one) => (one ?? "") !== "");
    const note = why.length === 0 ? undefined : `the generation failed: ${why.join(", ")}`;
    return { state: "withoutSteps", differences: [], ...defined({ note }) };
  }
  if (accepted === undefined) {
    const at = live.discovery?.updatedAt;
    const note = at === undefined ? undefined : `generated ${at}`;
    return { state: "notAccepted", differences: [], ...defined({ note }) };
  }
  const differences = stepDifferences(accepted, steps, words);
  const worst = (["weakened", "changed", "selector"] as const).find((one) =>
    differences.some((difference) => difference.class === one),
  );
  const state = worst === "selector" ? "selectorOnly" : (worst ?? "accepted");
  return { state, differences };
}

function stepDifferences(
  accepted: readonly Step[],
  live: readonly Step[],
  words: StepWords,
): readonly StepDifference[] {
  const same = (i: number, j: number): boolean => {
    const [before, after] = [accepted[i], live[j]];
    return (
      before !== undefined && after !== undefined && sameText(lineOf(before), lineOf(after), words)
    );
  };
  const { partners, moved } = alignLists(accepted.length, live.length, same);
  const owners = new Map([...partners].map(([i, j]) => [j, i]));
  const removed = accepted.flatMap((step, i): readonly StepDifference[] =>
    partners.has(i)
      ? []
      : [{ kind: "removed", class: "weakened", step: i + 1, before: lineOf(step) }],
  );
  const others = live.flatMap((step, j): readonly StepDifference[] => {
    const [i = -1, after] = [owners.get(j), lineOf(step)];
    const own = accepted[i];
    if (own === undefined) return [{ kind: "added", class: "changed", step: j + 1, after }];
    if (same(i, j) && !moved.has(i)) return [];
    const kind = classOf(own, step, words);
    return [{ kind: "changed", class: kind, step: j + 1, before: lineOf(own), after }];
  });
  return [...removed, ...others].toSorted((a, b) => a.step - b.step);
}

/** Says how much a changed step matters; one that has only moved is changed. */
function classOf(before: Step, after: Step, words: StepWords): StepClass {
  const differs = (part: "interaction" | "assertion" | "selectors" | "extra"): boolean =>
    !sameText(before[part], after[part], words);
  const isLost = (part: "interaction" | "assertion"): boolean =>
    before[part] !== "" && after[part] === "";
  if (isLost("assertion") || (!before.ignoreFailure && after.ignoreFailure)) return "weakened";
  if (isLost("interaction") && after.assertion === "") return "weakened";
  if (differs("interaction") || differs("assertion")) return "changed";
  if (before.ignoreFailure !== after.ignoreFailure) return "changed";
  const isElsewhere = after.assertion !== "" || after.selectors === "";
  if (differs("selectors")) return isElsewhere ? "changed" : "selector";
  return differs("extra") ? "selector" : "changed";
}

const SECRET = /\(sensitive(?: ([\w-]+))?\)/g;

/** Whether a text has fingerprints under another key than the stage's, which read as unknown. */
export function hasOtherKey(text: string, { fingerprints }: StepWords): boolean {
  if (fingerprints === undefined) return false;
  const mark = markOf(fingerprints);
  return [...text.matchAll(SECRET)].some(([, own]) => own !== undefined && !own.startsWith(mark));
}

/** Whether two texts are the same as far as is known: an unknown secret may be any text. */
function sameText(before: string, after: string, { fingerprints }: StepWords): boolean {
  if (before === after) return true;
  if (!before.includes("(sensitive") && !after.includes("(sensitive")) return false;
  const mark = fingerprints && markOf(fingerprints);
  const hide = (text: string): string =>
    text.replaceAll(SECRET, (token, fingerprint: string | undefined) =>
      mark !== undefined && fingerprint?.startsWith(mark) === true ? token : SENSITIVE,
    );
  const [one, other] = [hide(before), hide(after)];
  return one === other || fitsAround(one, other) || fitsAround(other, one);
}

/**
 * Whether a text may be the one that was redacted: what was not redacted of it occurs in this order.
 */
export function fitsAround(redacted: string, text: string): boolean {
  const [first = "", ...rest] = redacted.split(SENSITIVE);
  const last = rest.pop();
  if (last === undefined) return redacted === text;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from;
}

/** Returns the text of a file of accepted steps. */
export function fileText(address: string, steps: readonly Step[]): string {
  let text = `# ${address}\n`;
  let number = 0;
  for (const step of steps) text += `${++number}  ${lineOf(step)}\n`;
  return text;
}

/** Reads a file of accepted steps, or says in which line (from 1) it is wrong, and why. */
export function readFileText(
  text: string,
):
  | { readonly address: string; readonly steps: readonly Step[] }
  | { readonly line: number; readonly why: string } {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const marker = lines.findIndex((line) => /^(<{7}|\|{7}|={7}|>{7})( |$)/.test(line));
  if (marker >= 0) return { line: marker + 1, why: "it has the markers of a merge conflict" };
  const address = /^# (\S+)$/.exec(lines[0] ?? "")?.[1];
  if (address === undefined) return { line: 1, why: "it does not begin with `# ADDRESS`" };
  if (lines.at(-1) === "") lines.pop();
  const steps: Step[] = [];
  for (const [at, line] of lines.entries()) {
    if (at === 0) continue;
    const step = line.startsWith(`${at}  `) ? readLine(line.slice(`${at}  `.length)) : undefined;
    if (step === undefined)
      return { line: at + 1, why: "the line is not a step as tasc writes it" };
    steps.push(step);
  }
  return { address, steps };
}
