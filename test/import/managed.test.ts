import { expect, test } from "vitest";
import type { LiveTarget, LiveTestCase } from "../../src/model/live.ts";
import type { Prepared } from "../../src/edit/import/prepare.ts";
import { emptyState } from "../../src/model/state.ts";
import { applyEvents } from "../../src/state/events.ts";
import { liveCase } from "../plan/build.ts";
import { idOf } from "./live.ts";
import { PROJECT, type World, after, emptyProject, plan, prepared } from "./project.ts";

// Imports into projects that have manifests or state already.
const SHOP: LiveTarget = { id: idOf(1, 1), app: "Shop", environments: [] };

function project(testCases: readonly LiveTestCase[], manifest: string, tasc = PROJECT): World {
  const files = {
    "tasc.yaml": tasc,
    ...(manifest === "" ? {} : { "targets/shop.yaml": manifest }),
  };
  return emptyProject([SHOP], new Map([[SHOP.id, testCases]]), files);
}

function texts({ files, texts: edited }: Pick<Prepared, "files" | "texts">): string {
  const fresh = files.map(
    ({ file, after: text }) => `${file}\n${text.split("\n").slice(1).join("\n")}`,
  );
  return [...edited.map(({ file, after: text }) => `${file}\n${text}`), ...fresh].join("");
}

test("only undeclared test cases are added, to the document of their target", async () => {
  const world = project(
    [
      liveCase(idOf(3, 1), { description: "Log in" }),
      liveCase(idOf(3, 2), { description: "Log  in", prerequisiteId: idOf(3, 1) }),
    ],
    "target: shop\napp: Shop\ntestCases:\n  log-in: { description: Log in }\n",
  );
  const found = await prepared(world);
  expect(texts(found)).toBe(`targets/shop.yaml
target: shop
app: Shop
testCases:
  log-in: { description: Log in }
  log-in-0000:
    description: Log  in
    status: ENABLED
    runStatus: "ON"
    discovery:
      prerequisite: log-in
`);
  const { changes, diagnostics } = (await plan(after(world, found))).planned.plan;
  expect({ changes, diagnostics }).toEqual({ changes: [], diagnostics: [] });
});

test("later finds go to the document with their folder, without what is a default, unless a layout is asked for", async () => {
  const [auth, cart, other] = [idOf(9, 1), idOf(9, 2), idOf(9, 3)];
  const names = ["Log in", "Log out", "Add", "Empty"];
  const known = names.map((description, at) =>
    liveCase(idOf(3, at), { description, folderId: at < 2 ? auth : cart }),
  );
  const found = [
    liveCase(idOf(3, 8), { description: "Total", folderId: cart }),
    liveCase(idOf(3, 9), { description: "Imprint", folderId: other }),
  ];
  const file = (keys: readonly number[]) =>
    `target: shop\ntestCases:\n${keys.map((at) => `  k${at}: { description: ${names[at]} }\n`).join("")}`;
  const world = {
    ...project(
      [...known, ...found],
      "target: shop\napp: Shop\ndefaults: { testCases: { status: ENABLED, runStatus: ON } }\n",
    ),
  };
  const files = {
    ...world.files,
    "targets/auth.yaml": file([0, 1]),
    "targets/cart.yaml": file([2, 3]),
  };
  const made = await prepared({ ...world, files });
  expect(texts(made)).toBe(`targets/cart.yaml
${file([2, 3])}  total:
    description: Total
targets/folder-000000090000.yaml
target: shop
# The API returns these folders by id only, so they are not declared.
# If you know the name, add \`folder: NAME\` to:
#   ${other}:
#     imprint
testCases:
  imprint:
    description: Imprint
`);
  const { changes } = (await plan(after({ ...world, files }, made))).planned.plan;
  expect(changes).toEqual([]);
  const asked = await prepared({ ...world, files }, { layout: "one-file" });
  expect(asked.texts).toEqual([]);
  expect(asked.files.map((one) => one.file)).toEqual(["targets/shop-imported.yaml"]);
});

/** Files of test cases k0, k1, … with descriptions C0, C1, …, by the path of the file. */
type Cases = Readonly<Record<string, readonly number[]>>;

