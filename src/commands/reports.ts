import { setTimeout as delay } from "node:timers/promises";
import {
  type ReadReports,
  type TargetNotification,
  type TargetReport,
  addressesIn,
  laterView,
  newNotifications,
  newestReports,
  notificationsView,
  reportView,
  reportsView,
} from "../inspect/reports.ts";
import { compareText } from "../model/address.ts";
import { warning } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, TascError, stop } from "../model/error.ts";
import { sideBySide } from "../model/live.ts";
import type { View } from "../render/view.ts";
import { type Failure, ServiceError } from "../service/failure.ts";
import { type Session, targetsNamed, withSession } from "../app/session.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** Finds the targets that are meant on the service; those that are not there are warned of. */
async function managedTargets(session: Session, word: string | undefined) {
  const wanted = targetsNamed(word, session.desired);
  const { states, strays } = await session.remembered();
  const ids = session.liveIds(states, await session.client().listTargets());
  session.host.warn(
    wanted
      .filter(({ key }) => !ids.has(key))
      .map(({ key }) =>
        warning(
          "not-live",
          `Target ${key} does not exist on the service, so there is nothing to read`,
          "Create it with `tasc apply`. If several live targets match, `tasc plan` lists them.",
        ),
      ),
  );
  return {
    targets: wanted.flatMap(({ key }) => {
      const id = ids.get(key);
      return id === undefined ? [] : [{ key, id }];
    }),
    addressOf: addressesIn([...states.values(), ...strays]),
  };
}

/** The reports of managed targets, newest first. */
export async function listReports(
  session: Session,
  { target, limit = Number.MAX_SAFE_INTEGER }: OptionsOf<"reports list">,
): Promise<View> {
  const { targets } = await managedTargets(session, target);
  const all = await sideBySide(
    targets.map(async ({ key, id }) => ({
      key,
      ...(await newestReports(session.client().allReports(id), limit)),
    })),
  );
  const cut = all.filter(({ end }) => end !== "end" && end !== "limit");
  // The service says that there is more and does not give it: whoever counts on the list must know.
  session.host.warn(
    cut.map(({ key, end }) =>
      warning(
        "reports-incomplete",
        `The list of reports of target ${key} ends here, but there may be more`,
        `The service says that there is another page, but ${WHY_CUT[end]}`,
      ),
    ),
  );
  const reports = all.flatMap((one) => one.reports.map((report) => ({ target: one.key, report })));
  return reportsView(reports.toSorted(newestFirst), cut.length === 0);
}

const WHY_CUT: Readonly<Record<ReadReports["end"], string>> = {
  end: "",
  limit: "",
  "nothing-new": "the page brought no new report.",
  "too-many": "there were too many pages already.",
  "no-key": "gave no key to ask for it.",
};

function newestFirst({ report: a }: TargetReport, { report: b }: TargetReport): number {
  return compareText(b.createdAt ?? "", a.createdAt ?? "") || compareText(a.id, b.id);
}

/** One report with its results. */
export async function showReport(session: Session, options: OptionsOf<"reports show">): Promise<View> {
  const { id, format, junit, target } = options;
  if (format === "json" && junit)
    throw stop("invalid", "bad-option", "--junit and --format json cannot be combined; choose one");
  if (!/^[\w-]+$/.test(id))
    throw stop("invalid", "bad-id", "This is not the id of a report", "List them:\n  tasc reports list");
  const { targets, addressOf } = await managedTargets(session, target);
  // The path of a report names its target, so each managed one is asked until one has it.
  for (const one of targets)
    try {
      const report = await session.client().getReport(one.id, id);
      const view = reportView({ target: one.key, report }, addressOf);
      return junit ? { ...view, format: "junit" } : view;
    } catch (error) {
      if (!(error instanceof ServiceError) || !isAbsent(error.failure)) throw error;
    }
  const searched = targets.map(({ key }) => key).join(", ") || "no target";
  throw stop(
    "failed",
    "unknown-report",
    `There is no report ${id}`,
    `Searched in ${searched}. List the reports:\n  tasc reports list`,
  );
}

/** An id that it does not know, a service may also call a bad one. */
function isAbsent(failure: Failure): boolean {
  return failure.kind === "status" && [400, 404, 410, 422].includes(failure.status);
}

/** What the service reported of managed targets, oldest first. */
export async function notifications(
  options: OptionsOf<"notifications">,
  { host, console }: Context,
): Promise<View | ExitCode> {
  const { follow, interval = 5000, format, target } = options;
  if (follow && format === "json")
    throw stop(
      "invalid",
      "bad-option",
      "--follow prints notifications as they come, which is not a single JSON value; omit one of the two",
    );
  const ending = new AbortController();
  const { signal } = ending;
  const end = (): void => ending.abort();
  if (follow) process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await withSession(options, follow ? { ...host, signal } : host, async (session) => {
      const { targets, addressOf } = await managedTargets(session, target);
      const seen = new Set<string>();
      const readNew = async (): Promise<readonly TargetNotification[]> => {
        const lists = await sideBySide(
          targets.map(async ({ key, id }) =>
            (await session.client().listNotifications(id)).map((one) => ({ target: key, notification: one })),
          ),
        );
        return newNotifications(lists.flat(), seen);
      };
      if (!follow) return notificationsView(await readNew(), addressOf);
      while (!signal.aborted) {
        const fresh = await readNew();
        if (fresh.length > 0) console.show(laterView(fresh, addressOf));
        await delay(interval, undefined, { signal }).catch(() => undefined);
      }
      return EXIT.interrupted;
    });
  } catch (error) {
    if (signal.aborted && error instanceof TascError && error.reason === "interrupted")
      return EXIT.interrupted;
    throw error;
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}
