import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Undisturbed, applyUndisturbed, expectRecovery } from "./cases.ts";
import { FAULTS } from "./proxy.ts";
import { Rig } from "./rig.ts";

/**
 * Every third write with one fault, in turn; with TASC_FAULTS=all, every write with every fault.
 */
const ALL = process.env["TASC_FAULTS"] === "all";
/** Number of writes of an undisturbed apply of the project. */
const WRITES = 39;

describe("a creation happens once, whatever fault a write meets", () => {
  let rig: Rig;
  let undisturbed: Undisturbed;
  beforeAll(async () => {
    rig = await Rig.open();
    undisturbed = await applyUndisturbed(rig);
  });
  afterAll(() => rig.close());

  test("an undisturbed apply sends as many writes as are tested here", () => {
    expect(undisturbed.writes).toBe(WRITES);
  });

  for (let nth = 1; nth <= WRITES; nth++)
    for (const [at, kind] of FAULTS.entries())
      if (ALL || (nth % 3 === 1 && at === Math.floor(nth / 3) % FAULTS.length))
        test(`write ${nth}: ${kind}`, () => expectRecovery(rig, undisturbed, nth, kind));
});
