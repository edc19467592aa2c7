import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Origin } from "../model/diagnostic.ts";
import { type TascError, invalid } from "../model/error.ts";
import { compileGlob } from "../model/glob.ts";
import {
  type Json,
  type JsonObject,
  type Path,
  defined,
  isArray,
  isObject,
} from "../model/json.ts";
import {
  type PassedIn,
  type Policy,
  QUARANTINE_NOTES,
  type QuarantinePolicy,
  RULE_SUBJECTS,
  type Rule,
  STEPS_POLICIES,
} from "../model/settings.ts";
import { STATE_TLS, type StateTls } from "../state/config.ts";
import { isText, isTexts, maybe, oneOf, shape } from "../model/shape.ts";
import { type Value, type ValueObject, isValueObject } from "../model/value.ts";
import { listWords, nearest } from "./problem.ts";
import { parseDuration } from "./shape.ts";

/**
 * Limits that a manifest cannot set (`--trust FILE`, TASC_TRUST). A pipeline takes the file from a protected branch, so
 * that a pull request can neither send secrets elsewhere, nor read other secrets, nor loosen the policy:
 *
 *     version: 1
 *     origins: [https://service.example.com]   # where the API key may be sent; with a path, only to that address
 *     stateHosts: [db.example.com]             # where state may be kept; db.example.com:5432/app/tasc.state: only there
 *     statePath: .tasc/state                   # the only folder of local state
 *     stateTls: require                        # the weakest sslmode of state; `disable` also allows plain http
 *     stateLock: false                         # allows http state without locks
 *     stateOwner: tasc_apply                   # the role that `state.owner` may name
 *     variables: [TASC_*, QA_*]                # what ${env:} and ${secret:} may read
 *     policy: { maxDisabledPercent: 30 }       # applies together with the project's own; the stricter rule wins
 *     stages: { production: { origins: [https://prod.example.com] } }   # lists replace those above
 *
 * A limit that the file leaves out does not apply, with these exceptions: with `origins` but no `stateHosts`, state may not
 * be on any server; a file with `stages` allows no other stages; and without the lines above, state on a server needs
 * `verify-full` or https, locks, and no `state.owner`.
 */
export interface Trust {
  readonly origins?: readonly string[];
  readonly stateHosts?: readonly string[];
  readonly statePath?: string;
  /** Set by every trust file, as the next one. */
  readonly stateTls?: StateTls;
  readonly stateLock?: boolean;
  readonly stateOwner?: string;
  readonly variables?: readonly string[];
  readonly policy?: Policy;
  /** The stages that the file names. */
  readonly stages?: readonly string[];
}

/**
 * Returns the limits of one stage.
 * @throws TascError for a stage that the file does not allow, unless it is not `used`
 */
export type TrustOf = (stage: string, used: boolean) => Trust;

const LISTS = ["origins", "stateHosts", "variables"] as const;
const NUMBERS = ["maxChanges", "maxDisabledPercent", "maxGenerations", "planExpiry"] as const;
const GLOBS = ["protected", "requireTags"] as const;
const FLAGS = ["sameCommit", "offNeedsReason"] as const;

/**
 * Reads a trust file.
 * @throws TascError if it is invalid in any way, so that no limit is lost to a misspelt key
 */
export async function readTrust(file: string): Promise<TrustOf> {
  const own = [...LISTS, "statePath", "stateTls", "stateLock", "stateOwner", "policy"];
  const root = mapOf(file, "the file", await readYaml(file), ["version", ...own, "stages"]);
  if (root.version !== 1) throw wrong(file, "`version` must be 1");
  const base = trustOf(file, root);
  const stages = new Map(
    Object.entries(mapOf(file, "`stages`", root.stages ?? {})).map(([stage, value]) => {
      const trust = trustOf(file, mapOf(file, `\`stages.${stage}\``, value, own));
      return [
        stage,
        { ...base, ...trust, policy: stricter(base.policy ?? {}, trust.policy ?? {}) },
      ];
    }),
  );
  return (stage, used) => {
    const strictest = { stateTls: "verify-full", stateLock: true } as const;
    const trust = { ...strictest, ...(stages.get(stage) ?? base), stages: [...stages.keys()] };
    if (used && root.stages !== undefined && !stages.has(stage))
      throw invalid(
        "untrusted",
        `The trust file does not allow the stage ${stage}`,
        `Its \`stages\` name ${listWords([...stages.keys()], "and") || "none"}. Add the stage to ${file} on its protected branch; \`{}\` gives it the limits of the file as a whole.`,
      );
    const { origins, stateHosts = [] } = trust;
    return origins === undefined ? trust : { ...trust, stateHosts };
  };
}

async function readYaml(file: string): Promise<Json> {
  const { readSlow } = await import("./yaml/read-slow.ts");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw wrong(file, "there is no such file, or it cannot be read");
  }
  const reading = readSlow(text);
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw wrong(file, `line ${problem?.line ?? 1}: ${problem?.message ?? "it is not YAML"}`);
}

