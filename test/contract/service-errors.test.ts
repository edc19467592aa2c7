// A service that refuses requests, is unreachable, or sends unreadable answers.
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { answer, FakeService, type Answer } from "./fake-service.ts";
import { expectNoStack, scene } from "./support/cli.ts";
import { isObject, parseJson } from "./support/json.ts";
import { seed } from "./support/story.ts";

const MANIFEST =
  "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, status: DRAFT } }\n";
const TARGETS = /\/test-targets$/u;
const CASES = /\/test-cases$/u;
const json = { "content-type": "application/json" };

interface Refused {
  readonly says: string;
  readonly on: RegExp;
  readonly answer: Answer;
  readonly code: number;
  readonly told?: readonly RegExp[];
  readonly sends?: number;
}

const REFUSED: readonly Refused[] = [
  ...[401, 403].flatMap((status): readonly Refused[] => [
    {
      says: `${status} with JSON`,
      on: TARGETS,
      answer: answer(status, '{"error":{"code":"KEY","message":"this key is bad"}}', json),
      code: 6,
      told: [/key/iu, new RegExp(`${status}`, "u")],
      sends: 1,
    },
    {
      says: `${status} with an empty body`,
      on: TARGETS,
      answer: answer(status),
      code: 6,
      sends: 1,
    },
    {
      says: `${status} with HTML`,
      on: TARGETS,
      answer: answer(status, "<html><h1>no</h1></html>", { "content-type": "text/html" }),
      code: 6,
      sends: 1,
    },
    { says: `${status} for a target's cases`, on: CASES, answer: answer(status, "no"), code: 6 },
  ]),
  {
    says: "an answer that is not JSON",
    on: TARGETS,
    answer: answer(200, "<html>hello</html>", { "content-type": "text/html" }),
    code: 1,
    told: [/JSON/u, /\/test-targets/u],
  },
  {
    says: "an answer that is truncated JSON",
    on: TARGETS,
    answer: answer(200, '[{"id":', json),
    code: 1,
    told: [/JSON/u],
  },
  { says: "an empty answer instead of a list", on: TARGETS, answer: answer(200), code: 1 },
  {
    says: "an object instead of a list",
    on: TARGETS,
    answer: answer(200, '{"data":[]}', json),
    code: 1,
    told: [/GET.*\/test-targets/u],
  },
  {
    says: "a target without an id (the error names the operation and the field)",
    on: TARGETS,
    answer: answer(200, '[{"app":"Web Shop"}]', json),
    code: 1,
    told: [/GET.*\/test-targets/u, /\bid\b/u],
  },
  {
    says: "an app that is a number (the error names the operation and the field)",
    on: TARGETS,
    answer: answer(200, '[{"id":"5e2f1c00-0000-4000-8000-000000000001","app":7}]', json),
    code: 1,
    told: [/GET.*\/test-targets/u, /\bapp\b/u],
  },
  {
    says: "a test case whose tags are a text (the error names the operation and the field)",
    on: CASES,
    answer: answer(
      200,
      '[{"id":"5e2f1c00-0000-4000-8000-000000000009","testTargetId":"5e2f1c00-0000-4000-8000-000000000001","description":"Log in","tags":"web"}]',
      json,
    ),
    code: 1,
    told: [/\/test-cases/u, /\btags\b/u],
  },
  {
    says: "400 with plain text",
    on: TARGETS,
    answer: answer(400, "bad thing happened"),
    code: 1,
    told: [/400/u, /bad thing/u],
  },
  {
    says: "404 with JSON of an unknown shape",
    on: CASES,
    answer: answer(404, '["gone",{"why":"moved away"}]', json),
    code: 1,
    told: [/404/u, /\/test-cases/u],
  },
  { says: "422 with an empty body", on: TARGETS, answer: answer(422), code: 1, told: [/422/u] },
];

