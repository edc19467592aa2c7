// `tasc diff` and `tasc promote` compare two stages without the service and without secrets.
import { describe, expect, test } from "vitest";
import { type Scene, at, json, listAt, scene } from "../look/scene.ts";
import { MANIFEST, PROJECT, writeStages } from "./project.ts";

const STAGES = ["--from", "staging", "--to", "production"];
/** An environment without key, secrets and service. */
const NOTHING = {
  TASC_API_KEY: "",
  QA_USER: "",
  QA_PASSWORD: "",
  TASC_BASE_URL: "http://127.0.0.1:9",
};

describe.concurrent("diff", () => {
  test("lists each field that differs, with both places", async ({ expect }) => {
    await scene(async (stage) => {
      writeStages(stage);
      const ran = await stage.run(["diff", ...STAGES], NOTHING);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stderr).toBe("");
      await expect(ran.stdout).toMatchFileSnapshot("golden/diff.txt");
      const data = await stage.run(
        ["diff", ...STAGES, "--format", "json", "--detailed-exitcode"],
        NOTHING,
      );
      expect(data.code).toBe(2);
      await expect(data.stdout).toMatchFileSnapshot("golden/diff.json");
    });
  });

  test("exits with 0 if the stages agree, and --all compares every field", async () => {
    await scene(async (stage) => {
      writeStages(stage, MANIFEST.replace("Web Shop #", "Web Shop ${stage} #"));
      const same = ["diff", "--from", "dev", "--to", "staging", "--only", "testCase.shop.cookie"];
      const ran = await stage.run([...same, "--detailed-exitcode"], NOTHING);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).toContain("No difference in what promotion carries");
      const all = await stage.run(
        ["diff", ...STAGES, "--all", "--only", "target.*", "--format", "json"],
        NOTHING,
      );
      expect(listAt(json(all), "differences").length).toBe(1);
      expect(at(json(all), "differences", 0, "to", "value")).toBe("Web Shop production");
    });
  });

  test("compares secrets by value if they are set, and does not show them", async () => {
    await scene(async (stage) => {
      writeStages(stage);
      const only = ["--only", "testCase.shop.cart", "--format", "json"];
      const env = { STAGING_USER: "one-and-the-same", PROD_USER: "another-one" };
      const ran = await stage.run(["diff", ...STAGES, ...only], env);
      expect(ran.stdout).toContain('"sensitive": true');
      expect(ran.stdout + ran.stderr).not.toMatch(/one-and-the-same|another-one/);
    });
  });

  test.for<[sentence: string, args: string[], says: RegExp]>([
    [
      "a stage that is not there",
      ["--from", "stagin", "--to", "production"],
      /Stage stagin.*--from/,
    ],
    ["a stage that is missing", ["--from", "staging"], /--to is missing/],
    ["twice the same", ["--from", "dev", "--to", "dev"], /the same stage, dev/],
    ["also --stage", [...STAGES, "--stage", "dev"], /--stage names one stage/],
    [
      "an unknown address",
      [...STAGES, "--only", "testCase.shop.nobody"],
      /the address testCase.shop.nobody/,
    ],
  ])("rejects %s", async ([, args, says]) => {
    await scene(async (stage) => {
      writeStages(stage);
      for (const command of ["diff", "promote"]) {
        const ran = await stage.run([command, ...args], NOTHING);
        expect(ran.code).toBe(3);
        expect(ran.stderr).toMatch(says);
        expect(ran.stdout).toBe("");
      }
      expect(stage.read("targets/shop.yaml")).toBe(MANIFEST);
    });
  });

  test("rejects invalid manifests", async () => {
    await scene(async (stage) => {
      writeStages(stage, MANIFEST.replace("status: DRAFT", "status: DRFT"));
      const ran = await stage.run(["promote", ...STAGES], NOTHING);
      expect(ran.code).toBe(3);
      expect(ran.stderr).toContain("targets/shop.yaml:10:13");
    });
  });
});

