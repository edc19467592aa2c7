import { type Applied, applyProject, outcomeJson } from "../app/apply.ts";
import { planMeta } from "../app/plan.ts";
import type { SavedPlan } from "../app/plan-file.ts";
import { withSavedPlan } from "../app/saved-plan.ts";
import type { Session } from "../app/session.ts";
import { inStage } from "../model/diagnostic.ts";
import { type ExitCode, EXIT, failed } from "../model/error.ts";
import type { ApplyEvent, ClientEvent } from "../model/events.ts";
import { type JsonObject, defined, parseJson } from "../model/json.ts";
import type { PlanJson } from "../model/plan.ts";
import {
  type NextStep,
  type ProgressEvent,
  ApplyStatus,
  eventLine,
  renderApplyReport,
} from "../render/apply.ts";
import { planJson } from "../render/json.ts";
import { redactOutcome, redactPlan } from "../render/redact.ts";
import { clockText } from "../render/words.ts";
import { type Console, type Context, optimiseLate } from "./context.ts";
import { printReview } from "./print-review.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { SERVICE, PLANNING, LOCK_TIMEOUT, VERBOSE } from "./shared-options.ts";
import { choice, duration, flag, text } from "./options.ts";

const OPTIONS = {
  file: text("[file]", "a plan saved by `tasc plan --out`; applied without confirmation"),
  autoApprove: flag("--auto-approve", "skip the confirmation"),
  ...PLANNING,
  wait: duration("--wait [duration]", "wait for discoveries to finish; default time limit: 15m", {
    always: 15 * 60_000,
  }),
  ...LOCK_TIMEOUT,
  newState: flag(
    "--new-state",
    "the state backend is meant to be new: create what state in .tasc/state binds again",
  ),
  format: choice("--format <format>", "output format; json prints one event per line", [
    "text",
    "json",
  ]),
  ...VERBOSE,
  ...SERVICE,
};

export const command = defineCommand({
  group: "Apply",
  summary: "apply the manifests to the service",
  examples: {
    "tasc apply": "plan, confirm, apply",
    "tasc apply --auto-approve --stage staging": "apply in a pipeline, without confirmation",
    "tasc apply plan.json": "apply exactly the reviewed plan",
  },
  options: OPTIONS,
  run: run,
});

async function run(options: OptionsOf<typeof OPTIONS>, context: Context): Promise<ExitCode> {
  const { console } = context;
  const { file, autoApprove, verbose } = options;
  const events = options.format === "json" ? openEventStream(context) : undefined;
  const display = openDisplay(console, context.host.now);
  const stop = listenForStop(
    () => display.onEvent({ type: "stopping" }),
    () => display.end(),
  );
  const host = {
    ...context.host,
    signal: stop.signal,
    onClientEvent(event: Parameters<typeof context.host.onClientEvent>[0]) {
      display.onEvent(event);
      console.onClientEvent(event, true);
      events?.onEvent(event);
    },
  };
  const work = async (session: Session, saved?: SavedPlan): Promise<ExitCode> => {
    if (saved !== undefined) events?.planned(saved.plan);
    const applied = await applyProject(
      session,
      { ...options, saved },
      {
        reviewed: async (review) => {
          if (events === undefined) await printReview(review, session, { verbose }, context);
          else events.planned(planJson(review.plan, planMeta(context.host)));
        },
        ...(autoApprove
          ? {}
          : { approve: ({ stage }) => display.aside(() => askToApply(stage, context.host)) }),
        begins: optimiseLate,
        emit: (event) => {
          display.onEvent(event);
          events?.onEvent(event);
        },
        signal: stop.asked,
      },
    );
    display.end();
    const steps = nextSteps(applied, file);
    const next = steps.map((one) => ({
      ...one,
      command: inStage(one.command, session.namedStage),
    }));
    if (events === undefined) {
      const { plan, uncertain, milliseconds } = applied;
      const outcome = redactOutcome(applied.outcome, console.redactor);
      const actions = new Map(plan.changes.map(({ address, action }) => [address, action]));
      const facts = { stage: plan.stage, milliseconds, actions, uncertain, next };
      const { style, columns: width, screen } = console;
      // The plan has said already that there are no changes.
      if (saved !== undefined || !isNothing(applied))
        console.data(
          renderApplyReport(outcome, facts, { style: style.stdout, width, verbose, screen }),
        );
    } else events.result(applied, next);
    return applied.exitCode;
  };
  try {
    return await withSavedPlan(file, options, host, work, { texts: false });
  } finally {
    stop.end();
    display.end();
  }
}

