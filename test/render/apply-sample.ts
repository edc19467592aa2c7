import type { Outcome } from "../../src/model/events.ts";
import type { ProgressEvent, ReportFacts } from "../../src/render/apply.ts";

export const OUTCOME: Outcome = {
  done: ["testCase.shop.checkout", "target.blog", "testCase.shop.gone"],
  failed: [
    {
      address: "testCase.shop.cart-total",
      failure: {
        summary: "PATCH /apiKey/v3/test-targets/1/test-cases/2 answered 422",
        detail: 'description must not be longer than 80 characters\n::error::"forged" \u001b[31m',
      },
    },
    {
      address: "environment.shop.preview",
      failure: { summary: "POST /apiKey/v3/x: the connection was reset", detail: "" },
    },
  ],
  skipped: [
    {
      address: "testCase.shop.pay",
      reason: { kind: "needs", address: "testCase.shop.cart-total" },
    },
    { address: "testCase.shop.zoom", reason: { kind: "interrupted" } },
    { address: "testCase.shop.zulu", reason: { kind: "fatal" } },
  ],
  notTaken: [
    { address: "testCase.shop.login", paths: [["status"], ["elements", 0, "locatorLine"]] },
  ],
  unfinished: ["testCase.shop.search"],
  words: new Map([["testCase.shop.search", "STOPPED"]]),
  notWaited: ["batchGeneration.shop.spring"],
  calls: { POST: 3, PATCH: 12 },
  interrupted: false,
  fatal: {
    summary: "The service refused the key",
    detail: "It answered 401.",
    acted: "no",
    fatal: true,
  },
};

export const FACTS: ReportFacts = {
  stage: "staging",
  milliseconds: 42_300,
  actions: new Map([
    ["testCase.shop.checkout", "rediscover"],
    ["target.blog", "create"],
    ["testCase.shop.gone", "disable"],
    ["testCase.shop.cart-total", "update"],
    ["environment.shop.preview", "create"],
    ["testCase.shop.pay", "create"],
  ]),
  uncertain: ["batchGeneration.shop.spring"],
  next: [
    { command: "tasc apply --stage staging", purpose: "again to apply the remaining changes" },
    { command: "tasc state mark batchGeneration.shop.spring done", purpose: "if it ran" },
    { command: "tasc apply --run batchGeneration.shop.spring", purpose: "if it did not" },
  ],
};

const POST = {
  call: 1,
  method: "POST",
  path: "/apiKey/v3/test-targets/1/discoveries",
  attempt: 1,
} as const;
const GET = { call: 2, method: "GET", path: "/apiKey/v3/test-targets", attempt: 1 } as const;

/** One event of each type, with the milliseconds since the previous one. */
export const EVENTS: readonly (readonly [number, ProgressEvent])[] = [
  [0, { type: "started", changes: 4 }],
  [10, { type: "changeStarted", address: "testCase.shop.login", action: "create" }],
  [10, { kind: "started", ...POST }],
  [5, { kind: "started", ...GET }],
  [2000, { kind: "finished", ...GET, status: 200, ms: 2000, fault: undefined }],
  [0, { kind: "slowed", pause: 30_000, concurrency: 4 }],
  [0, { kind: "waiting", ...POST, fault: "status", status: 429, attempts: 6, delay: 30_000 }],
  [
    30_000,
    { kind: "waiting", ...POST, fault: "timeout", status: undefined, attempts: 6, delay: 1500 },
  ],
  [1500, { kind: "finished", ...POST, status: 200, ms: 500, fault: undefined }],
  [0, { type: "lookingUp", address: "testCase.shop.login", why: "no readable answer" }],
  [500, { type: "adopted", address: "testCase.shop.login", id: "1234" }],
  [0, { type: "changeDone", address: "testCase.shop.login", action: "create" }],
  [
    0,
    {
      type: "changeFailed",
      address: "testCase.shop.cart",
      failure: { summary: "422, no\nsuch \u001b[31mtag", detail: "" },
    },
  ],
  [
    0,
    {
      type: "changeSkipped",
      address: "testCase.shop.pay",
      reason: { kind: "needs", address: "testCase.shop.cart" },
    },
  ],
  [0, { type: "reading", why: "after creations" }],
  [1000, { type: "waiting", unfinished: 1 }],
  [1000, { type: "waiting", unfinished: 1 }],
  [60_000, { type: "stopping" }],
  [0, { type: "changeSkipped", address: "testCase.shop.zoom", reason: { kind: "interrupted" } }],
];
