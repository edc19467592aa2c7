import { expect, test } from "vitest";
import {
  anyText,
  at,
  CASE,
  ENVIRONMENT,
  id,
  like,
  seed,
  start,
  TARGET,
  textAt,
} from "./harness.ts";

test("a created target has a default environment and can be read alone and in the list", async () => {
  const { call } = await start();
  const created = await call("POST", "/test-targets", {
    testTarget: { app: "shop", discoveryUrl: "https://shop.example.com/" },
  });
  expect(created.status).toBe(201);
  expect(created.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(created.body).toEqual({
    id: id(0xf000),
    app: "shop",
    tags: [],
    environments: [
      {
        id: id(0xf001),
        type: "DEFAULT",
        discoveryUrl: "https://shop.example.com/",
        email: "env-00000000@mail.example.com",
      },
    ],
  });
  expect(await call("GET", `/test-targets/${id(0xf000)}`)).toMatchObject({
    status: 200,
    body: created.body,
  });
  expect(await call("GET", "/test-targets")).toMatchObject({ status: 200, body: [created.body] });
});

test("an updated target returns only the documented fields and stores the others", async () => {
  const { call, control } = await start({ seed: seed() });
  const written = {
    app: "store",
    testIdAttribute: "data-qa",
    trackerIntegration: {
      domain: "https://t.example.com",
      username: "u",
      projectId: "P",
      apiKey: "tracker-key",
    },
    timeoutPerStep: 30,
  };
  const updated = await call("PATCH", `/test-targets/${TARGET}`, written);
  expect(updated.status).toBe(200);
  expect(updated.body).toEqual({
    id: TARGET,
    app: "store",
    tags: ["smoke"],
    environments: [{ id: ENVIRONMENT, type: "DEFAULT", discoveryUrl: "https://shop.example.com/" }],
  });
  expect(at((await control("GET", "/data")).body, "testTargets", 0)).toMatchObject(written);
});

test("a tracker integration is replaced as a whole, and only if a request contains one", async () => {
  const { call, control } = await start({ seed: seed() });
  await call("PATCH", `/test-targets/${TARGET}`, {
    trackerIntegration: { username: "u", apiKey: "k" },
  });
  await call("PATCH", `/test-targets/${TARGET}`, { app: "store" });
  expect(at((await control("GET", "/data")).body, "testTargets", 0)).toMatchObject({
    app: "store",
    trackerIntegration: { username: "u", apiKey: "k" },
  });
  await call("PATCH", `/test-targets/${TARGET}`, { trackerIntegration: { username: "v" } });
  expect(at((await control("GET", "/data")).body, "testTargets", 0, "trackerIntegration")).toEqual({
    username: "v",
  });
});

const environment = {
  name: "staging",
  discoveryUrl: "https://staging.example.com/",
  testAccount: { username: "ada", password: "account-secret", otpInitializerKey: "otp-secret" },
  basicAuth: { username: "gate", password: "gate-secret" },
  privateLocationName: "office",
  additionalHeaderFields: { "x-stage": "1" },
};

test("a created environment is returned without its secrets, which are stored", async () => {
  const { call, control } = await start({ seed: seed() });
  const created = await call("POST", `/test-targets/${TARGET}/environments`, environment);
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: id(0xf000),
    name: "ADDITIONAL",
    type: "ADDITIONAL",
    testTargetId: TARGET,
    updatedAt: like(/^2030-01-01T00:00:00\.\d{3}Z$/),
    discoveryUrl: "https://staging.example.com/",
    additionalHeaderFields: { "x-stage": "1" },
    testAccount: { username: "ada", updatedAt: anyText },
    basicAuth: { username: "gate", updatedAt: anyText },
    emailDomain: "mail.example.com",
    emailPrefix: "env-00000000",
    enableCrossOriginIframes: false,
    privateLocation: { id: id(0xf001), name: "office", status: "ACTIVE", type: "PRIVATE" },
  });
  expect(at((await control("GET", "/data")).body, "environments", 2)).toMatchObject({
    name: "staging",
    testAccount: environment.testAccount,
    basicAuth: environment.basicAuth,
  });
});

