import { type Address, compareAddresses, compareText, parseAddress } from "../model/address.ts";
import { EXIT } from "../model/error.ts";
import { type Json, type JsonObject, defined, isArray, isObject } from "../model/json.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { SENSITIVE } from "../model/value.ts";
import { type SecretFields, secretFields } from "../plan/memory.ts";
import { printedJson } from "../render/escape.ts";
import { writeWhole } from "../files/output.ts";
import type { Redactor } from "../render/redact.ts";
import { planMeta } from "../app/plan.ts";
import type { Session } from "../app/session.ts";
import { SNAPSHOT_FORMAT, SNAPSHOT_VERSION, type SnapshotHead } from "../app/snapshot.ts";
import type { Context } from "./context.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { inProject } from "./in-project.ts";
import { READING } from "./shared-options.ts";
import { text } from "./options.ts";

const OPTIONS = {
  out: text("--out <file>", "write to this file instead of stdout, readable only by you"),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "save the service's data for planning offline",
  examples: {
    "tasc snapshot --out snapshot.json": "save a snapshot for tasc plan --snapshot snapshot.json",
    "tasc serve --from snapshot.json": "run a local copy of the service",
  },
  options: OPTIONS,
  run: inProject(snapshot),
});

function stateJson({ target, bindings, folders, batchGenerations, intents }: State): JsonObject {
  // Batch generations that were cut off while being sent: with the key, a plan would report them as
  // uncertain, too.
  const cutOff = [...intents.keys()].filter(
    (address) => parseAddress(address)?.kind === "batchGeneration",
  );
  const batches = [
    ...[...batchGenerations].map(([address, { status }]) => [address, status] as const),
    ...cutOff.map((address) => [address, "uncertain"] as const),
  ];
  const imported = [...bindings].flatMap(([address, one]) => (one.imported ? [address] : []));
  return {
    target,
    ...(imported.length === 0 ? {} : { imported }),
    bindings: byAddress([...bindings].map(([address, { id }]) => [address, id])),
    folders: Object.fromEntries([...folders].toSorted(([a], [b]) => compareText(a, b))),
    batchGenerations: byAddress(batches),
  };
}

function byAddress(entries: readonly (readonly [Address, string])[]): JsonObject {
  return Object.fromEntries(entries.toSorted(([a], [b]) => compareAddresses(a, b)));
}

async function snapshot(
  session: Session,
  { out }: OptionsOf<typeof OPTIONS>,
  { console }: Context,
) {
  const { stage, baseUrl } = session.settings;
  if (out === undefined) {
    // Print nothing if it fails halfway.
    const pieces: string[] = [];
    await takeSnapshot(session, (piece) => void pieces.push(piece));
    for (const piece of pieces) console.document(piece);
    return EXIT.done;
  }
  await writeWhole(out, session, "unwritable", (write) => takeSnapshot(session, write));
  // In text format, no output means success.
  return { json: { stage, baseUrl, out }, text: [] };
}

/**
 * Reads the service into a snapshot, one target after another, so that only one target's test cases
 * are in memory.
 */
async function takeSnapshot(session: Session, write: (piece: string) => void): Promise<void> {
  const { settings, host, redactor } = session;
  const { stage, baseUrl } = settings;
  const { desired, states, strays } = await session.remembered();
  const client = session.client();
  const targets = await client.listTargets();
  const read = [...new Set(session.liveIds(states, targets, desired).values())];
  const head = {
    ...planMeta(host),
    stage,
    baseUrl,
    states: [...states.values(), ...strays],
    targets,
    read,
  };
  const writer = writeSnapshot(write, head, redactor);
  for (const id of read)
    writer.add(await client.listTestCases(id, (testCase) => writer.lineOf(testCase, id)));
  writer.end();
}

