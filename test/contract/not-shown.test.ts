// The interface leaves some behaviour open. tasc must work with every variant of it.
import { describe, expect, test } from "vitest";
import type { FakeOptions } from "./fake-service.ts";
import { scene } from "./support/cli.ts";
import { expectNothingLeft, seed } from "./support/story.ts";

const ADOPTED = `target: shop
app: Web Shop
testIdAttribute: data-testid
trackerIntegration: { domain: "https://tracker.example.com", username: bot, projectId: "7", apiKey: "\${secret:TRACKER_KEY}" }
environments:
  default: { testAccount: { username: qa, password: "\${secret:QA_PASSWORD}" } }
  preview: { discoveryUrl: "https://preview.example.com", name: Preview }
  beta: { discoveryUrl: "https://beta.example.com", additionalHeaderFields: { X-Beta: "1" } }
testCases:
  login:
    description: Log in
    status: DRAFT
    folder: Auth
    tags: [a]
    elements:
      - { interaction: { action: CLICK } }
      - { assertion: { expectation: VISIBLE }, selectors: [{ selectorType: TEXT, selector: T }] }
  cart: { description: Cart, status: ENABLED, folder: Auth, externalId: S-2, discovery: { prompt: Fill., type: LOGIN, prerequisite: login } }
  pay: { description: Pay, interactionStatus: APPROVED, discovery: { prompt: Pay., prerequisite: cart } }
`;
const CREATED = `target: fresh
app: Fresh
timeoutPerStep: 5000
environments:
  default: { discoveryUrl: "https://fresh.example.com", basicAuth: { username: gate, password: "\${secret:GATE_PASSWORD}" } }
testCases:
  first: { description: First, runStatus: OFF, folder: Basics, discovery: { prompt: F. } }
`;

const WAYS: readonly { readonly says: string; readonly options: FakeOptions }[] = [
  { says: "creations are answered with 201", options: { post: 201 } },
  { says: "creations are answered with 204 without a body", options: { post: "empty" } },
  { says: "creations are answered with 200 without a body", options: { post: "blank" } },
  { says: "changes are answered with 204 without a body", options: { patch: "empty" } },
  { says: "changes are answered with 200 without a body", options: { patch: "blank" } },
  { says: "changes are answered with 200 and {}", options: { patch: "shapeless" } },
  { says: "no write is answered with a body", options: { post: "empty", patch: "empty" } },
  { says: "the list shows no prompt", options: { freePrompt: false } },
  { says: "the list shows no discovery", options: { discovery: false } },
  { says: "the list shows no type", options: { showType: false } },
  { says: "answers have unknown fields and enum values", options: { extras: true } },
  { says: "the base address has a path", options: { basePath: "/tenant/a" } },
  {
    says: "new test cases are enabled and on",
    options: { made: { status: "ENABLED", runStatus: "ON" } },
  },
  {
    says: "new test cases are provisional and their discovery runs",
    options: { made: { status: "PROVISIONAL", discoveryStatus: "RUNNING" } },
  },
  { says: "the service merges elements by id", options: { elements: "merge" } },
  { says: "a new prompt regenerates the elements", options: { regenerates: true } },
];

