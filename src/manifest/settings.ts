import { type Layer, originIn } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Json, type Path, isObject } from "../model/json.ts";
import type { Policy, Settings, StateSettings } from "../model/settings.ts";
import { Secret, Unknown, type Value, type ValueObject, isValueList, isValueObject } from "../model/value.ts";
import { checkBaseUrl } from "../service/request.ts";
import {
  type Document,
  type ManifestProblem,
  PROJECT_FILE,
  didYouMean,
  listWords,
  manifestError,
  nearest,
} from "./document.ts";
import {
  type Interpolator,
  MISSING_SECRET,
  type Variable,
  isTemplate,
  parseTemplate,
} from "./interpolation.ts";
import { type Scene, mergedAt, resolveValue } from "./resolve.ts";
import {
  type Branches,
  type ManifestPart,
  bare,
  entryOf,
  foreignKeys,
  parseDuration,
  parseRate,
} from "./shape.ts";
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_REQUEST_TIMEOUT,
  DEFAULT_RETRIES,
  OVERRIDABLE,
  STATE_BRANCHES,
} from "./tables.ts";
import { type Trust, stricter } from "./trust.ts";

export interface SettingsRequest {
  readonly stage: string;
  readonly stages: readonly string[];
  readonly layers: readonly Layer[];
  readonly filler: Interpolator;
  /** Whether the API key must be there; `validate` does without. */
  readonly needsApiKey: boolean;
  /** Whether something stands at a path, in any layer, that was found wrong before. */
  readonly isSpoilt: (path: Path) => boolean;
  /** Limits that the project cannot set. */
  readonly trust: Trust;
}

export interface ResolvedSettings {
  readonly settings: Settings;
  readonly problems: readonly ManifestProblem[];
}

/** The settings of one stage: merged, filled in, completed with defaults. */
export function resolveSettings(request: SettingsRequest): ResolvedSettings {
  const problems: ManifestProblem[] = [];
  const { layers, trust } = request;
  const scene: Scene = {
    filler: request.filler,
    originOf: (path) => originIn(layers, path) ?? { file: PROJECT_FILE, path },
    report: (problem) => problems.push(problem),
  };
  const misplaced = misplacedInBaseUrl(request);
  const service = mapOf(resolveValue(SERVICE_PART, wantedService(request, misplaced), ["service"], scene));
  const state = resolveState(request, scene);
  const refused = misplaced.length > 0 ? ["baseUrl"] : [];
  problems.push(
    ...misplaced,
    ...missingParts(request, service, refused),
    ...unusableBaseUrl(request, service),
  );
  const settings: Settings = {
    stage: request.stage,
    stages: request.stages,
    baseUrl: baseUrlOf(service.baseUrl),
    apiKey: service.apiKey instanceof Secret ? service.apiKey : undefined,
    concurrency: numberOf(service.concurrency) ?? DEFAULT_CONCURRENCY,
    requestTimeout: durationOf(service.requestTimeout),
    retries: numberOf(service.retries) ?? DEFAULT_RETRIES,
    ...(typeof service.rateLimit === "string" ? { rateLimit: parseRate(service.rateLimit) ?? 1 } : {}),
    state,
    policy: stricter(trust.policy ?? {}, resolvePolicy(request, scene)),
  };
  problems.push(...untrusted(settings, scene, trust));
  return { settings, problems };
}

const partOf = (key: string): ManifestPart => entryOf(bare(OVERRIDABLE), key) ?? bare({ type: "json" });
const [SERVICE_PART, STATE_PART, POLICY_PART] = [partOf("service"), partOf("state"), partOf("policy")];

/** Where nobody needs the API key, it is left alone unless it is there; an address that is refused is not resolved. */
function wantedService({ layers, filler, needsApiKey }: SettingsRequest, refused: readonly unknown[]): Json {
  const merged = mergedAt(layers, ["service"]) ?? {};
  if (!isObject(merged)) return merged;
  const { apiKey, baseUrl, ...rest } = merged;
  const isLeftAlone = !needsApiKey && typeof apiKey === "string" && isMissing(apiKey, filler);
  return {
    ...rest,
    ...(apiKey === undefined || isLeftAlone ? {} : { apiKey }),
    ...(baseUrl === undefined || refused.length > 0 ? {} : { baseUrl }),
  };
}

/**
 * The address decides who gets the API key, and what stands in it goes there with every call: it is made of what a
 * reviewer sees, and of environment variables in its host alone.
 */
