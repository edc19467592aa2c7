// A generation that fails: what apply reports, what it leaves undone, and what later plans say.
import { expect, test } from "vitest";
import { type Json, parseJson } from "../../src/model/json.ts";
import { type Scene, at, json, listAt, scene, textAt } from "../look/scene.ts";

const manifest = (prompts: {
  readonly bad: string;
  readonly kept: string;
  readonly batch: string;
}) =>
  `target: shop
app: Another Shop
environments: { default: { discoveryUrl: "https://shop.example.com" } }
defaults: { testCases: { status: ENABLED, runStatus: "ON" } }
testCases:
  bad: { description: Bad, tags: [new], discovery: { prompt: "${prompts.bad}" } }
  kept: { description: Kept, discovery: { prompt: "${prompts.kept}" } }
batchGenerations:
  spring: { prompt: "${prompts.batch}" }
`;

async function testCases({ server }: Scene): Promise<ReadonlyMap<Json, Json>> {
  const get = async (path: string): Promise<Json> => {
    const answer = await fetch(`${server.url}/apiKey/v3${path}`, {
      headers: { "x-api-key": "the-api-key-of-the-tests" },
    });
    return parseJson(await answer.text());
  };
  const targets = listAt(await get("/test-targets"));
  const own = targets.find((one) => at(one, "app") === "Another Shop") ?? null;
  const all = listAt(await get(`/test-targets/${textAt(own, "id")}/test-cases`));
  return new Map(all.map((one) => [at(one, "description"), one]));
}

const result = (stdout: string): Json => parseJson(stdout.trim().split("\n").at(-1) ?? "");
const attention = (plan: Json) =>
  listAt(plan, "attention").map((row) => [at(row, "code"), at(row, "severity"), at(row, "text")]);

const NEEDS_STEPS =
  "1 test case was not generated (change the prompt, or tasc apply --rediscover testCase.shop.bad): testCase.shop.bad (PROMPT_FAILED: the prompt asks for a failure: [fail]; it has no steps, so nothing switches it on)";

test("a failed generation is a failed change and switches nothing on", async () => {
  await scene(
    async (stage) => {
      const good = { bad: "Check [fail]", kept: "Open the shop.", batch: "Cover [fail]" };
      stage.write("targets/shop.yaml", manifest(good));
      const first = await stage.run(["apply", "--auto-approve", "--wait=60s", "--json"]);
      expect(first.code, first.stderr).toBe(1);
      const outcome = result(first.stdout);
      expect(listAt(outcome, "failed")).toEqual([
        {
          address: "testCase.shop.bad",
          summary: "The generation failed: PROMPT_FAILED",
          detail:
            "the prompt asks for a failure: [fail]\nIt has no steps, so tasc does not switch it on.\nChange its prompt, or generate it again: tasc apply --rediscover testCase.shop.bad",
        },
        {
          address: "batchGeneration.shop.spring",
          summary: "The generation failed: PROPOSAL_FAILED",
          detail:
            "the prompt asks for a failure: [fail]\nIt counts as run. Change its prompt, or run it again: tasc apply --run batchGeneration.shop.spring",
        },
      ]);
      expect(at(outcome, "unfinished")).toEqual([]);
      expect(at(outcome, "calls")).toEqual({ POST: 4, PATCH: 1 });
      const made = await testCases(stage);
      expect(made.get("Bad")).toMatchObject({ status: "DRAFT", runStatus: "OFF", elements: [] });
      expect(made.get("Kept")).toMatchObject({ status: "ENABLED", runStatus: "ON" });
      const history = json(await stage.run(["history", "--json"]));
      expect(JSON.stringify(history)).toContain(
        '"address":"testCase.shop.bad","action":"create","outcome":"failed"',
      );

      const plan = await stage.run(["plan", "--json", "--detailed-exitcode"]);
      expect([plan.code, at(json(plan), "changes"), at(json(plan), "summary", "held")]).toEqual([
        0,
        [],
        1,
      ]);
      expect(attention(json(plan))).toEqual([["generation-failed", "danger", NEEDS_STEPS]]);
      // A snapshot tells the cause, but not the message, which may repeat a prompt.
      await stage.run(["snapshot", "--out", "live.json"]);
      const offline = json(await stage.run(["plan", "--snapshot", "live.json", "--json"]));
      expect([at(offline, "changes"), at(offline, "summary", "held")]).toEqual([[], 1]);
      expect(attention(offline)).toEqual([
        [
          "generation-failed",
          "danger",
          expect.stringContaining("testCase.shop.bad (PROMPT_FAILED;"),
        ],
      ]);
      const again = await stage.run(["apply", "--auto-approve", "--wait=60s", "--json"]);
      expect([again.code, at(result(again.stdout), "calls")]).toEqual([0, { POST: 0, PATCH: 0 }]);

      // Without a wait, nobody sees how the new generation ends, so nothing is switched on either.
      stage.write(
        "targets/shop.yaml",
        manifest({ ...good, bad: "Check [fail] again", kept: "Now [fail]" }),
      );
      const noWait = await stage.run(["apply", "--auto-approve", "--json"]);
      expect(noWait.stdout).toContain('"type":"result"');
      const kept = await stage.run(["apply", "--auto-approve", "--wait=60s", "--json"]);
      expect((await testCases(stage)).get("Bad")).toMatchObject({
        status: "DRAFT",
        runStatus: "OFF",
      });
      const codes = [noWait, kept].flatMap(({ stdout }) => listAt(result(stdout), "failed"));
      expect(new Set(codes.map((one) => at(one, "address")))).toEqual(
        new Set(["testCase.shop.bad", "testCase.shop.kept"]),
      );
      expect(JSON.stringify(codes)).toContain("It keeps the steps that it has.");
      const rows = attention(json(await stage.run(["plan", "--json"])));
      expect(rows.map(([code, severity]) => [code, severity])).toEqual([
        ["generation-failed", "danger"],
        ["generation-failed", "caution"],
      ]);
      expect(rows[1]?.[2]).toContain("testCase.shop.kept");

      stage.write(
        "targets/shop.yaml",
        manifest({ bad: "Check it.", kept: "Open it.", batch: "Cover it" }),
      );
      const last = await stage.run(["apply", "--auto-approve", "--wait=60s", "--json"]);
      expect(last.code, last.stdout + last.stderr).toBe(0);
      expect((await testCases(stage)).get("Bad")).toMatchObject({
        status: "ENABLED",
        runStatus: "ON",
      });
      const empty = json(await stage.run(["plan", "--json"]));
      expect([at(empty, "changes"), at(empty, "attention")]).toEqual([[], []]);
    },
    { discoveryTime: 0 },
  );
});