describe.concurrent("a plan fails on", () => {
  test.each(REFUSED)("$says: exit $code", async ({ on, answer: how, code, told = [], sends }) => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      service.fail({ on: { path: on }, times: 99, phase: "before", answer: how });
      const ran = await project.run(["plan", "--detailed-exitcode"]);
      expect(ran.code, ran.stderr).toBe(code);
      for (const part of told) expect(ran.stderr).toMatch(part);
      expect(ran.stderr.trim()).not.toBe("");
      expectNoStack(ran);
      if (sends !== undefined) expect(service.log).toHaveLength(sends);
    });
  });

  test("a wrong key: plan and apply exit with 6, and nothing is written", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      for (const args of [["plan"], ["apply", "--auto-approve"]]) {
        // oxlint-disable-next-line no-await-in-loop
        const ran = await project.run(args, { TASC_API_KEY: "another-key" });
        expect(ran.code).toBe(6);
        expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain(
          "`service.apiKey` of stage default comes from `${secret:TASC_API_KEY}`",
        );
        expect(ran.stdout + ran.stderr).not.toContain("another-key");
      }
      expect(service.writes()).toEqual([]);
    });
  });

  test("a refused connection: exit 6", async () => {
    await scene({}, async ({ project }) => {
      const closed = createServer();
      const port = await new Promise<number>((resolve) => {
        closed.listen(0, "127.0.0.1", () => {
          const address = closed.address();
          closed.close(() =>
            resolve(typeof address === "object" && address !== null ? address.port : 1),
          );
        });
      });
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["plan", "--retries", "1"], {
        TASC_BASE_URL: `http://127.0.0.1:${port}`,
      });
      expect(ran.code).toBe(6);
      expect(ran.stderr).toContain(`${port}`);
      expectNoStack(ran);
    });
  });

  test("a host that does not resolve: exit 6", async () => {
    await scene({}, async ({ project }) => {
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["plan", "--retries", "0"], {
        TASC_BASE_URL: "https://no-such-host.invalid",
      });
      expect(ran.code).toBe(6);
      expect(ran.stderr).toContain("no-such-host.invalid");
      expectNoStack(ran);
    });
  });

  test.each([301, 302, 303, 307, 308])(
    "a redirect (%i), which is not followed, so the key is not sent elsewhere",
    async (status) => {
      await scene({}, async ({ project, service }) => {
        seed(service);
        const elsewhere = await new FakeService().start();
        try {
          await project.write({ "targets/shop.yaml": MANIFEST });
          service.fail({
            on: { path: TARGETS },
            times: 99,
            phase: "before",
            answer: answer(status, "", { location: `${elsewhere.url}/apiKey/v3/test-targets` }),
          });
          const ran = await project.run(["plan"]);
          expect(ran.code, ran.stderr).toBe(1);
          expect(ran.stderr).toMatch(/redirect|3\d\d/iu);
          expect(elsewhere.log).toEqual([]);
          expect(service.log).toHaveLength(1);
          expectNoStack(ran);
        } finally {
          await elsewhere.stop();
        }
      });
    },
  );

  test("a refused key, and with --format json still prints one JSON value on stdout", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      const ran = await project.run(["plan", "--format", "json"], { TASC_API_KEY: "another-key" });
      expect(ran.code).toBe(6);
      expect(isObject(parseJson(ran.stdout))).toBe(true);
    });
  });
});

const BODIES: readonly {
  readonly says: string;
  readonly body: string;
  readonly type: string;
  readonly told?: RegExp;
}[] = [
  {
    says: "JSON with a message",
    body: '{"message":"folder is full"}',
    type: "application/json",
    told: /folder is full/u,
  },
  {
    says: "JSON with a nested message",
    body: '{"error":{"details":[{"message":"folder is full"}]}}',
    type: "application/json",
    told: /folder is full/u,
  },
  { says: "plain text", body: "folder is full", type: "text/plain", told: /folder is full/u },
  { says: "HTML", body: "<html><body>folder is full</body></html>", type: "text/html" },
  { says: "an empty body", body: "", type: "text/plain" },
  { says: "a JSON number", body: "17", type: "application/json" },
  {
    says: "a terminal escape and a workflow command",
    body: "\u001b[31mred\u001b[0m\n::error::x",
    type: "text/plain",
  },
];

