// Deterministic projects and the answers of a service that already has what they declare.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A stable uuid for a name. */
export function uuid(name) {
  const hex = createHash("md5").update(name).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const prompt = (target, at) =>
  `Open page ${at} of application ${target}, sign in as the test account, check that the heading says what it should, and that nothing is broken on the way to the cart and back.`;

const PROJECT =
  'version: 1\nservice: { baseUrl: "${env:BENCH_URL}", apiKey: "${secret:BENCH_KEY}", concurrency: 8 }\n';

/** One document per target, `cases` test cases in each. */
export function writeProject(folder, targets, cases, { status = "ENABLED" } = {}) {
  mkdirSync(join(folder, "targets"), { recursive: true });
  writeFileSync(join(folder, "tasc.yaml"), PROJECT);
  for (let target = 0; target < targets; target++) {
    const head = `target: t${target}\napp: App ${target}\nenvironments: { default: { discoveryUrl: "https://t${target}.example.com" } }\ntestCases:\n`;
    const body = Array.from({ length: cases }, (_, at) => testCase(target, at, status));
    writeFileSync(join(folder, "targets", `t${target}.yaml`), head + body.join(""));
  }
}

function testCase(target, at, status) {
  return `  case-${at}:\n    description: Case ${at} of ${target} checks that it works\n    externalId: T${target}-${at}\n    status: ${status}\n    runStatus: ON\n    tags: [smoke, web, t${target}]\n    entryPointUrlPath: /path/${at}\n    discovery:\n      prompt: ${prompt(target, at)}\n`;
}

/** One test case a file, about 600 bytes each. */
export function writeFiles(folder, count) {
  mkdirSync(join(folder, "targets", "cases"), { recursive: true });
  writeFileSync(join(folder, "tasc.yaml"), PROJECT);
  writeFileSync(
    join(folder, "targets", "shop.yaml"),
    'target: shop\napp: Shop\nenvironments: { default: { discoveryUrl: "https://shop.example.com" } }\n',
  );
  for (let at = 0; at < count; at++)
    writeFileSync(join(folder, "targets", "cases", `case-${at}.yaml`), caseFile(at));
}

function caseFile(at) {
  return `# Test case ${at}, kept by the checkout team
target: shop
testCases:
  case-${at}:
    description: Case ${at} checks that the thing works as it should
    externalId: SHOP-${at}
    status: ENABLED
    runStatus: ON
    tags: [smoke, web, "team-checkout"]
    folder: Folder ${at % 20}
    entryPointUrlPath: /path/${at}
    discovery:
      prompt: >-
        Open the page number ${at}, sign in as the test account,
        then check that the heading shows what it should
        and that nothing is broken on the way to the cart and back again.
      type: LOGIN
`;
}

/** The list of targets, as the service answers. */
export function targetList(targets) {
  return JSON.stringify(
    Array.from({ length: targets }, (_, target) => ({
      id: uuid(`t${target}`),
      app: `App ${target}`,
      tags: [],
      environments: [
        { id: uuid(`e${target}`), type: "DEFAULT", discoveryUrl: `https://t${target}.example.com` },
      ],
    })),
  );
}

/** A target's list of test cases, about 3.3 KB each. */
export function caseList(target, cases) {
  return `[${Array.from({ length: cases }, (_, at) => JSON.stringify(liveCase(target, at))).join(",")}]`;
}

function liveCase(target, at) {
  const id = uuid(`c${target}-${at}`);
  const time = "2026-01-01T00:00:00.000Z";
  return {
    id,
    testTargetId: uuid(`t${target}`),
    type: null,
    description: `Case ${at} of ${target} checks that it works`,
    status: "ENABLED",
    runStatus: "ON",
    createdAt: time,
    updatedAt: time,
    entryPointUrlPath: `/path/${at}`,
    folderId: null,
    externalId: `T${target}-${at}`,
    tags: ["smoke", "web", `t${target}`],
    createdBy: "EDIT",
    prerequisiteId: null,
    proposalRunId: null,
    teardownTestCaseId: null,
    discovery: { updatedAt: time, freePrompt: prompt(target, at), status: "FINISHED" },
    elements: Array.from({ length: 5 }, (_, index) => element(id, index)),
  };
}

function element(id, index) {
  const own = uuid(id + index);
  return {
    id: own,
    index,
    interaction: { id: uuid(`${own}i`), action: "CLICK", calledWith: "x", testCaseElementId: own },
    assertion: null,
    scrollState: { x: 0, y: 0 },
    selectors: [
      {
        id: uuid(`${own}s`),
        index: 0,
        selector: `Total ${index}`,
        selectorType: "TEXT",
        options: {},
        testCaseElementId: own,
        scrollStateId: uuid(`${own}z`),
      },
    ],
    testCaseId: id,
    ignoreFailure: false,
  };
}
