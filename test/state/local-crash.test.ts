import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { killAtRandom } from "./support/killing.ts";
import { LOCAL_SETTINGS, type LocalFixture, localFixture } from "./support/local-fixture.ts";

describe("a local session that is killed", () => {
  let fixture: LocalFixture;
  beforeEach(async () => {
    fixture = await localFixture();
  });
  afterEach(async () => {
    await fixture.dispose();
  });

  it("leaves a prefix of the recorded events, including all that were reported safe", async () => {
    const { folder } = fixture;
    const backend = await fixture.open();
    await killAtRandom({ folder, settings: LOCAL_SETTINGS, backend, rounds: 21 });
    expect(await fixture.text({ stage: "staging", target: "shop" })).toBeDefined();
  });
});
