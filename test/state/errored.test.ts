import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type StateEvent, emptyState } from "../../src/model/state.ts";
import { readErrored, writeErrored } from "../../src/state/errored.ts";
import { applyEvents } from "../../src/state/events.ts";

const CASE = "testCase.shop.login";
const fields = (text: string) => ({ status: text, "discovery.prompt": text });
const located = (line: string): StateEvent => ({
  type: "located",
  address: CASE,
  locators: { E: { line, selectors: "made" } },
});
const bound: StateEvent = { type: "bound", address: CASE, id: "C", fields: fields("first") };
const saved = applyEvents(emptyState("staging", "shop", "https://svc.example.com"), [
  bound,
  located("first"),
]);

test.each<[says: string, unsaved: StateEvent, other: readonly StateEvent[], left: object]>([
  [
    "fields that another run wrote differently are unknown, and a prompt is sent again",
    { type: "wrote", address: CASE, fields: fields("ours") },
    [{ type: "wrote", address: CASE, fields: fields("theirs") }],
    { fields: { "discovery.prompt": "" } },
  ],
  [
    "fields that both wrote equally stay",
    { type: "wrote", address: CASE, fields: fields("same") },
    [{ type: "wrote", address: CASE, fields: fields("same") }],
    { fields: fields("same") },
  ],
  [
    "a field whose outcome is unknown is unknown, whatever another run wrote",
    { type: "forgot", address: CASE, fields: ["status"] },
    [{ type: "wrote", address: CASE, fields: fields("theirs") }],
    { fields: { "discovery.prompt": "theirs" } },
  ],
  [
    "a locator that another run wrote differently is written again",
    located("ours"),
    [located("theirs")],
    { fields: fields("first"), locators: { E: { line: "", selectors: "" } } },
  ],
  [
    "without another run, all is taken in as it was recorded",
    located("ours"),
    [],
    { fields: fields("first"), locators: { E: { line: "ours", selectors: "made" } } },
  ],
])("%s", async (_, unsaved, other, left) => {
  const projectFolder = mkdtempSync(join(tmpdir(), "tasc-errored-"));
  onTestFinished(() => rmSync(projectFolder, { recursive: true }));
  const world = { projectFolder, seal: (text: string) => `sealed ${text.length}` };
  await writeErrored(world, saved, [unsaved]);
  const now = applyEvents(saved, other);
  const found = await readErrored(world, now);
  const { locators: known, ...binding } =
    applyEvents(now, found?.events ?? []).bindings.get(CASE) ?? {};
  const locators = "locators" in left ? { locators: known } : {};
  expect({ ...binding, ...locators }).toEqual({ id: "C", ...left });
});
