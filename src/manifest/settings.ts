import { normalize } from "node:path";
import { type Layer, originIn } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Json, type Path, defined, isObject } from "../model/json.ts";
import type { Policy, Settings, StateSettings } from "../model/settings.ts";
import { urlOf } from "../model/shape.ts";
import { Secret, Unknown, type Value, type ValueObject, isValueObject } from "../model/value.ts";
import { checkBaseUrl } from "../service/request.ts";
import { sameService } from "../state/backend.ts";
import { STATE_FOLDER, stateServers } from "../state/config.ts";
import { StateFailure } from "../state/problem.ts";
import { type Document, PROJECT_FILE } from "./document.ts";
import { type ManifestProblem, didYouMean, listWords, manifestProblem, nearest } from "./problem.ts";
import {
  CREDENTIAL,
  type Interpolator,
  MISSING_SECRET,
  type Variable,
  isTemplate,
  parseTemplate,
  placeholdersIn,
} from "./interpolation.ts";
import { type ResolveContext, mergedAt, resolveValue } from "./resolve.ts";
import { type Branches, bare, foreignKeys, parseDuration, parseRate } from "./shape.ts";
import { POLICY, SERVICE, STATE, STATE_BRANCHES } from "./tables.ts";
import { type Trust, policyOf, stricter } from "./trust.ts";

interface SettingsRequest {
  readonly stage: string;
  readonly stages: readonly string[];
  readonly layers: readonly Layer[];
  readonly interpolator: Interpolator;
  readonly needsApiKey: boolean;
  /** Whether something stands at a path, in any layer, that was found wrong before. */
  readonly isInvalid: (path: Path) => boolean;
  /** Limits that the project cannot set. */
  readonly trust: Trust;
  /** Whether a file that `${file:…}` names is in git; asked within limits alone. */
  readonly isCommitted: (file: string) => boolean;
  readonly report: (problem: ManifestProblem) => void;
}

interface SettingsContext extends SettingsRequest, ResolveContext {
  readonly reportAt: (code: string, path: Path, summary: string, detail: string, within?: string) => void;
}

/** The settings of one stage: merged, filled in, completed with defaults. */
export function resolveSettings(request: SettingsRequest): Settings {
  const { layers, stage, stages, trust, report } = request;
  const originOf = (path: Path): Origin => originIn(layers, path) ?? { file: PROJECT_FILE, path };
  const reportAt = (code: string, path: Path, summary: string, detail: string, within?: string): void =>
    report(manifestProblem(code, originOf(path), summary, detail, defined({ within })));
  const context: SettingsContext = { ...request, originOf, reportAt };
  const { baseUrl, apiKey, concurrency, requestTimeout, retries, rateLimit } = resolveService(context);
  const state = resolveState(context);
  const settings: Settings = {
    stage,
    stages,
    baseUrl: typeof baseUrl === "string" ? baseUrl.replace(/(?<!\/)\/+$/, "") : "",
    apiKey: apiKey instanceof Secret ? apiKey : undefined,
    concurrency: Number(concurrency),
    requestTimeout: (typeof requestTimeout === "string" && parseDuration(requestTimeout)) || 0,
    retries: Number(retries),
    ...(typeof rateLimit === "string" ? { rateLimit: parseRate(rateLimit) ?? 1 } : {}),
    state,
    policy: stricter(trust.policy ?? {}, resolvePolicy(context)),
  };
  refuseUntrusted(settings, context);
  return settings;
}

const BASE_URL = ["service", "baseUrl"];
const FINGERPRINT_KEY = ["state", "fingerprintKey"];
const [SERVICE_PART, STATE_PART, POLICY_PART] = [bare(SERVICE), bare(STATE), bare(POLICY)];
const SERVICE_DEFAULTS = Object.fromEntries(
  Object.entries(SERVICE.parts).flatMap(([key, { default: value }]) =>
    value === undefined ? [] : [[key, value]],
  ),
);

