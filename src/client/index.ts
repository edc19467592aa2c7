/**
 * The client of the service: all 14 operations of service-api.md, with time limits, retries and one throttle for
 * all calls. It prints nothing and throws nothing that a service or a network can cause.
 */
export type { Answer, Client, ClientOptions, SendOutcome } from "./client.ts";
export { createClient } from "./client.ts";
export type { BeforeSend } from "./calls/calls.ts";
export type { BaseUrl, BaseUrlOptions, BaseUrlProblem } from "./base-url.ts";
export { checkBaseUrl } from "./base-url.ts";
export type { Collector } from "./exchange/answer-reader.ts";
export { inAList } from "./exchange/answer-reader.ts";
export type { Result } from "./result.ts";
export { bad, good } from "./result.ts";
export type { Acted, Failure, Fault, Misfit } from "./failure.ts";
export { isOutOfReach } from "./failure.ts";
export type { FailureText } from "./describe-failure.ts";
export { describeFailure } from "./describe-failure.ts";
export { parseHttpDate } from "./exchange/http-date.ts";
export type { CallFinished, CallStarted, CallWaiting, ClientEvent, SlowedDown } from "./events.ts";
export type { WriteCall } from "./request.ts";
export { ROOT } from "./request.ts";
export { readCreation } from "./creation.ts";
export type { CreatedDiscovery, CreatedTarget, ShownTestCase } from "./answers/written.ts";
export {
  readCreatedBatchGeneration,
  readCreatedDiscovery,
  readCreatedEnvironment,
  readCreatedTarget,
  readUpdatedElement,
  readUpdatedEnvironment,
  readUpdatedTestCase,
} from "./answers/written.ts";
export type { LiveReport, LiveResult, NewReports, PageEnd, ReportPage } from "./answers/reports.ts";
export type { LiveNotification } from "./answers/notifications.ts";
export type { World } from "./world.ts";
export type { Redact } from "./exchange/words.ts";
