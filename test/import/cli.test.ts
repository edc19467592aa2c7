import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { type RunningServer, startServer } from "../../src/server/index.ts";
import { PROJECT, Project } from "../contract/support/cli.ts";
import { object, parseJson } from "../contract/support/json.ts";
import { idOf } from "./live.ts";

// Runs `tasc import` as a process, against the local service.
const SHOP = idOf(1, 1);
const FOLDER = idOf(9, 1);
const ATTIC = idOf(9, 2);

function testCase(n: number, fields: JsonObject): JsonObject {
  return { id: idOf(3, n), testTargetId: SHOP, runStatus: "ON", status: "ENABLED", ...fields };
}

const SEED: JsonObject = {
  testTargets: [{ id: SHOP, app: "Web Shop" }],
  environments: [
    {
      id: idOf(2, 1),
      testTargetId: SHOP,
      type: "DEFAULT",
      discoveryUrl: "https://shop.example.com",
    },
    {
      id: idOf(2, 2),
      testTargetId: SHOP,
      type: "ADDITIONAL",
      discoveryUrl: "https://preview.example.com",
    },
  ],
  folders: [
    { id: FOLDER, testTargetId: SHOP, name: "Checkout" },
    { id: ATTIC, testTargetId: SHOP, name: "Attic" },
  ],
  testCases: [
    testCase(1, {
      description: "Log in",
      discovery: { status: "FINISHED", freePrompt: "Log in as ${USER}." },
    }),
    testCase(2, {
      description: "Cart total",
      folderId: FOLDER,
      prerequisiteId: idOf(3, 1),
      tags: ["smoke"],
      elements: [
        {
          id: idOf(4, 1),
          index: 0,
          assertion: { id: idOf(5, 1), expectation: "VISIBLE" },
          selectors: [],
        },
      ],
    }),
    testCase(3, { description: "Old", folderId: ATTIC }),
    testCase(4, { description: "Old" }),
  ],
};

let server: RunningServer;
let dir: string;
let project: Project;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tasc-import-"));
  server = await startServer({ dataDir: join(dir, "service"), apiKey: "a-local-key", seed: SEED });
  project = new Project(join(dir, "project"), {
    TASC_BASE_URL: server.url,
    TASC_API_KEY: "a-local-key",
  });
  await project.write({ "tasc.yaml": PROJECT });
});