/** Where nobody needs the API key, it is left alone unless it is there; an address that is refused is not resolved. */
function resolveService(context: SettingsContext): ValueObject {
  const { layers, interpolator, needsApiKey, isInvalid, report, reportAt } = context;
  const merged = mergedAt(layers, ["service"]);
  const { apiKey, baseUrl, ...rest } = isObject(merged) ? merged : {};
  const misplaced = typeof baseUrl === "string" ? firstMisplaced(baseUrl, interpolator) : undefined;
  if (misplaced !== undefined)
    reportAt(
      "base-url-interpolation",
      BASE_URL,
      `\`${misplaced}\` cannot be part of \`service.baseUrl\``,
      `The API key is sent to this address. Only \`\${env:…}\`, \`\${var:…}\` and \`\${stage}\` are interpolated in it, and only before its path.`,
      misplaced,
    );
  const faults = !needsApiKey && typeof apiKey === "string" ? interpolator.fill(apiKey).problems : [];
  const isLeftAlone = faults.length > 0 && faults.every(({ code }) => code === MISSING_SECRET);
  const wanted = {
    ...rest,
    ...defined({
      apiKey: isLeftAlone ? undefined : apiKey,
      baseUrl: misplaced === undefined ? baseUrl : undefined,
    }),
  };
  const service = { ...SERVICE_DEFAULTS, ...mapOf(resolveValue(SERVICE_PART, wanted, ["service"], context)) };
  const needed = {
    ...(misplaced === undefined ? { baseUrl: "https://service.example.com" } : {}),
    ...(needsApiKey ? { apiKey: "${secret:TASC_API_KEY}" } : {}),
  };
  for (const [key, example] of Object.entries(needed)) {
    if (service[key] !== undefined || isInvalid(["service", key])) continue;
    const origin = originIn(layers, ["service"]) ?? { file: PROJECT_FILE, path: [] };
    const detail = `Every request needs it. Add it to tasc.yaml, for the project or for the stage: \`service: { ${key}: "${example}" }\`.`;
    report(manifestProblem("missing-key", origin, `\`service.${key}\` is missing`, detail));
  }
  if (typeof service.baseUrl !== "string") return service;
  // What no call could be sent to. That plain http is allowed is for the command line to say.
  const checked = checkBaseUrl(service.baseUrl, { insecure: true });
  if (!checked.ok) reportAt(checked.failure.code, BASE_URL, checked.failure.summary, checked.failure.detail);
  return service;
}

/**
 * The first placeholder that the service's address may not have where it is. The address decides who gets the API key, and
 * what stands in it goes there with every call: it is made of what a reviewer sees, and of environment variables in its
 * host alone. @param before variables that are being looked into
 */
function firstMisplaced(
  text: string,
  interpolator: Interpolator,
  before: readonly string[] = [],
): string | undefined {
  let prefix = "";
  for (const part of parseTemplate(text).parts) {
    if (part.kind === "text") {
      prefix += part.text;
      continue;
    }
    const isInHost = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*)?$/.test(prefix);
    if (!isInHost || part.kind === "secret" || part.kind === "file") return part.source;
    const { kind, name } = part;
    const inner = kind === "var" && !before.includes(name) ? interpolator.variable(name) : undefined;
    if (inner !== undefined && firstMisplaced(prefix + inner, interpolator, [...before, name]) !== undefined)
      return part.source;
    prefix += inner !== undefined && !isTemplate(inner) ? inner : "x";
  }
  return undefined;
}

