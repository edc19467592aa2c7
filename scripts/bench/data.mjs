// Deterministic projects, and the answers of a service that already has everything they declare.
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

/** One test case per file, about 600 bytes each. */
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

/** The list of targets, in the service's format. */
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

// A realistic project: one file per test case, two elements each (a quarter of all elements by a
// locator line), defaults, folders, tags, two stages with overrides, prompts of 40 to 2,000
// characters.

const WORDS =
  "open the page sign in as test account check that heading says welcome and nothing is broken on way to cart then back add two items from list of offers confirm dialog".split(
    " ",
  );

function lifePrompt(target, at, rewritten = false) {
  const length = 40 + ((at * 7919 + target * 104_729) % 14) ** 2 * 11;
  // A word at the start, a sentence's end, or both.
  const [start, end] = [rewritten && at % 3 < 2, rewritten && at % 3 > 0];
  let text = `Case ${at} of ${start ? "app" : "application"} ${target}:`;
  for (let word = at; text.length < length; word++)
    text += ` ${WORDS[(word * 31 + at) % WORDS.length]}`;
  return end ? `${text}, and sign out` : text;
}

const byLocator = (at) => at % 2 === 1;

/**
 * One document per test case, in one folder per target. The stage `fresh` is like `staging`, and
 * nothing is ever applied to it but where a row says so.
 * @param shown whether all that is declared is shown by the answers: no folder names and no locator
 * lines, so that nothing is to be done even without state
 * @param changed whether a case of a target (both by number) differs from its answer
 * @param content whether what differs are a prompt and a selector; otherwise it is description,
 * status and tags
 */
export function writeLifelikeProject(
  folder,
  targets,
  cases,
  { shown = false, changed = () => false, content = false } = {},
) {
  mkdirSync(join(folder, "targets"), { recursive: true });
  writeFileSync(
    join(folder, "tasc.yaml"),
    `${PROJECT}vars: { zone: example.com }\ndefaultStage: staging\nstages:\n  staging: { vars: { zone: example.com } }\n  fresh: { vars: { zone: example.com } }\n  production: { vars: { zone: example.org } }\n`,
  );
  for (let target = 0; target < targets; target++) {
    const own = join(folder, "targets", `t${target}`);
    mkdirSync(own);
    writeFileSync(
      join(own, "target.yaml"),
      `target: t${target}\napp: App ${target}\nenvironments: { default: { discoveryUrl: "https://t${target}.\${var:zone}" } }\ndefaults:\n  testCases: { status: ENABLED, runStatus: "ON", tags: [web, team-${target % 7}] }\nstages:\n  production:\n    testCases:\n      case-0: { status: DISABLED }\n`,
    );
    for (let at = 0; at < cases; at++)
      writeFileSync(
        join(own, `case-${at}.yaml`),
        lifelikeFile(target, at, {
          shown,
          rewritten: content && changed(at, target),
          edited: !content && changed(at, target),
        }),
      );
  }
}

function lifelikeFile(target, at, { shown, rewritten, edited }) {
  const prompt = lifePrompt(target, at, rewritten).replaceAll(/(.{1,90})( |$)/g, "        $1\n");
  const second =
    !shown && byLocator(at)
      ? `        locatorLine: "getByRole('heading', { name: 'Total ${at}' })"\n`
      : `        selectors:\n          - { selectorType: TEXT, selector: ${rewritten ? "Sum" : "Total"} ${at} }\n`;
  return `# Kept by team ${target % 7}
target: t${target}
testCases:
  case-${at}:
    description: Case ${at} of ${target} checks that it works${edited ? " as it did" : ""}
    externalId: T${target}-${at}
    ${lifelikeTags(at, edited)}${shown ? "" : `folder: Folder ${at % 20}\n    `}entryPointUrlPath: /path/${at}
    discovery:
      prompt: >-
${prompt}    elements:
      - interaction: { action: EXTRACT, calledWith: total-${at} }
        selectors:
          - { selectorType: TEXT, selector: Cart ${at}, options: { name: cart } }
      - assertion: { expectation: VISIBLE }
${second}        ignoreFailure: ${at % 5 === 0}
`;
}

function lifelikeTags(at, isChanged) {
  if (isChanged) return `status: DISABLED\n    tags: [web, slow, area-${at % 20}]\n    `;
  return at % 3 === 0 ? `tags: [smoke, web, area-${at % 20}]\n    ` : "";
}

/** A target's list, in the service's format. */
export function lifelikeList(target, cases) {
  return `[${Array.from({ length: cases }, (_, at) => JSON.stringify(lifelikeCase(target, at))).join(",")}]`;
}

/** A test case as a list of the service has it, with scroll states and traces: 3.3 KB. */
export function lifelikeCase(target, at) {
  const live = liveCase(target, at);
  const [first, second] = live.elements;
  return {
    ...live,
    folderId: uuid(`f${target}-${at % 20}`),
    tags: at % 3 === 0 ? ["smoke", "web", `area-${at % 20}`] : ["web", `team-${target % 7}`],
    discovery: {
      ...live.discovery,
      freePrompt: lifePrompt(target, at),
      traceUrl: `https://traces.example.com/${live.testTargetId}/${live.id}/trace.zip?expires=1767225600&signature=${live.id}`,
    },
    elements: [
      {
        ...first,
        scrollState: scrollState(first.id),
        interaction: { ...first.interaction, action: "EXTRACT", calledWith: `total-${at}` },
        selectors: [{ ...first.selectors[0], selector: `Cart ${at}`, options: { name: "cart" } }],
      },
      {
        ...second,
        scrollState: scrollState(second.id),
        interaction: null,
        assertion: {
          id: uuid(`${second.id}a`),
          expectation: "VISIBLE",
          testCaseElementId: second.id,
        },
        selectors: [{ ...second.selectors[0], selector: `Total ${at}` }],
        ignoreFailure: at % 5 === 0,
      },
    ],
  };
}

function scrollState(element) {
  return {
    id: uuid(`${element}z`),
    testCaseElementId: element,
    x: 0,
    y: 640,
    viewport: { width: 1280, height: 720, deviceScaleFactor: 1 },
    containers: [{ selector: "main > div.content", x: 0, y: 320, width: 1024, height: 2048 }],
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
  };
}
