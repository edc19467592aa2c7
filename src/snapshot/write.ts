import type { Collector } from "../client/index.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { LiveDiscovery, LiveTarget, LiveTestCase } from "../model/live.ts";
import { printedJson } from "../output/escape.ts";
import type { Redactor } from "../output/redact.ts";
import { SNAPSHOT_FORMAT, SNAPSHOT_VERSION, stateJson } from "./head.ts";
import type { SnapshotHead } from "./head.ts";
import type { Sink } from "./sink.ts";

/** Writes a snapshot as it is read: the head, then test case after test case, then the end. */
export interface SnapshotWriter {
  /** Takes the test cases of one target. Asked for again, it begins again: a try that broke leaves nothing. */
  testCases(targetId: string): Collector<LiveTestCase, undefined>;
  end(): void;
}

export function writeSnapshot(sink: Sink, head: SnapshotHead, redactor: Redactor): SnapshotWriter {
  const line = (value: Json): string => printedJson(JSON.stringify(redactor.json(value)));
  sink.write(headText(head, line));
  let written = 0;
  let last: { readonly targetId: string; readonly mark: number; readonly written: number } | undefined;
  return {
    testCases(targetId) {
      if (last?.targetId === targetId) {
        sink.rewind(last.mark);
        written = last.written;
      } else last = { targetId, mark: sink.mark(), written };
      return {
        add(testCase) {
          sink.write(`${written === 0 ? "" : ","}\n    ${line(testCaseJson(testCase, targetId))}`);
          written += 1;
        },
        result: () => undefined,
      };
    },
    end: () => sink.write(written === 0 ? "]\n}\n" : "\n  ]\n}\n"),
  };
}

/** Members in a fixed order, one state and one target a line. */
function headText(head: SnapshotHead, line: (value: Json) => string): string {
  const list = (items: readonly Json[]): string =>
    items.length === 0 ? "[]" : `[\n${items.map((item) => `    ${line(item)}`).join(",\n")}\n  ]`;
  const members = [
    ["format", JSON.stringify(SNAPSHOT_FORMAT)],
    ["version", String(SNAPSHOT_VERSION)],
    ["tool", line(head.tool)],
    ["stage", line(head.stage)],
    ["baseUrl", line(head.baseUrl)],
    ["createdAt", line(head.createdAt)],
    ["states", list(head.states.map(stateJson))],
    ["targets", list(head.targets.map(targetJson))],
    ["read", list(head.read)],
  ];
  return `{\n${members.map(([name, text]) => `  "${name}": ${text},\n`).join("")}  "testCases": [`;
}

/** As the service shows it (service-api.md, "Test target"). */
function targetJson({ id, app, environments }: LiveTarget): JsonObject {
  return { id, app, environments: environments.map((environment) => known({ ...environment })) };
}

/** As the service lists it (service-api.md, "Test case"), as far as a plan reads it. */
function testCaseJson({ elements, discovery, ...plain }: LiveTestCase, testTargetId: string): JsonObject {
  return {
    ...known({ testTargetId, ...plain }),
    ...(elements === undefined ? {} : { elements: elements.map(({ raw }) => raw) }),
    ...(discovery === undefined ? {} : { discovery: discoveryJson(discovery) }),
  };
}

/** Without its date: no plan reads that, and a snapshot of the same things is to be the same text. */
function discoveryJson({ status, freePrompt, abortCause, message }: LiveDiscovery): JsonObject {
  return known({ status, freePrompt, abortCause, message });
}

/** What the service did not show stays out. */
function known(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) shown[name] = value;
  return shown;
}
