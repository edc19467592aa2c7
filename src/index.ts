/**
 * tasc as a library: the commands `validate`, `plan`, `show` and `apply`, without output and
 * questions. The values, errors and events of these functions contain no secrets.
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { applyProject } from "./app/apply.ts";
import { review } from "./app/plan.ts";
import { survey } from "./app/survey.ts";
import type { SavedPlan } from "./app/plan-file.ts";
import { toSavedPlan } from "./app/saved-plan.ts";
import type { Host, Opened, CallOptions as SessionCalls } from "./app/project.ts";
import { type Session, inSession } from "./app/session.ts";
import { loadProject as load } from "./manifest/load.ts";
import { validate } from "./manifest/schema/generated/plan.js";
import { parseDuration } from "./manifest/shape.ts";
import type { Address } from "./model/address.ts";
import { declaredAddresses, resourcesOf } from "./model/desired.ts";
import type { Diagnostic } from "./model/diagnostic.ts";
import { EXIT, TascError as Failure, type FailureReason, invalid, failed } from "./model/error.ts";
import type { ApplyEvent, Failed, Outcome } from "./model/events.ts";
import type { DiagnosticJson, PlanJson } from "./model/plan.ts";
import { isText, isTexts } from "./model/shape.ts";
import { Secrets } from "./model/value.ts";
import { safeOutput } from "./render/escape.ts";
import { PLAN_FORMATS, type PlanFormat, renderPlan } from "./render/formats.ts";
import { diagnosticJson } from "./render/json.ts";
import { type Redactor, createRedactor, redactDiagnostic, redactOutcome } from "./render/redact.ts";
import { PLAIN } from "./render/style.ts";

export type { Address } from "./model/address.ts";
export type { ApplyEvent } from "./model/events.ts";
export type { Json, Path } from "./model/json.ts";
export type { PolicyRule } from "./model/settings.ts";
export type {
  Action,
  CallJson as PlannedCall,
  ChangeJson as PlannedChange,
  DiagnosticJson as Diagnostic,
  FieldJson as FieldChange,
  Orphan,
  PlanJson as Plan,
  Summary,
} from "./model/plan.ts";

declare const __TASC_VERSION__: string;

/** The reason why a call failed. Each reason has an exit code of the command line. */
export type TascErrorReason = FailureReason;

/** The only error that the library throws. */
export class TascError extends Error {
  override readonly name = "TascError";
  readonly reason: TascErrorReason;
  /** The diagnostics that the command line would print to stderr, including warnings. */
  readonly diagnostics: readonly DiagnosticJson[];
  /** The exit code of the command line in this case. */
  readonly exitCode: number;

  constructor(reason: TascErrorReason, diagnostics: readonly DiagnosticJson[]) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    const texts = errors.map(({ summary, detail }) =>
      detail === "" ? summary : `${summary}\n${detail}`,
    );
    super(texts.join("\n") || "It failed");
    this.reason = reason;
    this.exitCode = EXIT[reason];
    this.diagnostics = diagnostics;
  }
}

/** Options for calls to the service. An omitted option has the project's value. */
export interface CallOptions {
  /** Time limit of each call, e.g. `30s`. */
  readonly requestTimeout?: string;
  /** Maximum number of retries of a call. */
  readonly retries?: number;
  /** Maximum number of calls in flight, of any kind. */
  readonly concurrency?: number;
  /** Allows plain http to an address of another machine. */
  readonly insecure?: boolean;
}

const CALL_KINDS = {
  requestTimeout: "text",
  retries: "number",
  concurrency: "number",
  insecure: "flag",
} as const;

export interface LoadOptions {
  /** Default: `TASC_STAGE`, or the project's default if that is unset. */
  readonly stage?: string;
  /** Variables and secrets; default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Treats missing secrets as unknown and skips the fields that use them. Such a project cannot be
   * applied.
   */
  readonly allowMissingSecrets?: boolean;
}

