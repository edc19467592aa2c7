import { expect, test } from "vitest";
import { openDisplay } from "../../src/commands/apply.ts";
import { PLAIN } from "../../src/render/style.ts";
import { EVENTS } from "../render/apply-sample.ts";
import { screen } from "./screen.ts";

function run(live: boolean): string {
  const { writer, stderr, stdout } = screen({ live });
  let now = 5000;
  const shown = { writer, style: { stdout: PLAIN, stderr: PLAIN }, live, level: "info" } as const;
  const display = openDisplay(shown, () => now);
  for (const [after, event] of EVENTS) {
    now += after;
    display.onEvent(event);
  }
  display.end();
  expect(stdout()).toBe("");
  return stderr();
}

test("a display that is not live prints plain lines", async () => {
  await expect(run(false)).toMatchFileSnapshot("../render/golden/apply-log.txt");
});

test("a live display redraws one status area and keeps important messages above it", () => {
  const shown = playBack(run(true));
  expect(shown).toEqual([
    "failed   testCase.shop.cart: 422, no\\nsuch \\u001b[31mtag",
    "Stopping: waiting for requests in flight to finish. Press Ctrl-C again to stop immediately.",
    "",
  ]);
});

/** The final content of the terminal. The display only moves the cursor up and clears. */
function playBack(written: string): readonly string[] {
  const lines = [""];
  // oxlint-disable-next-line no-control-regex -- the two control sequences of the status area
  for (const part of written.split(/(\u001b\[\d+A\u001b\[0J|\n)/)) {
    // oxlint-disable-next-line no-control-regex -- see above
    const up = /^\u001b\[(\d+)A/.exec(part);
    if (up !== null) lines.splice(lines.length - 1 - Number(up[1]), Infinity, "");
    else if (part === "\n") lines.push("");
    else lines.push((lines.pop() ?? "") + part);
  }
  return lines;
}
