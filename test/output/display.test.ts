import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDisplay } from "../../src/commands/apply.ts";
import { PLAIN } from "../../src/render/style.ts";
import { screen } from "./screen.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a live display pauses during a prompt and continues afterwards", async () => {
  const { writer, stderr } = screen({ live: true });
  const shown = {
    writer,
    style: { stdout: PLAIN, stderr: PLAIN },
    live: true,
    level: "info",
  } as const;
  const display = openDisplay(shown, () => Date.now());
  vi.advanceTimersByTime(1000);
  await display.aside(async () => {
    const before = stderr();
    vi.advanceTimersByTime(10_000);
    expect(stderr()).toBe(before);
  });
  const answered = stderr();
  vi.advanceTimersByTime(1000);
  expect(stderr().length).toBeGreaterThan(answered.length);
  display.end();
});
