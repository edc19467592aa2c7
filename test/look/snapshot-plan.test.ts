// The law of a snapshot: a plan from it equals the online plan, except for fields that are never
// read.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { planFromSnapshot, snapshotStates } from "../../src/app/snapshot-plan.ts";
import { type Snapshot, openSnapshot } from "../../src/app/snapshot.ts";
import { writeSnapshot } from "../../src/commands/snapshot.ts";
import { parseAddress } from "../../src/model/address.ts";
import { fieldsOf } from "../../src/model/fields.ts";
import { type Json, type JsonObject, isObject, parseJson } from "../../src/model/json.ts";
import { writeYaml } from "../../src/manifest/yaml/write.ts";
import type { LiveTarget, LiveTestCase, Reader } from "../../src/model/live.ts";
import { type State, emptyState } from "../../src/model/state.ts";
import { Secret } from "../../src/model/value.ts";
import type { Desired } from "../../src/model/desired.ts";
import { EVERYTHING } from "../../src/plan/scope.ts";
import { type RefreshOptions, refresh } from "../../src/plan/refresh.ts";
import { type Planned, makePlan } from "../../src/plan/plan.ts";
import { refreshEvents } from "../../src/plan/record.ts";
import { callJson } from "../../src/render/json.ts";
import { createRedactor } from "../../src/render/redact.ts";
import { element as readElement } from "../../src/service/answers.ts";
import { applyEvents } from "../../src/state/events.ts";
import { createFingerprinter } from "../../src/state/fingerprint.ts";
import { loaded } from "../manifest/loading.ts";

