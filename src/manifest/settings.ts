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
import { type Filler, MISSING_SECRET, type Variable } from "./interpolation.ts";
import { type Scene, mergedAt, resolveValue } from "./resolve.ts";
import { parseDuration } from "./shape.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_REQUEST_TIMEOUT, DEFAULT_RETRIES, OVERRIDABLE } from "./tables.ts";

export interface SettingsRequest {
  readonly stage: string;
  readonly stages: readonly string[];
  readonly layers: readonly Layer[];
  readonly filler: Filler;
  /** Whether the API key must be there; `validate` does without. */
  readonly needsApiKey: boolean;
  /** Whether something stands at a path, in any layer, that was found wrong before. */
  readonly isSpoilt: (path: Path) => boolean;
}

export interface ResolvedSettings {
  readonly settings: Settings;
  readonly problems: readonly ManifestProblem[];
}

/** The settings of one stage: merged, filled in, completed with defaults. */
export function resolveSettings(request: SettingsRequest): ResolvedSettings {
  const problems: ManifestProblem[] = [];
  const values = resolveParts(request, problems);
  const [service, state, policy] = [mapOf(values.service), mapOf(values.state), mapOf(values.policy)];
  problems.push(...missingParts(request, service), ...unusableBaseUrl(request, service));
  const settings: Settings = {
    stage: request.stage,
    stages: request.stages,
    baseUrl: baseUrlOf(service.baseUrl),
    apiKey: service.apiKey instanceof Secret ? service.apiKey : undefined,
    concurrency: numberOf(service.concurrency) ?? DEFAULT_CONCURRENCY,
    requestTimeout: durationOf(service.requestTimeout),
    retries: numberOf(service.retries) ?? DEFAULT_RETRIES,
    state: stateOf(state),
    policy: policyOf(policy),
  };
  return { settings, problems };
}

/** Service, state and policy with their values filled in; variables are filled where they are used. */
function resolveParts(request: SettingsRequest, problems: ManifestProblem[]): ValueObject {
  const { layers, filler } = request;
  const scene: Scene = {
    filler,
    originOf: (path) => originIn(layers, path) ?? { file: PROJECT_FILE, path },
    report: (problem) => problems.push(problem),
  };
  return Object.fromEntries(
    Object.entries(OVERRIDABLE.parts)
      .filter(([key]) => key !== "vars")
      .map(([key, part]): [string, Value] => [key, resolveValue(part, wantedAt(key, request), [key], scene)]),
  );
}

/** Where nobody needs the API key, it is left alone unless it is there. */
function wantedAt(key: string, { layers, filler, needsApiKey }: SettingsRequest): Json {
  const merged = mergedAt(layers, [key]) ?? {};
  if (needsApiKey || key !== "service" || !isObject(merged)) return merged;
  const { apiKey, ...rest } = merged;
  return typeof apiKey === "string" && isMissing(apiKey, filler) ? rest : merged;
}

function isMissing(text: string, filler: Filler): boolean {
  const { problems } = filler.fill(text);
  return problems.length > 0 && problems.every(({ code }) => code === MISSING_SECRET);
}

/** What every call needs and neither the project nor the stage gives. */
function missingParts(request: SettingsRequest, service: ValueObject): ManifestProblem[] {
  const { layers, needsApiKey, isSpoilt } = request;
  const wanted = [
    { key: "baseUrl", example: "https://service.example.com", needed: true },
    { key: "apiKey", example: "${secret:TASC_API_KEY}", needed: needsApiKey },
  ];
  const origin = originIn(layers, ["service"]) ?? { file: PROJECT_FILE, path: [] };
  return wanted
    .filter(({ key, needed }) => needed && service[key] === undefined && !isSpoilt(["service", key]))
    .map(({ key, example }) =>
      manifestError(
        "missing-key",
        origin,
        `\`service.${key}\` is missing`,
        `Every call needs it. Write it into tasc.yaml, for the project or for the stage:\n  service: { ${key}: "${example}" }`,
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

function stateOf({ backend, fingerprintKey, ...rest }: ValueObject): StateSettings {
  const options = Object.entries(rest).flatMap(([key, value]): [string, StateOption][] =>
    isOption(value) ? [[key, value]] : [],
  );
  return {
    backend: backend === "postgres" || backend === "http" ? backend : "local",
    ...(fingerprintKey instanceof Secret ? { fingerprintKey } : {}),
    ...(fingerprintKey instanceof Unknown ? { fingerprintKeyUnknown: true } : {}),
    options: Object.fromEntries(options),
  };
}

type StateOption = StateSettings["options"][string];

function isOption(value: Value): value is StateOption {
  return value instanceof Secret || ["string", "number", "boolean"].includes(typeof value);
}

function policyOf(policy: ValueObject): Policy {
  const { onRemove } = policy;
  const [maxChanges, maxDisabledPercent] = [numberOf(policy.maxChanges), numberOf(policy.maxDisabledPercent)];
  const [protectedGlobs, requireTags] = [textsOf(policy.protected), textsOf(policy.requireTags)];
  return {
    ...(maxChanges === undefined ? {} : { maxChanges }),
    ...(maxDisabledPercent === undefined ? {} : { maxDisabledPercent }),
    ...(protectedGlobs === undefined ? {} : { protected: protectedGlobs }),
    ...(requireTags === undefined ? {} : { requireTags }),
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
  const wish = wishOf(project, option, variable);
  const [only] = stages;
  if (wish !== undefined)
    return stages.includes(wish.stage)
      ? { ok: true, stage: wish.stage }
      : { ok: false, problem: unknownStage(project, wish, stages) };
  if (stages.includes(ONLY_STAGE)) return { ok: true, stage: ONLY_STAGE };
  if (only !== undefined && stages.length === 1) return { ok: true, stage: only };
  return { ok: false, problem: undecided(project, stages) };
}

interface Wish {
  readonly stage: string;
  readonly source: "--stage" | "TASC_STAGE" | "defaultStage";
}

function wishOf(
  project: Document,
  option: string | undefined,
  variable: string | undefined,
): Wish | undefined {
  const { defaultStage } = project.value;
  if (option !== undefined) return { stage: option, source: "--stage" };
  if (variable !== undefined && variable !== "") return { stage: variable, source: "TASC_STAGE" };
  if (typeof defaultStage === "string") return { stage: defaultStage, source: "defaultStage" };
  return undefined;
}

function unknownStage(
  project: Document,
  { stage, source }: Wish,
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
    "No stage is chosen",
    `${stagesInWords(stages)} Name one by \`--stage\`, by TASC_STAGE, or as \`defaultStage:\` in ${project.file}.`,
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
