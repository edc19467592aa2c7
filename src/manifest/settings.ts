import { normalize } from "node:path";
import { type Layer, originIn } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Json, type Path, defined, isObject } from "../model/json.ts";
import type { Policy, Settings, StateSettings } from "../model/settings.ts";
import { urlOf } from "../model/shape.ts";
import { Secret, Unknown, type Value, type ValueObject, isValueObject } from "../model/value.ts";
import { checkBaseUrl } from "../service/request.ts";
import { sameService } from "../state/backend.ts";
import { STATE_FOLDER, STATE_TLS, stateProtection, stateServers } from "../state/config.ts";
import { StateFailure } from "../state/problem.ts";
import { firstMisplaced } from "./base-url.ts";
import { PROJECT_FILE } from "./document.ts";
import {
  type ManifestProblem,
  didYouMean,
  listWords,
  manifestProblem,
  nearest,
} from "./problem.ts";
import { CREDENTIAL, type Interpolator, MISSING_SECRET } from "./interpolation.ts";
import { placeholdersIn } from "./template.ts";
import { type ResolveContext, mergedAt, resolveValue } from "./resolve.ts";
import { type Branches, bare, foreignKeys, parseDuration, parseRate } from "./shape.ts";
import { POLICY, SERVICE, STATE, STATE_BRANCHES } from "./tables.ts";
import { stagesInWords } from "./stages.ts";
import { type Trust, policyOf, stricter } from "./trust.ts";

interface SettingsSources {
  readonly layers: readonly Layer[];
  readonly interpolator: Interpolator;
  /** Limits that the project cannot set. */
  readonly trust: Trust;
}

interface SettingsRequest extends SettingsSources {
  readonly stage: string;
  readonly stages: readonly string[];
  readonly sourcesOf: (stage: string) => SettingsSources;
  readonly needsApiKey: boolean;
  /** Whether a problem was already reported at a path or above it, in any layer. */
  readonly isInvalid: (path: Path) => boolean;
  /** Whether a file that `${file:…}` names is in git. Only called if a trust file sets limits. */
  readonly isCommitted: (file: string) => boolean;
  readonly report: (problem: ManifestProblem) => void;
}

interface SettingsContext extends SettingsRequest, ResolveContext {
  readonly reportAt: (
    code: string,
    path: Path,
    summary: string,
    detail: string,
    within?: string,
  ) => void;
}

/** Resolves the settings of one stage: merged, filled in, completed with defaults. */
export function resolveSettings(request: SettingsRequest): Settings {
  const { layers, stage, stages, sourcesOf, report } = request;
  const originOf = (path: Path): Origin => originIn(layers, path) ?? { file: PROJECT_FILE, path };
  const reportAt = (
    code: string,
    path: Path,
    summary: string,
    detail: string,
    within?: string,
  ): void => report(manifestProblem(code, originOf(path), summary, detail, defined({ within })));
  const context: SettingsContext = { ...request, originOf, reportAt };
  const { baseUrl, apiKey, concurrency, requestTimeout, retries, rateLimit } =
    resolveService(context);
  const state = resolveState(context);
  // Also those that only the trust file names: the project may no longer have them.
  const others = [...stages, ...(request.trust.stages ?? [])].filter((one) => one !== stage);
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
    policy: resolvePolicy(context),
    // Not as a function, which would keep all documents in memory as long as the settings.
    otherPolicies: new Map(others.map((one) => [one, policyElsewhere(sourcesOf(one))])),
    otherBaseUrls: new Map(others.map((one) => [one, baseUrlElsewhere(sourcesOf(one))])),
  };
  const { passedIn } = settings.policy;
  if (passedIn !== undefined && passedIn.stage !== "" && !stages.includes(passedIn.stage))
    reportAt(
      "unknown-stage",
      ["policy", "passedIn", "stage"],
      `There is no stage \`${passedIn.stage}\``,
      `${stagesInWords(stages)}${didYouMean(nearest(passedIn.stage, stages))}`,
    );
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