afterEach(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

async function writes(): Promise<number> {
  const answer = await fetch(`${server.controlUrl}/requests`, {
    headers: { "x-api-key": "a-local-key" },
  });
  const text = await answer.text();
  return (text.match(/"(?:POST|PATCH)"/g) ?? []).length;
}

test("after an import the plan is empty, an apply sends nothing, and a second import writes nothing", async () => {
  const named = ["--folder", `${FOLDER}=Checkout`];
  const dry = await project.run(["import", ...named, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout).toContain("--- # targets/web-shop.yaml\n");
  expect(await project.files()).toEqual(["tasc.yaml"]);

  const imported = await project.run(["import", "--elements", ...named]);
  expect(imported.stdout).toBe("wrote  targets/web-shop.yaml  (2 environments, 4 test cases)\n");
  expect(imported.code).toBe(0);
  expect(imported.stderr).toContain(ATTIC);
  expect(imported.stderr).not.toContain(FOLDER);
  expect(dry.stdout).not.toContain("expectation");
  await expect(await project.read("targets/web-shop.yaml")).toMatchFileSnapshot(
    "golden/web-shop.yaml",
  );

  const plan = await project.run(["plan", "--detailed-exitcode"]);
  expect({ code: plan.code, stderr: plan.stderr }).toEqual({ code: 0, stderr: "" });
  const apply = await project.run(["apply", "--auto-approve"]);
  expect(apply.code).toBe(0);
  expect(await writes()).toBe(0);

  const files = await project.files();
  const again = await project.run(["import", "--elements"]);
  expect(again).toMatchObject({
    code: 0,
    stdout: "Nothing to import: everything on the service is already declared.\n",
  });
  expect(await project.files()).toEqual(files);

  // To correct the recorded name of a folder, --folder is given again.
  const corrected = await project.run(["import", "--elements", "--folder", `${FOLDER}=checkout`]);
  expect(corrected.stderr).toContain(`Folder ${FOLDER} is recorded as "checkout"`);
  const written = await project.read("targets/web-shop.yaml");
  await project.write({
    "targets/web-shop.yaml": written.replaceAll("folder: Checkout", "folder: checkout"),
  });
  expect((await project.run(["plan", "--detailed-exitcode"])).code).toBe(0);
});

const PRODUCTION = idOf(1, 2);
const TWO_STAGES = `${PROJECT}stages: { staging: {}, production: {} }\n`;

/** The same application on a second stage: another id, fewer test cases, other values. */
const STAGED: JsonObject = {
  testTargets: [
    { id: SHOP, app: "Web Shop (staging)" },
    { id: PRODUCTION, app: "Web Shop (production)" },
    { id: idOf(1, 3), app: "Web-Shop production" },
  ],
  environments: [
    {
      id: idOf(2, 1),
      testTargetId: SHOP,
      type: "DEFAULT",
      discoveryUrl: "https://staging.example.com",
    },
    {
      id: idOf(2, 2),
      testTargetId: PRODUCTION,
      type: "DEFAULT",
      discoveryUrl: "https://shop.example.com",
    },
  ],
  testCases: [
    testCase(1, { description: "Log in", tags: ["smoke"] }),
    testCase(2, { description: "Cart total", externalId: "CART", folderId: FOLDER }),
    testCase(3, { description: "Not there yet" }),
    testCase(11, {
      testTargetId: PRODUCTION,
      description: "Log in",
      tags: ["smoke"],
      status: "DISABLED",
    }),
    testCase(12, {
      testTargetId: PRODUCTION,
      description: "Cart",
      externalId: "CART",
      folderId: idOf(9, 5),
    }),
    testCase(13, { testTargetId: PRODUCTION, description: "Old one" }),
  ],
};

test("merges a second stage into the declared target, and binds both stages", async () => {
  await server.close();
  server = await startServer({ dataDir: join(dir, "staged"), apiKey: "a-local-key", seed: STAGED });
  const staged = new Project(join(dir, "project"), {
    TASC_BASE_URL: server.url,
    TASC_API_KEY: "a-local-key",
  });
  await staged.write({ "tasc.yaml": TWO_STAGES });
  const named = ["--target", SHOP, "--folder", `${FOLDER}=Checkout`];
  const first = await staged.run(["import", "--stage", "staging", ...named]);
  expect(first.code, first.stderr).toBe(0);
  const both = ["import", "--stage", "production", "--target", PRODUCTION, "--target", idOf(1, 3)];
  const unclear = await staged.run(both);
  expect(unclear.code).toBe(3);
  expect(unclear.stderr).toContain(`tasc import --into web-shop=${PRODUCTION}`);
  expect(await staged.files()).toHaveLength(3);
  const second = await staged.run([...both, "--into", `web-shop=${PRODUCTION}`]);
  expect(second.code, second.stderr).toBe(0);
  expect(second.stdout).toContain("merged  targets/web-shop.yaml");
  expect(second.stderr).toContain(
    `named as in the other stages:\n  ${idOf(9, 5)}  Web Shop (production): Checkout\n`,
  );
  await expect(await staged.read("targets/web-shop.yaml")).toMatchFileSnapshot(
    "golden/merged.yaml",
  );
  for (const stage of ["staging", "production"]) {
    // oxlint-disable-next-line no-await-in-loop
    const plan = await staged.run(["plan", "--detailed-exitcode", "--stage", stage]);
    expect({ code: plan.code, stderr: plan.stderr }).toEqual({ code: 0, stderr: "" });
  }
  await fetch(`${server.controlUrl}/edit`, {
    method: "POST",
    headers: { "x-api-key": "a-local-key", "content-type": "application/json" },
    body: JSON.stringify({ kind: "testCase", id: idOf(3, 11), set: { description: "Sign in" } }),
  });
  const renamed = await staged.run(["plan", "--stage", "production", "--format", "json"]);
  expect(renamed.stdout).toMatch(/"action": ?"update"/);
  expect(renamed.stdout).not.toMatch(/"method": ?"POST"/);
});

test("holds batch generations back if the import creates the state, even with several stages", async () => {
  await project.write({
    "tasc.yaml": TWO_STAGES,
    "targets/shop.yaml":
      "target: shop\napp: Web Shop\ntestCases: { log-in: { description: Log in } }\nbatchGenerations: { spring: { prompt: Cover it. } }\n",
  });
  const imported = await project.run(["import", "--stage", "staging"]);
  expect(imported.code, imported.stderr).toBe(0);
  const plan = await project.run(["plan", "--detailed-exitcode", "--stage", "staging"]);
  expect(plan.code, plan.stdout).toBe(0);
  expect(plan.stdout).toContain("Held: state does not record whether it ran");
});

test("replaces the sample that `tasc init` wrote", async () => {
  const fresh = new Project(join(dir, "fresh"), {
    TASC_BASE_URL: server.url,
    TASC_API_KEY: "a-local-key",
  });
  await fresh.write({ "x.txt": "" });
  expect((await fresh.run(["init"])).code).toBe(0);
  const imported = await fresh.run(["import"]);
  expect(imported.code, imported.stderr).toBe(0);
  expect(imported.stdout).toContain("removed  targets/shop.yaml");
  const plan = await fresh.run(["plan", "--detailed-exitcode"]);
  expect({ code: plan.code, stderr: plan.stderr }).toEqual({ code: 0, stderr: "" });
});

test("keeps the sample of `tasc init` if another stage has bound it", async () => {
  const fresh = new Project(join(dir, "fresh"), {
    TASC_BASE_URL: server.url,
    TASC_API_KEY: "a-local-key",
  });
  await fresh.write({ "x.txt": "" });
  expect((await fresh.run(["init"])).code).toBe(0);
  const stages = "stages: { staging: {}, production: {} }\n";
  await fresh.write({ "tasc.yaml": `${await fresh.read("tasc.yaml")}${stages}` });
  const bound = await fresh.run(["state", "bind", "target.shop", SHOP, "--stage", "staging"]);
  expect(bound.code, bound.stderr).toBe(0);
  const imported = await fresh.run(["import", "--stage", "production"]);
  expect(imported.code, imported.stderr).toBe(0);
  expect(imported.stdout).not.toContain("removed");
  expect(await fresh.read("targets/shop.yaml")).toContain("app: Web Shop\n");
});

/** A service that answers with these lists, and a project of it. */
async function answering(targets: readonly object[], testCases: readonly object[]) {
  const hostile = createServer(({ url }, answer) => {
    const list = url?.endsWith("/test-cases") ? testCases : targets;
    answer.setHeader("content-type", "application/json").end(JSON.stringify(list));
  });
  await new Promise<void>((listening) => hostile.listen(0, "127.0.0.1", listening));
  const address = hostile.address();
  const port = typeof address === "object" ? address?.port : 0;
  const fresh = new Project(join(dir, "fresh"), {
    TASC_BASE_URL: `http://127.0.0.1:${port}`,
    TASC_API_KEY: "a-local-key",
  });
  return { hostile, fresh };
}

test("prints a folder id that has line breaks on one line", async () => {
  const folder = "x\ntasc apply --auto-approve\ny";
  const cases = [testCase(1, { description: "Log in", folderId: folder, status: "ENABLED" })];
  const environments = [
    { id: idOf(2, 1), type: "DEFAULT", discoveryUrl: "https://shop.example.com" },
  ];
  const { hostile, fresh } = await answering([{ id: SHOP, app: "Web Shop", environments }], cases);
  await fresh.write({ "tasc.yaml": PROJECT });
  const { code, stderr } = await fresh.run(["import", "--dry-run"]);
  hostile.close();
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`  x tasc apply --auto-approve y  Web Shop: "Log in"\n`);
});

test("puts no word of the service into a command that a shell or a program would run otherwise", async () => {
  const targets = ["$(touch${IFS}pwned)", "tasc", SHOP].map((id) => ({
    id,
    app: id === "tasc" ? "apply --auto-approve" : id === SHOP ? "tasc" : "Web Shop production",
    environments: [],
  }));
  const { hostile, fresh } = await answering([...targets, { ...targets[0], id: idOf(1, 2) }], []);
  await fresh.write({
    "tasc.yaml": `${PROJECT}stages: { staging: {}, production: {} }\n`,
    "targets/shop.yaml": "target: shop\nonlyStages: [staging]\napp: Web Shop staging\n",
  });
  const { stdout, stderr } = await fresh.run(["import", "--stage", "production", "--json"]);
  const asked = await fresh.run([
    "import",
    "--stage",
    "production",
    "--into",
    "web=tasc",
    "--json",
  ]);
  hostile.close();
  expect(stderr).toContain("    tasc import --into shop=ID --stage production\n");
  expect(stderr).toContain(`    tasc import --into shop=${idOf(1, 2)} --stage production\n`);
  expect(stdout).not.toContain("--into shop=$");
  expect(asked.stdout).toContain("More than one imported target");
  expect(object(parseJson(asked.stdout))["next"]).toEqual(["tasc validate"]);
});

test("rejects invalid arguments with an explanation, and writes nothing", async () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [["--target", "Web Shpo"], /Did you mean "Web Shop"/],
    [["--dir", "../elsewhere"], /not a folder inside the project/],
    [["--dir", "manifests"], /would not be loaded as a manifest of this project/],
    [["--folder", "Checkout"], /takes ID=NAME/],
    [["--folder", `${idOf(9, 7)}=Cellar`], /No test case of these targets is in a folder/],
    [["--folder", `${FOLDER}=A`, "--folder", `${ATTIC}=A`], /Two folders cannot both be "A"/],
  ];
  for (const [args, words] of rows) {
    // oxlint-disable-next-line no-await-in-loop
    const ran = await project.run(["import", ...args]);
    expect(ran.stderr).toMatch(words);
    expect(ran).toMatchObject({ code: 3, stdout: "" });
  }
  expect(await project.files()).toEqual(["tasc.yaml"]);
});
