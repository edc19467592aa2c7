// Section 5: which requests are retried, how often, and after how long.
import { describe, expect, test } from "vitest";
import { answer, type Answer } from "./fake-service.ts";
import { scene } from "./support/cli.ts";
import { some } from "./support/json.ts";
import { seed } from "./support/story.ts";

const BASE = "target: shop\napp: Web Shop\n";
const DRAFT = `${BASE}testCases: { login: { description: Log in, status: DRAFT } }\n`;
const SOON = { "retry-after": "0" };

const PASSING: readonly { readonly says: string; readonly answer: Answer }[] = [
  ...[408, 429, 500, 502, 503, 504].map((status) => ({
    says: `${status}`,
    answer: answer(status, "later", SOON),
  })),
  { says: "a connection reset", answer: { kind: "reset" } },
  { says: "a truncated answer", answer: { kind: "truncate" } },
];

describe.concurrent("GET and PATCH are retried after", () => {
  test.each(PASSING)("$says", async ({ answer: how }) => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": DRAFT });
      for (const method of ["GET", "PATCH"])
        service.fail({ on: { method }, times: 2, phase: "before", answer: how });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(live.login.status).toBe("DRAFT");
      expect(service.writes()).toHaveLength(3);
    });
  });

  test("a timeout", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": DRAFT });
      for (const method of ["GET", "PATCH"])
        service.fail({ on: { method }, phase: "before", answer: { kind: "hang" } });
      const ran = await project.run(["apply", "--auto-approve", "--request-timeout", "500ms"]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(service.writes()).toHaveLength(2);
    });
  });
});

describe.concurrent("a PATCH is not retried after", () => {
  test.each([400, 401, 403, 404, 409, 422, 307])("%i", async (status) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": DRAFT });
      const location = `${service.url}/apiKey/v3/test-targets`;
      service.fail({
        on: { method: "PATCH" },
        times: 9,
        phase: "before",
        answer: status === 307 ? answer(307, "", { location }) : answer(status, "no", SOON),
      });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code).toBe(status === 401 || status === 403 ? 6 : 1);
      expect(service.writes()).toHaveLength(1);
    });
  });
});

describe.concurrent("a request is sent at most", () => {
  test.each([
    { says: "six times by default", args: [], project: "", sends: 6 },
    { says: "three times with --retries 2", args: ["--retries", "2"], project: "", sends: 3 },
    { says: "once with --retries 0", args: ["--retries", "0"], project: "", sends: 1 },
    { says: "twice with `service.retries: 1`", args: [], project: "  retries: 1\n", sends: 2 },
    {
      says: "four times with --retries 3, which overrides service.retries",
      args: ["--retries", "3"],
      project: "  retries: 1\n",
      sends: 4,
    },
  ])("$says", async ({ args, project: more, sends }) => {
    await scene({}, async ({ project, service }) => {
      await project.write({
        "tasc.yaml": (await project.read("tasc.yaml")) + more,
        "targets/shop.yaml": DRAFT,
      });
      service.fail({
        on: { method: "GET" },
        times: 99,
        phase: "before",
        answer: answer(503, "down", SOON),
      });
      const ran = await project.run(["plan", ...args]);
      expect([1, 6]).toContain(ran.code);
      expect(ran.stderr).toContain("503");
      expect(service.log).toHaveLength(sends);
    });
  });
});

describe.concurrent("Retry-After", () => {
  test.each([
    { says: "in seconds", header: () => "1", least: 990 },
    // A date has whole seconds, so rounding may shorten the two seconds by up to one.
    { says: "as a date", header: () => new Date(Date.now() + 2000).toUTCString(), least: 900 },
  ])("$says delays the retry", async ({ header, least }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": DRAFT });
      service.fail({
        on: { method: "GET" },
        phase: "before",
        answer: { kind: "answer", status: 503, headersNow: () => ({ "retry-after": header() }) },
      });
      expect((await project.run(["plan"])).code).toBe(0);
      const [first, second] = service.log;
      const waited = some(second, "second call").time - some(first, "first call").time;
      expect(waited).toBeGreaterThan(least);
    });
  });

  test("of a 429 delays all calls and reduces the concurrency", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      const names = Array.from({ length: 16 }, (_, n) => `Case ${n}`);
      for (const name of names) service.addCase(live.target, { description: name });
      await project.write({
        "targets/shop.yaml": `${BASE}testCases:\n${names.map((name, n) => `  c${n}: { description: ${name}, status: DRAFT }\n`).join("")}`,
        "tasc.yaml": `${await project.read("tasc.yaml")}  concurrency: 4\n`,
      });
      service.fail({
        on: { method: "PATCH" },
        nth: 1,
        phase: "before",
        answer: answer(429, "", { "retry-after": "1" }),
      });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stderr).toBe(0);
      const times = service.log.filter((call) => call.method === "PATCH").map((call) => call.time);
      const first = some(times[0], "first PATCH");
      // Only calls that started before the 429 was read come early. All others wait for a second.
      expect(times.filter((time) => time - first < 900).length).toBeLessThan(names.length / 2);
      expect(times).toHaveLength(17);
    });
  });
});
