import type { LiveNotification, LiveReport, LiveResult } from "../client/index.ts";
import { countResults } from "./list.ts";
import type { TargetReport } from "./list.ts";
import type { AddressOf } from "./bound.ts";

/** Reports for programs; keys in a fixed order, what the service did not show is null. */
export function reportsJson(reports: readonly TargetReport[], complete: boolean) {
  return {
    formatVersion: "1.0",
    complete,
    reports: reports.map(({ target, report }) => ({
      ...headJson(target, report),
      results: countResults(report.results),
    })),
  };
}

export function reportJson({ target, report }: TargetReport, addressOf: AddressOf) {
  return {
    formatVersion: "1.0",
    ...headJson(target, report),
    context: report.context ?? null,
    summary: countResults(report.results),
    results: report.results.map((result) => resultJson(result, addressOf)),
  };
}

function headJson(target: string, report: LiveReport) {
  return {
    id: report.id,
    target,
    status: report.status ?? null,
    createdAt: report.createdAt ?? null,
    updatedAt: report.updatedAt ?? null,
    browser: report.browser ?? null,
    breakpoint: report.breakpoint ?? null,
    executionUrl: report.executionUrl ?? null,
  };
}

function resultJson(result: LiveResult, addressOf: AddressOf) {
  return {
    address: addressOf(result.testCaseId) ?? null,
    testCaseId: result.testCaseId ?? null,
    name: result.name ?? null,
    status: result.status ?? null,
    errorMessage: result.errorMessage ?? null,
    traceUrl: result.traceUrl ?? null,
  };
}

/** A notification of a managed target. */
export interface TargetNotification {
  readonly target: string;
  readonly notification: LiveNotification;
}

export function notificationsJson(notifications: readonly TargetNotification[], addressOf: AddressOf) {
  return {
    formatVersion: "1.0",
    notifications: notifications.map(({ target, notification }) => ({
      id: notification.id,
      target,
      type: notification.type,
      createdAt: notification.createdAt,
      updatedAt: notification.updatedAt,
      address: addressOf(testCaseIn(notification)) ?? null,
      payload: notification.payload,
      ack: notification.ack ?? null,
    })),
  };
}

/** The only key of a payload that is described (service-api.md, "Notification"). */
export function testCaseIn({ payload }: LiveNotification): string | undefined {
  const id = payload["testCaseId"];
  return typeof id === "string" ? id : undefined;
}
