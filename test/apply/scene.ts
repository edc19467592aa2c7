import * as fc from "fast-check";
import type {
  Desired,
  DesiredFields,
  DesiredResource,
  DesiredTarget,
} from "../../src/model/desired.ts";
import { type Json, type JsonObject, isObject } from "../../src/model/json.ts";
import type { State } from "../../src/model/state.ts";
import { isUnknown, reveal } from "../../src/model/value.ts";
import { CASE_KEYS, OUTSIDE } from "./arbitrary.ts";
import type { MemoryService, StoredTarget, StoredTestCase } from "./memory-service.ts";
import type { Workbench } from "./workbench.ts";

/**
 * Puts a revision of a project on the service as if it had been made by hand; the mask leaves parts
 * out.
 */
export function seed(service: MemoryService, desired: Desired, mask: readonly boolean[]): void {
  let at = 0;
  const chosen = (): boolean => mask[at++ % mask.length] ?? false;
  for (const declared of desired.targets) {
    if (!chosen()) continue;
    const { app, ...settings } = plain(declared.fields);
    const target = service.addTarget(text(app));
    target.settings = settings;
    for (const environment of declared.environments)
      if (environment.key === "default" || chosen())
        target.environments.push({
          id: service.newId("env"),
          type: environment.key === "default" ? "DEFAULT" : "ADDITIONAL",
          fields: plain(environment.fields),
        });
    for (const testCase of declared.testCases)
      if (chosen()) service.addTestCase(target, storedFields(service, testCase.fields));
  }
}

/**
 * Adds a test case that no manifest declares to every target, because prerequisites may name it.
 */
export function addOutsiders(service: MemoryService): void {
  for (const target of service.targets)
    if (!target.testCases.some(({ description }) => description === OUTSIDE))
      service.addTestCase(target, { description: OUTSIDE, folder: "Cart" });
}

export function plain(fields: DesiredFields): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]): [string, Json][] =>
      isUnknown(value) ? [] : [[key, reveal(value)]],
    ),
  );
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function storedFields(service: MemoryService, fields: DesiredFields): Partial<StoredTestCase> {
  const { description, externalId, status, runStatus, folder, tags, elements, ...rest } =
    plain(fields);
  return {
    description: text(description),
    externalId: typeof externalId === "string" ? externalId : null,
    status: typeof status === "string" ? status : "ENABLED",
    runStatus: typeof runStatus === "string" ? runStatus : "ON",
    folder: typeof folder === "string" ? folder : null,
    tags: Array.isArray(tags) ? tags.map(String) : [],
    prompt: text(rest["discovery.prompt"]),
    entryPointUrlPath:
      typeof rest["entryPointUrlPath"] === "string" ? rest["entryPointUrlPath"] : null,
    elements: (Array.isArray(elements) ? elements.filter(isObject) : []).map((element) =>
      service.newElement({
        interaction: isObject(element["interaction"]) ? element["interaction"] : null,
        assertion: isObject(element["assertion"]) ? element["assertion"] : null,
        selectors: Array.isArray(element["selectors"]) ? element["selectors"].filter(isObject) : [],
        ...(typeof element["ignoreFailure"] === "boolean"
          ? { ignoreFailure: element["ignoreFailure"] }
          : {}),
      }),
    ),
  };
}

type OnTestCase = (testCase: StoredTestCase, target: StoredTarget, service: MemoryService) => void;