test("an environment update keeps omitted fields, replaces whole objects and clears null fields", async () => {
  const { call, control } = await start({ seed: seed() });
  const created = await call("POST", `/test-targets/${TARGET}/environments`, environment);
  const path = `/test-targets/${TARGET}/environments/${textAt(created.body, "id")}`;
  const renamed = await call("PATCH", path, { testAccount: { username: "bob" } });
  expect(renamed.status).toBe(200);
  expect(renamed.body).toMatchObject({
    discoveryUrl: "https://staging.example.com/",
    testAccount: { username: "bob" },
    basicAuth: { username: "gate" },
  });
  expect(textAt(renamed.body, "updatedAt") > textAt(created.body, "updatedAt")).toBe(true);
  const account = at((await control("GET", "/data")).body, "environments", 2, "testAccount");
  expect(account).toEqual({ username: "bob", updatedAt: anyText });

  const nulls = Object.fromEntries(Object.keys(environment).map((field) => [field, null]));
  const cleared = await call("PATCH", path, nulls);
  expect(cleared.status).toBe(200);
  expect(cleared.body).toEqual({
    id: id(0xf000),
    name: "ADDITIONAL",
    type: "ADDITIONAL",
    testTargetId: TARGET,
    updatedAt: anyText,
    additionalHeaderFields: null,
    testAccount: null,
    basicAuth: null,
    emailDomain: "mail.example.com",
    emailPrefix: "env-00000000",
    enableCrossOriginIframes: false,
  });
});

test("environments with the same private location name share one location", async () => {
  const { call } = await start({ seed: seed() });
  const first = await call("POST", `/test-targets/${TARGET}/environments`, {
    privateLocationName: "office",
  });
  const second = await call("PATCH", `/test-targets/${TARGET}/environments/${ENVIRONMENT}`, {
    privateLocationName: "office",
  });
  expect(at(second.body, "privateLocation")).toEqual(at(first.body, "privateLocation"));
});

test("the list of test cases has fields that the answer to an update lacks", async () => {
  const { call } = await start({ seed: seed() });
  const listed = await call("GET", `/test-targets/${TARGET}/test-cases`);
  const updateShape = {
    id: CASE,
    testTargetId: TARGET,
    description: "log in",
    status: "ENABLED",
    runStatus: "ON",
    createdAt: anyText,
    updatedAt: anyText,
    entryPointUrlPath: null,
    folderId: null,
    externalId: null,
    tags: ["smoke"],
  };
  const first = {
    id: id(0x41),
    index: 0,
    interaction: { id: id(0x42), action: "CLICK", testCaseElementId: id(0x41) },
    assertion: null,
    testCaseId: CASE,
    ignoreFailure: false,
  };
  const selector = {
    id: id(0x43),
    index: 0,
    selector: "Log in",
    selectorType: "TEXT",
    options: {},
    testCaseElementId: id(0x41),
  };
  expect(listed).toMatchObject({ status: 200 });
  expect(listed.body).toEqual([
    {
      ...updateShape,
      elements: [
        { ...first, scrollState: { id: "s1" }, selectors: [{ ...selector, scrollStateId: "s1" }] },
        expect.objectContaining({ id: id(0x44), index: 1 }),
      ],
      type: null,
      createdBy: "EDIT",
      prerequisiteId: null,
      proposalRunId: null,
      teardownTestCaseId: null,
      discovery: null,
    },
  ]);
  const updated = await call("PATCH", `/test-targets/${TARGET}/test-cases/${CASE}`, {});
  expect(updated.status).toBe(200);
  expect(updated.body).toEqual({
    ...updateShape,
    elements: [
      { ...first, selectors: [selector] },
      expect.objectContaining({ id: id(0x44), index: 1 }),
    ],
  });
});

test("notifications are returned as they are stored", async () => {
  const notification = {
    id: id(0x51),
    testTargetId: TARGET,
    createdAt: "2029-05-05T00:00:00.000Z",
    updatedAt: "2029-05-05T00:00:00.000Z",
    payload: { testCaseId: CASE },
    type: "VALIDATION_PASSED",
    ack: "IN_WEB_APP",
  };
  const { call } = await start({ seed: seed({ notifications: [notification] }) });
  const listed = await call("GET", `/test-targets/${TARGET}/notifications`);
  expect(listed.status).toBe(200);
  expect(listed.body).toEqual([notification]);
});

test.each(["/test-targets", "/v3/test-targets", "/tenant/apiKey/v3/test-targets"])(
  "the API is not available at %s",
  async (path) => {
    const { server } = await start({ seed: seed() });
    const elsewhere = await fetch(new URL(path, server.url), {
      headers: { "x-api-key": "the-key" },
    });
    expect(elsewhere.status).toBe(404);
  },
);