const FINGERPRINTS = createFingerprinter(new Secret("the-key"), "staging");
const SERVICE = "https://service.example.com";
const SECRET = "secret-user-of-qa";
const REDACTOR = createRedactor([SECRET]);
const folder = mkdtempSync(join(tmpdir(), "tasc-snapshot-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keys = ["a", "b", "c", "d"];

/** The fields that a manifest may declare for a test case; manifests are kept as JSON. */
const declared = fc.record(
  {
    status: fc.constantFrom("ENABLED", "DISABLED"),
    runStatus: fc.constantFrom("ON", "OFF"),
    tags: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
    folder: fc.constantFrom("Authentication", "Cart", null),
    externalId: fc.constantFrom("E-1", "E-2"),
    interactionStatus: fc.constantFrom("NEW", "APPROVED"),
    discovery: fc.record({
      prompt: fc.constantFrom(
        "Do this.",
        "Do that.",
        "Log in as ${secret:QA_USER}.",
        `Log in as somebody.`,
      ),
    }),
  },
  { requiredKeys: [] },
);

const manifest = fc
  .record({
    testIdAttribute: fc.constantFrom("data-testid", "data-test"),
    environments: fc.constant({
      default: {
        discoveryUrl: "https://shop.example.com",
        testAccount: { username: "qa", password: "${secret:QA_USER}" },
      },
    }),
    testCases: fc
      .uniqueArray(fc.constantFrom(...keys))
      .chain((chosen) =>
        fc
          .tuple(...chosen.map(() => declared))
          .map((all) =>
            Object.fromEntries(
              all.map((one, at) => [chosen[at] ?? "", { description: chosen[at], ...one }]),
            ),
          ),
      ),
    batchGenerations: fc.constantFrom({}, { spring: { prompt: "Cover the spring." } }),
  })
  .map((document) => JSON.stringify({ target: "shop", app: "Web Shop", ...document }));

const live: fc.Arbitrary<readonly LiveTestCase[]> = fc
  .uniqueArray(fc.constantFrom(...keys))
  .chain((chosen) =>
    fc.tuple(
      ...chosen.map((key) =>
        fc.record({
          id: fc.constant(`id-of-${key}`),
          description: fc.constantFrom(key, key, "a"),
          status: fc.constantFrom("ENABLED", "DISABLED", "DELETED"),
          runStatus: fc.constantFrom("ON", "OFF"),
          type: fc.constant(null),
          entryPointUrlPath: fc.constant(null),
          folderId: fc.constantFrom("f1", "f2", null),
          externalId: fc.constantFrom("E-1", null),
          tags: fc.uniqueArray(fc.constantFrom("x", "y")),
          prerequisiteId: fc.constant(null),
          elements: fc.constant([]),
          discovery: fc.constantFrom("Do this.", `Log in as ${SECRET}.`).map((freePrompt) => ({
            status: "FINISHED",
            freePrompt,
            abortCause: undefined,
            message: undefined,
          })),
        }),
      ),
    ),
  );

const TARGETS: readonly LiveTarget[] = [
  {
    id: "t",
    app: "Web Shop",
    environments: [{ id: "e", type: "DEFAULT", discoveryUrl: "https://shop.example.com/" }],
  },
];

function readerOf(cases: readonly LiveTestCase[], targets = TARGETS): Reader {
  return {
    listTargets: async () => targets,
    listTestCases: async (_, keep) => cases.map(keep),
  };
}

async function optionsFor(
  text: string,
): Promise<Omit<RefreshOptions, "states" | "strays" | "fingerprints">> {
  const env = { KEY: "the-api-key", QA_USER: SECRET };
  // JSON is valid YAML, but the fast reader leaves it to the slow one.
  const { desired } = await loaded({ "targets/shop.yaml": writeYaml(parseJson(text)) }, { env });
  return {
    desired,
    scope: EVERYTHING,
    run: new Set(),
    rediscover: new Set(),
    baseUrl: SERVICE,
    disableRemoved: false,
  };
}

/** The state after an apply of the first manifest to the test cases that were live then. */
async function stateAfter(
  text: string,
  cases: readonly LiveTestCase[],
  targets = TARGETS,
): Promise<State> {
  const options = {
    ...(await optionsFor(text)),
    states: new Map(),
    strays: [],
    fingerprints: FINGERPRINTS,
  };
  const found = await refresh(readerOf(cases, targets), options);
  const matched = found.planned.matched.get("shop");
  const events = matched === undefined ? [] : refreshEvents(matched, FINGERPRINTS, () => true);
  return applyEvents(emptyState("default", "shop", SERVICE), [
    ...events,
    { type: "folder", name: "Authentication", id: "f1" },
  ]);
}

/** A plan without secret fields and fields that the service never shows. */
function compared({ plan }: Planned, state: State) {
  const changes = plan.changes.flatMap((change) => {
    const rows = fieldsOf(parseAddress(change.address)?.kind ?? "target");
    // The fields may have been written under another address.
    const bindings = [...state.bindings.values()].filter(({ id }) => id === change.id);
    const secrets = bindings.flatMap((binding) => binding.secrets ?? []);
    const hidden = (first: unknown): boolean =>
      change.action !== "create" &&
      rows.some(
        ({ path, name, read }) =>
          path[0] === first &&
          // A snapshot leaves out fields last written with a secret, so they are as unknown as
          // write-only fields.
          (read === undefined || secrets.includes(name)),
      );
    const fields = change.fields
      .filter(
        ({ path, before, sensitive }) =>
          !hidden(path[0]) && (change.action === "create" || (!sensitive && !isRedacted(before))),
      )
      // Redacted as in the output, because live values can contain the secret.
      .map(({ path, before = null, after = null }) => REDACTOR.json([[...path], before, after]));
    return fields.length === 0 ? [] : [{ address: change.address, id: change.id, fields }];
  });
  const bodies = plan.changes
    .filter(({ action }) => action === "create")
    .flatMap(({ calls }) => calls.map(callJson));
  return {
    changes,
    bodies,
    orphaned: plan.orphaned,
    // Only a record shows what tasc has disabled, and a snapshot has no records.
    diagnostics: plan.diagnostics.flatMap(({ code, address }) =>
      code === "left-off" ? [] : [`${code} ${address ?? ""}`],
    ),
  };
}

/** Whether a snapshot shows less than all of a live value. */
function isRedacted(before: Json = null): boolean {
  const text = JSON.stringify(before);
  return REDACTOR.text(text) !== text;
}

let files = 0;

function snapshotOf(state: State, cases: readonly LiveTestCase[], targets = TARGETS): Snapshot {
  const path = join(folder, `${files++}.json`);
  const head = {
    tool: "tasc",
    stage: "default",
    baseUrl: SERVICE,
    createdAt: "2030-01-01T00:00:00.000Z",
    states: [state],
    targets,
    read: ["t"],
  };
  const pieces: string[] = [];
  const writer = writeSnapshot((piece) => void pieces.push(piece), head, REDACTOR);
  writer.add(cases.map((one) => writer.lineOf(one, "t")));
  writer.end();
  writeFileSync(path, pieces.join(""));
  return openSnapshot(path, "snapshot.json");
}

/** The live test case with the declared values of the resource that is bound to it. */
function asDeclared(one: LiveTestCase, desired: Desired, state: State): LiveTestCase {
  const own = desired.targets[0]?.testCases.find(
    ({ address }) => state.bindings.get(address)?.id === one.id,
  )?.fields;
  const textOf = (name: string): string | undefined => {
    const value = own?.[name];
    return typeof value === "string" ? value : undefined;
  };
  const tags = own?.["tags"];
  return {
    ...one,
    description: textOf("description") ?? one.description,
    externalId: textOf("externalId") ?? one.externalId,
    status: textOf("status") ?? one.status,
    runStatus: textOf("runStatus") ?? one.runStatus,
    entryPointUrlPath: textOf("entryPointUrlPath") ?? one.entryPointUrlPath,
    folderId: own?.["folder"] === null ? null : own?.["folder"] === undefined ? one.folderId : "f1",
    tags: Array.isArray(tags) ? tags.map(String) : one.tags,
    discovery: one.discovery && {
      ...one.discovery,
      freePrompt: textOf("discovery.prompt") ?? one.discovery.freePrompt,
    },
  };
}

test("data of unchanged test cases that is dropped while reading does not affect the plan", async () => {
  let settled = 0;
  await fc.assert(
    fc.asyncProperty(
      manifest,
      manifest,
      live,
      live,
      fc.boolean(),
      async (before, after, then, now, same) => {
        const state = await stateAfter(before, then);
        const options = {
          ...(await optionsFor(same ? before : after)),
          states: new Map([["shop", state]]),
          strays: [],
          fingerprints: FINGERPRINTS,
        };
        const cases = (same ? then : now).map((one) => asDeclared(one, options.desired, state));
        const found = await refresh(readerOf(cases), options);
        const kept = found.input.live.testCases.get("t") ?? [];
        settled += kept.filter((one) => one.asDeclared !== undefined).length;
        const whole = makePlan({
          ...options,
          live: { targets: TARGETS, testCases: new Map([["t", cases]]) },
        });
        expect(found.planned.plan).toEqual(whole.plan);
      },
    ),
    { numRuns: 300 },
  );
  expect(settled).toBeGreaterThan(0);
});

describe("a plan from a snapshot", () => {
  test("equals the online plan, except for write-only and secret fields", async () => {
    await fc.assert(
      fc.asyncProperty(manifest, manifest, live, live, async (before, after, then, now) => {
        const state = await stateAfter(before, then);
        const states = new Map([["shop", state]]);
        const options = await optionsFor(after);
        const online = await refresh(readerOf(now), {
          ...options,
          states,
          strays: [],
          fingerprints: FINGERPRINTS,
        });
        const snapshot = snapshotOf(state, now);
        const remembered = snapshotStates(snapshot.head, options.desired);
        const offline = await planFromSnapshot(snapshot, { ...options, ...remembered });
        const [first, ...rest] = compared(offline.planned, state).diagnostics;
        expect(first).toBe("from-snapshot ");
        for (const { action, fields } of offline.planned.plan.changes)
          if (action !== "create") expect(fields.filter(({ sensitive }) => sensitive)).toEqual([]);
        expect({ ...compared(offline.planned, state), diagnostics: rest }).toEqual(
          compared(online.planned, state),
        );
      }),
      { numRuns: 80 },
    );
  });

  test("lists no change that the online plan does not list, wherever secrets occur", async () => {
    const steps = fc.array(
      fc.constantFrom("pay", `pay ${SECRET}`, `${SECRET} pay`).map((calledWith) => ({
        interaction: { action: "CLICK", calledWith },
      })),
      { maxLength: 3 },
    );
    const steady = fc.record({ applied: manifest, before: live, edited: manifest, now: live });
    let hidden = 0;
    await fc.assert(
      fc.asyncProperty(
        steady,
        fc.tuple(steps, steps),
        fc.constantFrom("nothing", "manifest", "service", "both"),
        fc.boolean(),
        async (texts, [declaredSteps, liveSteps], changed, isNew) => {
          const applied = secretive(texts.applied, declaredSteps);
          const then = texts.before.map((one) => withSecrets(one, liveSteps));
          const isEdited = changed === "manifest" || changed === "both";
          const text = isEdited ? secretive(texts.edited, declaredSteps) : applied;
          const isOther = changed === "service" || changed === "both";
          const now = isOther ? texts.now.map((one) => withSecrets(one, liveSteps)) : then;
          const targets = TARGETS.map((one) => ({
            ...one,
            app: `Web ${SECRET}`,
            environments: one.environments.map((environment) => ({
              ...environment,
              discoveryUrl: `https://${SECRET}.example.com/`,
            })),
          }));
          const options = await optionsFor(text);
          const state = isNew
            ? emptyState("default", "shop", SERVICE)
            : await stateAfter(applied, then, targets);
          const online = await refresh(readerOf(now, targets), {
            ...options,
            states: new Map([["shop", state]]),
            strays: [],
            fingerprints: FINGERPRINTS,
          });
          const snapshot = snapshotOf(state, now, targets);
          const remembered = snapshotStates(snapshot.head, options.desired);
          const offline = await planFromSnapshot(snapshot, { ...options, ...remembered });
          const [all, some] = [changesOf(online.planned), changesOf(offline.planned)];
          hidden += all.length - some.length;
          expect(all).toEqual(expect.arrayContaining([...some]));
          for (const one of offline.planned.plan.diagnostics)
            expect(one.severity === "error" ? one.code : "").toSatisfy(
              (code) =>
                code === "" || online.planned.plan.diagnostics.some((two) => two.code === code),
            );
        },
      ),
      { numRuns: 60 },
    );
    expect(hidden).toBeGreaterThan(0);
  });
});

/** Writes the secret into the readable texts of a manifest, and declares steps. */
function secretive(manifestText: string, elements: readonly JsonObject[]): string {
  const document = parseJson(manifestText);
  if (!isObject(document) || !isObject(document.testCases)) throw new TypeError("no manifest");
  const all = Object.entries(document.testCases).map(([key, one]): [string, Json] => [
    key,
    isObject(one) ? { ...one, elements } : one,
  ]);
  const testCases: JsonObject = Object.fromEntries(all);
  return JSON.stringify({ ...document, testCases })
    .replaceAll("Web Shop", `Web ${SECRET}`)
    .replaceAll("shop.example.com", `${SECRET}.example.com`)
    .replaceAll('"description":"a"', `"description":"a ${SECRET}"`)
    .replaceAll('"description":"b"', `"description":"${SECRET} b"`)
    .replaceAll('"E-1"', `"E-${SECRET}"`)
    .replaceAll('"x"', `"x ${SECRET}"`)
    .replaceAll("Authentication", `${SECRET} folder`)
    .replaceAll("Do this.", `Do ${SECRET}.`);
}

function withSecrets(one: LiveTestCase, steps: readonly JsonObject[]): LiveTestCase {
  const names: Record<string, string> = { a: `a ${SECRET}`, b: `${SECRET} b` };
  const { description = "", discovery } = one;
  return {
    ...one,
    description: names[description] ?? description,
    externalId: one.externalId === "E-1" ? `E-${SECRET}` : one.externalId,
    tags: one.tags?.map((tag) => (tag === "x" ? `x ${SECRET}` : tag)),
    elements: steps.map((parts, index) =>
      readElement({ id: `${one.id}-${index}`, index, ...parts }),
    ),
    discovery: discovery && {
      ...discovery,
      freePrompt: discovery.freePrompt?.replace("Do this.", `Do ${SECRET}.`),
    },
  };
}

function changesOf({ plan }: Planned): readonly string[] {
  return plan.changes.flatMap(({ address, action, fields }) =>
    fields.map(({ path }) => `${action === "create" ? "create" : "change"} ${address} ${path[0]}`),
  );
}