/** Changes that somebody may make to a test case without tasc. */
const ON_TEST_CASES: Readonly<Record<string, OnTestCase>> = {
  status: (testCase) =>
    void (testCase.status = testCase.status === "DISABLED" ? "ENABLED" : "DISABLED"),
  runStatus: (testCase) => void (testCase.runStatus = testCase.runStatus === "ON" ? "OFF" : "ON"),
  rename: (testCase) => void (testCase.description = `${testCase.description} odd`),
  tags: (testCase) => void (testCase.tags = [...testCase.tags, "new"].toReversed()),
  folder: (testCase, target, service) => service.moveToFolder(target, testCase, "Cart"),
  noFolder: (testCase) => void (testCase.folder = null),
  entryPoint: (testCase) => void (testCase.entryPointUrlPath = "/odd"),
  externalId: (testCase) => void (testCase.externalId = null),
  prompt: (testCase) => void (testCase.prompt = "another prompt"),
  dropElement: (testCase) => void testCase.elements.shift(),
  addElement: (testCase, _target, service) =>
    void testCase.elements.unshift(
      service.newElement({ interaction: { action: "CLICK", calledWith: "odd" } }),
    ),
  selectors: ({ elements }) =>
    elements.forEach(
      (element) => (element.selectors = [{ selectorType: "TEXT", selector: "odd" }]),
    ),
  delete: (testCase) => void (testCase.status = "DELETED"),
  vanish: (testCase, target) => void target.testCases.splice(target.testCases.indexOf(testCase), 1),
};

/** Changes that somebody may make to a target without tasc. */
const ON_TARGETS: Readonly<Record<string, (target: StoredTarget) => void>> = {
  environmentUrl: (target) => {
    const environment = target.environments.at(-1);
    if (environment)
      environment.fields = { ...environment.fields, discoveryUrl: "https://odd.example.com" };
  },
  noEnvironment: (target) =>
    void (target.environments.at(-1)?.type === "ADDITIONAL" && target.environments.pop()),
  app: (target) => void (target.app = `${target.app} odd`),
};

export interface Disturbance {
  readonly what: string;
  /** Key of the test case, for a change to a test case. */
  readonly key: string;
}

export const disturbances: fc.Arbitrary<readonly Disturbance[]> = fc.array(
  fc.record({
    what: fc.constantFrom(...Object.keys(ON_TEST_CASES), ...Object.keys(ON_TARGETS)),
    key: fc.constantFrom(...CASE_KEYS),
  }),
  { maxLength: 6 },
);

export function disturb(service: MemoryService, all: readonly Disturbance[]): void {
  for (const { what, key } of all)
    for (const target of service.targets) {
      ON_TARGETS[what]?.(target);
      const testCase = target.testCases.find(({ description }) =>
        description.startsWith(`Case ${key}`),
      );
      if (testCase !== undefined) ON_TEST_CASES[what]?.(testCase, target, service);
    }
}

/** Changes to the states between two runs. */
export const mishaps = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "kept" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "lost" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("unbound", "gone"),
      mask: fc.array(fc.boolean(), { minLength: 3, maxLength: 7 }),
    }),
  },
);
export type Mishap = typeof mishaps extends fc.Arbitrary<infer T> ? T : never;

export function befall(bench: Workbench, mishap: Mishap): void {
  if (mishap.kind === "kept") return;
  if (mishap.kind === "lost") return bench.documents.clear();
  for (const [key, state] of bench.states()) {
    const bindings = new Map(state.bindings);
    [...bindings].forEach(([address, binding], at) => {
      if (mishap.mask[at % mishap.mask.length] !== true) return;
      if (mishap.kind === "unbound") bindings.delete(address);
      else bindings.set(address, { ...binding, id: `gone-${at}` });
    });
    const changed: State = { ...state, bindings };
    bench.setState(key, changed);
  }
}

/**
 * The project without references that a new target cannot have: to test cases that no manifest
 * declares.
 */
export async function possible(bench: Workbench, desired: Desired): Promise<Desired> {
  const { planned } = await bench.look(desired);
  const isLive = (key: string): boolean => planned.matched.get(key)?.live !== undefined;
  return {
    ...desired,
    targets: desired.targets.map((target) =>
      isLive(target.key) ? target : withoutOutsiders(target),
    ),
  };
}

function withoutOutsiders(target: DesiredTarget): DesiredTarget {
  return {
    ...target,
    testCases: target.testCases.map((one) => without(one, "discovery.prerequisite")),
    batchGenerations: target.batchGenerations.map((one) => without(one, "prerequisite")),
  };
}

function without<R extends DesiredResource>(resource: R, reference: string): R {
  if (typeof resource.fields[reference] !== "object") return resource;
  const { [reference]: _, ...fields } = resource.fields;
  return { ...resource, fields };
}
