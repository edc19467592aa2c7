import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, compareAddresses } from "../model/address.ts";
import { EXIT, TascError } from "../model/error.ts";
import { type JsonObject, defined } from "../model/json.ts";
import { sideBySide } from "../model/live.ts";
import type { Change, Method, Plan } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { Secret } from "../model/value.ts";
import { hasErrors } from "../manifest/problem.ts";
import { markdownCellCode } from "../render/escape.ts";
import { type Markup, type View, markup } from "../render/view.ts";
import { type RunningServer, startServer } from "../server/index.ts";
import { NO_DOCUMENT } from "../state/backend.ts";
import { applyEvents } from "../state/events.ts";
import { createLockInfo } from "../state/lock.ts";
import { type Applied, applyProject, outcomeJson } from "../app/apply.ts";
import { survey } from "../app/survey.ts";
import type { SavedPlan } from "../app/plan-file.ts";
import { requestOf, withSavedPlan } from "../app/saved-plan.ts";
import type { Host, Opened } from "../app/project.ts";
import { type Session, inSession } from "../app/session.ts";
import { seedOf } from "../app/snapshot.ts";
import type { Context } from "./context.ts";
import { explainStart } from "./local-service.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { SERVICE, SCOPE, ON_DEMAND, OVERRIDE_POLICY } from "./shared-options.ts";
import { choice, text } from "./options.ts";

const OPTIONS = {
  file: text("[plan]", "a plan saved by `tasc plan --out`; default: a new plan"),
  format: choice("--format <format>", "output format", ["text", "json", "markdown"]),
  ...SCOPE,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  ...SERVICE,
};

export const command = defineCommand({
  group: "Review",
  summary: "apply on a local copy of the service",
  examples: {
    "tasc rehearse": "rehearse the current changes; exit with 1 if something fails or remains",
    "tasc rehearse plan.json --format markdown":
      "rehearse a saved plan and print a pull request comment",
  },
  options: OPTIONS,
  run: rehearse,
});

/**
 * Maximum wait in milliseconds. The local service needs far less, because it ends discoveries at
 * once.
 */
const WAIT = 5 * 60_000;

/**
 * Applies to a local copy of the service in memory, and plans again. The copy starts with the live
 * data of the service and with the project's state, in a state backend of its own: neither the
 * service nor the state is changed. Only one call is sent at a time, so that the order is always
 * the same.
 */
async function rehearse(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  return withSavedPlan(options.file, options, host, (session, saved) =>
    rehearseIn(session, options, saved),
  );
}

async function rehearseIn(session: Session, options: OptionsOf<typeof OPTIONS>, saved?: SavedPlan) {
  const scope = saved === undefined ? options : requestOf(saved).scope;
  const found = await survey(session, scope);
  const { states, strays } = found.remembered;
  const { targets, testCases } = found.input.live;
  // Read again as the service lists them, because a plan keeps only what it compares.
  const whole = await sideBySide(
    [...testCases.keys()].map(
      async (id) => [id, await session.client().listTestCases(id, (testCase) => testCase)] as const,
    ),
  );
  const known = [...states.values(), ...strays];
  const seed = seedOf({ targets, states: known }, (take) => {
    for (const [targetId, list] of whole) for (const testCase of list) take(testCase, targetId);
  });
  // Including ids of elements.
  const liveIds = new Set<string>(JSON.stringify(seed).match(/(?<="id":")[^"]+/g));
  return withCopy(session, seed, known, async (opened, host) => {
    const calls: SentCall[] = [];
    let current: Address | undefined;
    const watching: Host = {
      ...host,
      onClientEvent: (event) => {
        if (event.kind === "started" && event.method !== "GET")
          calls.push({ address: current, method: event.method, path: event.path });
      },
    };
    const applied = await inSession(opened, watching, async (copy) => {
      const { baseUrl } = copy.settings;
      const result = await applyProject(
        copy,
        { ...options, wait: WAIT, saved: saved && { ...saved, plan: { ...saved.plan, baseUrl } } },
        {
          reviewed: async ({ plan }) => {
            const errors = plan.diagnostics.filter(({ severity }) => severity === "error");
            if (errors.length > 0) throw new TascError("failed", errors, session.source);
          },
          emit: (event) => {
            if (event.type === "changeStarted") current = event.address;
          },
          signal: host.signal,
        },
      );
      return {
        ...result,
        states: await copy.readStates(copy.desired.targets.map(({ key }) => key)),
      };
    });
    const { only, exclude } = scope;
    const again = await inSession(opened, host, (copy) => survey(copy, { only, exclude }));
    const { changes, diagnostics } = again.planned.plan;
    const isOk = applied.exitCode === EXIT.done && changes.length === 0 && !hasErrors(diagnostics);
    return rehearsalView(
      applied,
      explained(calls, applied.plan, applied.states, liveIds),
      changes,
      isOk,
    );
  });
}

