// Follows one change through a plan, an apply and the empty plan after it.
import { beforeAll, describe, expect, test } from "vitest";
import type {
  FakeCase,
  FakeEnvironment,
  FakeOptions,
  FakeService,
  FakeTarget,
} from "../fake-service.ts";
import { scene, type Project, type Ran } from "./cli.ts";
import { at, list, object, parseJson, text, type Json, type JsonObject } from "./json.ts";

export const KNOWN_LATER = "(known after apply)";
export const HIDDEN = "(sensitive)";

/** Live resources that most stories need: a target, its environments, one test case. */
export interface Live {
  readonly service: FakeService;
  readonly target: FakeTarget;
  readonly environment: FakeEnvironment;
  readonly preview: FakeEnvironment;
  readonly login: FakeCase;
  readonly paths: {
    readonly target: string;
    readonly environment: string;
    readonly preview: string;
    readonly login: string;
    readonly discoveries: string;
    readonly batches: string;
  };
}

export function seed(service: FakeService, app = "Web Shop"): Live {
  const target = service.addTarget(app, "https://shop.example.com");
  const environment = target.environments[0];
  if (environment === undefined) throw new Error("no DEFAULT environment");
  const preview = service.addEnvironment(target, { discoveryUrl: "https://preview.example.com" });
  const login = service.addCase(target, { description: "Log in" });
  const path = `/apiKey/v3/test-targets/${target.id}`;
  return {
    service,
    target,
    environment,
    preview,
    login,
    paths: {
      target: path,
      environment: `${path}/environments/${environment.id}`,
      preview: `${path}/environments/${preview.id}`,
      login: `${path}/test-cases/${login.id}`,
      discoveries: `${path}/discoveries`,
      batches: `${path}/batch-generations`,
    },
  };
}

export interface Call {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: JsonObject;
  /** The body that is sent, if the plan hides a part of it. */
  readonly sent?: JsonObject;
}

export interface Expected {
  readonly address: string;
  readonly action: "create" | "update" | "rediscover" | "disable";
  readonly id: string;
  readonly fields: readonly JsonObject[];
  readonly calls: readonly Call[];
  readonly followUps?: readonly Call[];
}

export interface Story {
  readonly says: string;
  readonly live?: (live: Live) => void;
  /** A manifest applied before the change, so that state records its values. */
  readonly first?: string;
  readonly manifest: string;
  readonly expected: (live: Live) => Expected;
  /** Calls that apply sends, if they differ from `calls`. Evaluated after the apply. */
  readonly sends?: (live: Live) => readonly Call[];
  readonly after?: (live: Live) => void;
  /** Replaces the usual comparison. */
  readonly check?: (told: Told) => void;
}

const PLAN_KEYS = [
  "formatVersion",
  "tool",
  "stage",
  "baseUrl",
  "createdAt",
  "summary",
  "changes",
  "attention",
  "orphaned",
  "diagnostics",
];
const SUMMARY_KEYS = [
  "create",
  "update",
  "rediscover",
  "disable",
  "forget",
  "held",
  "unchanged",
  "orphaned",
  "unmanaged",
  "calls",
  "followUps",
];
const FIELD_KEYS = ["path", "before", "after", "sensitive", "movedFrom", "harmful"];
const CHANGE_KEYS = ["address", "action", "id", "fields", "calls", "followUps"];
const ATTENTION_KEYS = ["code", "severity", "addresses", "count", "text"];
const DIAGNOSTIC_KEYS = ["severity", "address", "summary", "detail", "file", "line", "column"];

export function inOrder(value: Json | undefined, keys: readonly string[]): void {
  const found = Object.keys(object(value));
  expect(found, "keys in the order of the contract").toEqual(
    keys.filter((key) => found.includes(key)),
  );
}