function misplacedInBaseUrl({ layers, filler }: SettingsRequest): ManifestProblem[] {
  const path = ["service", "baseUrl"];
  const text = mergedAt(layers, path);
  if (typeof text !== "string" || !isTemplate(text)) return [];
  const found = firstMisplaced(text, (name) => filler.variable(name), []);
  if (found === undefined) return [];
  const origin = originIn(layers, path) ?? { file: PROJECT_FILE, path };
  return [
    manifestError(
      "base-url-interpolation",
      origin,
      `\`${found}\` cannot be part of \`service.baseUrl\``,
      `The API key is sent to this address. Only \`\${env:…}\`, \`\${var:…}\` and \`\${stage}\` are interpolated in it, and only before its path.`,
      { within: found },
    ),
  ];
}

/** The first placeholder that an address may not have where it is. @param before variables that are being looked into */
function firstMisplaced(
  text: string,
  variable: (name: string) => string | undefined,
  before: readonly string[],
): string | undefined {
  let prefix = "";
  for (const part of parseTemplate(text).parts) {
    if (part.kind === "text") {
      prefix += part.text;
      continue;
    }
    const isInHost = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*)?$/.test(prefix);
    if (!isInHost || part.kind === "secret" || part.kind === "file") return part.source;
    const inner = part.kind === "var" && !before.includes(part.name) ? variable(part.name) : undefined;
    const misplaced =
      inner === undefined || part.kind !== "var"
        ? undefined
        : firstMisplaced(prefix + inner, variable, [...before, part.name]);
    if (misplaced !== undefined) return part.source;
    prefix += inner !== undefined && !isTemplate(inner) ? inner : "x";
  }
  return undefined;
}

/** A stage that names another backend than the project does starts from nothing: options of one mean nothing to another. */
function resolveState(request: SettingsRequest, scene: Scene): StateSettings {
  const { layers, isSpoilt } = request;
  const declared = mergedAt(layers, ["state", "backend"]);
  const backendPart = entryOf(STATE_PART, "backend") ?? STATE_PART;
  const resolved =
    declared === undefined ? undefined : resolveValue(backendPart, declared, ["state", "backend"], scene);
  const backend = resolved === "postgres" || resolved === "http" ? resolved : "local";
  const chosenIn = layers.findLastIndex(
    ({ value }) => isObject(value.state) && value.state.backend !== undefined,
  );
  const foreign = foreignKeys(STATE_BRANCHES, backend);
  const merged = mergedAt(layers, ["state"]);
  const own = Object.entries(isObject(merged) ? merged : {}).filter(([key]) => {
    if (!foreign.includes(key)) return true;
    const at = layers.findLastIndex(({ value }) => isObject(value.state) && value.state[key] !== undefined);
    if (at >= chosenIn) {
      const { file, path } = scene.originOf(["state", key]);
      scene.report(foreignKey(file, path, STATE_BRANCHES, backend));
    }
    return false;
  });
  const { fingerprintKey, ...rest } = mapOf(
    resolveValue(STATE_PART, Object.fromEntries(own), ["state"], scene),
  );
  for (const key of STATE_BRANCHES.of[backend]?.required ?? [])
    if (rest[key] === undefined && !isSpoilt(["state", key]) && !isSpoilt(["state"]))
      scene.report(
        manifestError(
          "missing-key",
          scene.originOf(["state"]),
          `\`state.${key}\` is missing`,
          `The ${backend} backend requires it. Add it to tasc.yaml, for the project or for the stage.`,
        ),
      );
  if (fingerprintKey instanceof Secret && fingerprintKey.reveal().length < SHORTEST_FINGERPRINT_KEY)
    scene.report(
      manifestError(
        "weak-fingerprint-key",
        scene.originOf(["state", "fingerprintKey"]),
        `\`state.fingerprintKey\` is shorter than ${SHORTEST_FINGERPRINT_KEY} characters`,
        "A weak key lets others test guessed passwords against the fingerprints in state. Use a random value, e.g. from `openssl rand -base64 32`.",
      ),
    );
  return {
    backend,
    ...(fingerprintKey instanceof Secret ? { fingerprintKey } : {}),
    ...(fingerprintKey instanceof Unknown ? { fingerprintKeyUnknown: true } : {}),
    options: Object.fromEntries(
      Object.entries(rest).flatMap(([key, value]): [string, StateOption][] =>
        key !== "backend" && isOption(value) ? [[key, value]] : [],
      ),
    ),
  };
}

const SHORTEST_FINGERPRINT_KEY = 16;

/** A key that means nothing to the backend. */
export function foreignKey(file: string, path: Path, branches: Branches, value: string): ManifestProblem {
  const key = String(path.at(-1));
  const owners = Object.keys(branches.of).filter((name) => branches.of[name]?.allowed.includes(key));
  return manifestError(
    "foreign-key",
    { file, path },
    `\`${key}\` is not an option of the ${value} backend`,
    `It belongs to ${listWords(owners, "and")}. The ${value} backend takes ${listWords(branches.of[value]?.allowed ?? [], "and")}.`,
    { at: "key" },
  );
}

