import { expect, test } from "vitest";
import type { DesiredFields } from "../../src/model/desired.ts";
import { Secret } from "../../src/model/value.ts";
import { project, target } from "../plan/build.ts";
import { MemoryService, PLAIN_KNOBS, type StoredTestCase } from "./memory-service.ts";
import { Workbench } from "./workbench.ts";

/** A declared field, a change of it on the service, and its next value in the manifest. */
type Row = readonly [
  name: string,
  declared: DesiredFields,
  onService: ((testCase: StoredTestCase, service: MemoryService) => void) | undefined,
  next: DesiredFields,
];

const step = (calledWith: string) => ({ interaction: { action: "CLICK", calledWith } });
const line = (locatorLine: string) => ({ ...step("x"), locatorLine });

const rows: readonly Row[] = [
  ["status", { status: "ENABLED" }, (live) => void (live.status = "DRAFT"), { status: "DISABLED" }],
  ["runStatus", { runStatus: "ON" }, (live) => void (live.runStatus = "OFF"), { runStatus: "OFF" }],
  ["description", {}, (live) => void (live.description = "Odd"), { description: "New" }],
  ["tags", { tags: ["a"] }, (live) => void (live.tags = ["b"]), { tags: ["c"] }],
  ["externalId", { externalId: "X" }, (live) => void (live.externalId = null), { externalId: "Y" }],
  [
    "entryPointUrlPath",
    { entryPointUrlPath: "/a" },
    (live) => void (live.entryPointUrlPath = "/b"),
    { entryPointUrlPath: null },
  ],
  [
    "a folder that is known",
    { folder: "A" },
    (live) => void (live.folder = null),
    { folder: null },
  ],
  [
    "a folder that is new",
    { folder: "A" },
    (live, service) => service.targets[0] && service.moveToFolder(service.targets[0], live, "New"),
    { folder: null },
  ],
  [
    "prompt",
    { "discovery.prompt": "p" },
    (live) => void (live.prompt = "q"),
    { "discovery.prompt": "r" },
  ],
  [
    "elements",
    { elements: [step("x")] },
    (live, service) => void live.elements.push(service.newElement({})),
    { elements: [step("y")] },
  ],
  [
    "parts of elements that were not declared",
    { elements: [step("x"), line("getByText('a')")] },
    (live, service) => void live.elements.push(service.newElement({})),
    { elements: [{ ...step("x"), ignoreFailure: true }, line("getByText('a')")] },
  ],
  [
    "selectors in place of a locatorLine",
    { elements: [line("getByText('a')"), step("y")] },
    (live, service) => void live.elements.push(service.newElement({})),
    {
      elements: [{ ...step("x"), selectors: [{ selectorType: "TEXT", selector: "b" }] }, step("y")],
    },
  ],
  [
    "locatorLine",
    { elements: [line("getByText('a')")] },
    (live) => {
      const [element] = live.elements;
      if (element !== undefined) element.selectors = [];
    },
    { elements: [line("getByText('b')")] },
  ],
  ["interactionStatus", { interactionStatus: "NEW" }, undefined, { interactionStatus: "APPROVED" }],
  [
    "a secret",
    { "discovery.prompt": new Secret("p") },
    (live) => void (live.prompt = "q"),
    { "discovery.prompt": new Secret("r") },
  ],
];

const wanted = (fields: DesiredFields) =>
  project(
    target({ testCases: { login: { description: "Log in", "discovery.prompt": "p", ...fields } } }),
  );

async function applied(fields: DesiredFields): Promise<Workbench> {
  const service = new MemoryService({ ...PLAIN_KNOBS, discovery: "with prompt" });
  const live = service.addTarget("Shop");
  service.addTestCase(live, { description: "Log in", prompt: "p" });
  const bench = new Workbench(service);
  await bench.apply(wanted(fields));
  return bench;
}

async function blamed(bench: Workbench, fields: DesiredFields): Promise<readonly unknown[]> {
  const { plan } = (await bench.look(wanted(fields))).planned;
  return [
    ...new Set(plan.changes.flatMap((change) => change.fields.map(({ changedBy }) => changedBy))),
  ];
}

test.each(rows)(
  "%s: reports whether the service, the manifest or both changed it",
  async (_, declared, onService, next) => {
    const bench = await applied(declared);
    expect(await blamed(bench, declared)).toEqual([]);
    expect(await blamed(bench, { ...declared, ...next })).toEqual(["manifest"]);
    const [testCase] = bench.service.targets[0]?.testCases ?? [];
    if (onService === undefined || testCase === undefined) return;
    onService(testCase, bench.service);
    expect(await blamed(bench, declared)).toEqual(["service"]);
  },
);