/** Writes a snapshot while it is read: the head, then one test case after another, then the end. */
export function writeSnapshot(
  write: (piece: string) => void,
  head: SnapshotHead,
  redactor: Redactor,
) {
  const line = (value: Json): string => printedJson(JSON.stringify(redactor.json(value)));
  const secrets = secretFields(head.states);
  write(headText(head, secrets, line));
  let before = "";
  return {
    lineOf: (testCase: LiveTestCase, targetId: string) =>
      line(withoutFields(testCaseJson(testCase, targetId), secrets)),
    add(lines: readonly string[]) {
      for (const text of lines) {
        write(`${before}\n    ${text}`);
        before = ",";
      }
    },
    end: () => write(before === "" ? "]\n}\n" : "\n  ]\n}\n"),
  };
}

function headText(
  head: SnapshotHead,
  secrets: SecretFields,
  line: (value: Json) => string,
): string {
  const list = (items: readonly Json[]): string =>
    items.length === 0 ? "[]" : `[\n${items.map((item) => `    ${line(item)}`).join(",\n")}\n  ]`;
  const members = [
    ["format", JSON.stringify(SNAPSHOT_FORMAT)],
    ["version", String(SNAPSHOT_VERSION)],
    ["tool", line(head.tool)],
    ["stage", JSON.stringify(head.stage)],
    ["baseUrl", line(head.baseUrl)],
    ["createdAt", line(head.createdAt)],
    ["states", list(head.states.map(stateJson))],
    ["targets", list(head.targets.map((target) => targetJson(target, head.read, secrets)))],
    ["read", list(head.read)],
  ];
  return `{\n${members.map(([name, text]) => `  "${name}": ${text},\n`).join("")}  "testCases": [`;
}

/**
 * Returns a target as JSON. If its test cases were not read, its secrets are unknown, so it has
 * identifying fields only.
 */
function targetJson(
  { id, app, environments }: LiveTarget,
  read: SnapshotHead["read"],
  secrets: SecretFields,
): JsonObject {
  const shown = environments.map((one) =>
    read.includes(id) ? one : { ...one, discoveryUrl: undefined },
  );
  const inner = shown.map((environment) => withoutFields(defined({ ...environment }), secrets));
  return { ...withoutFields({ id, app }, secrets), environments: inner };
}

/**
 * Removes fields that may show an old secret, by their names. Fields that a plan needs stay, but
 * without their texts.
 */
function withoutFields(shown: JsonObject, secrets: SecretFields): JsonObject {
  const hidden = secrets.get(shown["id"]) ?? [];
  if (hidden.length === 0) return shown;
  return Object.fromEntries(
    Object.entries(shown).flatMap(([name, value]) => {
      if (name === "discovery" && isObject(value) && hidden.includes("discovery.prompt"))
        return [[name, defined({ status: value["status"], abortCause: value["abortCause"] })]];
      if (!hidden.includes(name)) return [[name, value]];
      return name === "app" || name === "elements" ? [[name, withoutTexts(value)]] : [];
    }),
  );
}

/** Fields with ids or words of the service, such as a status, and not with user data. */
const OWN_WORDS: readonly string[] = ["id", "status", "action", "expectation", "selectorType"];

function withoutTexts(value: Json): Json {
  if (typeof value === "string") return SENSITIVE;
  if (isArray(value)) return value.map(withoutTexts);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      OWN_WORDS.includes(key) ? part : withoutTexts(part),
    ]),
  );
}

/**
 * Returns what a plan reads of a listed test case (service-api.md, "Test case"): no dates, scroll
 * states, or messages.
 */
function testCaseJson(
  { elements, discovery, ...live }: Omit<LiveTestCase, "asDeclared" | "acceptance">,
  testTargetId: string,
): JsonObject {
  const { status, freePrompt, abortCause: cause } = discovery ?? {};
  // A plan needs to know that a generation failed. A cause in words may repeat a former prompt,
  // with a secret that tasc does not know any more.
  const abortCause = cause && !/^[A-Z_]+$/.test(cause) ? SENSITIVE : cause;
  return defined({
    testTargetId,
    ...live,
    updatedAt: undefined,
    elements: elements?.map(({ raw }) => defined({ ...raw, scrollState: undefined })),
    discovery: discovery && defined({ status, freePrompt, abortCause }),
  });
}
