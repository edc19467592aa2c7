import { expect, test } from "vitest";
import { project, target } from "../plan/build.ts";
import { MemoryService, PLAIN_KNOBS } from "./memory-service.ts";
import { Workbench } from "./workbench.ts";

const wanted = (round: string) =>
  project(
    target({
      fields: { app: "Shop" },
      environments: {
        default: { discoveryUrl: "https://d.example.com", privateLocationName: `in ${round}` },
      },
      testCases: {
        login: { description: "Log in", "discovery.prompt": `Log in, ${round}.`, tags: [round] },
      },
    }),
  );

test.each(["before", "after"] as const)(
  "a PATCH whose outcome is unknown is sent again, also when the manifest went back meanwhile (fault %s the write)",
  async (when) => {
    const bench = new Workbench(new MemoryService({ ...PLAIN_KNOBS, discovery: "without prompt" }));
    await bench.apply(wanted("first"));
    bench.service.faultOf = () => ({ when, acted: "maybe" });
    const failed = await bench.apply(wanted("second"), { retries: 0 });
    bench.service.faultOf = () => undefined;
    expect(failed.outcome.failed).toHaveLength(2);
    for (const round of ["first", "second"]) {
      const { planned } = await bench.look(wanted(round));
      const found = planned.plan.changes.map(({ address, action }) => `${action} ${address}`);
      expect(found, round).toEqual(
        expect.arrayContaining([
          "update environment.shop.default",
          "rediscover testCase.shop.login",
        ]),
      );
    }
    await bench.apply(wanted("first"));
    expect((await bench.look(wanted("first"))).planned.plan.changes).toEqual([]);
  },
);