/** A project read and resolved for one stage. */
export interface Project {
  readonly folder: string;
  readonly stage: string;
  /** All declared stages, in the order of the file. */
  readonly stages: readonly string[];
  readonly baseUrl: string;
  /** Addresses of everything that is declared. */
  readonly addresses: readonly Address[];
}

export type LoadResult =
  | {
      readonly ok: true;
      readonly project: Project;
      readonly diagnostics: readonly DiagnosticJson[];
    }
  | { readonly ok: false; readonly diagnostics: readonly DiagnosticJson[] };

/** Internal data of a project, not part of its public form. */
interface Inside {
  readonly opened: Omit<Opened, "calls">;
  readonly redactor: Redactor;
  /** Whether the project was loaded without `allowMissingSecrets`. */
  readonly complete: boolean;
}

/**
 * Internal data by the object that the caller has: it is not part of the types, and is freed with
 * the object.
 */
const projects = new WeakMap<object, Inside>();
const plans = new WeakMap<
  object,
  Inside & { readonly saved: SavedPlan; readonly options: PlanOptions }
>();

/**
 * Resolves the manifests of a folder for one stage.
 * @returns the project and its warnings, or all errors with places
 */
export async function loadProject(folder: string, options: LoadOptions = {}): Promise<LoadResult> {
  checkOptions(options, { stage: "text", env: "variables", allowMissingSecrets: "flag" });
  const root = resolve(folder);
  const { stage, env = process.env, allowMissingSecrets = false } = options;
  const loaded = await load({ root, stage, env, allowMissingSecrets, needsApiKey: true });
  const secrets = new Secrets(loaded.secrets);
  if (loaded.ok) secrets.addresses.push(() => declaredAddresses(loaded.desired));
  const redactor = createRedactor(secrets);
  const diagnostics = publicDiagnostics(loaded.diagnostics, redactor);
  if (!loaded.ok) return { ok: false, diagnostics };
  const { settings, desired } = loaded;
  const project: Project = {
    folder: root,
    stage: settings.stage,
    stages: settings.stages,
    baseUrl: redactor.text(settings.baseUrl),
    addresses: desired.targets.flatMap(resourcesOf).map(({ address }) => address),
  };
  projects.set(project, {
    opened: { root, env, project: loaded },
    redactor,
    complete: !allowMissingSecrets,
  });
  return { ok: true, project, diagnostics };
}

export interface PlanOptions extends CallOptions {
  /** Addresses or globs to narrow the plan to. */
  readonly only?: readonly string[];
  /** Addresses or globs to leave out. */
  readonly exclude?: readonly string[];
  /** Batch generations to run regardless of state. */
  readonly run?: readonly string[];
  /** Test cases whose prompt to send regardless of state. */
  readonly rediscover?: readonly string[];
  /** Rules of the project's policy to ignore. */
  readonly overridePolicy?: readonly string[];
}

/**
 * Reads the service and the state, and plans what an apply would do. Changes nothing.
 * @returns the plan as `tasc plan --format json` prints it; its diagnostics include errors against
 * the live service
 * @throws TascError if no plan can be made
 */
export async function plan(project: Project, options: PlanOptions = {}): Promise<PlanJson> {
  const inside = projects.get(project);
  if (inside === undefined) throw new TypeError("This is not a project that loadProject gave");
  const narrowing = { only: "texts", exclude: "texts", run: "texts", rediscover: "texts" } as const;
  checkOptions(options, { ...narrowing, overridePolicy: "texts", ...CALL_KINDS });
  return quietly(inside, options, async (session) => {
    const reviewed = await review(session, await survey(session, options), options.overridePolicy);
    const saved = { ...(await toSavedPlan(reviewed, session)), digest: randomUUID() };
    // Frozen, because what is applied must be what was reviewed.
    freeze(saved.plan);
    plans.set(saved.plan, { ...inside, saved, options });
    return saved.plan;
  });
}