/** Runs the work on the same project, but with a copy of its service and of its state. */
async function withCopy<T>(
  session: Session,
  seed: JsonObject,
  states: readonly State[],
  work: (opened: Opened, host: Host) => Promise<T>,
): Promise<T> {
  const { root, env, project, settings, host } = session;
  const apiKey = settings.apiKey ?? new Secret("rehearsal");
  const folder = mkdtempSync(join(tmpdir(), "tasc-rehearsal-"));
  let server: RunningServer | undefined;
  try {
    server = await explainStart({}, () =>
      startServer({ apiKey: apiKey.reveal(), seed, discoveryTime: 0 }),
    );
    const { fingerprintKey } = settings.state;
    const state = {
      backend: "local",
      options: { path: folder },
      ...defined({ fingerprintKey }),
    } as const;
    // Nobody else uses the copy, so there is no rate limit.
    const copied = { ...settings, apiKey, state, baseUrl: server.url, rateLimit: Infinity };
    const opened = {
      root,
      env,
      project: { ...project, settings: copied },
      calls: { concurrency: 1 },
    };
    await inSession(opened, host, async (copy) => {
      const { backend, world } = await copy.states();
      for (const state of states) {
        // In the copy, no discovery is in progress.
        const over = [...state.bindings.keys()].map(
          (address) => ({ type: "generated", address }) as const,
        );
        const one = applyEvents(state, over);
        const lock = await backend.lock(
          copy.stateKey(one.target),
          createLockInfo(world, "tasc rehearse"),
        );
        await lock.write({ ...one, service: copied.baseUrl }, NO_DOCUMENT);
        await lock.unlock();
      }
    });
    return await work(opened, host);
  } finally {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type SentCall = {
  readonly address: Address | undefined;
  readonly method: Method;
  readonly path: string;
};

/**
 * Returns the calls with their addresses, and whether each is a follow-up of what the service had
 * generated.
 */
function explained(
  calls: readonly SentCall[],
  plan: Plan,
  states: ReadonlyMap<string, State>,
  liveIds: ReadonlySet<string>,
) {
  const bindings = [...states.values()].flatMap((state) => [...state.bindings]);
  const addresses = new Map(bindings.map(([address, { id }]) => [id, address]));
  const certain = new Map(plan.changes.map(({ address, calls: sure }) => [address, sure.length]));
  return calls.map((call) => {
    const segments = call.path.split("/");
    const bound = segments
      .map((segment) => addresses.get(segment))
      .findLast((one) => one !== undefined);
    // The path of a POST does not contain the new resource.
    const address = call.method === "POST" ? call.address : (bound ?? call.address);
    const left = (address === undefined ? undefined : certain.get(address)) ?? 0;
    if (address !== undefined) certain.set(address, left - 1);
    const path = segments.map((segment) =>
      /^[\da-f]{8}-/.test(segment) && !liveIds.has(segment) ? "(known after apply)" : segment,
    );
    return { ...call, address, path: path.join("/"), followUp: left <= 0 };
  });
}

function rehearsalView(
  { plan, outcome }: Applied,
  calls: ReturnType<typeof explained>,
  remaining: readonly Change[],
  isOk: boolean,
): View {
  const { stage, summary } = plan;
  const { failed, skipped, notTaken, unfinished } = outcome;
  const sorted = remaining.toSorted((a, b) => compareAddresses(a.address, b.address));
  const left = sorted.map(({ address, action }) => ({ address, action }));
  const count = (method: Method): number => calls.filter((call) => call.method === method).length;
  const followUps = calls.filter(({ followUp }) => followUp).length;
  const total = `${count("POST")} POST, ${count("PATCH")} PATCH (${followUps} after discoveries)`;
  const verdict = isOk
    ? "The rehearsal succeeded: everything was applied, and a second plan is empty."
    : "The rehearsal failed.";
  const problems = [
    ...failed.map(({ address, failure }) => `${address} failed: ${failure.summary}`),
    ...skipped.map(({ address }) => `${address} was skipped`),
    ...notTaken.map(
      ({ address, paths }) =>
        `${address} did not take ${paths.map((path) => path.join(".")).join(", ")}`,
    ),
    ...unfinished.map((address) => `${address} did not finish its discovery`),
    ...left.map(({ address, action }) => `${address} would still change (${action})`),
  ];
  const rows = calls.map(({ address = "", method, path, followUp }, at): readonly string[] => [
    String(at + 1),
    `${method}${followUp ? " (follow-up)" : ""}`,
    address,
    path,
  ]);
  const nothing = "No calls: nothing to change.";
  return {
    json: {
      formatVersion: "1.0",
      stage,
      ok: isOk,
      planned: { ...summary, calls: { ...summary.calls } },
      calls: calls.map((call) => ({ ...call })),
      outcome: { ...outcomeJson(outcome), skipped: skipped.map(({ address }) => address) },
      secondPlan: { empty: left.length === 0, changes: left },
    },
    text: [
      [`Rehearsal of stage ${stage} on a local copy of the service`],
      rows.length === 0
        ? [nothing]
        : [{ headings: ["#", "call", "address", "path"], rows }, `Calls: ${total}`],
      problems,
      [verdict],
    ],
    documents: {
      markdown: [
        `### Rehearsal\n\n${verdict}\n\n`,
        ...problems.slice(0, MOST_ROWS).flatMap((problem) => write`- ${problem}\n`),
        ...(rows.length === 0 ? [`${nothing}\n`] : tableOf(rows, total)),
      ],
    },
    exitCode: isOk ? EXIT.done : EXIT.failed,
  };
}

const write = markup(markdownCellCode);

function tableOf(rows: readonly (readonly string[])[], total: string): Markup {
  const unshown = rows.length - MOST_ROWS;
  return [
    `\n<details><summary>Calls: ${total}</summary>\n\n| # | call | address | path |\n| --- | --- | --- | --- |\n`,
    ...rows
      .slice(0, MOST_ROWS)
      .flatMap(([at, call, address = "", path = ""]) => [
        `| ${at} | ${call} | `,
        ...write`${address} | ${path} |\n`,
      ]),
    unshown > 0 ? `\n${unshown} more calls are not shown.\n` : "",
    "\n</details>\n",
  ];
}

/**
 * Maximum number of rows, to keep the comment within GitHub's limit; `--format json` has all of
 * them.
 */
const MOST_ROWS = 100;