/**
 * Resolves `service`. Leaves out an API key that is missing and not needed, and a base URL that is
 * refused.
 */
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
  const faults =
    !needsApiKey && typeof apiKey === "string" ? interpolator.fill(apiKey).problems : [];
  const isLeftAlone = faults.length > 0 && faults.every(({ code }) => code === MISSING_SECRET);
  const wanted = {
    ...rest,
    ...defined({
      apiKey: isLeftAlone ? undefined : apiKey,
      baseUrl: misplaced === undefined ? baseUrl : undefined,
    }),
  };
  const service = {
    ...SERVICE_DEFAULTS,
    ...mapOf(resolveValue(SERVICE_PART, wanted, ["service"], context)),
  };
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
  // Reports addresses that no request can be sent to. Whether plain HTTP is allowed is decided by
  // the command line.
  const checked = checkBaseUrl(service.baseUrl, { insecure: true });
  if (!checked.ok)
    reportAt(checked.failure.code, BASE_URL, checked.failure.summary, checked.failure.detail);
  return service;
}

/**
 * Resolves `state`. If a stage names another backend, the options of the project's backend mean
 * nothing and are dropped.
 */
function resolveState(context: SettingsContext): StateSettings {
  const { layers, interpolator, isInvalid, reportAt } = context;
  const declared = mergedAt(layers, ["state", "backend"]);
  const named = typeof declared === "string" ? interpolator.fill(declared).value : undefined;
  const backend = named === "postgres" || named === "http" ? named : "local";
  const setIn = (key: string): number =>
    layers.findLastIndex(({ value }) => isObject(value.state) && value.state[key] !== undefined);
  const foreign = foreignKeys(STATE_BRANCHES, backend);
  const merged = mergedAt(layers, ["state"]);
  const declaredOptions = Object.entries(isObject(merged) ? merged : {}).filter(([key]) => {
    if (!foreign.includes(key)) return true;
    const { file, path } = context.originOf(["state", key]);
    if (setIn(key) >= setIn("backend"))
      context.report(foreignKey(file, path, STATE_BRANCHES, backend));
    return false;
  });
  const own = declaredOptions.flatMap(([key, value]) => {
    const kept = key === "fingerprintKey" ? keyIfPresent(value, context) : value;
    return kept === undefined ? [] : [[key, kept] as const];
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
    // Repetitions and surrounding text do not make a password harder to guess.
    const isWeak = pieces.every(({ length }) => length < SHORTEST_FINGERPRINT_KEY);
    if (key === "fingerprintKey" && fingerprintKey instanceof Secret && isWeak)
      reportAt(
        "weak-fingerprint-key",
        FINGERPRINT_KEY,
        `\`state.fingerprintKey\` has no secret of ${SHORTEST_FINGERPRINT_KEY} or more characters`,
        "A weak key lets others test guessed passwords against the fingerprints in state. Use a random value, e.g. from `openssl rand -base64 32`.",
      );
    // Looks for a password in the part of the value that does not come from secrets and files.
    const literal = pieces.reduce((left, piece) => left.replaceAll(piece, ""), String(value));
    if (/^[a-z]+:\/\/[^:@/]*:[^@/]+@/.test(literal))
      reportAt(
        "secret-in-clear",
        ["state", key],
        `The password in \`state.${key}\` must come from a secret or a file`,
        "Write the whole address, or at least the password, as `${secret:NAME}`. Secrets written in the file stay in git history.",
      );
    // A secret that is only part of an address is split like an address: its pieces become server,
    // port and database.
    for (const piece of pieces.filter((one) => !/^[a-z]+:\/\//.test(one)))
      for (const part of [piece, piece.toLowerCase()].flatMap((one) => one.split(/[/:,@?#&=\\]+/)))
        interpolator.protect(part);
  }
  const options: Record<string, StateSettings["options"][string]> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (value instanceof Secret) for (const part of secretParts(value)) interpolator.protect(part);
    if (key !== "backend" && (value instanceof Secret || typeof value !== "object"))
      options[key] = value;
  }
  return {
    backend,
    ...(fingerprintKey instanceof Secret ? { fingerprintKey } : {}),
    ...(fingerprintKey instanceof Unknown || own.length < declaredOptions.length
      ? { fingerprintKeyUnknown: true }
      : {}),
    options,
  };
}

/** The variable that has the key of the fingerprints where its file is missing. */
const KEY_VARIABLE = "TASC_FINGERPRINT_KEY";

/**
 * Returns the key of the fingerprints, as written; `undefined` if nothing here has it. A clone has
 * no file that git ignores, and a pipeline neither: both may give the key in a variable instead. A
 * missing key is not an error, because only what writes state needs it.
 */
function keyIfPresent(
  written: Json,
  { interpolator, originOf, report }: SettingsContext,
): Json | undefined {
  if (typeof written !== "string" || !interpolator.isMissing(written)) return written;
  const variable = `\${secret:${KEY_VARIABLE}}`;
  if (!interpolator.isMissing(variable)) return variable;
  const detail = `\`${written}\` has no value here, and git does not contain it. ${WHERE_KEY_IS} Until then, plans leave out write-only fields, drift is unknown, and what writes state is refused.`;
  const problem = manifestProblem(
    "missing-fingerprint-key",
    originOf(FINGERPRINT_KEY),
    "The fingerprint key is missing, so it is unknown whether write-only fields have changed",
    detail,
  );
  report({ ...problem, severity: "warning" });
  return undefined;
}

/** What to do without the key of the fingerprints. */
export const WHERE_KEY_IS = `Whoever set up the project has it, and so has the secret store of the pipeline. Put the file in its place, or set ${KEY_VARIABLE}.`;

/**
 * Returns the parts of a secret address that are secret by themselves (password, tokens): messages
 * show other parts.
 */
function secretParts(address: Secret): readonly string[] {
  const text = address.reveal();
  if (!URL.canParse(text)) return [];
  const { password, hostname, pathname, searchParams } = new URL(text);
  // When an address is shown, `{stage}` and `{target}` have already been replaced.
  const tokens = [
    ...pathname.split(/\/|%7B(?:stage|target)%7D/),
    ...[...searchParams.values()].flatMap((value) => value.split(/\{(?:stage|target)\}/)),
  ];
  return [
    // The URL parser may rewrite a host name: a number becomes an address, and umlauts become
    // `xn--`.
    ...(text.toLowerCase().includes(hostname) ? [] : [hostname]),
    ...(/^.{8,}$/.test(password) && /[^A-Za-z]/.test(password) ? [password] : []),
    ...tokens.filter((token) => /^(?=.*\d|.*[a-z][A-Z].*[a-z][A-Z]).{16,}$/.test(token)),
  ];
}

const SHORTEST_FINGERPRINT_KEY = 16;

export function foreignKey(
  file: string,
  path: Path,
  { of }: Branches,
  value: string,
): ManifestProblem {
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

/**
 * Resolves the policy. A stage can only make it stricter, since its authors may not be those of the
 * project's policy.
 */
function resolvePolicy(context: SettingsSources & Pick<SettingsRequest, "report">): Policy {
  return context.layers.reduce((lower: Policy, { file, path, value }) => {
    if (!isObject(value.policy)) return lower;
    const originOf = (inside: Path): Origin => ({ file, path: [...path, ...inside] });
    const policy = mapOf(
      resolveValue(POLICY_PART, value.policy, ["policy"], { ...context, originOf }),
    );
    const own = policyOf(policy, undefined, (inside) => originOf(["policy", ...inside]));
    const [first, second] = [lower.passedIn?.stage, own.passedIn?.stage];
    if (first !== undefined && second !== undefined && first !== second)
      context.report(
        manifestProblem(
          "two-gates",
          originOf(["policy", "passedIn", "stage"]),
          `\`policy.passedIn\` names the stage ${second} here, and ${first} in another place`,
          "The project, the stage and the trust file may each have the rule, and the stricter numbers count. All must name one stage.",
        ),
      );
    return stricter(lower, own);
  }, context.trust.policy ?? {});
}

/**
 * Returns the policy of another stage. If this stage cannot resolve it, e.g. a variable is missing,
 * it protects all.
 */
function policyElsewhere(sources: SettingsSources): Policy {
  let isWhole = true;
  const policy = resolvePolicy({ ...sources, report: () => (isWhole = false) });
  return isWhole ? policy : { ...policy, protected: ["*"] };
}

/** Reports settings that exceed the limits of the trust file. */
function refuseUntrusted({ baseUrl, state, stage }: Settings, context: SettingsContext): void {
  const { trust, reportAt, layers } = context;
  const refuse = (path: Path, what: string, allowed: readonly string[]): void => {
    const list = allowed.length === 0 ? "nothing" : listWords(allowed, "and");
    const detail = `Allowed: ${list}. The trust file is set by \`--trust\` or TASC_TRUST; manifests cannot change it.`;
    reportAt("untrusted", path, `The trust file does not allow ${what} in stage ${stage}`, detail);
  };
  const { origins, stateHosts, statePath, variables } = trust;
  const keyAt =
    mergedAt(layers, FINGERPRINT_KEY) === undefined ? ["service", "apiKey"] : FINGERPRINT_KEY;
  const secret = mergedAt(layers, keyAt);
  if (variables !== undefined && typeof secret === "string" && !isOfCredentials(secret, context))
    refuse(keyAt, "this key of fingerprints", [
      "`${secret:NAME}` with the name of a credential",
      "`${file:PATH}` of a file that is neither in git nor installed",
    ]);
  // An allowed address with a path matches only that address; without a path it matches the whole
  // server.
  const isOf = (one: string): boolean =>
    sameService(one, urlOf(one)?.pathname === "/" ? (urlOf(baseUrl)?.origin ?? "") : baseUrl);
  if (baseUrl !== "" && origins?.some(isOf) === false)
    refuse(BASE_URL, `the service ${baseUrl}`, origins);
  // State says which test case a protected address means, so a manifest that chooses its place
  // could bypass the policy.
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
  refuseUnprotected(state, trust, refuse);
  if (stateHosts === undefined) return;
  const isAllowed = (host: string, place: string): boolean =>
    stateHosts.some((one) => one === place || one.toLowerCase() === host.toLowerCase());
  const foreign = new Set(
    (readable(state, stateServers) ?? []).flatMap((one) =>
      isAllowed(one.host, one.place) ? [] : one.host,
    ),
  );
  const key = state.backend === "postgres" ? "url" : "address";
  for (const host of foreign) refuse(["state", key], `state at ${host}`, stateHosts);
}

/** Reports state that is weaker protected on its way than the trust file demands. */
function refuseUnprotected(
  state: StateSettings,
  { stateTls, stateLock, stateOwner }: Trust,
  refuse: (path: Path, what: string, allowed: readonly string[]) => void,
): void {
  const protection = readable(state, stateProtection);
  if (protection === undefined || stateTls === undefined) return;
  const { tls, isLocking, owner } = protection;
  if (STATE_TLS.indexOf(tls) < STATE_TLS.indexOf(stateTls)) {
    const line = `what is weaker needs the line \`stateTls: ${tls}\``;
    if (state.backend === "http")
      refuse(["state", "address"], "state over plain http", [`https (${line})`]);
    else
      refuse(["state", "url"], `state with TLS like \`sslmode=${tls}\``, [
        `\`sslmode=${stateTls}\` without a file of certificates (${line})`,
      ]);
  }
  if (stateLock === true && !isLocking)
    refuse(["state", "lock"], "state without locks", [
      "locks with the method LOCK, POST or PUT (none need the line `stateLock: false`)",
    ]);
  if (owner !== undefined && owner !== stateOwner)
    refuse(["state", "owner"], "this owner of state's schema", [
      stateOwner ?? "none without the line `stateOwner: ROLE`",
    ]);
}

/** Installed packages. Their files are not in git either, but everybody has them. */
const INSTALLED = /(?:^|[/\\])node_modules[/\\]/i;

/**
 * Whether a key comes only from variables with the name of a secret, or from the job's own files.
 * With the key, passwords can be guessed from the digests in a saved plan, and the author of a
 * manifest knows addresses and committed files.
 *
 * @param known by variable; each is looked into once
 */
function isOfCredentials(
  text: string,
  context: SettingsContext,
  known = new Map<string, boolean>(),
): boolean {
  return placeholdersIn(text).every((part) => {
    if (part.kind === "secret") return CREDENTIAL.test(part.name);
    if (part.kind === "file") return !INSTALLED.test(part.name) && !context.isCommitted(part.name);
    if (part.kind !== "var") return false;
    const before = known.get(part.name);
    if (before !== undefined) return before;
    const inner = context.interpolator.variable(part.name);
    // In a circle, it is of nothing.
    known.set(part.name, false);
    const isOf = inner !== undefined && isOfCredentials(inner, context, known);
    known.set(part.name, isOf);
    return isOf;
  });
}

/** Returns what is read from state's settings; nothing if they are wrong, since no connection is made then. */
function readable<T>(state: StateSettings, read: (state: StateSettings) => T): T | undefined {
  try {
    return read(state);
  } catch (error) {
    if (error instanceof StateFailure) return undefined;
    throw error;
  }
}

function mapOf(value: Value | undefined): ValueObject {
  return isValueObject(value) ? value : {};
}

/** Returns the base URL of another stage; as it is written if this stage cannot resolve it. */
function baseUrlElsewhere({ layers, interpolator }: SettingsSources): string {
  const merged = mergedAt(layers, ["service"]);
  const written = isObject(merged) ? merged["baseUrl"] : undefined;
  if (typeof written !== "string") return "";
  const { value, unknown, sensitive } = interpolator.fill(written);
  return unknown || sensitive ? written : String(value);
}
