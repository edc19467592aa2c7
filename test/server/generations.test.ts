import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  CASE,
  ENVIRONMENT,
  type Harness,
  TARGET,
  anyText,
  at,
  id,
  listAt,
  seed,
  start,
  textAt,
} from "./harness.ts";

const target = `/test-targets/${TARGET}`;
const listPath = `${target}/test-cases`;

async function discover(
  call: Harness["call"],
  body: Json,
): Promise<{ discoveryId: string; testCaseId: string }> {
  const answer = await call("POST", `${target}/discoveries`, body);
  expect(answer.status).toBe(201);
  expect(Object.keys(answer.body ?? {}).toSorted()).toEqual(["discoveryId", "testCaseId"]);
  return {
    discoveryId: textAt(answer.body, "discoveryId"),
    testCaseId: textAt(answer.body, "testCaseId"),
  };
}

async function listedCase(call: Harness["call"], wanted: string): Promise<Json> {
  const { body } = await call("GET", listPath);
  const found = listAt(body).find((each) => at(each, "id") === wanted);
  if (found === undefined) throw new Error(`${wanted} is not listed`);
  return found;
}

const whole = {
  name: "buy a book",
  prompt: "Search for a book. Put it into the cart",
  entryPointUrlPath: "/books",
  prerequisiteName: "log in",
  externalId: "T-7",
  tagNames: ["cart", "smoke"],
  folderName: "checkout",
  type: "LOGIN",
};

describe("a discovery", () => {
  test("lists its test case at once, with all given fields and no elements", async () => {
    const { call } = await start({ seed: seed() });
    const { testCaseId } = await discover(call, whole);
    expect(await listedCase(call, testCaseId)).toEqual({
      id: testCaseId,
      testTargetId: TARGET,
      description: "buy a book",
      status: "DRAFT",
      runStatus: "OFF",
      createdAt: anyText,
      updatedAt: anyText,
      entryPointUrlPath: "/books",
      elements: [],
      folderId: anyText,
      externalId: "T-7",
      tags: ["cart", "smoke"],
      type: "LOGIN",
      createdBy: "EDIT",
      prerequisiteId: CASE,
      proposalRunId: null,
      teardownTestCaseId: null,
      discovery: { updatedAt: anyText, freePrompt: whole.prompt, status: "CREATED" },
    });
    expect((await call("GET", `${target}/notifications`)).body).toEqual([]);
    expect(at((await call("GET", target)).body, "tags")).toEqual(["smoke", "cart"]);
  });

  test("creates elements and a notification when it ends", async () => {
    const { call, control } = await start({ seed: seed() });
    const { testCaseId } = await discover(call, whole);
    expect(await control("POST", "/discoveries/finish")).toMatchObject({
      status: 200,
      body: { finished: 1 },
    });
    const ended = await listedCase(call, testCaseId);
    expect(at(ended, "discovery")).toEqual({
      updatedAt: anyText,
      freePrompt: whole.prompt,
      status: "FINISHED",
      traceUrl: anyText,
    });
    expect(at(ended, "status")).toBe("DRAFT");
    const steps = listAt(ended, "elements").map((each) => [
      at(each, "index"),
      at(each, "interaction") === null
        ? at(each, "assertion", "expectation")
        : at(each, "interaction", "action"),
      at(each, "selectors", 0, "selector"),
    ]);
    expect(steps).toEqual([
      [0, "CLICK", "Search for a book"],
      [1, "CLICK", "Put it into the cart"],
      [2, "VISIBLE", "Put it into the cart"],
    ]);
    expect((await call("GET", `${target}/notifications`)).body).toEqual([
      {
        id: anyText,
        testTargetId: TARGET,
        createdAt: anyText,
        updatedAt: anyText,
        payload: { testCaseId },
        type: "DISCOVERY_FINISHED",
        ack: null,
      },
    ]);
    expect((await control("POST", "/discoveries/finish")).body).toEqual({ finished: 0 });
  });

  test("ends by itself after the configured time", async () => {
    const { call } = await start({ seed: seed(), discoveryTime: 1 });
    const { testCaseId } = await discover(call, { name: "n", prompt: "p" });
    await expect
      .poll(async () => listAt((await call("GET", `${target}/notifications`)).body))
      .toHaveLength(1);
    expect(at(await listedCase(call, testCaseId), "discovery", "status")).toBe("FINISHED");
  });

  test("fails if the prompt contains [fail], with a cause and without elements", async () => {
    const { call, control } = await start({ seed: seed() });
    const { testCaseId } = await discover(call, { name: "n", prompt: "do this [fail]" });
    await control("POST", "/discoveries/finish");
    const failed = await listedCase(call, testCaseId);
    expect(at(failed, "elements")).toEqual([]);
    expect(at(failed, "discovery")).toEqual({
      updatedAt: anyText,
      freePrompt: "do this [fail]",
      status: "FAILED",
      abortCause: "PROMPT_FAILED",
      message: anyText,
    });
    expect((await call("GET", `${target}/notifications`)).body).toMatchObject([
      { type: "DISCOVERY_FINISHED" },
    ]);
  });

  test("continues after a restart, before any request", async () => {
    const first = await start({ seed: seed() });
    const { testCaseId } = await discover(first.call, { name: "n", prompt: "p" });
    await first.server.close();
    let made = 0;
    const { call } = await start({
      dataDir: first.dataDir,
      clock: () => Date.UTC(2031, 0, 1),
      ids: () => id(0xe000 + made++),
    });
    await expect.poll(() => made).toBeGreaterThan(0);
    expect(at(await listedCase(call, testCaseId), "discovery", "status")).toBe("FINISHED");
    expect(listAt((await call("GET", `${target}/notifications`)).body)).toHaveLength(1);
  });

  test("is dropped if its test case is removed", async () => {
    const { call, control } = await start({ seed: seed() });
    const { testCaseId } = await discover(call, { name: "n", prompt: "p" });
    await control("POST", "/edit", { kind: "testCase", id: testCaseId, remove: true });
    expect((await control("POST", "/discoveries/finish")).body).toEqual({ finished: 0 });
  });
});