/** Whether an apply had nothing to do, and found nothing to tell. */
function isNothing({ plan, outcome, uncertain }: Applied): boolean {
  const { done, failed: wrong, skipped, notTaken, unfinished, notWaited } = outcome;
  const told = [done, wrong, skipped, notTaken, unfinished, notWaited, uncertain, plan.changes];
  const isWhole = !outcome.interrupted && outcome.fatal === undefined;
  return isWhole && told.every(({ length }) => length === 0);
}

/** The ways to apply without a question. */
const UNASKED =
  "To apply without a question, approve in advance, or save a plan and apply that file:\ntasc apply --auto-approve\ntasc plan --out plan.json";

/**
 * Asks the user for confirmation; only the whole word counts.
 * @throws TascError unless the answer is yes
 */
async function askToApply(stage: string, { ask }: Context["host"]): Promise<void> {
  if (ask === undefined)
    throw failed(
      "no-terminal",
      "Cannot ask for confirmation: no terminal",
      `Nothing was applied. ${UNASKED}`,
    );
  const prompt = `\nApply these changes to ${stage}?\nType "yes" to apply: `;
  const answers = await ask([{ id: "apply", prompt }]);
  if (answers.get("apply") !== "yes")
    throw failed(
      "not-approved",
      "Nothing was applied",
      `Apply cancelled. Type the full word "yes" to confirm. ${UNASKED}`,
    );
}

/**
 * Opens the output of `apply --format json`: one JSON object per line
 * (`schemas/events.schema.json`), `result` last.
 */
function openEventStream({ console, host }: Context) {
  console.streams = true;
  const write = (event: JsonObject): void =>
    console.event({ at: new Date(host.now()).toISOString(), ...event });
  return {
    planned: (plan: PlanJson): void =>
      write({
        type: "planned",
        plan: parseJson(JSON.stringify(redactPlan(plan, console.redactor))),
      }),
    onEvent(event: ApplyEvent | ClientEvent): void {
      if ("kind" in event) {
        const line = callEvent(event);
        if (line !== undefined) write(line);
      } else if (event.type === "changeSkipped") write({ ...event, reason: { ...event.reason } });
      else if (event.type === "changeFailed") {
        const { summary, detail } = event.failure;
        write({ type: event.type, address: event.address, summary, detail });
      } else write({ ...event });
    },
    result(
      { outcome, uncertain, exitCode, milliseconds }: Applied,
      next: readonly NextStep[],
    ): void {
      const { calls, interrupted } = outcome;
      write({
        type: "result",
        ...outcomeJson(outcome),
        uncertain,
        calls: { ...calls },
        interrupted,
        milliseconds,
        exitCode,
        next: next.map(({ command }) => command),
      });
    },
  };
}

function callEvent(event: ClientEvent): JsonObject | undefined {
  if (event.kind === "started") return undefined;
  if (event.kind === "slowed")
    return { type: "slowed", pause: event.pause, concurrency: event.concurrency };
  const { method, path, attempt, status, fault } = event;
  const call = { method, path, attempt, status, fault };
  return event.kind === "waiting"
    ? defined({ type: "retry", ...call, delay: event.delay })
    : defined({ type: "call", ...call, milliseconds: Math.round(event.ms) });
}

