// Section 9: the local service, tested with direct requests and with tasc.
import { describe, expect, test } from "vitest";
import { scene, type Project, type Running } from "./support/cli.ts";
import { at, list, parseJson, text, type Json } from "./support/json.ts";
import { expectNothingLeft } from "./support/story.ts";

interface Served {
  readonly running: Running;
  readonly url: string;
  call(
    method: string,
    path: string,
    body?: Json,
    key?: string,
  ): Promise<{ status: number; body: Json | undefined }>;
}

async function serve(project: Project): Promise<Served> {
  const running = await project.start([
    "serve",
    "--port",
    "0",
    "--data",
    "data",
    "--api-key",
    "test-key",
  ]);
  let said = "";
  running.child.stdout?.on("data", (chunk: string) => (said += chunk));
  running.child.stderr?.on("data", (chunk: string) => (said += chunk));
  await running.saw(/http:\/\/127\.0\.0\.1:\d+/u);
  const url = /http:\/\/127\.0\.0\.1:\d+/u.exec(said)?.[0] ?? "";
  return {
    running,
    url,
    call: async (method, path, body, key = "test-key") => {
      const answered = await fetch(`${url}/apiKey/v3${path}`, {
        method,
        headers: {
          "x-api-key": key,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const raw = await answered.text();
      return { status: answered.status, body: raw === "" ? undefined : parseJson(raw) };
    },
  };
}

describe("tasc serve", () => {
  test("rejects wrong keys, unknown paths and invalid bodies; stores resources; keeps them after kill -9", async () => {
    await scene({}, async ({ project }) => {
      const first = await serve(project);
      expect([401, 403]).toContain(
        (await first.call("GET", "/test-targets", undefined, "wrong")).status,
      );
      expect((await first.call("GET", "/nowhere")).status).toBe(404);
      expect((await first.call("POST", "/test-targets", { testTarget: { app: 7 } })).status).toBe(
        400,
      );
      expect((await first.call("POST", "/test-targets", { app: "x" })).status).toBe(400);
      expect((await first.call("GET", "/test-targets")).body).toEqual([]);
      const made = await first.call("POST", "/test-targets", {
        testTarget: { app: "Web Shop", discoveryUrl: "https://shop.example.com" },
      });
      expect(made.status).toBeLessThan(300);
      const id = text(at(made.body, "id"));
      first.running.child.kill("SIGKILL");
      await first.running.done;

      const second = await serve(project);
      const targets = list((await second.call("GET", "/test-targets")).body);
      expect(targets.map((item) => at(item, "id"))).toEqual([id]);
      const of = `/test-targets/${id}`;
      expect((await second.call("GET", of)).status).toBe(200);
      expect((await second.call("PATCH", of, { timeoutPerStep: 1 })).status).toBeLessThan(300);
      expect((await second.call("PATCH", of, { timeoutPerStep: "1" })).status).toBe(400);
      const environment = await second.call("POST", `${of}/environments`, {
        name: "x",
        discoveryUrl: "https://x.example.com",
      });
      expect(environment.status).toBeLessThan(300);
      const environmentId = text(at(environment.body, "id"));
      expect(
        (await second.call("PATCH", `${of}/environments/${environmentId}`, { name: null })).status,
      ).toBe(200);
      const discovery = await second.call("POST", `${of}/discoveries`, {
        name: "Log in",
        prompt: "P",
        tagNames: ["a"],
      });
      const caseId = text(at(discovery.body, "testCaseId"));
      expect(at(discovery.body, "discoveryId")).toBeDefined();
      expect((await second.call("POST", `${of}/discoveries`, { name: "no prompt" })).status).toBe(
        400,
      );
      const changed = await second.call("PATCH", `${of}/test-cases/${caseId}`, {
        status: "ENABLED",
        folderName: "F",
        elements: [{ index: 0, interaction: { action: "CLICK" } }],
      });
      expect(at(changed.body, "status")).toBe("ENABLED");
      expect(text(at(changed.body, "folderId"))).not.toBe("");
      const elementId = text(at(changed.body, "elements", 0, "id"));
      const element = `${of}/test-cases/${caseId}/elements/${elementId}`;
      expect((await second.call("PATCH", element, { locatorLine: "getByText('x')" })).status).toBe(
        200,
      );
      expect((await second.call("PATCH", element, {})).status).toBe(400);
      const cases = list((await second.call("GET", `${of}/test-cases`)).body);
      expect(cases.map((item) => at(item, "description"))).toEqual(["Log in"]);
      const batch = await second.call("POST", `${of}/batch-generations`, {
        prompt: "P",
        imageUrls: [],
      });
      expect(at(batch.body, "batchGenerationId")).toBeDefined();
      const reports = await second.call("GET", `${of}/test-reports`);
      expect(reports.body).toMatchObject({ data: [], hasNextPage: false });
      expect((await second.call("GET", `${of}/test-reports/${id}`)).status).toBe(404);
      expect((await second.call("GET", `${of}/notifications`)).status).toBe(200);
      second.running.child.kill("SIGTERM");
      await second.running.done;
    });
  });

  test("accepts a whole project, and the next plan is empty", async () => {
    await scene({}, async ({ project }) => {
      const served = await serve(project);
      project.env["TASC_BASE_URL"] = served.url;
      project.env["TASC_API_KEY"] = "test-key";
      await project.write({
        "targets/shop.yaml": `target: shop
app: Web Shop
environments: { default: { discoveryUrl: "https://shop.example.com", testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" } } }
testCases:
  login: { description: Log in, status: ENABLED, runStatus: OFF, folder: F, tags: [b, a], discovery: { prompt: P, type: LOGIN } }
  cart: { description: Cart, discovery: { prompt: P, prerequisite: login } }
batchGenerations: { spring: { prompt: P, prerequisite: cart } }
`,
      });
      const applied = await project.run(["apply", "--auto-approve"]);
      expect(applied.code, applied.stdout + applied.stderr).toBe(0);
      await expectNothingLeft(project);
      served.running.child.kill("SIGTERM");
      await served.running.done;
    });
  });
});