describe("a new prompt for a test case", () => {
  test("starts a discovery that replaces the elements when it ends", async () => {
    const { call, control } = await start({ seed: seed() });
    const answer = await call("PATCH", `${listPath}/${CASE}`, {
      createBackendDiscoveryPrompt: "Click here",
    });
    expect(answer.status).toBe(200);
    expect(await listedCase(call, CASE)).toMatchObject({
      elements: [{ id: id(0x41) }, { id: id(0x44) }],
      discovery: { status: "CREATED", freePrompt: "Click here" },
    });
    await control("POST", "/discoveries/finish");
    expect(await listedCase(call, CASE)).toMatchObject({
      status: "ENABLED",
      elements: [
        { selectors: [{ selector: "Click here" }] },
        { assertion: { expectation: "VISIBLE" } },
      ],
      discovery: { status: "FINISHED" },
    });
  });

  test("replaces a discovery that is still running", async () => {
    const { call, control } = await start({ seed: seed() });
    await call("PATCH", `${listPath}/${CASE}`, { createBackendDiscoveryPrompt: "one" });
    await call("PATCH", `${listPath}/${CASE}`, { createBackendDiscoveryPrompt: "two" });
    expect((await control("POST", "/discoveries/finish")).body).toEqual({ finished: 1 });
    expect(at(await listedCase(call, CASE), "discovery", "freePrompt")).toBe("two");
  });
});

describe("a batch generation", () => {
  const batch = {
    prompt: "cover the cart",
    imageUrls: ["https://shop.example.com/cart.png"],
    entryPointUrlPath: "/cart",
    environmentId: ENVIRONMENT,
    prerequisiteId: CASE,
    baseUrl: "https://shop.example.com",
    context: { source: "GITHUB", issueNumber: 7 },
  };

  test("creates two test cases when it ends, and a notification for each", async () => {
    const { call, control } = await start({ seed: seed() });
    const answer = await call("POST", `${target}/batch-generations`, batch);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ batchGenerationId: anyText });
    expect(listAt((await call("GET", listPath)).body)).toHaveLength(1);
    await control("POST", "/discoveries/finish");
    const [, first, second] = listAt((await call("GET", listPath)).body);
    const common = {
      status: "DRAFT",
      runStatus: "OFF",
      entryPointUrlPath: "/cart",
      prerequisiteId: CASE,
      proposalRunId: textAt(answer.body, "batchGenerationId"),
      discovery: null,
    };
    expect(first).toMatchObject({ ...common, description: "cover the cart (1)" });
    expect(second).toMatchObject({ ...common, description: "cover the cart (2)" });
    expect((await call("GET", `${target}/notifications`)).body).toMatchObject([
      { type: "PROPOSAL_SUCCESS", payload: { testCaseId: textAt(first ?? null, "id") } },
      { type: "PROPOSAL_SUCCESS", payload: { testCaseId: textAt(second ?? null, "id") } },
    ]);
  });

  test("requires no field and accepts null for nullable fields", async () => {
    const { call } = await start({ seed: seed() });
    const nulls = {
      entryPointUrlPath: null,
      environmentId: null,
      prerequisiteId: null,
      baseUrl: null,
    };
    for (const body of [{}, nulls]) {
      expect((await call("POST", `${target}/batch-generations`, body)).status).toBe(201);
    }
  });

  test("fails if the prompt contains [fail]", async () => {
    const { call, control } = await start({ seed: seed() });
    await call("POST", `${target}/batch-generations`, { prompt: "[fail]" });
    await control("POST", "/discoveries/finish");
    expect(listAt((await call("GET", listPath)).body)).toHaveLength(1);
    expect((await call("GET", `${target}/notifications`)).body).toMatchObject([
      { type: "PROPOSAL_FAILED" },
    ]);
  });
});
