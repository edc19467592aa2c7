import { expect, test, vi } from "vitest";
import { stop } from "../../src/model/error.ts";
import { describeFailure } from "../../src/service/failure.ts";
import type { BeforeSend } from "../../src/service/client.ts";
import { clientOf, failureOf } from "./support/client.ts";
import { httpServer, json, rawServer, reply } from "./support/server.ts";

const call = {
  method: "POST",
  path: ["apiKey", "v3", "test-targets", "t1", "discoveries"],
  body: { name: "n", prompt: "p" },
} as const;
const lost = (): never => {
  throw stop("failed", "lock-lost", "The lock was lost", "Another apply holds it.");
};

test("a send that beforeSend rejects does not go out, and the failure gives the reason", async () => {
  const server = await httpServer((response) => json(response, {}));
  const { client } = clientOf(server.url, { beforeSend: lost });
  const failure = await failureOf(client.send(call));
  expect(server.received).toEqual([]);
  expect(failure).toMatchObject({ kind: "withheld", acted: "no", attempts: 1 });
  expect(describeFailure(failure)).toEqual({
    code: "lock-lost",
    summary: "The lock was lost",
    detail: "POST /apiKey/v3/test-targets/t1/discoveries: not sent. Another apply holds it.",
  });
});

test("beforeSend runs again after the wait for a retry, and may be asynchronous", async () => {
  const server = await httpServer((response) => reply(response, 429, { "retry-after": "6" }));
  const asked: string[] = [];
  let isHeld = true;
  const beforeSend: BeforeSend = async (send) => {
    asked.push(`${send.method} ${send.path} ${send.attempt}`);
    await Promise.resolve();
    if (!isHeld) lost();
  };
  const { client, world } = clientOf(server.url, {
    beforeSend,
    onEvent: (event) => void (event.kind === "slowed" && (isHeld = false)),
  });
  expect(await failureOf(client.send(call))).toMatchObject({
    kind: "withheld",
    acted: "no",
    attempts: 2,
  });
  expect(world.sleeps).toEqual([6000]);
  expect(server.received).toHaveLength(1);
  expect(asked).toEqual(
    [1, 2].map((attempt) => `POST /apiKey/v3/test-targets/t1/discoveries ${attempt}`),
  );
});

test("beforeSend runs again if connecting took a long time", async () => {
  let bytes = 0;
  const url = await rawServer(() => bytes++);
  const clock = vi.spyOn(Date, "now");
  let asked = 0;
  const beforeSend: BeforeSend = async () => {
    asked++;
    if (asked === 3) lost();
    // As if the process had been suspended while it connected.
    clock.mockReturnValue(10_000 * asked);
    await Promise.resolve();
    clock.mockReturnValueOnce(20_000 * asked);
  };
  const { client } = clientOf(url, { beforeSend });
  const failure = await failureOf(client.send(call)).finally(() => clock.mockRestore());
  expect(failure).toMatchObject({ kind: "withheld", acted: "no" });
  expect(bytes).toBe(0);
});

test("an unexpected error of beforeSend rejects the call and frees its place", async () => {
  const server = await httpServer((response) => json(response, {}));
  let asked = 0;
  const beforeSend = (): void => {
    if (++asked === 1) throw new RangeError("a mistake");
  };
  const { client } = clientOf(server.url, { beforeSend, concurrency: 1 });
  await expect(client.send(call)).rejects.toThrow("a mistake");
  await expect(client.send(call)).resolves.toBeDefined();
});
