// `apply --format json` prints one JSON object per line, the last of type `result`. A failed
// command prints one object.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { type Json, isObject, parseJson } from "../../src/model/json.ts";
import { scene, type Ran } from "./support/cli.ts";
import { seed } from "./support/story.ts";

const MANIFEST = `target: shop
app: Web Shop
testCases:
  login: { description: Log in, status: DRAFT }
  cart: { description: Cart, discovery: { prompt: Fill it. } }
`;

const schema = parseJson(readFileSync("schemas/events.schema.json", "utf8"));
const fits = new Ajv2020({ strict: true }).compile(isObject(schema) ? schema : {});

function eventsOf({ stdout }: Ran): readonly Record<string, Json>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => {
      const event = parseJson(line);
      if (!isObject(event)) throw new Error(`no object: ${line}`);
      expect(fits(event), `${JSON.stringify(fits.errors)}\n${line}`).toBe(true);
      return event;
    });
}

describe.concurrent("apply --format json", () => {
  test("prints the plan, each change and call, and the result last", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["apply", "--auto-approve", "--json"]);
      expect(ran.code, ran.stderr).toBe(0);
      const events = eventsOf(ran);
      expect(events[0]).toMatchObject({ type: "call", method: "GET" });
      expect(new Set(events.map(({ type }) => type))).toEqual(
        new Set(["planned", "started", "changeStarted", "call", "changeDone", "reading", "result"]),
      );
      expect(events.find(({ type }) => type === "planned")).toMatchObject({
        plan: { summary: { create: 1, update: 1 } },
      });
      expect(events.at(-1)).toMatchObject({
        type: "result",
        done: ["testCase.shop.cart", "testCase.shop.login"],
        failed: [],
        exitCode: 0,
      });
      expect(live.login.status).toBe("DRAFT");
    });
  });

  test("ends with a result that contains the error if nothing is applied", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST.replace("DRAFT", "DRAFTY") });
      const ran = await project.run(["apply", "--auto-approve", "--format", "json"]);
      expect(ran.code).toBe(3);
      expect(eventsOf(ran)).toMatchObject([
        { type: "result", exitCode: 3, error: { code: "bad-value" }, next: ["tasc validate"] },
      ]);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const unasked = await project.run(["apply", "--format", "json"]);
      expect(unasked.code).toBe(1);
      expect(eventsOf(unasked).at(-1)).toMatchObject({
        type: "result",
        error: { code: "no-terminal" },
        next: ["tasc apply --auto-approve", "tasc plan --out plan.json"],
      });
      expect(service.writes()).toEqual([]);
    });
  });

  test("continues if the reader of its output closes the pipe after the first line", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const running = await project.start(["apply", "--auto-approve", "--json"]);
      running.child.stdout?.once("data", () => running.child.stdout?.destroy());
      expect((await running.done).code).toBe(0);
      expect(live.login.status).toBe("DRAFT");
    });
  });
});

test.each([
  { args: ["plan", "--retries", "x", "--json"], code: "bad-option" },
  { args: ["plan", "--nothing", "--json"], code: "bad-arguments" },
  { args: ["nothing", "--format", "json"], code: "bad-arguments" },
  { args: ["show", "nowhere.json", "--json"], code: "not-a-plan" },
  { args: ["drift", "--stage", "nowhere", "--json"], code: "unknown-stage" },
])("$args prints one JSON object with the error", async ({ args, code }) => {
  await scene({}, async ({ project, service }) => {
    seed(service);
    await project.write({ "targets/shop.yaml": MANIFEST });
    const ran = await project.run(args);
    expect(ran.code).toBe(3);
    expect(parseJson(ran.stdout)).toMatchObject({
      error: { code },
      diagnostics: [{ severity: "error", code }],
    });
    expect(ran.stdout).toMatch(/"next": \[\s+"tasc /u);
  });
});