function trustOf(file: string, map: JsonObject): Trust {
  const refuse = (key: string, why: string): never => {
    throw wrong(file, `\`${key}\` ${why}`);
  };
  const [origins, stateHosts, variables] = LISTS.map((key) => textsOf(map, key, refuse));
  for (const glob of variables ?? []) {
    const compiled = compileGlob(glob);
    if ("fault" in compiled) throw wrong(file, `\`${glob}\` in \`variables\`: ${compiled.fault}`);
  }
  const { statePath, stateLock, stateOwner, policy: policyMap = {} } = map;
  const stateTls = STATE_TLS.find((one) => one === map.stateTls);
  if (map.stateTls !== stateTls) return refuse("stateTls", `must be ${listWords(STATE_TLS, "or")}`);
  if (stateLock !== undefined && typeof stateLock !== "boolean")
    return refuse("stateLock", "must be true or false");
  if (stateOwner !== undefined && typeof stateOwner !== "string")
    return refuse("stateOwner", "must be a string");
  const rules = mapOf(file, "`policy`", policyMap, [
    ...NUMBERS,
    ...GLOBS,
    ...FLAGS,
    "quarantine",
    "rules",
    "passedIn",
    "steps",
  ]);
  const own = policyOf(rules, (key, why) => refuse(`policy.${key}`, why));
  const policy = { ...own, ...defined({ pinned: own.protected }) };
  if (statePath !== undefined && typeof statePath !== "string")
    return refuse("statePath", "must be a string");
  const state = { stateHosts, statePath, stateTls, stateLock, stateOwner };
  return defined({ origins, ...state, variables, policy });
}

type Refuse = (key: string, why: string) => void;
type Writable = { -readonly [K in keyof Policy]: Policy[K] };

/**
 * Returns the rules in a map, without invalid ones.
 * @param originOf the place of a rule of one's own, if the map comes from `tasc.yaml`
 */
export function policyOf(
  map: ValueObject,
  refuse: Refuse = () => undefined,
  originOf: (path: Path) => Origin | undefined = () => undefined,
): Policy {
  const policy: Writable = {};
  for (const key of NUMBERS) {
    const limit = map[key];
    const number =
      key === "planExpiry" && typeof limit === "string" ? parseDuration(limit, 30) : limit;
    if (typeof number === "number" && number >= 0) policy[key] = number;
    else if (limit !== undefined) refuse(key, "does not fit");
  }
  for (const key of GLOBS) {
    const texts = textsOf(map, key, refuse);
    if (texts !== undefined) policy[key] = texts;
  }
  for (const key of FLAGS) {
    const { [key]: flag = false } = map;
    if (typeof flag !== "boolean") refuse(key, "must be true or false");
    if (flag === true) policy[key] = true;
  }
  const { onRemove, quarantine, rules, passedIn, steps } = map;
  if (isValueObject(quarantine)) policy.quarantine = quarantineRule(quarantine, refuse);
  else if (quarantine !== undefined) refuse("quarantine", "must be a map");
  if (isValueObject(passedIn)) policy.passedIn = passedInRule(passedIn, refuse);
  else if (passedIn !== undefined) refuse("passedIn", "must be a map");
  if (onRemove === "ignore" || onRemove === "disable") policy.onRemove = onRemove;
  if (isArray(rules))
    policy.rules = rules.flatMap((value, at) => {
      const rule = ruleOf(value, at, refuse);
      // The position of an invalid rule counts, although the rule does not.
      return rule === undefined
        ? []
        : [{ ...rule, ...defined({ origin: originOf(["rules", at]) }) }];
    });
  else if (rules !== undefined) refuse("rules", "must be a list");
  const known = STEPS_POLICIES.find((one) => one === steps);
  if (known !== undefined) policy.steps = known;
  else if (steps !== undefined) refuse("steps", `must be one of ${STEPS_POLICIES.join(", ")}`);
  return policy;
}

function passedInRule(map: ValueObject, refuse: Refuse): PassedIn {
  const foreign = Object.keys(map).find((key) => !/^(?:stage|passes|soak|except)$/.test(key));
  if (foreign !== undefined) refuse(`passedIn.${foreign}`, "is not known");
  const { stage, passes = 1, soak = "0s" } = map;
  if (typeof stage !== "string") refuse("passedIn.stage", "must name a stage");
  const isNumber = typeof passes === "number" && Number.isInteger(passes) && passes >= 1;
  if (!isNumber) refuse("passedIn.passes", "must be an integer of at least 1");
  const time = typeof soak === "string" ? parseDuration(soak, 90, 0) : undefined;
  if (time === undefined) refuse("passedIn.soak", "must be a duration, e.g. `24h`");
  return {
    stage: typeof stage === "string" ? stage : "",
    passes: isNumber ? passes : 1,
    soak: time ?? 0,
    except: textsOf(map, "except", (_, why) => refuse("passedIn.except", why)) ?? [],
  };
}