export interface ApplyOptions extends CallOptions {
  /** Receives each event when it happens. */
  readonly onEvent?: (event: ApplyEvent) => void;
  /** How long to wait for discoveries to finish, e.g. `15m`; default: no wait. */
  readonly wait?: string;
  /** How long to wait for a lock that somebody else holds, e.g. `2m`; default: no wait. */
  readonly lockTimeout?: string;
  /**
   * Whether the state backend is meant to be new: creates again what state in `.tasc/state` binds;
   * default: false, which refuses that.
   */
  readonly newState?: boolean;
  /**
   * Once aborted, calls in flight finish and state is saved, but nothing else starts and nothing is
   * waited for.
   */
  readonly signal?: Signal;
}

/**
 * An AbortSignal. Its type is written out, because programs without the types of Node or of a
 * browser do not have that name.
 */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The outcome of an apply. */
export interface ApplyOutcome extends Outcome {
  /** Whether everything was done, and the service shows what was written. */
  readonly ok: boolean;
  /** The exit code of the command line in this case. */
  readonly exitCode: number;
  /** Warnings that occurred during the apply. */
  readonly diagnostics: readonly DiagnosticJson[];
}

/**
 * Applies exactly a plan that `plan` returned, under the locks of its targets, as `tasc apply FILE`
 * does.
 * @returns what was done, what failed and what was skipped; a change that failed is not an
 * exception
 * @throws TascError if nothing was applied: the plan has errors or is refused by the policy, it is
 * stale, the state is locked, or the service cannot be reached
 */
export async function apply(reviewed: PlanJson, options: ApplyOptions = {}): Promise<ApplyOutcome> {
  const own = {
    onEvent: "function",
    wait: "text",
    lockTimeout: "text",
    newState: "flag",
    signal: "signal",
  } as const;
  checkOptions(options, { ...own, ...CALL_KINDS });
  const inside = plans.get(reviewed);
  if (inside === undefined) throw new TypeError("This is not a plan that plan() gave");
  const { saved, complete, redactor } = inside;
  return quietly(inside, { ...inside.options, ...options }, async (session, warnings) => {
    if (!complete)
      throw invalid(
        "missing-secrets",
        "A project loaded with allowMissingSecrets cannot be applied",
      );
    const request = {
      saved,
      overridePolicy: inside.options.overridePolicy ?? [],
      wait: durationOf("wait", options.wait),
      lockTimeout: durationOf("lockTimeout", options.lockTimeout),
      newState: options.newState,
    };
    const redacted = (event: Failed) => ({
      ...event,
      failure: redactDiagnostic(event.failure, redactor),
    });
    const emit = (event: ApplyEvent) =>
      options.onEvent?.(event.type === "changeFailed" ? { ...event, ...redacted(event) } : event);
    const { outcome, exitCode } = await applyProject(session, request, {
      emit,
      signal: options.signal instanceof AbortSignal ? options.signal : undefined,
    });
    const diagnostics = publicDiagnostics(warnings, redactor);
    return {
      ...redactOutcome(outcome, redactor),
      ok: exitCode === EXIT.done,
      exitCode,
      diagnostics,
    };
  });
}

/** The formats of `render`. */
export const RENDER_FORMATS = PLAN_FORMATS;
export type RenderFormat = PlanFormat;

export interface RenderOptions {
  /** Text only: shows every change in full. */
  readonly verbose?: boolean;
  /** Text only: columns for running text; default: 80. */
  readonly width?: number;
  /** Markdown only: maximum length of a comment; default: 65536. */
  readonly budget?: number;
}

/**
 * Returns a plan as `tasc plan --format …` prints it, without colours. Accepts any plan in JSON
 * form, including one read from a file. If `plan` made it, the result also shows who changed a
 * field and where it is declared.
 * @throws TypeError if the argument is not a plan, or if the format or an option is invalid
 */
