import { describe, expect, test } from "vitest";
import { readingOf } from "./support/client.ts";
import type { Json } from "../../src/model/json.ts";
import { readNotifications, readTarget, readTargets } from "../../src/service/answers.ts";

describe("targets", () => {
  test("are read with all fields", () => {
    const target = {
      id: "t1",
      app: "Shop",
      tags: ["a", null],
      environments: [
        { id: "e1", type: "DEFAULT", discoveryUrl: "https://shop.example", email: "a@b.example" },
        { id: "e2", type: "SOMETHING" },
      ],
      more: 1,
    };
    const value = {
      id: "t1",
      app: "Shop",
      environments: [
        { id: "e1", type: "DEFAULT", discoveryUrl: "https://shop.example" },
        { id: "e2", type: "SOMETHING" },
      ],
    };
    expect(readingOf(() => readTarget(target))).toEqual({ ok: true, value });
    expect(readingOf(() => readTargets([target]))).toEqual({ ok: true, value: [value] });
  });

  test("are read with only the required fields", () => {
    const value = { id: "t1", app: "", environments: [] };
    expect(readingOf(() => readTarget({ id: "t1", app: "" }))).toEqual({ ok: true, value });
    expect(readingOf(() => readTarget({ id: "t1", app: "", environments: null }))).toEqual({
      ok: true,
      value,
    });
  });

  test.each<[Json, (string | number)[], string, string]>([
    [{}, [], "a list", "an object"],
    [[{ id: "t1", app: "" }, 7], [1], "an object", "a number"],
    [[{ app: "Shop" }], [0, "id"], "an id", "nothing"],
    [[{ id: "t1" }], [0, "app"], "a string", "nothing"],
    [[{ id: "t1", app: null }], [0, "app"], "a string", "null"],
    [[{ id: "t1", app: "", environments: {} }], [0, "environments"], "a list", "an object"],
    [[{ id: "t1", app: "", environments: [{}] }], [0, "environments", 0, "id"], "an id", "nothing"],
    [
      [{ id: "t1", app: "", environments: [{ id: "e1", type: 7 }] }],
      [0, "environments", 0, "type"],
      "a string",
      "a number",
    ],
    [
      [{ id: "t1", app: "", environments: [{ id: "e1", discoveryUrl: 7 }] }],
      [0, "environments", 0, "discoveryUrl"],
      "a string",
      "a number",
    ],
  ])("%j are rejected", (json, at, expected, found) => {
    expect(readingOf(() => readTargets(json))).toEqual({
      ok: false,
      failure: { at, expected, found },
    });
  });
});

describe("notifications", () => {
  const NOTIFICATION = {
    id: "n1",
    testTargetId: "t1",
    createdAt: "2024-01-01T00:00:00Z",
    updatedAt: "2024-01-01T00:00:00Z",
    payload: { testCaseId: "c1" },
    type: "DISCOVERY_FINISHED",
  };

  test("are read with all fields, and with a null acknowledgment", () => {
    const value = [{ ...NOTIFICATION, ack: "IN_WEB_APP" }];
    expect(readingOf(() => readNotifications(value))).toEqual({ ok: true, value });
    expect(readingOf(() => readNotifications([{ ...NOTIFICATION, ack: null }]))).toEqual({
      ok: true,
      value: [NOTIFICATION],
    });
  });

  test.each(["id", "testTargetId", "createdAt", "updatedAt", "payload", "type"])(
    "%s is required",
    (field) => {
      const rest = Object.fromEntries(
        Object.entries(NOTIFICATION).filter(([key]) => key !== field),
      );
      expect(readingOf(() => readNotifications([rest]))).toMatchObject({
        ok: false,
        failure: { at: [0, field], found: "nothing" },
      });
    },
  );
});