/** Checks the form that every plan must have. */
export function expectPlanForm(plan: JsonObject): void {
  expect(Object.keys(plan)).toEqual(PLAN_KEYS);
  expect(plan["formatVersion"]).toBe("1.2");
  expect(text(plan["tool"])).toMatch(/^tasc \d+\.\d+\.\d+/u);
  expect(text(plan["createdAt"])).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/u);
  expect(Object.keys(object(plan["summary"]))).toEqual(SUMMARY_KEYS);
  expect(Object.keys(object(at(plan, "summary", "calls")))).toEqual(["POST", "PATCH"]);
  for (const item of list(plan["changes"])) {
    expect(Object.keys(object(item))).toEqual(CHANGE_KEYS);
    for (const field of list(at(item, "fields"))) inOrder(field, FIELD_KEYS);
    for (const call of [...list(at(item, "calls")), ...list(at(item, "followUps"))])
      expect(Object.keys(object(call))).toEqual(["method", "path", "body"]);
  }
  for (const row of list(plan["attention"])) {
    expect(Object.keys(object(row))).toEqual(ATTENTION_KEYS);
    expect(at(row, "count")).toBe(list(at(row, "addresses")).length);
  }
  for (const orphan of list(plan["orphaned"]))
    expect(Object.keys(object(orphan))).toEqual(["address", "id"]);
  for (const diagnostic of list(plan["diagnostics"])) inOrder(diagnostic, DIAGNOSTIC_KEYS);
}

export function changed(plan: JsonObject): readonly string[] {
  return list(plan["changes"]).map(
    (item) => `${text(at(item, "action"))} ${text(at(item, "address"))}`,
  );
}

export function change(plan: JsonObject, address: string): JsonObject {
  const found = list(plan["changes"]).find((item) => at(item, "address") === address);
  if (found === undefined) throw new Error(`${address} is not among ${changed(plan).join(", ")}`);
  return object(found);
}

export function diagnostics(plan: JsonObject): readonly string[] {
  return list(plan["diagnostics"]).map((item) => JSON.stringify(item));
}

const shown = (call: Call): JsonObject => ({
  method: call.method,
  path: call.path,
  body: call.body,
});
const sent = (call: Call): JsonObject => ({
  method: call.method,
  path: call.path,
  body: call.sent ?? call.body,
});

interface Whole {
  readonly planned: Ran;
  readonly applied: Ran;
  readonly after: Ran;
  readonly calls: Json | undefined;
  readonly certain: Json;
  readonly violations: readonly string[];
}

export interface Told {
  readonly live: Live;
  readonly expected: Expected;
  readonly planned: readonly JsonObject[];
  readonly sent: readonly JsonObject[];
  readonly left: readonly JsonObject[];
}

/**
 * Runs plan, apply and plan for all stories in one project, each story on its own target. Then each
 * story is a test: its change is as expected, its calls are those of the plan, and the second plan
 * has no change for it.
 */
export function tell(title: string, stories: readonly Story[], options: FakeOptions = {}): void {
  describe(title, () => {
    const told = new Map<Story, Told>();
    const wholes: Whole[] = [];
    beforeAll(async () => {
      await scene(options, async ({ project, service }) => {
        const played = await play(project, service, stories);
        wholes.push(played.whole);
        for (const [story, result] of played.told) told.set(story, result);
      });
    });
    test("all stories together: exit codes, number of calls, no violations of the API", () => {
      const whole = wholes[0];
      if (whole === undefined) throw new Error("the stories were not told");
      expect(whole.planned.code, `a plan with changes: ${whole.planned.stderr}`).toBe(2);
      expect(whole.calls).toEqual(whole.certain);
      expect(whole.applied.code, `${whole.applied.stdout}${whole.applied.stderr}`).toBe(0);
      expect(whole.after.code, `a plan after an apply: ${whole.after.stdout}`).toBe(0);
      expect(whole.violations).toEqual([]);
    });
    test.each(stories)("$says", (story) => {
      const found = told.get(story);
      if (found === undefined) throw new Error("this story was not told");
      (story.check ?? ((result) => checkStory(story, result)))(found);
    });
  });
}

const twoDigits = (n: number): string => `${n}`.padStart(2, "0");