/** A stage can only make a policy stricter: who may override it there may not be who wrote it for the project. */
function resolvePolicy({ layers }: SettingsRequest, scene: Scene): Policy {
  return layers
    .filter(({ value }) => isObject(value.policy))
    .map(({ file, path, value }) =>
      policyOf(
        mapOf(
          resolveValue(POLICY_PART, value.policy ?? {}, ["policy"], {
            ...scene,
            originOf: (inside) => ({ file, path: [...path, ...inside] }),
          }),
        ),
      ),
    )
    .reduce(stricter, {});
}

/** Where the settings go past the limits of the trust file. */
function untrusted({ baseUrl, state, stage }: Settings, scene: Scene, trust: Trust): ManifestProblem[] {
  const problems: ManifestProblem[] = [];
  const refuse = (path: Path, what: string, allowed: readonly string[]): void => {
    const list = allowed.length === 0 ? "nothing" : listWords(allowed, "and");
    problems.push(
      manifestError(
        "untrusted",
        scene.originOf(path),
        `The trust file does not allow ${what} in stage ${stage}`,
        `Allowed: ${list}. The trust file is set by \`--trust\` or TASC_TRUST; manifests cannot change it.`,
      ),
    );
  };
  if (
    trust.origins !== undefined &&
    URL.canParse(baseUrl) &&
    !originsOf(trust.origins).includes(new URL(baseUrl).origin)
  )
    refuse(["service", "baseUrl"], `the service ${new URL(baseUrl).origin}`, trust.origins);
  for (const [key, value] of trust.stateHosts === undefined ? [] : Object.entries(state.options)) {
    const text = value instanceof Secret ? value.reveal() : String(value);
    if (!/^[a-z]+:\/\//.test(text)) continue;
    const host = URL.canParse(text) ? new URL(text).hostname : "";
    if (!(trust.stateHosts ?? []).includes(host))
      refuse(["state", key], `state at ${host === "" ? "this address" : host}`, trust.stateHosts ?? []);
  }
  return problems;
}

function originsOf(addresses: readonly string[]): readonly string[] {
  return addresses.map((address) => (URL.canParse(address) ? new URL(address).origin : address));
}

function isMissing(text: string, filler: Interpolator): boolean {
  const { problems } = filler.fill(text);
  return problems.length > 0 && problems.every(({ code }) => code === MISSING_SECRET);
}

/** What every call needs and neither the project nor the stage gives. */
function missingParts(
  request: SettingsRequest,
  service: ValueObject,
  refused: readonly string[],
): ManifestProblem[] {
  const { layers, needsApiKey, isSpoilt } = request;
  const wanted = [
    { key: "baseUrl", example: "https://service.example.com", needed: true },
    { key: "apiKey", example: "${secret:TASC_API_KEY}", needed: needsApiKey },
  ];
  const origin = originIn(layers, ["service"]) ?? { file: PROJECT_FILE, path: [] };
  return wanted
    .filter(({ key, needed }) => needed && service[key] === undefined && !refused.includes(key))
    .filter(({ key }) => !isSpoilt(["service", key]))
    .map(({ key, example }) =>
      manifestError(
        "missing-key",
        origin,
        `\`service.${key}\` is missing`,
        `Every request needs it. Add it to tasc.yaml, for the project or for the stage:\n  service: { ${key}: "${example}" }`,
      ),
    );
}

/** What no call could be sent to. That plain http is allowed is for the command line to say. */
function unusableBaseUrl({ layers }: SettingsRequest, { baseUrl }: ValueObject): ManifestProblem[] {
  if (typeof baseUrl !== "string") return [];
  const checked = checkBaseUrl(baseUrl, { insecure: true });
  const path = ["service", "baseUrl"];
  const origin = originIn(layers, path) ?? { file: PROJECT_FILE, path };
  return checked.ok
    ? []
    : [manifestError(checked.failure.code, origin, checked.failure.summary, checked.failure.detail)];
}

/** Paths are put behind it with a slash of their own. */
function baseUrlOf(value: Value | undefined): string {
  return typeof value === "string" ? value.replace(/\/+$/, "") : "";
}

function durationOf(value: Value | undefined): number {
  const text = typeof value === "string" ? value : DEFAULT_REQUEST_TIMEOUT;
  return parseDuration(text) ?? durationOf(undefined);
}

type StateOption = StateSettings["options"][string];

function isOption(value: Value): value is StateOption {
  return value instanceof Secret || ["string", "number", "boolean"].includes(typeof value);
}

function policyOf(policy: ValueObject): Policy {
  const { onRemove } = policy;
  const [maxChanges, maxDisabledPercent] = [numberOf(policy.maxChanges), numberOf(policy.maxDisabledPercent)];
  const [maxGenerations, planExpiry] = [
    numberOf(policy.maxGenerations),
    typeof policy.planExpiry === "string" ? parseDuration(policy.planExpiry, 30) : undefined,
  ];
  const [protectedGlobs, requireTags] = [textsOf(policy.protected), textsOf(policy.requireTags)];
  return {
    ...(maxChanges === undefined ? {} : { maxChanges }),
    ...(maxDisabledPercent === undefined ? {} : { maxDisabledPercent }),
    ...(protectedGlobs === undefined ? {} : { protected: protectedGlobs }),
    ...(requireTags === undefined ? {} : { requireTags }),
    ...(maxGenerations === undefined ? {} : { maxGenerations }),
    ...(planExpiry === undefined ? {} : { planExpiry }),
    ...(policy.sameCommit === true ? { sameCommit: true } : {}),
    ...(onRemove === "ignore" || onRemove === "disable" ? { onRemove } : {}),
  };
}

function mapOf(value: Value | undefined): ValueObject {
  return isValueObject(value) ? value : {};
}

function numberOf(value: Value | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textsOf(value: Value | undefined): readonly string[] | undefined {
  return isValueList(value) ? value.filter((item) => typeof item === "string") : undefined;
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

/** The stages of a project, in the order of the file. */
export function stagesOf(project: Document): readonly string[] {
  const { stages } = project.value;
  const declared = isObject(stages) ? Object.keys(stages) : [];
  return declared.length === 0 ? [ONLY_STAGE] : declared;
}

export type StageChoice =
  { readonly ok: true; readonly stage: string } | { readonly ok: false; readonly problem: ManifestProblem };

/** The stage by `--stage`, else TASC_STAGE, else `defaultStage`, else the one named `default`, else the only one. */
export function chooseStage(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): StageChoice {
  const stages = stagesOf(project);
  const wish = requestedStage(project, option, variable);
  const [only] = stages;
  if (wish !== undefined)
    return stages.includes(wish.stage)
      ? { ok: true, stage: wish.stage }
      : { ok: false, problem: unknownStage(project, wish, stages) };
  if (stages.includes(ONLY_STAGE)) return { ok: true, stage: ONLY_STAGE };
  if (only !== undefined && stages.length === 1) return { ok: true, stage: only };
  return { ok: false, problem: undecided(project, stages) };
}

interface RequestedStage {
  readonly stage: string;
  readonly source: "--stage" | "TASC_STAGE" | "defaultStage";
}

function requestedStage(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): RequestedStage | undefined {
  const { defaultStage } = project.value;
  if (option !== undefined) return { stage: option, source: "--stage" };
  if (variable !== undefined && variable !== "") return { stage: variable, source: "TASC_STAGE" };
  if (typeof defaultStage === "string") return { stage: defaultStage, source: "defaultStage" };
  return undefined;
}

function unknownStage(
  project: Document,
  { stage, source }: RequestedStage,
  stages: readonly string[],
): ManifestProblem {
  return manifestError(
    "unknown-stage",
    source === "defaultStage" ? { file: project.file, path: ["defaultStage"] } : stagesOrigin(project),
    `There is no stage \`${stage}\``,
    `\`${source}\` asks for it. ${stagesInWords(stages)}${didYouMean(nearest(stage, stages))}`,
  );
}

function undecided(project: Document, stages: readonly string[]): ManifestProblem {
  return manifestError(
    "no-stage",
    stagesOrigin(project),
    "No stage is selected",
    `${stagesInWords(stages)} Choose one with \`--stage\`, TASC_STAGE, or \`defaultStage:\` in ${project.file}.`,
  );
}

export function stagesInWords(stages: readonly string[]): string {
  return `The project has ${stages.length === 1 ? "the stage" : "the stages"} ${listWords(stages, "and")}.`;
}

function stagesOrigin({ file, value }: Document): Origin {
  return { file, path: value.stages === undefined ? [] : ["stages"] };
}

/** The variables of a stage, each with the place that counts. */
export function variablesOf(layers: readonly Layer[]): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const { file, path, value } of layers)
    for (const [name, text] of Object.entries(isObject(value.vars) ? value.vars : {}))
      if (typeof text === "string" || typeof text === "number" || typeof text === "boolean")
        variables.set(name, { value: text, origin: { file, path: [...path, "vars", name] } });
  return variables;
}