export async function render(
  shown: PlanJson,
  format: RenderFormat,
  options: RenderOptions = {},
): Promise<string> {
  checkOptions(options, { verbose: "flag", width: "number", budget: "number" });
  if (!RENDER_FORMATS.includes(format))
    throw new TypeError(`There is no format ${JSON.stringify(format)}`);
  const { verbose = false, width = 80, budget } = options;
  const inside = plans.get(shown);
  if (inside === undefined && !validate(shown)) throw new TypeError("This is not a plan");
  const extras = inside?.saved.extras ?? {};
  const redactor = inside?.redactor ?? createRedactor([]);
  const source = (file: string): string | undefined =>
    inside?.opened.project.sources.get(file)?.text;
  const pieces = await renderPlan(format, shown, extras, {
    style: PLAIN,
    width,
    verbose,
    source,
    budget,
  });
  const text = [...pieces].join("");
  if (format === "text") return safeOutput(redactor.lines(text), { colour: false });
  return format === "json" ? redactor.document(text) : redactor.markup(text);
}

/** Runs the work in a session, and turns every error into the library's error. */
async function quietly<T>(
  { opened, redactor }: Inside,
  calls: CallOptions,
  work: (session: Session, warnings: readonly Diagnostic[]) => Promise<T>,
): Promise<T> {
  const warnings: Diagnostic[] = [];
  const secrets = new Secrets(opened.project.secrets);
  secrets.addresses.push(() => declaredAddresses(opened.project.desired));
  const host: Host = {
    env: opened.env,
    cwd: opened.root,
    now: Date.now,
    random: Math.random,
    version: __TASC_VERSION__,
    secrets,
    warn: (diagnostics) => void warnings.push(...diagnostics),
    onClientEvent: () => {},
  };
  try {
    return await inSession({ ...opened, calls: callsOf(calls) }, host, (session) =>
      work(session, warnings),
    );
  } catch (error) {
    const failure =
      error instanceof Failure
        ? error
        : failed("unexpected", error instanceof Error ? error.message : String(error));
    throw new TascError(
      failure.reason,
      publicDiagnostics([...warnings, ...failure.diagnostics], redactor),
    );
  }
}

function publicDiagnostics(
  all: readonly Diagnostic[],
  redactor: Redactor,
): readonly DiagnosticJson[] {
  return all.map((diagnostic) => redactDiagnostic(diagnosticJson(diagnostic), redactor));
}

function callsOf({ requestTimeout, retries, concurrency, insecure }: CallOptions): SessionCalls {
  const least = (name: string, from: number) =>
    invalid("bad-option", `${name} takes a whole number from ${from} up`);
  if (retries !== undefined && retries < 0) throw least("retries", 0);
  if (concurrency !== undefined && concurrency < 1) throw least("concurrency", 1);
  return {
    requestTimeout: durationOf("requestTimeout", requestTimeout),
    retries,
    concurrency,
    insecure,
  };
}

function durationOf(name: string, text: string | undefined): number | undefined {
  const milliseconds = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && milliseconds === undefined)
    throw invalid("bad-option", `${name} takes a duration such as 90s or 10m`);
  return milliseconds;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}

/** The kinds of options: the check of a value, and its description in errors. */
const KINDS = {
  text: [isText, "a string"],
  texts: [isTexts, "a list of strings"],
  flag: [(value: unknown) => typeof value === "boolean", "true or false"],
  number: [(value: unknown) => Number.isSafeInteger(value), "a whole number"],
  function: [(value: unknown) => typeof value === "function", "a function"],
  signal: [(value: unknown) => value instanceof AbortSignal, "an AbortSignal"],
  variables: [
    (value: unknown) => typeof value === "object" && value !== null,
    "an object of variables",
  ],
} as const;

/**
 * Checks options for callers without types. Otherwise a misspelt option, or one of a wrong type,
 * would be ignored, and a plan that should be narrowed would be a plan of everything.
 *
 * @throws TypeError
 */
function checkOptions(options: object, kinds: Readonly<Record<string, keyof typeof KINDS>>): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = kinds[name];
    if (kind === undefined || !Object.hasOwn(kinds, name))
      throw new TypeError(`There is no option ${name}; there are ${Object.keys(kinds).join(", ")}`);
    const [fits, words] = KINDS[kind];
    if (value !== undefined && !fits(value)) throw new TypeError(`${name} takes ${words}`);
  }
}
