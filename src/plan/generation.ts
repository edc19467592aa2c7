import type { DesiredResource } from "../model/desired.ts";
import { type Json, type JsonObject, isObject } from "../model/json.ts";
import type { LiveDiscovery, LiveResource } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { Binding } from "../model/state.ts";
import { declaredElements } from "./elements.ts";
import type { Memory } from "./memory.ts";

/*
 * How a generation ended. service-api.md lists one discovery status (CREATED) and leaves open which notifications come, so
 * nothing here relies on one of them alone: an abort cause, a notification of failure and the steps decide, and a status
 * only where its word says so in plain English.
 */

export type Generation =
  /** Nothing shows that it has ended. `word`: its status, if service-api.md does not list it. */
  | { readonly kind: "open"; readonly word: string | undefined }
  | { readonly kind: "succeeded" }
  | FailedGeneration;

export interface FailedGeneration {
  readonly kind: "failed";
  /**
   * The service's own word (an abort cause, a notification type or a status), NO_STEPS, or "" if only
   * an earlier apply knew it.
   */
  readonly cause: string;
  readonly message: string | undefined;
}

/** A notification about a generation, as far as it matters here. */
export interface Notice {
  readonly type: string;
  readonly payload: JsonObject;
}

/** The shown parts of a test case that tell how its generation went. */
type Shown = Pick<LiveResource, "discovery" | "elements" | "hasSteps">;

const FAILED = /fail|abort|cancel|error/i;
const ENDED = /finish|complete|success|succeed|done/i;
/** Words for work that goes on; anything else with steps has ended. */
const UNDER_WAY = /creat|queue|pend|wait|start|run|progress|process|generat|schedul|init|discover/i;

/**
 * Decides how the generation of a test case went.
 * @param before mark of the discovery before it, which a list that lags behind may still show
 * @param isFirst whether the test case had no steps before it
 * @param needsSteps whether an end without any step is a failure: it is for those who waited for it
 * @param notices notifications that name the test case and are not about an earlier generation
 */
export function generationOf(
  live: Shown,
  {
    before,
    isFirst,
    needsSteps,
    notices = [],
  }: {
    readonly before: string;
    readonly isFirst: boolean;
    readonly needsSteps: boolean;
    readonly notices?: readonly Notice[];
  },
): Generation {
  const shown = isEarlier(live.discovery, before) ? undefined : live.discovery;
  const { status = "", abortCause = "", message } = shown ?? {};
  const bad = notices.find(({ type }) => isAboutGeneration(type) && FAILED.test(type));
  const failed = (cause: string): Generation => ({
    kind: "failed",
    cause,
    message: message ?? textIn(bad?.payload["message"]),
  });
  if (abortCause !== "") return failed(abortCause);
  if (FAILED.test(status)) return failed(status);
  if (bad !== undefined) return failed(bad.type);
  const steps = hasSteps(live);
  const isNotified = notices.some(({ type }) => type === "DISCOVERY_FINISHED");
  // A word that is not listed says nothing by itself; steps that were not there before do.
  const isMade = isFirst && steps === true && status !== "" && !UNDER_WAY.test(status);
  if (isNotified || ENDED.test(status) || isMade)
    return needsSteps && steps === false ? failed(NO_STEPS) : { kind: "succeeded" };
  return { kind: "open", word: status === "" || status === "CREATED" ? undefined : status };
}

/** The cause of a generation that ended without saying why it made nothing. */
export const NO_STEPS = "no steps";