async function play(
  project: Project,
  service: FakeService,
  stories: readonly Story[],
): Promise<{ readonly told: Map<Story, Told>; readonly whole: Whole }> {
  const lives = stories.map((story, n) => {
    const live = seed(service, `Web Shop ${twoDigits(n)}`);
    story.live?.(live);
    return live;
  });
  /** Replaces `shop` and `Web Shop` in a story by the story's own target. */
  const own = (template: string, n: number): string =>
    template
      .replaceAll("Web Shop", `Web Shop ${twoDigits(n)}`)
      .replace("target: shop", `target: shop-${twoDigits(n)}`)
      .replaceAll(/\.shop\b/gu, `.shop-${twoDigits(n)}`)
      .replaceAll("TARGET_ID", lives[n]?.target.id ?? "");
  const write = async (pick: (story: Story) => string | undefined): Promise<void> => {
    const files: Record<string, string> = {};
    for (const [n, story] of stories.entries()) {
      const content = pick(story);
      if (content !== undefined) files[`targets/t${twoDigits(n)}.yaml`] = own(content, n);
    }
    await project.write(files);
  };
  if (stories.some((story) => story.first !== undefined)) {
    await write((story) => story.first);
    const ran = await project.run(["apply", "--auto-approve"]);
    expect(ran.code, `the first apply: ${ran.stdout}${ran.stderr}`).toBe(0);
  }
  await write((story) => story.manifest);
  const expected = stories.map((story, n): Expected => {
    const live = lives[n];
    if (live === undefined) throw new Error("no live things");
    const wanted = story.expected(live);
    const renamed = (value: JsonObject): JsonObject =>
      object(parseJson(own(JSON.stringify(value), n)));
    return {
      ...wanted,
      address: own(wanted.address, n),
      fields: wanted.fields.map(renamed),
      calls: wanted.calls.map((call) => ({
        ...call,
        body: renamed(call.body),
        ...(call.sent === undefined ? {} : { sent: renamed(call.sent) }),
      })),
    };
  });

  service.forget();
  const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
  expectPlanForm(plan);
  expect(service.writes()).toEqual([]);
  expect(service.reads().toSorted()).toEqual(
    [
      "/apiKey/v3/test-targets",
      ...lives.map((live) => `${live.paths.target}/test-cases`),
    ].toSorted(),
  );
  const certain = expected.flatMap((item) => item.calls);
  const counted = (method: string): number =>
    certain.filter((call) => call.method === method).length;

  service.forget();
  const applied = await project.run(["apply", "--auto-approve"]);
  const writes = service.writes();
  const after = await project.json(["plan", "--detailed-exitcode"]);
  const whole: Whole = {
    planned: ran,
    applied,
    after: after.ran,
    calls: at(plan, "summary", "calls"),
    certain: { POST: counted("POST"), PATCH: counted("PATCH") },
    violations: [...service.violations],
  };

  const told = new Map<Story, Told>();
  for (const [n, story] of stories.entries()) {
    const live = lives[n];
    const wanted = expected[n];
    if (live === undefined || wanted === undefined) throw new Error("no live things");
    told.set(story, {
      live,
      expected: wanted,
      planned: changesOf(plan, n),
      sent: writes.filter((call) => text(call["path"]).includes(live.target.id)),
      left: changesOf(after.value, n),
    });
  }
  return { told, whole };
}

function changesOf(plan: JsonObject, n: number): readonly JsonObject[] {
  return list(plan["changes"])
    .map(object)
    .filter((item) => text(item["address"]).split(".")[1] === `shop-${twoDigits(n)}`);
}

const byText = (one: JsonObject, other: JsonObject): number =>
  JSON.stringify(one).localeCompare(JSON.stringify(other));

function checkStory(story: Story, { live, expected, planned, sent: writes, left }: Told): void {
  expect(planned.map((item) => `${text(item["action"])} ${text(item["address"])}`)).toEqual([
    `${expected.action} ${expected.address}`,
  ]);
  const found = object(planned[0]);
  expect(found["id"]).toBe(expected.id);
  expect(found["fields"]).toEqual(expected.fields);
  expect(found["calls"]).toEqual(expected.calls.map(shown));
  expect(found["followUps"]).toEqual((expected.followUps ?? []).map(shown));
  expect(writes.toSorted(byText)).toEqual(
    (story.sends?.(live) ?? expected.calls).map(sent).toSorted(byText),
  );
  story.after?.(live);
  expect(left, "a plan after an apply").toEqual([]);
}

export async function expectNothingLeft(project: Project): Promise<void> {
  const { ran, value: plan } = await project.json(["plan", "--detailed-exitcode"]);
  expect(changed(plan), "a plan after an apply").toEqual([]);
  expect(ran.code, ran.stderr).toBe(0);
}