test.each<[string, folders: Cases, before: Cases, found: Readonly<Record<number, string>>]>([
  [
    "a test case goes behind those of its folder",
    { A: [0, 1, 8], B: [2, 9] },
    { "shop.yaml": [0, 1, 2] },
    { 8: "shop.yaml k1", 9: "shop.yaml k2" },
  ],
  [
    "a new folder goes to the end of a target with one document",
    { A: [0], B: [8] },
    { "shop.yaml": [0] },
    { 8: "shop.yaml k0" },
  ],
  [
    "a new folder of a target with a file per folder gets a file",
    { A: [0, 1], B: [2], New: [8, 9] },
    { "shop/a.yaml": [0, 1], "shop/b.yaml": [2] },
    { 8: "shop/new.yaml", 9: "shop/new.yaml c8" },
  ],
  [
    "so it does if there is one folder so far",
    { A: [0, 1], New: [8] },
    { "shop/a.yaml": [0, 1] },
    { 8: "shop/new.yaml" },
  ],
  [
    "folders of one test case each are folders",
    { A: [0], B: [1], New: [8] },
    { "shop/a.yaml": [0], "shop/b.yaml": [1] },
    { 8: "shop/new.yaml" },
  ],
  [
    "what is in no folder goes to the document of the target",
    { A: [0, 1], B: [2] },
    { "shop/a.yaml": [0, 1], "shop/b.yaml": [2] },
    { 8: "shop.yaml" },
  ],
  [
    "a test case gets a file next to its folder's if each has one",
    { A: [0], B: [1, 8] },
    { "shop/a/k0.yaml": [0], "shop/b/k1.yaml": [1] },
    { 8: "shop/b/c8.yaml" },
  ],
  [
    "and a new folder a folder",
    { A: [0], B: [1], New: [8] },
    { "shop/a/k0.yaml": [0], "shop/b/k1.yaml": [1] },
    { 8: "shop/new/c8.yaml" },
  ],
  [
    "a single document of all test cases stays the only one",
    { A: [0], B: [1], New: [8] },
    { "cases.yaml": [0, 1] },
    { 8: "cases.yaml k1" },
  ],
])("%s", async (_, folders, before, found) => {
  const names = Object.keys(folders);
  const folderOf = (n: number) => names.findIndex((name) => folders[name]?.includes(n) === true);
  const numbers = [...Object.values(before).flat(), ...Object.keys(found).map(Number)];
  const cases = numbers.map((n) =>
    liveCase(idOf(3, n), {
      description: `C${n}`,
      folderId: folderOf(n) < 0 ? null : idOf(9, folderOf(n)),
    }),
  );
  const paths = Object.entries(before).map(([path, keys]): [string, string] => {
    const own = path === "shop.yaml" ? "target: shop\napp: Shop\n" : "target: shop\n";
    return [
      `targets/${path}`,
      `${own}testCases:\n${keys.map((n) => `  k${n}: { description: C${n} }\n`).join("")}`,
    ];
  });
  const world = project(cases, "target: shop\napp: Shop\n");
  const files = { ...world.files, ...Object.fromEntries(paths) };
  const made = await prepared(
    { ...world, files },
    { folders: new Map(names.map((name, at) => [idOf(9, at), name])) },
  );
  const done = after({ ...world, files }, made);
  const places = Object.keys(found).map((n) => {
    const [file = "", text = ""] =
      Object.entries(done.files).find(([, one]) => one.includes(`  c${n}:`)) ?? [];
    const above = /^ {2}(\w+):/gm;
    const keys = [...text.matchAll(above)].map(([, key = ""]) => key);
    const [behind] = keys.slice(0, keys.indexOf(`c${n}`)).slice(-1);
    return [n, [file.replace("targets/", ""), ...(behind === undefined ? [] : [behind])].join(" ")];
  });
  expect(Object.fromEntries(places)).toEqual(found);
  expect((await plan(done)).planned.plan.changes).toEqual([]);
});

