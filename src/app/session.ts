import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { LoadedProject } from "../manifest/load.ts";
import { guessed } from "../manifest/problem.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { WHERE_KEY_IS } from "../manifest/settings.ts";
import { chooseStage, settingsLayers } from "../manifest/stages.ts";
import type { Desired, DesiredTarget } from "../model/desired.ts";
import { type Diagnostic, inStage, warning } from "../model/diagnostic.ts";
import { type ReadSource, TascError, invalid } from "../model/error.ts";
import { defined } from "../model/json.ts";
import { type LiveTarget, type Reader, inBatches, sideBySide } from "../model/live.ts";
import type { ClientEvent } from "../model/events.ts";
import type { Settings } from "../model/settings.ts";
import { type State, emptyState } from "../model/state.ts";
import type { Secret } from "../model/value.ts";
import { type RefreshOptions, type Refreshed, refresh } from "../plan/refresh.ts";
import { type Remembered, withRemovedTargets } from "../plan/orphans.ts";
import { liveTargets } from "../plan/plan.ts";
import { type Redactor, createRedactor } from "../render/redact.ts";
import { type Client, createClient } from "../service/client.ts";
import { parseHttpDate } from "../service/refusal.ts";
import { checkBaseUrl } from "../service/request.ts";
import {
  type Backend,
  type DocumentKey,
  type LockInfo,
  type StateKey,
  type StateRuntime,
} from "../state/backend.ts";
import { readConfig } from "../state/config.ts";
import { erroredFile, readErrored } from "../state/errored.ts";
import { applyEvents } from "../state/events.ts";
import { createFingerprinter, deriveKeys } from "../state/fingerprint.ts";
import { readProcesses } from "../state/lock.ts";
import { explainTakenIn, explainTakeover, explainWaiting } from "../state/problem.ts";
import { type LockedState, confirmLocks, openBackend, openLockedStates } from "../state/locked.ts";
import { noteBackend, warnOfOldState } from "./backend-note.ts";
import { type AcceptedSteps, readAcceptedSteps } from "./accepted-steps.ts";
import {
  type Host,
  type Opened,
  type ProjectNeeds,
  type ProjectOptions,
  openProject,
} from "./project.ts";
import { shareRate } from "./shared-rate.ts";

export type PlanRequest = Pick<RefreshOptions, "scope" | "run" | "rediscover" | "needs" | "whole">;

/** Opens a project, does the work, and closes everything that the work opened. @throws TascError */
export async function withSession<T>(
  options: ProjectOptions,
  host: Host,
  work: (session: Session) => Promise<T>,
  needs: ProjectNeeds = {},
): Promise<T> {
  return inSession(await openProject(options, host, needs), host, work);
}

export async function inSession<T>(
  opened: Opened,
  host: Host,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = new Session(opened, host);
  try {
    return await work(session);
  } catch (error) {
    if (!(error instanceof TascError)) throw error;
    const { reason, diagnostics, source } = error;
    throw new TascError(reason, session.advised(diagnostics), source, session.namedStage);
  } finally {
    await session.close();
  }
}

/**
 * Returns the target with this key, or all without a key.
 * @throws TascError if no manifest declares it
 */
export function targetsNamed(
  word: string | undefined,
  { targets }: Desired,
): readonly DesiredTarget[] {
  if (word === undefined) return targets;
  const key = word.replace(/^target\./, "");
  const found = targets.find((target) => target.key === key);
  if (found !== undefined) return [found];
  const keys = targets.map((target) => target.key);
  throw invalid(
    "unknown-target",
    `No manifest declares a target ${key}`,
    `Declared targets: ${keys.join(", ")}.${guessed(key, keys)}`,
  );
}

/**
 * An opened project. State and service are opened on first use. Every member throws TascError if it
 * cannot answer.
 */
export class Session {
  readonly root: string;
  readonly env: Host["env"];
  readonly host: Host;
  readonly project: LoadedProject;
  readonly settings: Settings;
  /** The stage, if commands in advice must name it because they would otherwise use another one. */
  readonly namedStage: string | undefined;
  readonly redactor: Redactor;
  readonly #insecure: boolean;
  #states: Promise<{ readonly backend: Backend; readonly world: StateRuntime }> | undefined;
  #remembered: Promise<Remembered> | undefined;
  #derived: Promise<void> | undefined;
  #accepted: AcceptedSteps | undefined;
  #client: Client | undefined;
  #locked: readonly LockedState[] = [];
  /** Files of records that an interrupted apply could not save. */
  readonly #left: string[] = [];
  readonly #ending = new AbortController();
  #skew = 0;

