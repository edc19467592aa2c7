// A generation that ends while its test case is being patched: it replaces the elements, so their ids are gone.
import { describe, expect, test } from "vitest";
import type { FakeOptions, FakeService } from "./fake-service.ts";
import { scene } from "./support/cli.ts";
import { expectNothingLeft, seed } from "./support/story.ts";
import { some } from "./support/json.ts";

const CREATED = `target: shop
app: Web Shop
testCases:
  cart:
    description: Fill the cart
    discovery: { prompt: Fill the cart. }
    elements:
      - { interaction: { action: CLICK }, locatorLine: "getByText('Add')" }
      - { assertion: { expectation: VISIBLE }, locatorLine: "getByText('1 item')" }
`;

const cartOf = ({ targets }: FakeService) =>
  some(
    targets.flatMap(({ cases }) => cases).find(({ description }) => description === "Fill the cart"),
    "case",
  );

/** What the service makes of the prompt: two other elements, where there may have been some before. */
function generate(service: FakeService): void {
  const cart = cartOf(service);
  cart.discoveryStatus = "FINISHED";
  cart.elements = ["CLICK", "FILL"].map((action) =>
    service.element({ interaction: { id: service.id(), action } }),
  );
}

const linesOf = (service: FakeService) => cartOf(service).elements.map(({ locatorLine }) => locatorLine);

interface Race {
  readonly says: string;
  readonly options: FakeOptions;
  /** The PATCH that the end of the generation overtakes. */
  readonly overtaken: RegExp;
  /** How the service refuses it, where it does not answer 404 by itself. */
  readonly status?: number;
}

const ELEMENT = /\/elements\//u;
const RACES: readonly Race[] = [
  { says: "a locator line is sent", options: {}, overtaken: ELEMENT },
  {
    says: "elements are sent with their ids",
    options: {
      made: {
        elements: [
          {
            id: "5e2f1c00-0000-4000-8000-00000000aaaa",
            interaction: null,
            assertion: null,
            selectors: [],
            ignoreFailure: true,
          },
        ],
      },
    },
    overtaken: /\/test-cases\/[^/]+$/u,
    status: 400,
  },
];

describe.each(RACES)("the generation ends before $says", ({ options, overtaken, status }) => {
  test.each([["--wait"], []].map((wait) => ({ wait })))(
    "apply $wait sends it again to the new elements",
    async ({ wait }) => {
      await scene(
        { ...options, made: { discoveryStatus: "CREATED", ...options.made } },
        async ({ project, service }) => {
          seed(service);
          await project.write({ "targets/shop.yaml": CREATED });
          const hold = service.hold({ method: "PATCH", path: overtaken });
          if (status !== undefined)
            service.fail({
              on: { method: "PATCH", path: overtaken },
              phase: "before",
              answer: { kind: "answer", status, body: "{}" },
            });
          const running = await project.start(["apply", "--auto-approve", ...wait]);
          await hold.arrived;
          generate(service);
          hold.release();
          const ran = await running.done;
          expect(ran.code, ran.stdout + ran.stderr).toBe(0);
          expect(linesOf(service)).toEqual(["getByText('Add')", "getByText('1 item')"]);
          expect(service.violations).toEqual([]);
          await expectNothingLeft(project);
        },
      );
    },
  );
});

test("what the service refuses of a test case it has just made is still a failure, told in its words", async () => {
  await scene({ made: { discoveryStatus: "FINISHED" } }, async ({ project, service }) => {
    seed(service);
    await project.write({ "targets/shop.yaml": CREATED });
    service.fail({
      on: { method: "PATCH", path: ELEMENT },
      times: 99,
      phase: "before",
      answer: { kind: "answer", status: 400, body: "{}" },
    });
    const ran = await project.run(["apply", "--auto-approve", "--wait"]);
    expect(ran.code).toBe(1);
    expect(ran.stdout + ran.stderr).toContain("testCase.shop.cart: The service answered 400");
  });
});

test("--wait run again patches what the discovery of an earlier run has changed, and tells it", async () => {
  await scene({ made: { discoveryStatus: "CREATED" } }, async ({ project, service }) => {
    seed(service);
    await project.write({ "targets/shop.yaml": CREATED });
    const first = await project.run(["apply", "--auto-approve"]);
    expect(first.code, first.stdout + first.stderr).toBe(0);
    const hold = service.hold({ method: "GET", path: /\/notifications$/u });
    const running = await project.start(["apply", "--auto-approve", "--wait"]);
    await hold.arrived;
    generate(service);
    hold.release();
    const ran = await running.done;
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stdout).toContain("~ testCase.shop.cart\n");
    expect(linesOf(service)).toEqual(["getByText('Add')", "getByText('1 item')"]);
    await expectNothingLeft(project);
    // Such a patch is in no plan, and yet in the history; an apply that sends nothing has no entry there.
    expect((await project.run(["apply", "--auto-approve", "--wait"])).code).toBe(0);
    const history = (await project.run(["history", "testCase.shop.cart"])).stdout;
    expect(history.match(/\w+ +\w+ +testCase\.shop\.cart/g)).toEqual([
      "done     update      testCase.shop.cart",
      "done     create      testCase.shop.cart",
    ]);
  });
});