/** A stage that names another backend than the project does starts from nothing: options of one mean nothing to another. */
function resolveState(context: SettingsContext): StateSettings {
  const { layers, interpolator, isInvalid, reportAt } = context;
  const declared = mergedAt(layers, ["state", "backend"]);
  const named = typeof declared === "string" ? interpolator.fill(declared).value : undefined;
  const backend = named === "postgres" || named === "http" ? named : "local";
  const setIn = (key: string): number =>
    layers.findLastIndex(({ value }) => isObject(value.state) && value.state[key] !== undefined);
  const foreign = foreignKeys(STATE_BRANCHES, backend);
  const merged = mergedAt(layers, ["state"]);
  const own = Object.entries(isObject(merged) ? merged : {}).filter(([key]) => {
    if (!foreign.includes(key)) return true;
    const { file, path } = context.originOf(["state", key]);
    if (setIn(key) >= setIn("backend")) context.report(foreignKey(file, path, STATE_BRANCHES, backend));
    return false;
  });
  const { fingerprintKey, ...rest } = mapOf(
    resolveValue(STATE_PART, Object.fromEntries(own), ["state"], context),
  );
  for (const key of STATE_BRANCHES.required[backend] ?? [])
    if (rest[key] === undefined && !isInvalid(["state", key]) && !isInvalid(["state"])) {
      const detail = `The ${backend} backend requires it. Add it to tasc.yaml, for the project or for the stage.`;
      reportAt("missing-key", ["state"], `\`state.${key}\` is missing`, detail);
    }
  for (const [key, text] of own) {
    if (typeof text !== "string") continue;
    const { value, pieces } = interpolator.fill(text);
    // What is repeated, or stands beside it, makes a password no harder to guess.
    const isWeak = pieces.every(({ length }) => length < SHORTEST_FINGERPRINT_KEY);
    if (key === "fingerprintKey" && fingerprintKey instanceof Secret && isWeak)
      reportAt(
        "weak-fingerprint-key",
        FINGERPRINT_KEY,
        `\`state.fingerprintKey\` has no secret of ${SHORTEST_FINGERPRINT_KEY} or more characters`,
        "A weak key lets others test guessed passwords against the fingerprints in state. Use a random value, e.g. from `openssl rand -base64 32`.",
      );
    // Whether anything of the password is there without what secrets and files put into it.
    const literal = pieces.reduce((left, piece) => left.replaceAll(piece, ""), String(value));
    if (/^[a-z]+:\/\/[^:@/]*:[^@/]+@/.test(literal))
      reportAt(
        "secret-in-clear",
        ["state", key],
        `The password in \`state.${key}\` must come from a secret or a file`,
        "Write the whole address, or at least the password, as `${secret:NAME}`. Secrets written in the file stay in git history.",
      );
    // A secret that is only a part of an address is cut where an address is: its pieces become server, port and database.
    for (const piece of pieces.filter((one) => !/^[a-z]+:\/\//.test(one)))
      for (const part of [piece, piece.toLowerCase()].flatMap((one) => one.split(/[/:,@?#&=\\]+/)))
        interpolator.protect(part);
  }
  const options: Record<string, StateSettings["options"][string]> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (value instanceof Secret) for (const part of secretParts(value)) interpolator.protect(part);
    if (key !== "backend" && (value instanceof Secret || typeof value !== "object")) options[key] = value;
  }
  return {
    backend,
    ...(fingerprintKey instanceof Secret ? { fingerprintKey } : {}),
    ...(fingerprintKey instanceof Unknown ? { fingerprintKeyUnknown: true } : {}),
    options,
  };
}

/** What is secret by itself in an address that is one as a whole, since messages say where state is: password and tokens. */
function secretParts(address: Secret): readonly string[] {
  const text = address.reveal();
  if (!URL.canParse(text)) return [];
  const { password, hostname, pathname, searchParams } = new URL(text);
  // By the time that an address is shown, something else stands in place of `{stage}` and `{target}`.
  const tokens = [
    ...pathname.split(/\/|%7B(?:stage|target)%7D/),
    ...[...searchParams.values()].flatMap((value) => value.split(/\{(?:stage|target)\}/)),
  ];
  return [
    // What becomes another name of a server on the way: a number an address, umlauts `xn--`.
    ...(text.toLowerCase().includes(hostname) ? [] : [hostname]),
    ...(/^.{8,}$/.test(password) && /[^A-Za-z]/.test(password) ? [password] : []),
    ...tokens.filter((token) => /^(?=.*\d|.*[a-z][A-Z].*[a-z][A-Z]).{16,}$/.test(token)),
  ];
}

const SHORTEST_FINGERPRINT_KEY = 16;

export function foreignKey(file: string, path: Path, { of }: Branches, value: string): ManifestProblem {
  const key = String(path.at(-1));
  const owners = Object.keys(of).filter((name) => Object.hasOwn(of[name] ?? {}, key));
  return manifestProblem(
    "foreign-key",
    { file, path },
    `\`${key}\` is not an option of the ${value} backend`,
    `It belongs to ${listWords(owners, "and")}. The ${value} backend takes ${listWords(Object.keys(of[value] ?? {}), "and")}.`,
    { at: "key" },
  );
}

/** A stage can only make a policy stricter: who may override it there may not be who wrote it for the project. */
function resolvePolicy(context: SettingsContext): Policy {
  return context.layers.reduce((lower: Policy, { file, path, value }) => {
    if (!isObject(value.policy)) return lower;
    const originOf = (inside: Path): Origin => ({ file, path: [...path, ...inside] });
    const policy = mapOf(resolveValue(POLICY_PART, value.policy, ["policy"], { ...context, originOf }));
    return stricter(lower, policyOf(policy));
  }, {});
}

/** Refuses what goes past the limits of the trust file. */
function refuseUntrusted({ baseUrl, state, stage }: Settings, context: SettingsContext): void {
  const { trust, reportAt, layers } = context;
  const refuse = (path: Path, what: string, allowed: readonly string[]): void => {
    const list = allowed.length === 0 ? "nothing" : listWords(allowed, "and");
    const detail = `Allowed: ${list}. The trust file is set by \`--trust\` or TASC_TRUST; manifests cannot change it.`;
    reportAt("untrusted", path, `The trust file does not allow ${what} in stage ${stage}`, detail);
  };
  const { origins, stateHosts, statePath, variables } = trust;
  const keyAt = mergedAt(layers, FINGERPRINT_KEY) === undefined ? ["service", "apiKey"] : FINGERPRINT_KEY;
  const secret = mergedAt(layers, keyAt);
  if (variables !== undefined && typeof secret === "string" && !isOfCredentials(secret, context))
    refuse(keyAt, "this key of fingerprints", [
      "`${secret:NAME}` with the name of a credential",
      "`${file:PATH}` of a file that is neither in git nor installed",
    ]);
  // With a path it is one address, and without all that is there.
  const isOf = (one: string): boolean =>
    sameService(one, urlOf(one)?.pathname === "/" ? (urlOf(baseUrl)?.origin ?? "") : baseUrl);
  if (baseUrl !== "" && origins?.some(isOf) === false) refuse(BASE_URL, `the service ${baseUrl}`, origins);
  // State knows what a protected test case is called, so whoever chooses its place can get around the policy.
  const folder = statePath ?? (stateHosts?.length === 0 ? STATE_FOLDER : undefined);
  const { path = STATE_FOLDER } = state.options;
  const place = path instanceof Secret ? path.reveal() : String(path);
  const isElsewhere = folder === undefined || normalize(`${place}/`) !== normalize(`${folder}/`);
  if (state.backend === "local" && (folder ?? stateHosts) !== undefined && isElsewhere)
    refuse(
      ["state", "path"],
      "this place of local state",
      folder === undefined ? (stateHosts ?? []) : [folder],
    );
  if (stateHosts === undefined) return;
  const isAllowed = (host: string, place: string): boolean =>
    stateHosts.some((one) => one === place || one.toLowerCase() === host.toLowerCase());
  const strange = new Set(
    serversOf(state).flatMap((one) => (isAllowed(one.host, one.place) ? [] : one.host)),
  );
  const key = state.backend === "postgres" ? "url" : "address";
  for (const host of strange) refuse(["state", key], `state at ${host}`, stateHosts);
}

/** Packages are not in git either, and everybody has them. */
const INSTALLED = /(?:^|[/\\])node_modules[/\\]/i;

/**
 * Whether a key comes from variables that are named like secrets, or from files of the job's own. Whoever knows the key can
 * guess passwords by the digests in a saved plan, and the author of a manifest knows addresses, and what is committed.
 */
function isOfCredentials(text: string, context: SettingsContext, before: readonly string[] = []): boolean {
  return placeholdersIn(text).every((part) => {
    if (part.kind === "secret") return CREDENTIAL.test(part.name);
    if (part.kind === "file") return !INSTALLED.test(part.name) && !context.isCommitted(part.name);
    if (part.kind !== "var" || before.includes(part.name)) return false;
    const inner = context.interpolator.variable(part.name);
    return inner !== undefined && isOfCredentials(inner, context, [...before, part.name]);
  });
}

/** What cannot be read is never connected to. */
function serversOf(state: StateSettings) {
  try {
    return stateServers(state);
  } catch (error) {
    if (error instanceof StateFailure) return [];
    throw error;
  }
}

function mapOf(value: Value | undefined): ValueObject {
  return isValueObject(value) ? value : {};
}

/** What `tasc.yaml` says for a stage, lowest first: the project's own settings, and the stage's. */
export function settingsLayers(project: Document, stage: string): readonly Layer[] {
  const { file, value } = project;
  const base: Layer = { kind: "base", file, path: [], value };
  const stages = isObject(value.stages) ? value.stages : {};
  const own = Object.hasOwn(stages, stage) ? stages[stage] : undefined;
  return isObject(own) ? [base, { kind: "stage", file, path: ["stages", stage], value: own }] : [base];
}

const ONLY_STAGE = "default";

export function stagesOf(project: Document): readonly string[] {
  const { stages } = project.value;
  const declared = isObject(stages) ? Object.keys(stages) : [];
  return declared.length === 0 ? [ONLY_STAGE] : declared;
}

/** The stage by `--stage`, else TASC_STAGE, else `defaultStage`, else the one named `default`, else the only one. */
export function chooseStage(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): string | ManifestProblem {
  const { file, value } = project;
  const stages = stagesOf(project);
  const asked: [stage: Json | undefined, source: string][] = [
    [option, "--stage"],
    [variable === "" ? undefined : variable, "TASC_STAGE"],
    [value.defaultStage, "defaultStage"],
  ];
  const [requested, source] = asked.find(([stage]) => typeof stage === "string") ?? [];
  const only = stages.length === 1 ? stages[0] : undefined;
  const stage = requested ?? (stages.includes(ONLY_STAGE) ? ONLY_STAGE : only);
  if (typeof stage === "string" && stages.includes(stage)) return stage;
  const inFile = source === "defaultStage" ? source : "stages";
  const origin = { file, path: value[inFile] === undefined ? [] : [inFile] };
  const known = stagesInWords(stages);
  if (typeof requested !== "string") {
    const detail = `${known} Choose one with \`--stage\`, TASC_STAGE, or \`defaultStage:\` in ${file}.`;
    return manifestProblem("no-stage", origin, "No stage is selected", detail);
  }
  const summary = `There is no stage \`${requested}\``;
  const detail = `\`${source}\` asks for it. ${known}${didYouMean(nearest(requested, stages))}`;
  return manifestProblem("unknown-stage", origin, summary, detail);
}

export function stagesInWords(stages: readonly string[]): string {
  return `The project has ${stages.length === 1 ? "the stage" : "the stages"} ${listWords(stages, "and")}.`;
}

export function variablesOf(layers: readonly Layer[]): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const { file, path, value } of layers)
    for (const [name, text] of Object.entries(isObject(value.vars) ? value.vars : {}))
      if (typeof text === "string" || typeof text === "number" || typeof text === "boolean")
        variables.set(name, { value: text, origin: { file, path: [...path, "vars", name] } });
  return variables;
}