  constructor({ root, env, project, calls }: Opened, host: Host) {
    this.root = root;
    this.env = env;
    this.host = { ...host, warn: (all, source) => host.warn(this.advised(all), source) };
    this.project = project;
    const { concurrency, requestTimeout, retries, insecure = false } = calls;
    this.settings = { ...project.settings, ...defined({ concurrency, requestTimeout, retries }) };
    const meant = chooseStage(project.project, undefined, env["TASC_STAGE"]);
    this.namedStage = meant === this.settings.stage ? undefined : this.settings.stage;
    // Includes the base's secrets: one that a change no longer names may still be on the service.
    this.redactor = createRedactor(host.secrets);
    this.#insecure = insecure;
  }

  advised(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
    return diagnostics.map((one) => ({ ...one, detail: inStage(one.detail, this.namedStage) }));
  }

  get desired(): Desired {
    return this.project.desired;
  }

  readonly source: ReadSource = (file) => this.project.sources.get(file)?.text;

  /**
   * The stage's fingerprints, with a key of their own or the API key; `undefined` without a key.
   */
  get fingerprints() {
    const key = this.#fingerprintKey;
    if (key === undefined) return undefined;
    const { stage, apiKey } = this.settings;
    return createFingerprinter(key, stage, key === apiKey ? "apiKey" : "fingerprintKey");
  }