describe.concurrent("variants of the service", () => {
  test.each(WAYS)("one apply is enough and creates nothing twice if $says", async ({ options }) => {
    await scene(options, async ({ project, service }) => {
      const live = seed(service);
      await project.write({ "targets/shop.yaml": ADOPTED, "targets/fresh.yaml": CREATED });
      const ran = await project.run(["apply", "--auto-approve"]);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      expect(service.violations).toEqual([]);
      expect(service.targets.map((target) => target.app)).toEqual(["Web Shop", "Fresh"]);
      expect(live.target.cases.map((item) => item.description)).toEqual(["Log in", "Cart", "Pay"]);
      expect(live.target.environments).toHaveLength(3);
      const folder = live.target.folders.get("Auth");
      expect(live.target.cases.map((item) => item.folderId)).toEqual([folder, folder, null]);
      expect(live.login.elements).toHaveLength(2);
      await expectNothingLeft(project);
    });
  });

  test.each([
    { says: "with the element", patch: 200 },
    { says: "without a body", patch: "empty" },
    { says: "with {}", patch: "shapeless" },
  ] as const)(
    "a new element's locator line is sent in the same run if changes are answered $says",
    async ({ patch }) => {
      await scene({ patch }, async ({ project, service }) => {
        const live = seed(service);
        await project.write({
          "targets/shop.yaml":
            "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, elements: [{ interaction: { action: CLICK }, locatorLine: getByText }] } }\n",
        });
        const ran = await project.run(["apply", "--auto-approve"]);
        expect(ran.code, ran.stdout + ran.stderr).toBe(0);
        expect(live.login.elements[0]?.locatorLine).toBe("getByText");
        await expectNothingLeft(project);
      });
    },
  );

  test.each([
    { says: "ends in a slash", path: "", tail: "/" },
    { says: "has a path and ends in a slash", path: "/tenant/a", tail: "/" },
  ])("plan works if the base address $says", async ({ path, tail }) => {
    await scene(path === "" ? {} : { basePath: path }, async ({ project, service }) => {
      seed(service);
      await project.write({ "targets/shop.yaml": "target: shop\napp: Web Shop\n" });
      const ran = await project.run(["plan"], { TASC_BASE_URL: service.url + tail });
      expect(ran.code, ran.stderr).toBe(0);
      expect(service.violations).toEqual([]);
    });
  });

  test.each([201, "empty", "blank"] as const)(
    "a batch generation runs only once if its creation answers %s",
    async (post) => {
      await scene({ post }, async ({ project, service }) => {
        const live = seed(service);
        const base = "target: shop\napp: Web Shop\ntestIdAttribute: x\n";
        await project.write({ "targets/shop.yaml": base });
        expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
        await project.write({
          "targets/shop.yaml": `${base}batchGenerations: { s: { prompt: P } }\n`,
        });
        await project.run(["apply", "--auto-approve"]);
        await project.run(["apply", "--auto-approve"]);
        expect(live.target.batches).toHaveLength(1);
      });
    },
  );

  test("a declared null matches a missing live value; a value that appears there later is drift", async () => {
    await scene({}, async ({ project, service }) => {
      const { preview } = seed(service);
      preview.discoveryUrl = null;
      await project.write({
        "targets/shop.yaml": `target: shop\napp: Web Shop\nenvironments: { preview: { id: ${preview.id}, discoveryUrl: null } }\n`,
      });
      await expectNothingLeft(project);
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      preview.discoveryUrl = "https://preview.example.com";
      const ran = await project.run(["drift"]);
      expect(ran.code).toBe(2);
      expect(ran.stdout).toContain("environment.shop.preview");
    });
  });

  test.each([["an empty text for a null"], ["a null for an empty text"]])(
    "no change is planned if the service shows %s",
    async (way) => {
      await scene({}, async ({ project, service }) => {
        const { login, preview } = seed(service);
        const [declared, shown] = way.startsWith("an empty") ? ["null", ""] : ['""', null];
        [login.entryPointUrlPath, preview.discoveryUrl] = [shown, ""];
        await project.write({
          "targets/shop.yaml": `target: shop
app: Web Shop
environments: { preview: { id: ${preview.id}, discoveryUrl: null } }
testCases: { login: { description: Log in, entryPointUrlPath: ${declared} } }
`,
        });
        await expectNothingLeft(project);
      });
    },
  );

  test("a part of an object is not sent again if it is removed from the manifest and restored", async () => {
    await scene({}, async ({ project, service }) => {
      seed(service);
      const write = async (rest: string) =>
        await project.write({
          "targets/shop.yaml": `target: shop\napp: Web Shop\nenvironments: { default: { basicAuth: { username: gate${rest} } } }\n`,
        });
      const password = ', password: "${secret:GATE_PASSWORD}"';
      for (const rest of [password, "", password]) {
        // oxlint-disable-next-line no-await-in-loop
        await write(rest);
        // oxlint-disable-next-line no-await-in-loop
        expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      }
      expect(service.writes()).toHaveLength(1);
    });
  });

  test("answers without the optional fields are accepted", async () => {
    await scene({}, async ({ project, service }) => {
      const id = "5e2f1c00-0000-4000-8000-0000000000a1";
      service.fail({
        on: { path: /\/test-targets$/u },
        times: 99,
        phase: "before",
        answer: {
          kind: "answer",
          status: 200,
          headers: { "content-type": "application/json; charset=utf-8" },
          body: JSON.stringify([{ id, app: "Web Shop" }]),
        },
      });
      service.fail({
        on: { path: /\/test-cases$/u },
        times: 99,
        phase: "before",
        answer: {
          kind: "answer",
          status: 200,
          headers: { "content-type": "application/json" },
          body: JSON.stringify([{ id: "5e2f1c00-0000-4000-8000-0000000000a2", testTargetId: id }]),
        },
      });
      await project.write({
        "targets/shop.yaml":
          "target: shop\napp: Web Shop\ntestCases: { login: { description: Log in, discovery: { prompt: P } } }\n",
      });
      const ran = await project.run(["plan", "--detailed-exitcode"]);
      expect(ran.code, ran.stderr).toBe(2);
    });
  });
});
