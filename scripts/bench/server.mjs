// Serves prepared answers from a separate process, so that serving them costs almost nothing.
// Arguments: targets, cases per target, latency in ms, "lifelike" or "plain" for the shape of the
// lists, and a port.
import { createServer } from "node:http";
import { caseList, lifelikeList, targetList, uuid } from "./data.mjs";

const [targets, cases, latency] = process.argv.slice(2).map(Number);
const lifelike = process.argv[5] === "lifelike";
const listText = lifelike ? lifelikeList : caseList;
const list = Buffer.from(targetList(targets));
const lists = new Map(
  Array.from({ length: targets }, (_, at) => [uuid(`t${at}`), Buffer.from(listText(at, cases))]),
);

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => setTimeout(() => answer(request, response, body), latency));
});

/** The content of the lists after everything was patched. */
const patched = new Map();

function listOf(target) {
  const written = parsed.get(target);
  if (written?.isChanged) {
    written.isChanged = false;
    lists.set(target, Buffer.from(`[${[...written.texts.values()].join(",")}]`));
  }
  const before = lists.get(target);
  if (lifelike || phase.patches === 0 || before === undefined) return before;
  if (!patched.has(target))
    patched.set(
      target,
      Buffer.from(before.toString().replaceAll('"status":"ENABLED"', '"status":"DISABLED"')),
    );
  return patched.get(target);
}

/** Test cases by target, for writes to a lifelike service. */
const parsed = new Map();

/**
 * The time from the first PATCH to the last, measured here, so that all clients are measured with
 * the same clock.
 */
let phase = { from: 0, to: 0, patches: 0 };

function answer({ method, url }, response, body) {
  response.setHeader("content-type", "application/json");
  if (url === "/phase") {
    response.end(JSON.stringify({ ms: phase.to - phase.from, patches: phase.patches }));
    phase = { from: 0, to: 0, patches: 0 };
    return;
  }
  if (method === "PATCH") {
    if (phase.patches++ === 0) phase.from = performance.now() - latency;
    phase.to = performance.now();
    return response.end(lifelike ? written(url, body) : "{}");
  }
  const target = /test-targets\/([^/]+)\/test-cases/.exec(url)?.[1];
  response.end(target === undefined ? list : listOf(target));
}

function partsOf(target) {
  if (!parsed.has(target)) {
    const items = JSON.parse(lists.get(target)).map((live) => [live.id, JSON.stringify(live)]);
    parsed.set(target, { texts: new Map(items), isChanged: false });
  }
  return parsed.get(target);
}

/**
 * A write to a test case of a lifelike service sets its fields, and one to an element sets nothing.
 * The answer is the entry of the list.
 */
function written(url, body) {
  const [, target, testCase, element] =
    /test-targets\/([^/]+)\/test-cases\/([^/]+)(?:\/elements\/([^/]+))?/.exec(url) ?? [];
  if (testCase === undefined) return "{}";
  const own = partsOf(target);
  const live = JSON.parse(own.texts.get(testCase));
  if (element !== undefined) return JSON.stringify(live.elements.find(({ id }) => id === element));
  const { assignedTagNames: tags = live.tags, ...fields } = JSON.parse(body);
  const text = JSON.stringify({ ...live, ...fields, tags });
  own.texts.set(testCase, text);
  own.isChanged = true;
  return text;
}

// Where writes are measured, that their lists are parsed is not.
if (lifelike && latency > 0) for (const target of lists.keys()) partsOf(target);

server.keepAliveTimeout = 60_000;
server.on("listening", () => console.log(`http://127.0.0.1:${server.address().port}`));
server.on("error", () => server.listen(0, "127.0.0.1"));
server.listen(Number(process.argv[6]), "127.0.0.1");
