import { checkBaseUrl } from "../../client/base-url.ts";
import { originIn } from "../../model/desired.ts";
import type { Layer } from "../../model/desired.ts";
import { isObject } from "../../model/json.ts";
import type { Json, Path } from "../../model/json.ts";
import type { Policy, Settings, StateSettings } from "../../model/settings.ts";
import { isValueList, isValueObject, Secret, Unknown } from "../../model/value.ts";
import type { Value, ValueObject } from "../../model/value.ts";
import { parseDuration } from "../shape/duration.ts";
import { PROJECT_FILE } from "../document.ts";
import { mergedAt } from "../merge.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { resolveValue } from "../resolve-value.ts";
import type { Scene } from "../resolve-value.ts";
import type { Filler } from "../template/fill.ts";
import { MISSING_SECRET } from "../template/filled.ts";
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_REQUEST_TIMEOUT,
  DEFAULT_RETRIES,
  OVERRIDABLE,
} from "../tables/project.ts";

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