async function agrees(stage: Scene, ...more: readonly string[]): Promise<void> {
  const ran = await stage.run(["diff", ...STAGES, "--detailed-exitcode", ...more], NOTHING);
  if (ran.code !== 0) throw new Error(`the stages differ:\n${ran.stdout}${ran.stderr}`);
}

describe.concurrent("promote", () => {
  test("edits the stage's layers, and reports the values that it may not promote", async ({
    expect,
  }) => {
    await scene(async (stage) => {
      writeStages(stage);
      const rehearsed = await stage.run(["promote", ...STAGES, "--dry-run"], NOTHING);
      expect(rehearsed.code, rehearsed.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toBe(MANIFEST);
      await expect(rehearsed.stdout).toMatchFileSnapshot("golden/promote-dry-run.txt");
      const data = await stage.run(
        ["promote", ...STAGES, "--dry-run", "--format", "json"],
        NOTHING,
      );
      await expect(data.stdout).toMatchFileSnapshot("golden/promote-dry-run.json");

      const ran = await stage.run(["promote", ...STAGES], NOTHING);
      expect(ran.code, ran.stderr).toBe(0);
      await expect(ran.stdout).toMatchFileSnapshot("golden/promote.txt");
      await expect(stage.read("targets/shop.yaml")).toMatchFileSnapshot("golden/promoted.yaml");
      expect(stage.read("tasc.yaml")).toBe(PROJECT);
      const rest = ["--exclude", "testCase.shop.only-here", "--exclude", "testCase.shop.cart"];
      await agrees(stage, ...rest);
      const again = await stage.run(["promote", ...STAGES, ...rest], NOTHING);
      expect(again.code).toBe(0);
      expect(again.stdout).toContain(
        "Nothing to promote: production and staging have the same configuration.",
      );
    });
  });

  test("promotes only the resources that --only selects", async () => {
    await scene(async (stage) => {
      writeStages(stage);
      const ran = await stage.run(
        ["promote", ...STAGES, "--only", "testCase.shop.login", "--format", "json"],
        NOTHING,
      );
      expect(ran.code, ran.stderr).toBe(0);
      const changed = listAt(json(ran), "changes").map((change) => at(change, "address"));
      expect(new Set(changed)).toEqual(new Set(["testCase.shop.login"]));
      await agrees(stage, "--only", "testCase.shop.login");
      expect(stage.read("targets/shop.yaml")).toContain("status: DISABLED # for now");
    });
  });

  test("promotes a text with a secret if the other stage uses it there too, but no other secret", async () => {
    await scene(async (stage) => {
      const ours = '{ discovery: { prompt: "As ${secret:QA_USER} at ${var:path}." }, tags';
      writeStages(
        stage,
        MANIFEST.replace(
          "login: { status: ENABLED, tags",
          `login: { status: ENABLED, ${ours.slice(2)}`,
        ),
      );
      const ran = await stage.run(["promote", ...STAGES, "--format", "json"], NOTHING);
      expect(ran.code, ran.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toContain("As ${secret:QA_USER} at /staging.");
      expect(listAt(json(ran), "left").map((one) => at(one, "reason"))).toContain(
        "It contains a secret that production does not use here, and credentials are not promoted. Write it by hand.",
      );
      expect(stage.read("targets/shop.yaml").match(/STAGING_USER/g)?.length).toBe(1);
    });
  });

  test("keeps a last line without a line end", async () => {
    await scene(async (stage) => {
      writeStages(stage);
      stage.write("targets/shop.yaml", `${MANIFEST}# it ends here`);
      const ran = await stage.run(["promote", ...STAGES], NOTHING);
      expect(ran.code, ran.stderr).toBe(0);
      expect(stage.read("targets/shop.yaml")).toMatch(/# it ends here$/);
    });
  });
});
