// A generation that ends while its test case is patched replaces the elements, so the old element
// ids are gone.
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
    targets
      .flatMap(({ cases }) => cases)
      .find(({ description }) => description === "Fill the cart"),
    "case",
  );

/** Finishes the generation: two new elements replace any existing ones. */
function generate(service: FakeService): void {
  const cart = cartOf(service);
  cart.discoveryStatus = "FINISHED";
  cart.elements = ["CLICK", "FILL"].map((action) =>
    service.element({ interaction: { id: service.id(), action } }),
  );
}

const linesOf = (service: FakeService) =>
  cartOf(service).elements.map(({ locatorLine }) => locatorLine);

interface Race {
  readonly says: string;
  readonly options: FakeOptions;
  /** The PATCH that is in flight when the generation ends. */
  readonly overtaken: RegExp;
  /** Status of the refusal, if the fake service does not answer 404 by itself. */
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
  test("apply sends the PATCH again for the new elements", async () => {
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
        const running = await project.start(["apply", "--auto-approve"]);
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
  });
});

test("apply --wait patches a new test case once, after its generation, as the plan says", async () => {
  await scene({ made: { discoveryStatus: "CREATED" } }, async ({ project, service }) => {
    seed(service);
    const settings = '    interactionStatus: APPROVED\n    status: ENABLED\n    runStatus: "ON"\n';
    await project.write({
      "targets/shop.yaml": CREATED.replace("    elements:", `${settings}    elements:`).replaceAll(
        /, locatorLine: [^}]*/gu,
        "",
      ),
    });
    const plan = await project.run(["plan"]);
    expect(plan.stdout).toContain("(1 POST, 1 PATCH, up to 1 more after discoveries)");
    const looked = service.hold({ method: "GET", path: /\/notifications$/u });
    const running = await project.start(["apply", "--auto-approve", "--wait"]);
    await looked.arrived;
    const again = service.hold({ method: "GET", path: /\/notifications$/u });
    looked.release();
    await again.arrived;
    expect(service.log.filter(({ method }) => method === "PATCH")).toEqual([]);
    generate(service);
    again.release();
    const ran = await running.done;
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(service.log.filter(({ method }) => method === "PATCH")).toHaveLength(1);
    await expectNothingLeft(project);
  });
});

test("a refused PATCH of a new test case fails and reports the service's answer", async () => {
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

test("apply --wait patches and reports fields changed by the discovery of an earlier apply", async () => {
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
    // This patch is not planned, but is in the history. An apply that sends nothing has no history
    // entry.
    expect((await project.run(["apply", "--auto-approve", "--wait"])).code).toBe(0);
    const history = (await project.run(["history", "testCase.shop.cart"])).stdout;
    expect(history.match(/\w+ +\w+ +testCase\.shop\.cart/g)).toEqual([
      "done     update      testCase.shop.cart",
      "done     create      testCase.shop.cart",
    ]);
  });
});
