import { expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  at,
  CASE,
  ENVIRONMENT,
  id,
  listAt,
  objectAt,
  seed,
  start,
  TARGET,
  textAt,
} from "./harness.ts";

const target = `/test-targets/${TARGET}`;
const testCase = `${target}/test-cases/${CASE}`;

test("settings can be read and replaced as a whole; omitted ones return to their start values", async () => {
  const { control } = await start({ settings: { pageSize: 7 } });
  const before = (await control("GET", "/settings")).body;
  expect(at(before, "pageSize")).toBe(7);
  const after = await control("PUT", "/settings", { createStatus: 200 });
  expect(after).toMatchObject({ status: 200, body: { ...objectAt(before), createStatus: 200 } });
  expect((await control("PUT", "/settings", { showPrompt: false })).body).toMatchObject({
    createStatus: 201,
  });
  expect((await control("PUT", "/settings", {})).body).toEqual(before);
});

const bad: [string, Json][] = [
  ["nothing", 1],
  ["createStatus", 202],
  ["pageSize", 0],
  ["extraFields", "yes"],
  ["createdCaseStatus", "DELETED"],
  ["discoveryTime", -1],
];

test.each(bad)("the setting %s cannot be %j", async (name, value) => {
  const { control } = await start();
  expect(await control("PUT", "/settings", { [name]: value })).toMatchObject({
    status: 400,
    body: { field: name },
  });
});

test("createStatus sets the status of all POST operations", async () => {
  const { call } = await start({ seed: seed(), settings: { createStatus: 200 } });
  const posts: [string, Json][] = [
    ["/test-targets", { testTarget: { app: "a", discoveryUrl: "https://a.example" } }],
    [`${target}/environments`, {}],
    [`${target}/discoveries`, { name: "n", prompt: "p" }],
    [`${target}/batch-generations`, {}],
  ];
  for (const [path, body] of posts) expect((await call("POST", path, body)).status).toBe(200);
});

test("updateStatus 204 leaves out the body of updates, except for environments", async () => {
  const { call } = await start({ seed: seed(), settings: { updateStatus: 204 } });
  for (const [path, body] of [
    [target, { app: "store" }],
    [testCase, { description: "x" }],
    [`${testCase}/elements/${id(0x41)}`, { locatorLine: "getByText('x')" }],
  ] as const) {
    expect(await call("PATCH", path, body)).toMatchObject({ status: 204, body: "" });
  }
  expect(at((await call("GET", target)).body, "app")).toBe("store");
  expect((await call("PATCH", `${target}/environments/${ENVIRONMENT}`, {})).status).toBe(200);
});

test("patchTargetBody empty leaves out the body of target updates", async () => {
  const { call } = await start({ seed: seed(), settings: { patchTargetBody: "empty" } });
  expect(await call("PATCH", target, { app: "store" })).toMatchObject({ status: 200, body: "" });
});

test("showPrompt and showDiscovery can remove prompts and discoveries from the list", async () => {
  const { call, control } = await start({ seed: seed(), settings: { showPrompt: false } });
  await call("PATCH", testCase, { createBackendDiscoveryPrompt: "p" });
  const discovery = at((await call("GET", `${target}/test-cases`)).body, 0, "discovery");
  expect(discovery).toEqual({ updatedAt: textAt(discovery, "updatedAt"), status: "CREATED" });
  await control("PUT", "/settings", { showDiscovery: false });
  expect(at((await call("GET", `${target}/test-cases`)).body, 0)).not.toHaveProperty("discovery");
});

test("extraFields adds a field to every object except those with free-form data", async () => {
  const { call } = await start({ seed: seed(), settings: { extraFields: true } });
  const addedLater = { since: "v3" };
  const [listed] = listAt((await call("GET", `${target}/test-cases`)).body);
  expect(listed).toMatchObject({
    addedLater,
    elements: [
      {
        addedLater,
        scrollState: { id: "s1" },
        interaction: { addedLater },
        selectors: [{ addedLater }],
      },
      { addedLater },
    ],
  });
  expect(at(listed ?? null, "elements", 1, "selectors", 1, "options")).toEqual({ name: "x" });
  const environment = await call("PATCH", `${target}/environments/${ENVIRONMENT}`, {
    additionalHeaderFields: { a: 1 },
  });
  expect(environment.body).toMatchObject({ addedLater });
  expect(at(environment.body, "additionalHeaderFields")).toEqual({ a: 1 });
});