describe.concurrent("a change that the service refuses", () => {
  test.each(BODIES)(
    "with $says: exit 1, the error names the address, other changes are applied",
    async ({ body, type, told }) => {
      await scene({}, async ({ project, service }) => {
        const live = seed(service);
        service.addCase(live.target, { description: "Other" });
        await project.write({
          "targets/shop.yaml": MANIFEST.replace(
            " } }\n",
            " }, other: { description: Other, status: DRAFT } }\n",
          ),
        });
        service.fail({
          on: { method: "PATCH", path: new RegExp(`${live.login.id}$`, "u") },
          times: 99,
          phase: "before",
          answer: answer(400, body, { "content-type": type }),
        });
        const ran = await project.run(["apply", "--auto-approve"]);
        expect(ran.code, ran.stderr).toBe(1);
        expect(ran.stdout + ran.stderr).toContain("testCase.shop.login");
        expect(ran.stdout + ran.stderr).toContain("400");
        if (told !== undefined) expect(ran.stdout + ran.stderr).toMatch(told);
        expect(ran.stdout + ran.stderr).not.toContain("\u001b[31m");
        expect(service.case(live.target, "Other").status).toBe("DRAFT");
        expectNoStack(ran);
      });
    },
  );

  test("a failure skips only the changes that depend on it, and the next apply completes them", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/shop.yaml": `target: shop
app: Web Shop
testCases:
  a: { description: A, discovery: { prompt: P } }
  b: { description: B, discovery: { prompt: P, prerequisite: a } }
  c: { description: C, discovery: { prompt: P } }
  login: { description: Log in, status: DRAFT }
batchGenerations: {}
`,
      });
      service.fail({
        on: { method: "POST", path: /discoveries$/u },
        times: 1,
        phase: "before",
        answer: answer(400, "not now"),
      });
      const { ran } = { ran: await project.run(["apply", "--auto-approve"], {}) };
      expect(ran.code, ran.stderr).toBe(1);
      const made = live.target.cases.map((item) => item.description);
      expect(live.login.status).toBe("DRAFT");
      expect(made.length).toBeGreaterThanOrEqual(2);
      if (!made.includes("A")) {
        expect(made).not.toContain("B");
        expect(made).toContain("C");
        expect(ran.stdout + ran.stderr).toMatch(
          /skipped[\s\S]*testCase\.shop\.b|testCase\.shop\.b[\s\S]*skipped/u,
        );
      }
      const again = await project.run(["apply", "--auto-approve"]);
      expect(again.code, again.stderr).toBe(0);
      expect(live.target.cases.map((item) => item.description).toSorted()).toEqual([
        "A",
        "B",
        "C",
        "Log in",
      ]);
      expect((await project.run(["plan", "--detailed-exitcode"])).code).toBe(0);
    });
  });

  test("a field that the service accepts but does not change is reported: exit 1", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": MANIFEST });
      service.fail({
        on: { method: "PATCH" },
        times: 99,
        phase: "before",
        answer: answer(
          200,
          JSON.stringify({
            id: live.login.id,
            testTargetId: live.target.id,
            description: "Log in",
            status: "DRAFT",
            runStatus: "ON",
            createdAt: "2026-01-01T00:00:00.000Z",
            updatedAt: "2026-01-01T00:00:00.000Z",
            entryPointUrlPath: null,
            elements: [],
            folderId: null,
            externalId: null,
            tags: [],
          }),
          json,
        ),
      });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code).toBe(1);
      expect(ran.stdout + ran.stderr).toMatch(/testCase\.shop\.login/u);
      expect(ran.stdout + ran.stderr).toMatch(/status/u);
    });
  });
});