function quarantineRule(map: ValueObject, refuse: Refuse): QuarantinePolicy {
  const foreign = Object.keys(map).find((key) => !/^(?:maxDays|maxPercent|require)$/.test(key));
  if (foreign !== undefined) refuse(`quarantine.${foreign}`, "is not known");
  const limit = (key: "maxDays" | "maxPercent") => {
    const { [key]: number } = map;
    if (typeof number === "number" && number >= 0) return number;
    if (number !== undefined) refuse(`quarantine.${key}`, "does not fit");
    return undefined;
  };
  const texts = textsOf(map, "require", refuse);
  const require = QUARANTINE_NOTES.filter((note) => texts?.includes(note));
  if (texts?.some((text) => !QUARANTINE_NOTES.some((note) => note === text)))
    refuse("quarantine.require", `can contain ${listWords(QUARANTINE_NOTES, "and")}`);
  return {
    ...defined({ maxDays: limit("maxDays"), maxPercent: limit("maxPercent") }),
    ...(require.length === 0 ? {} : { require }),
  };
}

const isRule = shape({
  name: isText,
  for: oneOf(...RULE_SUBJECTS),
  when: maybe(isText),
  require: isText,
  message: maybe(isText),
  level: maybe(oneOf("warn", "deny")),
});

function ruleOf(value: Value, at: number, refuse: Refuse): Rule | undefined {
  if (isRule(value)) return { ...value, level: value.level ?? "deny" };
  const subjects = listWords(RULE_SUBJECTS, "or");
  refuse(
    `rules[${at}]`,
    `must have \`name\`, \`for\` (${subjects}) and \`require\`, and may have \`when\`, \`message\` and \`level\` (\`warn\` or \`deny\`)`,
  );
  return undefined;
}

/**
 * Combines two policies: the stricter of each rule. `onRemove` is not a limit; the second policy's
 * value wins if set.
 */
export function stricter(a: Policy, b: Policy): Policy {
  const policy: Writable = { ...a, ...b };
  for (const key of NUMBERS)
    if (policy[key] !== undefined) policy[key] = Math.min(a[key] ?? Infinity, b[key] ?? Infinity);
  for (const key of [...GLOBS, "pinned"] as const)
    if (policy[key] !== undefined)
      policy[key] = [...new Set([...(a[key] ?? []), ...(b[key] ?? [])])];
  for (const key of FLAGS) if (a[key] === true) policy[key] = true;
  if (a.quarantine !== undefined && b.quarantine !== undefined)
    policy.quarantine = stricterQuarantine(a.quarantine, b.quarantine);
  const rules = [...(a.rules ?? []), ...(b.rules ?? [])].filter(
    (rule, at, all) => all.findIndex((one) => isSameRule(one, rule)) === at,
  );
  if (rules.length > 0) policy.rules = rules;
  if (a.passedIn !== undefined && b.passedIn !== undefined)
    policy.passedIn = stricterGate(a.passedIn, b.passedIn);
  const steps = STEPS_POLICIES.findLast((one) => one === a.steps || one === b.steps);
  if (steps !== undefined) policy.steps = steps;
  return policy;
}

/** Whether two rules say the same, wherever each of them is written. */
function isSameRule(a: Rule, b: Rule): boolean {
  return isDeepStrictEqual({ ...a, origin: undefined }, { ...b, origin: undefined });
}

/** A stage of the second policy cannot replace that of the first: the first was set for it. */
function stricterGate(a: PassedIn, b: PassedIn): PassedIn {
  return {
    stage: a.stage,
    passes: Math.max(a.passes, b.passes),
    soak: Math.max(a.soak, b.soak),
    except: a.except.filter((glob) => b.except.includes(glob)),
  };
}

function stricterQuarantine(a: QuarantinePolicy, b: QuarantinePolicy): QuarantinePolicy {
  const require = QUARANTINE_NOTES.filter((note) =>
    [a, b].some((one) => one.require?.includes(note)),
  );
  const least = (key: "maxDays" | "maxPercent") =>
    a[key] === undefined || b[key] === undefined ? (a[key] ?? b[key]) : Math.min(a[key], b[key]);
  return {
    ...defined({ maxDays: least("maxDays"), maxPercent: least("maxPercent") }),
    ...(require.length === 0 ? {} : { require }),
  };
}

function textsOf(map: ValueObject, key: string, refuse: Refuse) {
  const texts = map[key];
  if (texts === undefined || isTexts(texts)) return texts;
  refuse(key, "must be a list of strings");
  return undefined;
}

function mapOf(file: string, what: string, value: Json, known?: readonly string[]): JsonObject {
  if (!isObject(value)) throw wrong(file, `${what} must be a map`);
  const foreign = Object.keys(value).find((key) => known?.includes(key) === false);
  if (foreign === undefined) return value;
  const guess = nearest(foreign, known ?? []);
  throw wrong(
    file,
    `unknown key \`${foreign}\`${guess === undefined ? "" : `; did you mean \`${guess}\`?`}`,
  );
}

function wrong(file: string, reason: string): TascError {
  return invalid("bad-trust-file", `The trust file ${file} cannot be used`, `${reason}.`);
}