test("unknownEnums returns undocumented enum values", async () => {
  const { call, control } = await start({ seed: seed(), settings: { unknownEnums: true } });
  await call("PATCH", testCase, { createBackendDiscoveryPrompt: "p" });
  expect(at((await call("GET", `${target}/test-cases`)).body, 0)).toMatchObject({
    createdBy: "UNLISTED_EDIT",
    discovery: { status: "CREATED" },
  });
  await control("POST", "/discoveries/finish");
  expect(at((await call("GET", `${target}/test-cases`)).body, 0)).toMatchObject({
    status: "ENABLED",
    discovery: { status: "UNLISTED_FINISHED" },
  });
  expect((await call("GET", `${target}/notifications`)).body).toMatchObject([
    { type: "UNLISTED_DISCOVERY_FINISHED" },
  ]);
  const environment = await call("PATCH", `${target}/environments/${ENVIRONMENT}`, {
    privateLocationName: "office",
  });
  expect(at(environment.body, "privateLocation")).toMatchObject({
    status: "UNLISTED_ACTIVE",
    type: "UNLISTED_PRIVATE",
  });
});

const errorBodies = [
  ["json", "application/json; charset=utf-8", { statusCode: 404, message: "no such test target" }],
  ["text", "text/plain; charset=utf-8", "no such test target"],
  [
    "html",
    "text/html; charset=utf-8",
    "<!doctype html><title>404</title><h1>404</h1><p>no such test target</p>",
  ],
  ["empty", null, ""],
] as const;

test.each(errorBodies)(
  "errorBody %s sets the form of errors",
  async (errorBody, type, expected) => {
    const { call, control } = await start({ settings: { errorBody } });
    const answer = await call("GET", target);
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.body).toEqual(expected);
    await control("POST", "/faults", { fault: { type: "status", status: 404 } });
    expect((await call("GET", target)).headers.get("content-type")).toBe(type);
  },
);

test("wrongKeyStatus can be 401", async () => {
  const { call } = await start({ settings: { wrongKeyStatus: 401 } });
  expect((await call("GET", "/test-targets", undefined, { "x-api-key": "wrong" })).status).toBe(
    401,
  );
});

test("settings define the status of test cases after creation and after discovery", async () => {
  const { call, control } = await start({
    seed: seed(),
    settings: {
      createdCaseStatus: "PROVISIONAL",
      createdRunStatus: "ON",
      finishedCaseStatus: "ENABLED",
    },
  });
  await call("POST", `${target}/discoveries`, { name: "n", prompt: "p" });
  await call("POST", `${target}/batch-generations`, { prompt: "q" });
  expect(at((await call("GET", `${target}/test-cases`)).body, 1)).toMatchObject({
    status: "PROVISIONAL",
    runStatus: "ON",
  });
  await control("POST", "/discoveries/finish");
  const [, discovered, proposed] = listAt((await call("GET", `${target}/test-cases`)).body);
  expect(discovered).toMatchObject({ status: "ENABLED", runStatus: "ON" });
  expect(proposed).toMatchObject({ status: "PROVISIONAL", runStatus: "ON" });
});

test("environmentName given returns environments with their given name", async () => {
  const { call } = await start({ seed: seed(), settings: { environmentName: "given" } });
  const created = await call("POST", `${target}/environments`, { name: "staging" });
  expect(created.body).toMatchObject({ name: "staging", type: "ADDITIONAL" });
  const unnamed = await call("PATCH", `${target}/environments/${textAt(created.body, "id")}`, {
    name: null,
  });
  expect(unnamed.body).toMatchObject({ name: "ADDITIONAL" });
});

test("tagOrder sorted returns tags in alphabetical order", async () => {
  const { call } = await start({ seed: seed(), settings: { tagOrder: "sorted" } });
  const answer = await call("PATCH", testCase, { assignedTagNames: ["b", "a"] });
  expect(at(answer.body, "tags")).toEqual(["a", "b"]);
});
