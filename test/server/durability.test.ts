import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Database from "libsql";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { KEY, TARGET, bodyOf, listAt, seed, start, tempDir, textAt } from "./harness.ts";

const root = join(import.meta.dirname, "../..");

/**
 * The child as one file, as the oldest supported Node cannot run TypeScript. In node_modules it
 * still finds libsql.
 */
let bundleDir: string;

beforeAll(async () => {
  bundleDir = mkdtempSync(join(root, "node_modules/.server-child-"));
  const bundle = await rolldown({
    input: join(import.meta.dirname, "child.ts"),
    platform: "node",
    external: ["libsql"],
  });
  await bundle.write({ file: join(bundleDir, "child.mjs"), format: "esm" });
  await bundle.close();
});

afterAll(() => rmSync(bundleDir, { recursive: true, force: true }));

/** Starts the child and returns the first line that it prints. */
async function spawnChild(dataDir: string): Promise<{ child: ChildProcess; said: Json }> {
  const child = spawn(process.execPath, [join(bundleDir, "child.mjs"), dataDir, KEY], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => kill(child));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const first = await lines.next();
  return { child, said: bodyOf(String(first.value)) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function post(url: string, body: Json): Promise<{ status: number; body: Json }> {
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, body: bodyOf(await answer.text()) };
}

function createTarget(url: string, app: string): ReturnType<typeof post> {
  const testTarget = { app, discoveryUrl: "https://shop.example.com/" };
  return post(`${url}/apiKey/v3/test-targets`, { testTarget });
}

/**
 * Sends writes in parallel and kills the process at the 15th answer; returns the answered names.
 */
async function writeUntilKilled(dataDir: string, round: number): Promise<string[]> {
  const { child, said } = await spawnChild(dataDir);
  const answered: string[] = [];
  const writes = Array.from({ length: 40 }, async (_, number) => {
    const app = `${round}-${number}`;
    if ((await createTarget(textAt(said, "url"), app)).status === 201) answered.push(app);
    if (answered.length === 15) child.kill("SIGKILL");
  });
  await Promise.allSettled(writes);
  await kill(child);
  return answered;
}

test("an answered write survives kill -9, and no write is partial", async () => {
  const dataDir = tempDir();
  const answered: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    answered.push(...(await writeUntilKilled(dataDir, round)));
    expect(answered.length).toBeGreaterThanOrEqual((round + 1) * 15);
    const { call, server } = await start({ dataDir, ids: () => crypto.randomUUID() });
    const targets = listAt((await call("GET", "/test-targets")).body);
    const apps = new Set(targets.map((target) => textAt(target, "app")));
    expect(answered.filter((app) => !apps.has(app))).toEqual([]);
    expect(targets.filter((target) => listAt(target, "environments").length !== 1)).toEqual([]);
    await server.close();
  }
});

test("a second process cannot use the data directory until the first has ended", async () => {
  const dataDir = tempDir();
  const { child } = await spawnChild(dataDir);
  const second = await spawnChild(dataDir);
  const refusal = `Another process is serving ${dataDir}`;
  expect(textAt(second.said, "error")).toContain(refusal);
  await expect(start({ dataDir })).rejects.toThrow(refusal);
  await kill(child);
  const { call } = await start({ dataDir });
  expect((await call("GET", "/test-targets")).status).toBe(200);
});

test("a second service in the same process cannot use it either, until the first is closed", async () => {
  const { dataDir, server } = await start({ seed: seed() });
  await expect(start({ dataDir })).rejects.toThrow(`Another process is serving ${dataDir}`);
  await server.close();
  const { call } = await start({ dataDir });
  expect((await call("GET", `/test-targets/${TARGET}`)).status).toBe(200);
});

test("data of another format version is rejected", async () => {
  const dataDir = tempDir();
  const db = new Database(join(dataDir, "service.db"));
  db.exec("PRAGMA user_version = 99");
  db.close();
  await expect(start({ dataDir })).rejects.toThrow("has format 99; this version reads 1");
});

test("a start that fails because of its port or seed does not lock the directory", async () => {
  const { server } = await start();
  const dataDir = tempDir();
  const port = Number(new URL(server.url).port);
  await expect(start({ dataDir, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await expect(start({ dataDir, seed: { nothing: [] } })).rejects.toThrow(
    "nothing is not a known field",
  );
  expect((await start({ dataDir })).server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test("a closed service lets its process exit, despite delayed answers and running discoveries", async () => {
  const { child, said } = await spawnChild(tempDir());
  const { body } = await createTarget(textAt(said, "url"), "shop");
  const target = `${textAt(said, "url")}/apiKey/v3/test-targets/${textAt(body, "id")}`;
  expect(await post(`${target}/discoveries`, { name: "n", prompt: "p" })).toMatchObject({
    status: 201,
  });
  await post(`${textAt(said, "controlUrl")}/faults`, {
    nth: 1,
    fault: { type: "latency", ms: 600_000 },
  });
  const delayed = expect(post(`${target}/environments`, {})).rejects.toThrow("fetch failed");
  const received = async () =>
    (
      await fetch(`${textAt(said, "controlUrl")}/requests`, { headers: { "x-api-key": KEY } })
    ).text();
  await expect.poll(received).toContain("/environments");
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await delayed;
  expect(await exited).toEqual([0, null]);
});