test("an imported test case declares its own values if defaults differ from them", async () => {
  const world = project(
    [liveCase(idOf(3, 1), { description: "A", folderId: null, tags: [], externalId: null })],
    "target: shop\napp: Shop\ndefaults:\n  testCases: { tags: [web], folder: Inbox, runStatus: 'OFF', entryPointUrlPath: /x }\n",
  );
  const found = await prepared(world);
  expect(texts(found)).toContain(`  a:
    description: A
    status: ENABLED
    runStatus: "ON"
    tags: []
    folder: null
    entryPointUrlPath: null
`);
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("an imported test case also overrides defaults of the project, even if only state knows its target", async () => {
  const tasc = `${PROJECT}defaults: { testCases: { folder: Inbox, tags: [web] } }\n`;
  const cases = [liveCase(idOf(3, 1), { description: "A", folderId: null, tags: [] })];
  const state = applyEvents(emptyState("default", "old-shop", "http://127.0.0.1:4010"), [
    { type: "bound", address: "target.old-shop", id: SHOP.id, fields: {} },
  ]);
  for (const manifest of ["", "target: shop\napp: Shop\n"])
    for (const states of [new Map(), new Map(manifest === "" ? [["old-shop", state]] : [])]) {
      const world = { ...project(cases, manifest, tasc), states };
      const found = await prepared(world);
      expect(found.leftOut).toEqual([]);
      expect(texts(found)).toContain("    tags: []\n    folder: null\n");
      expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
    }
});

test("a test case that cannot override a default is left out, and so are prerequisites that refer to it", async () => {
  const world = project(
    [
      liveCase(idOf(3, 1), { description: "A", status: "ARCHIVED" }),
      liveCase(idOf(3, 2), { description: "B", prerequisiteId: idOf(3, 1) }),
    ],
    "target: shop\napp: Shop\ndefaults:\n  testCases: { status: ENABLED }\n",
  );
  const found = await prepared(world);
  expect(found.leftOut.map(({ id, reason }) => [id, reason])).toEqual([
    [idOf(3, 1), "a plan would change it at once (status)"],
  ]);
  // The reason stands above it, in the document of its target.
  expect(found.files).toEqual([]);
  expect(texts(found)).toContain(
    "  # discovery.prerequisite: the service has one that is left out here.\n  b:",
  );
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("live test cases that match a declared one ambiguously are left out", async () => {
  const world = project(
    [liveCase(idOf(3, 1), { description: "A" }), liveCase(idOf(3, 2), { description: "A" })],
    "target: shop\napp: Shop\ntestCases:\n  a: { description: A }\n",
  );
  const found = await prepared(world);
  expect(found.files).toEqual([]);
  expect(found.leftOut.map(({ id }) => id)).toEqual([idOf(3, 1), idOf(3, 2)]);
});

test("keys that state records are kept, and not given to other test cases", async () => {
  const state = applyEvents(emptyState("default", "old-shop", "http://127.0.0.1:4010"), [
    { type: "bound", address: "target.old-shop", id: SHOP.id, fields: {} },
    { type: "bound", address: "testCase.old-shop.sign-in", id: idOf(3, 1), fields: {} },
    { type: "bound", address: "testCase.old-shop.b", id: idOf(3, 1), fields: {} },
    { type: "bound", address: "testCase.old-shop.a", id: idOf(3, 9), fields: {} },
    { type: "folder", name: "Inbox", id: idOf(9, 1) },
  ]);
  const cases = [
    liveCase(idOf(3, 1), { description: "Log in", folderId: idOf(9, 1) }),
    liveCase(idOf(3, 2), { description: "A" }),
  ];
  const world = { ...project(cases, ""), states: new Map([["old-shop", state]]) };
  const found = await prepared(world);
  const text = texts(found);
  expect(text).toContain("target: old-shop\n");
  expect(text).toContain("  a-0000:\n    description: A\n");
  expect(text).toContain("  b:\n    description: Log in\n");
  expect(text).toContain("    folder: Inbox\n");
  const { changes, diagnostics } = (await plan(after(world, found))).planned.plan;
  expect({ changes, diagnostics }).toEqual({ changes: [], diagnostics: [] });
});

test("the name of a folder is known for all targets that show it, if state has it for one", async () => {
  const state = applyEvents(emptyState("default", "shop", "http://127.0.0.1:4010"), [
    { type: "bound", address: "target.shop", id: SHOP.id, fields: {} },
    { type: "folder", name: "Inbox", id: idOf(9, 1) },
  ]);
  const blog: LiveTarget = { id: idOf(1, 2), app: "Blog", environments: [] };
  const inFolder = (n: number) => [
    liveCase(idOf(3, n), { description: "A", folderId: idOf(9, 1) }),
  ];
  const cases = new Map([
    [SHOP.id, inFolder(1)],
    [blog.id, inFolder(2)],
  ]);
  const world = { ...emptyProject([SHOP, blog], cases), states: new Map([["shop", state]]) };
  const found = await prepared(world);
  expect(found.leftOut).toEqual([]);
  expect(texts(found).match(/folder: Inbox/g)).toHaveLength(2);
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("with several stages, an id is written for the imported stage only", async () => {
  const stages = `${PROJECT}defaultStage: staging\nstages: { staging: {}, production: {} }\n`;
  const cases = [
    liveCase(idOf(3, 1), { description: "A" }),
    liveCase(idOf(3, 2), { description: "A" }),
  ];
  const world = project(cases, "", stages);
  const found = await prepared(world);
  expect(texts(found)).toContain(`stages:
  staging:
    testCases:
      a-0000:
        id: ${idOf(3, 1)}
      a-00000003:
        id: ${idOf(3, 2)}
`);
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("values that contain a secret are not written", async () => {
  const world = project(
    [
      liveCase(idOf(3, 1), {
        description: "Use hunter2-secret",
        tags: ["hunter2-secret"],
        folderId: "folder-hunter2-secret",
        discovery: {
          freePrompt: "Type hunter2-secret.",
          status: undefined,
          abortCause: undefined,
          message: undefined,
        },
      }),
    ],
    "",
  );
  const found = await prepared(world, { secrets: ["hunter2-secret"] });
  expect(texts(found)).not.toContain("hunter2");
  expect(texts(found)).toContain(`  case-0000:\n    id: ${idOf(3, 1)}\n`);
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("circular prerequisites are broken up", async () => {
  const world = project(
    [
      liveCase(idOf(3, 1), { description: "A", prerequisiteId: idOf(3, 2) }),
      liveCase(idOf(3, 2), { description: "B", prerequisiteId: idOf(3, 1) }),
      liveCase(idOf(3, 3), { description: "C", prerequisiteId: idOf(3, 3) }),
    ],
    "",
  );
  const text = texts(await prepared(world));
  expect(text).toContain("prerequisite: b\n");
  expect(text).toContain(
    "# discovery.prerequisite: the service has a, which in turn runs after this one",
  );
  expect(text).toContain(
    "# discovery.prerequisite: the service has c, which in turn runs after this one",
  );
});

// It takes little more than without prerequisites. If all predecessors of each test case were
// visited, it would take five times as much; so no speed of the machine counts.
test("a chain of 15,000 prerequisites is imported about as fast as 15,000 test cases without", async () => {
  const ids = Array.from({ length: 15_000 }, (_, at) => idOf(3, at + 1));
  const timeOf = async (before: (at: number) => string | null): Promise<number> => {
    const cases = ids.map((id, at) =>
      liveCase(id, { description: id, prerequisiteId: before(at) }),
    );
    const world = project(cases, "");
    const started = process.cpuUsage();
    await prepared(world);
    return process.cpuUsage(started).user;
  };
  const apart = await timeOf(() => null);
  const chained = await timeOf((at) => ids[at - 1] ?? null);
  expect(chained / apart).toBeLessThan(3);
});

const STAGES = `${PROJECT}stages: { staging: {}, production: {} }\n`;

test("a list of stages that somebody wrote stays, and names the imported stage in the end", async () => {
  const shop = {
    ...SHOP,
    environments: [{ id: idOf(2, 1), type: "ADDITIONAL" as const, discoveryUrl: "https://de.a" }],
  };
  const manifest = (stages: string): string => `target: shop
app: Shop
environments:
  de:
    onlyStages: [${stages}]
    discoveryUrl: https://de.a
`;
  const importing = async (stages: string): Promise<string | undefined> => {
    const files = { "tasc.yaml": STAGES, "targets/shop.yaml": manifest(stages) };
    const world = { ...emptyProject([shop], new Map(), files), stage: "production" };
    const {
      texts: [text],
      files: added,
      problems,
    } = await prepared(world);
    expect({ added, problems }).toEqual({ added: [], problems: [] });
    return text?.after;
  };
  // In any order, and also if a stage is named that does not have the target.
  for (const stages of ["production, staging", "staging, production"])
    // oxlint-disable-next-line no-await-in-loop
    expect(await importing(stages)).toBe(undefined);
  expect(await importing("staging")).toBe(
    manifest("staging").replace("    onlyStages: [staging]\n", ""),
  );
});

test("a merged test case keeps a prerequisite that only the imported stage has", async () => {
  const manifest = `target: shop
onlyStages: [staging]
app: Shop
testCases:
  pay: { description: Pay, status: ENABLED, runStatus: "ON" }
`;
  const files = { "tasc.yaml": STAGES, "targets/shop.yaml": manifest };
  const cases = [
    liveCase(idOf(3, 1), { description: "Pay", prerequisiteId: idOf(3, 2) }),
    liveCase(idOf(3, 2), { description: "Log in" }),
  ];
  const world = {
    ...emptyProject([SHOP], new Map([[SHOP.id, cases]]), files),
    stage: "production",
  };
  const found = await prepared(world);
  expect(texts(found)).toContain(PAY_AFTER_LOGIN);
  const { changes, diagnostics } = (await plan(after(world, found))).planned.plan;
  expect({ changes, diagnostics }).toEqual({ changes: [], diagnostics: [] });

  // The service does not refuse a circle, which a manifest cannot declare.
  const round = cases.map((one) => ({
    ...one,
    prerequisiteId: one.id === idOf(3, 1) ? idOf(3, 2) : idOf(3, 1),
  }));
  const circle = { ...world, testCases: new Map([[SHOP.id, round]]) };
  const both = await prepared(circle);
  expect(both.leftOut).toEqual([]);
  expect(texts(both)).toContain(PAY_AFTER_LOGIN);
  expect(texts(both)).toContain("the service has pay, which in turn runs after this one");
  expect((await plan(after(circle, both))).planned.plan.changes).toEqual([]);
});

test("a circle of prerequisites that the manifests leave open stays open in the imported stage", async () => {
  const files = {
    "tasc.yaml": STAGES,
    "targets/shop.yaml": `target: shop
onlyStages: [staging]
app: Shop
testCases:
  pay: { description: Pay, status: ENABLED, runStatus: "ON" }
`,
    "targets/shop-login.yaml": `target: shop
testCases:
  log-in:
    description: Log in
    status: ENABLED
    runStatus: "ON"
    discovery: { prerequisite: pay }
`,
  };
  const cases = [
    liveCase(idOf(3, 1), { description: "Pay", prerequisiteId: idOf(3, 2) }),
    liveCase(idOf(3, 2), { description: "Log in", prerequisiteId: idOf(3, 1) }),
  ];
  const world = {
    ...emptyProject([SHOP], new Map([[SHOP.id, cases]]), files),
    stage: "production",
  };
  const found = await prepared(world);
  expect({ problems: found.problems, leftOut: found.leftOut }).toEqual({
    problems: [],
    leftOut: [],
  });
  const { changes, diagnostics } = (await plan(after(world, found))).planned.plan;
  expect({ changes, diagnostics }).toEqual({ changes: [], diagnostics: [] });
});

const PAY_AFTER_LOGIN =
  "  production:\n    testCases:\n      pay:\n        discovery:\n          prerequisite: log-in\n";

test("what somebody declared for the imported stage alone is left to the next apply", async () => {
  const manifest = `target: shop
onlyStages: [staging]
app: Shop
environments:
  fr:
    onlyStages: [production]
    discoveryUrl: https://fr.a
testCases:
  new:
    onlyStages: [staging, production]
    description: New
    discovery: { prompt: Check it. }
`;
  const files = { "tasc.yaml": STAGES, "targets/shop.yaml": manifest };
  const world = { ...emptyProject([SHOP], new Map(), files), stage: "production" };
  const found = await prepared(world);
  expect(found.files).toEqual([]);
  expect(found.texts.map((one) => one.after)).toEqual([
    manifest.replace("onlyStages: [staging]\n", ""),
  ]);
  const { changes } = (await plan(after(world, found))).planned.plan;
  expect(changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
    "create environment.shop.fr",
    "create testCase.shop.new",
  ]);
});

test("a new target has defaults that three quarters share, and a layout by folder or test case", async () => {
  const cases = ["Pay", "Log in", "Log out", "Cart"].map((description, n) =>
    liveCase(idOf(3, n), {
      description,
      status: description === "Cart" ? "DISABLED" : "ENABLED",
      runStatus: n % 2 === 0 ? "ON" : "OFF",
      tags: ["web"],
      folderId: description.startsWith("Log") ? idOf(9, 1) : null,
    }),
  );
  const folders = new Map([[idOf(9, 1), "Account"]]);
  const world = project(cases, "");
  expect(texts(await prepared(world, { folders })).replaceAll(/^#.*\n/gm, ""))
    .toBe(`targets/shop.yaml
target: shop
app: Shop
defaults:
  testCases:
    status: ENABLED
testCases:
  cart:
    description: Cart
    status: DISABLED
    runStatus: "OFF"
    tags: [web]
  pay:
    description: Pay
    runStatus: "ON"
    tags: [web]
  log-in:
    description: Log in
    runStatus: "OFF"
    tags: [web]
    folder: Account
  log-out:
    description: Log out
    runStatus: "ON"
    tags: [web]
    folder: Account
`);
  const filesOf = async (layout: "file-per-folder" | "file-per-test-case") =>
    (await prepared(world, { folders, layout })).files.map(({ file }) => file);
  expect(await filesOf("file-per-folder")).toEqual([
    "targets/shop.yaml",
    "targets/shop/account.yaml",
  ]);
  expect(await filesOf("file-per-test-case")).toEqual([
    "targets/shop.yaml",
    "targets/shop/account/log-in.yaml",
    "targets/shop/account/log-out.yaml",
    "targets/shop/cart.yaml",
    "targets/shop/pay.yaml",
  ]);
  const many = Array.from({ length: 61 }, (_, n) =>
    liveCase(idOf(3, n), { description: `Case ${n}`, folderId: idOf(9, n % 2) }),
  );
  expect((await prepared(project(many, ""))).files).toHaveLength(3);
});

test("a name that differs by the stage alone is written once, if all stages agree", async () => {
  const manifest = `target: shop
onlyStages: [staging]
app: Shop (staging)
testCases:
  a:
    description: Check of staging-a
  b:
    description: Check of staging
stages:
  staging:
    testCases:
      b: {}
`;
  const files = { "tasc.yaml": STAGES, "targets/shop.yaml": manifest };
  const shop = { ...SHOP, app: "Shop (production)" };
  const cases = [
    liveCase(idOf(3, 1), { description: "Check of production-a", externalId: "A" }),
    liveCase(idOf(3, 2), { description: "Check of staging" }),
  ];
  const world = {
    ...emptyProject([shop], new Map([[shop.id, cases]]), files),
    stage: "production",
  };
  const found = await prepared(world);
  const [text] = found.texts;
  expect(text?.after).toContain("app: Shop (${stage})\n");
  expect(text?.after).toContain("  b:\n    description: Check of staging\n");
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("a manifest that cannot be edited keeps its own target from being merged, and no other", async () => {
  const manifest = (key: string, app: string, rest = "") =>
    `target: ${key}\nonlyStages: [staging]\napp: ${app}\ntestCases:\n  a:\n    description: A\n    entryPointUrlPath: /a\n${rest}`;
  const files = {
    "tasc.yaml": STAGES,
    "targets/shop.yaml": manifest(
      "shop",
      "Shop",
      "stages:\n  production:\n    testCases:\n      a:\n        entryPointUrlPath: !!str\n",
    ),
    "targets/blog.yaml": manifest("blog", "Blog"),
  };
  const blog: LiveTarget = { id: idOf(1, 2), app: "Blog", environments: [] };
  const live = (n: number) => [liveCase(idOf(3, n), { description: "A", entryPointUrlPath: "/b" })];
  const cases = new Map([
    [SHOP.id, live(1)],
    [blog.id, live(2)],
  ]);
  const world = { ...emptyProject([SHOP, blog], cases, files), stage: "production" };
  const found = await prepared(world);
  expect(found.texts.map(({ file }) => file)).toEqual(["targets/blog.yaml"]);
  expect(found.files.map(({ file }) => file)).toEqual(["targets/shop-0000.yaml"]);
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});

test("new test cases go to a file of their own where their neighbours have no place for a comment", async () => {
  const files = {
    "tasc.yaml": PROJECT,
    "targets/shop.yaml": "target: shop\napp: Shop\ntestCases: { a: { description: A } }\n",
    "targets/blog.yaml": "target: blog\napp: Blog\ntestCases:\n  a: { description: A }\n",
  };
  const blog: LiveTarget = { id: idOf(1, 2), app: "Blog", environments: [] };
  const live = (n: number) => [
    liveCase(idOf(3, n), { description: "A" }),
    liveCase(idOf(3, n + 1), { description: "B", prerequisiteId: idOf(3, 99) }),
  ];
  const cases = new Map([
    [SHOP.id, live(1)],
    [blog.id, live(3)],
  ]);
  const world = emptyProject([SHOP, blog], cases, files);
  const found = await prepared(world);
  expect(found.texts.map(({ file }) => file)).toEqual(["targets/blog.yaml"]);
  expect(found.files.map(({ file }) => file)).toEqual(["targets/shop-imported.yaml"]);
  expect((await plan(after(world, found))).planned.plan.changes).toEqual([]);
});