  get #fingerprintKey(): Secret | undefined {
    const { state, apiKey } = this.settings;
    return state.fingerprintKeyUnknown ? undefined : (state.fingerprintKey ?? apiKey);
  }

  /**
   * Refuses work that needs the key of the fingerprints, while the declared one is missing: without
   * it, what is written to state would lose records, and nobody can tell what was applied.
   * @param what is refused, e.g. "Drift cannot be detected"
   * @throws TascError
   */
  requireFingerprintKey(what = "State cannot be written"): void {
    if (this.settings.state.fingerprintKeyUnknown)
      throw invalid(
        "missing-fingerprint-key",
        `${what}: the fingerprint key is missing`,
        `\`state.fingerprintKey\` of tasc.yaml has no value here. ${WHERE_KEY_IS}`,
      );
  }

  /**
   * Reads the accepted steps, once; `undefined` if neither the policy nor the command asks for them.
   * @throws TascError if a file stands beside declared `elements`
   */
  acceptedSteps(
    need: { readonly isOffline?: boolean; readonly keep?: boolean } = {},
  ): AcceptedSteps | undefined {
    const { root, desired, settings, redactor } = this;
    const { isOffline = false, keep = false } = need;
    const { steps = "off" } = settings.policy;
    const mode = steps === "off" && keep ? "report" : steps;
    if (this.#accepted !== undefined || mode === "off") return this.#accepted;
    const words = {
      isSecret: (text: string) => redactor.text(text) !== text,
      fingerprints: isOffline ? undefined : this.fingerprints,
    };
    const { stages } = settings;
    this.#accepted = readAcceptedSteps({ root, desired, stages, mode, words, keep });
    return this.#accepted;
  }

  /** Whether the project's policy disables what was removed from the manifests. */
  get disableRemoved(): boolean {
    return this.settings.policy.onRemove === "disable";
  }

  /**
   * Milliseconds that the service's clock is ahead of this machine's, as its last answer said; 0 up
   * to the tolerance. It turns times of the history into times of the service.
   */
  get clockSkew(): number {
    return Math.abs(this.#skew) > SKEW_TOLERATED ? this.#skew : 0;
  }

  #noteClock(event: ClientEvent): void {
    const service =
      event.kind === "finished" ? parseHttpDate((event.date ?? "").trim()) : undefined;
    if (service === undefined) return;
    this.#skew = service - this.host.now();
  }

  /** Warns if times of this machine and of the service had to be compared, and the clocks differ. */
  warnOfClocks(): void {
    if (this.clockSkew === 0) return;
    const minutes = Math.round(Math.abs(this.#skew) / 60_000);
    const side = this.#skew > 0 ? "ahead of" : "behind";
    this.host.warn([
      warning(
        "clock-skew",
        `The service's clock is ${minutes} minutes ${side} this machine's`,
        "When a result is old enough, and what an apply came before, is told from both clocks. Set this machine's clock.",
      ),
    ]);
  }

  states() {
    return (this.#states ??= this.#openStates());
  }

  stateKey(target: string): DocumentKey {
    return { stage: this.settings.stage, target, service: this.settings.baseUrl };
  }

  /**
   * Returns a warning for each file of records that an apply could not save. Plans take them into
   * account, and the next apply saves them.
   */
  async leftovers(): Promise<readonly Diagnostic[]> {
    await this.remembered();
    return this.#left.map((file) =>
      warning(
        "state-errored-left",
        "An apply has left records that state does not have yet",
        `They are in ${file}. ${
          this.fingerprints === undefined
            ? "Without the key of the fingerprints they cannot be checked, so they are left out here."
            : "They are taken into account here, and the next apply saves them."
        }`,
      ),
    );
  }

  /** Reads the current states of targets, without a lock. Targets without state have no entry. */
  async readStates(targets: readonly string[]): Promise<ReadonlyMap<string, State>> {
    const { backend } = await this.states();
    const stored = await backend.readAll(targets.map((target) => this.stateKey(target)));
    return new Map([...stored].map(([target, { state }]) => [target, state]));
  }

  /**
   * Returns what is declared, and what state knows of it and of what is no longer declared. Read
   * once, without a lock.
   */
  remembered(): Promise<Remembered> {
    return (this.#remembered ??= this.#readRemembered());
  }

  /** Returns the client of the service. Nothing is sent before its first call. */
  client(): Client {
    return (this.#client ??= this.#connect());
  }

  /**
   * Returns the ids of declared targets that are live, by key, matched in the same way as in a
   * plan.
   */
  liveIds(
    states: ReadonlyMap<string, State>,
    targets: readonly LiveTarget[],
    desired = this.desired,
  ): ReadonlyMap<string, string> {
    const found = liveTargets({ desired, states, fingerprints: undefined }, targets);
    return new Map([...found].map(([key, { id }]) => [key, id]));
  }

  async refresh(request: PlanRequest, remembered?: Remembered): Promise<Refreshed> {
    const { baseUrl } = this.settings;
    const known = remembered ?? (await this.remembered());
    const client = this.client();
    // The key is derived while the first request is in flight.
    const listTargets = async () => (await Promise.all([client.listTargets(), this.#derived]))[0];
    const reader: Reader = { ...client, listTargets };
    return refresh(reader, {
      ...request,
      ...known,
      fingerprints: this.fingerprints,
      baseUrl,
      disableRemoved: this.disableRemoved,
      now: this.host.now(),
      steps: this.acceptedSteps(),
    });
  }

  /**
   * Does the work while the state of these targets is locked; if one lock is not available, none is
   * kept. After a lock is lost, no call that changes something is sent, and calls in flight get a
   * moment to end. @param unsaved called if the work's records could not be saved at its end;
   * without it, that error is thrown
   */
  async withLocks<T>(
    targets: readonly string[],
    options: { readonly timeout: number; readonly signal?: AbortSignal; readonly why: string },
    work: (sessions: ReadonlyMap<string, LockedState>, lost: AbortSignal) => Promise<T>,
    unsaved?: (failure: unknown) => void,
  ): Promise<T> {
    this.requireFingerprintKey();
    const { backend, world } = await this.states();
    const { warn } = this.host;
    const waiting = (key: StateKey, holder: LockInfo | undefined) =>
      warn([explainWaiting(key, holder)]);
    const keys = targets.map((target) => this.stateKey(target));
    const sessions = await openLockedStates(backend, keys, world, { ...options, waiting });
    for (const [target, { takenOver, takenIn }] of sessions) {
      if (takenOver !== undefined) warn([explainTakeover(this.stateKey(target), takenOver)]);
      if (takenIn !== undefined) warn([explainTakenIn(this.stateKey(target), takenIn)]);
    }
    const locked = [...sessions.values()];
    this.#locked = locked;
    const lost = AbortSignal.any(locked.map((session) => session.lost));
    let ending: NodeJS.Timeout | undefined;
    const endSoon = (): void => {
      ending = setTimeout(() => this.#ending.abort(), CALLS_END_WITHIN);
    };
    lost.addEventListener("abort", endSoon);
    const close = async () => {
      clearTimeout(ending);
      // Node keeps a signal of several others, and all that its listeners know, while it has any.
      lost.removeEventListener("abort", endSoon);
      const sizeOf = ({ state }: LockedState) => state.bindings.size;
      await inBatches(locked, sizeOf, async (one) => one.close().catch(() => {}));
      // All of them are closed; the error of the first one that failed counts.
      await sideBySide(locked.map((session) => session.close()));
    };
    const result = await work(sessions, lost).catch(async (error: unknown) => {
      await close().catch(() => {});
      throw error;
    });
    // Not after work that was refused: the place of before is still needed then.
    await noteBackend(this, backend);
    await close().catch(unsaved);
    return result;
  }

  async close(): Promise<void> {
    await this.#client?.close();
    // If opening failed, the caller has already received the error.
    const states = await this.#states?.catch(() => undefined);
    await states?.backend.close();
  }

  async #openStates() {
    const config = readConfig(this.settings.state, { insecure: this.#insecure });
    const world: StateRuntime = {
      projectFolder: this.root,
      ...defined({ seal: this.fingerprints?.seal }),
      clock: {
        now: () => new Date(this.host.now()),
        sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
      },
      newId: randomUUID,
      processes: await readProcesses(hostname(), process.pid),
      user: userName(),
      workingFolder: this.host.cwd,
      environment: this.env,
    };
    return { backend: await openBackend(config, world), world };
  }

  async #readRemembered(): Promise<Remembered> {
    const { desired, settings } = this.project;
    const key = this.#fingerprintKey;
    this.#derived = key && deriveKeys(key, settings.stage);
    const declared = desired.targets.map(({ key }) => key);
    const { backend } = await this.states();
    const states = await this.#withUnsaved(declared, await this.readStates(declared));
    const listed = await backend.list(settings.stage);
    const others = listed.filter((key) => !declared.includes(key));
    const strays = await this.#withUnsaved(others, await this.readStates(others));
    const known = [...states.values(), ...strays.values()];
    this.host.secrets.addresses.push(() => known.flatMap(({ bindings }) => [...bindings.keys()]));
    if (states.size + strays.size === 0) await warnOfOldState(this, await this.states());
    return withRemovedTargets(
      { desired, states, strays: [...strays.values()] },
      this.disableRemoved,
    );
  }

  /** Adds to states what an interrupted apply of this checkout could not save. */
  async #withUnsaved(targets: readonly string[], read: ReadonlyMap<string, State>) {
    const { world } = await this.states();
    const states = new Map(read);
    for (const key of targets.map((target) => this.stateKey(target))) {
      const file = erroredFile(world, key);
      if (!existsSync(file)) continue;
      this.#left.push(file);
      if (world.seal === undefined) continue;
      const state = read.get(key.target) ?? emptyState(key.stage, key.target, key.service);
      const left = await readErrored(world, state);
      if (left !== undefined) states.set(key.target, applyEvents(state, left.events));
    }
    return states;
  }

  /** Says which stage's key it is and where it comes from; never a part that may be a value. */
  #keyFrom(): string | undefined {
    const { stage } = this.settings;
    const layers = settingsLayers(this.project.project, stage);
    const declared = mergedAt(layers, ["service", "apiKey"]);
    const named = typeof declared === "string" ? (declared.match(/\$\{[^}]*\}/g) ?? []) : [];
    if (named.length === 0) return undefined;
    const from = named.map((one) => `\`${one}\``).join(" and ");
    return `\`service.apiKey\` of stage ${stage} comes from ${from}`;
  }

  #connect(): Client {
    const { baseUrl, apiKey, rateLimit, state, concurrency, requestTimeout, retries } =
      this.settings;
    const base = checkBaseUrl(baseUrl, { insecure: this.#insecure });
    if (!base.ok) throw invalid("base-url", base.failure.summary, base.failure.detail);
    if (apiKey === undefined)
      throw invalid(
        "no-api-key",
        "The API key is missing",
        "Every request to the service needs it. Declare `service.apiKey` in tasc.yaml and set its variable. `--allow-missing-secrets` works without it only together with `--snapshot`.",
      );
    const { now, random, onClientEvent, signal } = this.host;
    return createClient({
      baseUrl: base.value,
      apiKey,
      keyFrom: this.#keyFrom(),
      concurrency,
      requestTimeout,
      retries,
      rateLimit,
      ...(state.backend === "postgres" &&
        rateLimit !== undefined && {
          shareRate: shareRate(this, apiKey, rateLimit),
        }),
      world: { now, random, sleep: (ms, abort) => delay(ms, undefined, { signal: abort }) },
      redact: (text) => this.redactor.text(text),
      onEvent: (event) => {
        this.#noteClock(event);
        onClientEvent(event);
      },
      env: this.env,
      signal:
        signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal]),
      beforeSend: ({ method, path }) =>
        method === "GET" ? undefined : confirmLocks(this.#locked, path),
    });
  }
}

/** Milliseconds by which two clocks may differ. */
const SKEW_TOLERATED = 5 * 60_000;

/** Milliseconds that calls in flight have to end after state is lost. */
const CALLS_END_WITHIN = 5_000;

/**
 * Returns the user's name. In some containers, the user has no entry in the system's list and so no
 * name.
 */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