/** Milliseconds between updates of a live display without events. */
const TICK = 200;

/**
 * Opens a status area on a terminal; elsewhere, prints plain lines with the time.
 * @param now milliseconds from any start
 */
export function openDisplay(
  {
    writer,
    style: { stderr: style },
    live,
    level,
  }: Pick<Console, "writer" | "style" | "live" | "level">,
  now: () => number,
) {
  const isSilent = level === "error" || level === "warn";
  let startedAt = now();
  let last: string | undefined;
  const status = new ApplyStatus(startedAt);
  const draw = (): void => (live ? writer.status(status.lines(now(), style)) : writer.flush());
  const clear = (): void => (live ? writer.status([]) : writer.flush());
  let aside = false;
  const timer = setInterval(() => {
    if (!aside && !isSilent) draw();
  }, TICK);
  return {
    onEvent(event: ProgressEvent): void {
      if (isSilent) return;
      const type = "kind" in event ? undefined : event.type;
      // Until now, the user read the plan and was asked, which is not part of the duration of the
      // apply.
      if (type === "started") startedAt = now();
      // Events that must stay visible are printed above the area; the others are only counted in
      // it.
      const lasting = type === "changeFailed" || type === "stopping";
      const line = eventLine(event);
      if (live) {
        status.hear(event, now());
        if (lasting) writer.note(`${line}\n`);
        draw();
      } else if (line !== undefined && line !== last) {
        last = line;
        writer.queue(`[${clockText(now() - startedAt)}] ${line}\n`);
        if (lasting) writer.flush();
      }
    },
    /** Draws nothing during a question, because that would overwrite the question. */
    async aside<T>(question: () => Promise<T>): Promise<T> {
      aside = true;
      clear();
      try {
        return await question();
      } finally {
        aside = false;
      }
    },
    end(): void {
      clearInterval(timer);
      clear();
    },
  };
}

/** Maximum number of failed generations that the next steps name. */
const MOST_AGAIN = 3;

function nextSteps({ outcome, uncertain }: Applied, file: string | undefined): readonly NextStep[] {
  const rest =
    file === undefined
      ? { command: "tasc apply", purpose: "again to apply the remaining changes" }
      : {
          command: `tasc plan --out ${file}`,
          purpose: "to plan the remaining changes: a saved plan is applied once",
        };
  const unclear = uncertain.flatMap((address) => [
    { command: `tasc state mark ${address} done`, purpose: "if it ran" },
    { command: `tasc apply --run ${address}`, purpose: "if it is to run" },
  ]);
  const generated = outcome.failed.filter(({ generation }) => generation === true);
  const again = generated.slice(0, MOST_AGAIN).map(({ address }) => ({
    command: `tasc apply ${address.startsWith("batch") ? "--run" : "--rediscover"} ${address}`,
    purpose: "to generate it again, unless its prompt is to be changed first",
  }));
  const open = outcome.failed.length - generated.length + outcome.skipped.length - uncertain.length;
  const differs = outcome.notTaken.length + outcome.unfinished.length > 0;
  return [
    ...(open > 0 || outcome.interrupted ? [rest] : []),
    ...(differs ? [{ command: "tasc plan", purpose: "to see what still differs" }] : []),
    ...again,
    ...unclear,
  ];
}

/**
 * Listens for Ctrl-C and SIGTERM: the first lets requests in flight finish, the second calls `last`
 * and exits.
 */
function listenForStop(first: () => void, last: () => void) {
  const once = new AbortController();
  const twice = new AbortController();
  const stop = (): void => {
    if (!once.signal.aborted) {
      first();
      once.abort();
      return;
    }
    twice.abort();
    last();
    // Nothing may delay the exit any more; the next run finds the results of the calls that were in
    // flight.
    process.exit(EXIT.interrupted);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return {
    asked: once.signal,
    signal: twice.signal,
    end: () => void process.off("SIGINT", stop).off("SIGTERM", stop),
  };
}
