import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningServer, startServer } from "../../src/server/index.ts";

const page = readFileSync("docs/local-service.md", "utf8");
const dataDir = mkdtempSync(join(tmpdir(), "tasc-page-"));
let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ port: 0, dataDir, apiKey: "key" });
});
afterAll(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true });
});

/** The code in the first cell of each row of a table. */
function firstCells(heading: string): readonly string[] {
  const [, rest = ""] = page.split(new RegExp(`^\\| ${heading} .*$`, "m"));
  const [table = ""] = rest.split("\n\n", 1);
  return table
    .split("\n")
    .slice(2)
    .flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code),
    );
}

/** Sends a request with an invalid body. It may be rejected, but its route must exist. */
async function statusOf(method: string, path: string): Promise<number> {
  const answer = await fetch(`${server.controlUrl}${path}`, {
    method,
    headers: { "content-type": "application/json", "x-api-key": "key" },
    ...(method === "GET" || method === "DELETE" ? {} : { body: "[]" }),
  });
  await answer.text();
  return answer.status;
}

test("every request on the page of the local service exists", async () => {
  let path = "";
  const named: (readonly [string, string])[] = [];
  for (const cell of firstCells("request")) {
    const [method = "", full] = cell.split(" ");
    if (full !== undefined)
      path = full.replace("/control", "").replace("{id}", "0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10");
    named.push([method, path]);
  }
  expect(named.length).toBeGreaterThan(10);
  for (const [method, where] of named) {
    const status = await statusOf(method, where);
    // For an unknown report, the route itself answers with 404.
    expect(
      [404, 405].includes(status) && !where.startsWith("/reports/"),
      `${method} ${where}: ${status}`,
    ).toBe(false);
  }
});

test("every fault on the page can be set, and the page lists exactly the existing settings", async () => {
  const faults = firstCells("fault").filter((name) => name !== "");
  expect(faults).toEqual(["latency", "status", "reset", "hang", "truncate"]);
  for (const type of faults) {
    const answer = await fetch(`${server.controlUrl}/faults`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "key" },
      body: JSON.stringify({
        path: "/never/",
        fault: {
          type,
          ...(type === "latency" ? { ms: 1 } : {}),
          ...(type === "status" ? { status: 500 } : {}),
        },
      }),
    });
    expect(answer.status, await answer.text()).toBe(201);
  }
  const settings: unknown = await (
    await fetch(`${server.controlUrl}/settings`, { headers: { "x-api-key": "key" } })
  ).json();
  expect(firstCells("setting").toSorted()).toEqual(Object.keys(settings ?? {}).toSorted());
});