/** Whether a type of notification (service-api.md, "Events") is about a test case's generation. */
function isAboutGeneration(type: string): boolean {
  return /^(discovery|validation)/i.test(type);
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a test case has steps; undefined if the answer does not show them. */
export function hasSteps({ hasSteps: known, elements }: Shown): boolean | undefined {
  return known ?? (elements === undefined ? undefined : elements.length > 0);
}

/**
 * Returns a text that identifies a discovery, or "". Only a timestamp is used: state must not keep
 * arbitrary text.
 */
export function discoveryMark(discovery: LiveDiscovery | undefined): string {
  const { updatedAt: at = "" } = discovery ?? {};
  return /^\d{4}-\d\d[-\d:.,TtZz+ ]{3,30}$/.test(at)
    ? `${at}${showsEnd(discovery) ? " ended" : ""}`
    : "";
}

function showsEnd({ status = "", abortCause = "" }: Partial<LiveDiscovery> = {}): boolean {
  return abortCause !== "" || ENDED.test(status) || FAILED.test(status);
}

/** Whether a list still shows the discovery that was marked before a generation began. */
function isEarlier(discovery: LiveDiscovery | undefined, before: string): boolean {
  return before !== "" && discoveryMark(discovery) === before;
}

/**
 * Whether the discovery after the one marked `before` has ended: it has an abort cause, or a status
 * that means an end.
 */
export function hasEnded(discovery: LiveDiscovery | undefined, before: string): boolean {
  return discovery !== undefined && !isEarlier(discovery, before) && showsEnd(discovery);
}

/** Decides on the generation of a test case from what a list shows and state remembers. */
export function rememberedGeneration(live: Shown, binding: Binding | undefined): Generation {
  const { generating, failed } = binding ?? {};
  const found = generationOf(live, {
    before: generating ?? "",
    isFirst: generating === "",
    needsSteps: failed !== undefined,
  });
  // A notification told it, which a plan does not read.
  const isRemembered =
    generating === undefined && failed !== undefined && failed === discoveryMark(live.discovery);
  return isRemembered && found.kind !== "failed"
    ? { kind: "failed", cause: "", message: undefined }
    : found;
}

/** Returns what went wrong, and the service's message about it. */
export function generationFailure({ cause, message }: FailedGeneration) {
  const summary =
    cause === NO_STEPS
      ? "The generation ended without making a step"
      : `The generation failed${cause === "" ? "" : `: ${cause}`}`;
  return { summary, message: message ?? "" };
}

/** What a reviewer must know of a test case's generation, and whether anything may switch it on. */
export interface GenerationTrouble {
  readonly failed: FailedGeneration | undefined;
  /** A status that service-api.md does not list, and that nothing else explains. */
  readonly word: string | undefined;
  /** Undefined if the service does not show steps. */
  readonly steps: boolean | undefined;
  /**
   * It has no steps after a generation that failed, or that nobody can say has succeeded: switched
   * on, it would pass for ever.
   */
  readonly staysOff: boolean;
  /** It has no steps, nothing generates it, and it is on, or is switched on by its change. */
  readonly isOn: boolean;
}

/**
 * Returns the trouble with a test case's generation or with its lack of steps, if there is any.
 * @param change the planned change, if there is one
 */
export function generationTrouble(
  resource: DesiredResource,
  live: LiveResource,
  { binding }: Pick<Memory, "binding">,
  change?: Pick<Change, "calls">,
): GenerationTrouble | undefined {
  const steps = hasSteps(live);
  const isEmpty = steps === false && declaredElements(resource.fields["elements"]).length === 0;
  const { generating, failed: before } = binding ?? {};
  const isOwn = generating !== undefined || before !== undefined;
  if (!isEmpty && !isOwn) return undefined;
  const found = rememberedGeneration(live, binding);
  const word = found.kind === "open" && isEmpty ? found.word : undefined;
  const isOdd = isOwn && word !== undefined && !UNDER_WAY.test(word);
  // Failures that others caused are told only while they leave a test case without steps.
  const isTold = found.kind === "failed";
  const staysOff = isEmpty && (found.kind === "failed" || before !== undefined || isOdd);
  const mayGenerate =
    found.kind === "open" && (isOwn || UNDER_WAY.test(live.discovery?.status ?? ""));
  const isOn = isEmpty && !staysOff && !mayGenerate && runsAfter(live, change);
  if (!isTold && !staysOff && !isOn) return undefined;
  return { failed: isTold ? found : undefined, word, steps, staysOff, isOn };
}

function runsAfter({ status, runStatus }: LiveResource, change: Pick<Change, "calls"> | undefined) {
  const after = { status, runStatus };
  for (const { body } of change?.calls ?? []) Object.assign(after, body);
  return after.status === "ENABLED" && after.runStatus === "ON";
}

/** Returns the id of a batch generation that a notification names, if it is one of these. */
export function batchNamedBy(
  { payload }: Pick<Notice, "payload">,
  ids: Pick<ReadonlySet<string>, "has">,
): string | undefined {
  const texts = (value: Json | undefined): readonly string[] => {
    if (typeof value === "string") return [value];
    return isObject(value) ? Object.values(value).flatMap(texts) : [];
  };
  return texts(payload).find((text) => ids.has(text));
}

/** Whether a notification is about a batch generation and says which. */
export function namesBatches({ payload }: Pick<Notice, "payload">): boolean {
  return Object.entries(payload).some(
    ([key, value]) => /batch/i.test(key) && typeof value === "string",
  );
}

/** Returns the failure of a batch generation that a notification tells; undefined for a success. */
export function failedBatch({ type, payload }: Notice): FailedGeneration | undefined {
  const cause = textIn(payload["abortCause"]) ?? type;
  return FAILED.test(cause)
    ? { kind: "failed", cause, message: textIn(payload["message"]) }
    : undefined;
}
