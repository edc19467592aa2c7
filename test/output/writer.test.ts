import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/render/redact.ts";
import { Writer } from "../../src/render/terminal.ts";
import { screen, terminalFor } from "./screen.ts";

describe("the writer", () => {
  test("writes results to stdout and everything else to stderr", () => {
    const { writer, stdout, stderr } = screen();
    writer.text("plan\n");
    writer.note("reading\n");
    writer.document("{}\n");
    expect(stdout()).toBe("plan\n{}\n");
    expect(stderr()).toBe("reading\n");
  });

  test("redacts secrets and escapes controls in all output", () => {
    const { writer, stdout, stderr } = screen({ secrets: ["hunter2!pass"], live: true });
    writer.text("a hunter2!pass \u001b[2J\n::error::x\n");
    writer.note("b hunter2!pass \u009b\n");
    writer.status(["c hunter2!pass"]);
    expect(stdout()).toBe("a (sensitive) \\u001b[2J\n: :error::x\n");
    expect(stderr()).toBe("b (sensitive) \\u009b\nc (sensitive)\n");
  });

  test("changes nothing but secrets in documents", () => {
    const { writer, stdout } = screen({ secrets: ["hunter2!pass", "1234", "changes"] });
    writer.document('::notice::{"changes":1234,"x":"hunter2!pass"}\n');
    expect(stdout()).toBe('::notice::{"changes":1234,"x":"(sensitive)"}\n');
  });

  test("redacts words in markup, but not the markup itself", () => {
    const { writer, stdout } = screen({ secrets: ["plan -->", "```diff\n", "hunter2-pass"] });
    writer.document("<!-- plan -->\n```diff\n- testCase.shop.HUNTER2-pass\n```\n", true);
    expect(stdout()).toBe("<!-- plan -->\n```diff\n- testCase.shop.(sensitive)\n```\n");
  });

  test("redacts only parts of strings in JSON", () => {
    const { writer, stdout } = screen({
      secrets: ['a", "harmful": true, "b": "c', 'say "hunter2"'],
    });
    writer.document('{"x":"a", "harmful": true, "b": "c","y":"say \\"hunter2\\" \\\\"}\n');
    expect(stdout()).toBe('{"x":"a", "harmful": true, "b": "c","y":"(sensitive) \\\\"}\n');
  });

  test("keeps the lines of a text result, even if several lines match a secret", () => {
    const { writer, stdout, stderr } = screen({ secrets: ["one\n  - two\n  ~ three"] });
    writer.text("~ one\n  - two\n  ~ three\n");
    writer.note("~ one\n  - two\n  ~ three\n");
    expect(stdout()).toBe("~ one\n  - two\n  ~ three\n");
    expect(stderr()).toBe("~ (sensitive)\n");
  });

  test("redraws the status, also below other output", () => {
    const { writer, stderr } = screen({ live: true });
    writer.status(["one", "two"]);
    writer.note("note\n");
    writer.status(["three"]);
    writer.status([]);
    expect(stderr()).toBe(
      "one\ntwo\n" +
        "\r\u001b[2A\u001b[0Jnote\none\ntwo\n" +
        "\r\u001b[2A\u001b[0Jthree\n" +
        "\r\u001b[1A\u001b[0J",
    );
  });

  test("shortens a status line to the width of the screen", () => {
    const { writer, stderr } = screen({ live: true });
    writer.status(["語".repeat(50)]);
    expect(stderr()).toBe(`${"語".repeat(29)}…\n`);
  });

  test("prints no status without a terminal", () => {
    const { writer, stderr } = screen();
    writer.status(["one"]);
    expect(stderr()).toBe("");
  });
});

function broken(code: string): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error(code), { code }));
    },
  });
}

function writerTo(stdout: Writable, failed: (error: Error) => void): Writer {
  const terminal = terminalFor(false);
  return new Writer({
    stdout,
    stderr: broken("EPIPE"),
    terminals: { stdout: terminal, stderr: terminal },
    redactor: createRedactor([]),
    failed,
  });
}

describe("output that cannot be written", () => {
  async function failuresOf(code: string): Promise<readonly string[]> {
    const failures: string[] = [];
    const writer = writerTo(broken(code), (error) => failures.push(error.message));
    writer.text("a");
    writer.note("b");
    await setImmediate();
    writer.text("c");
    await setImmediate();
    return failures;
  }
  test("is not an error if its reader has closed the pipe", async () => {
    expect(await failuresOf("EPIPE")).toEqual([]);
  });
  test("is an error if the disk is full, and is reported once", async () => {
    expect(await failuresOf("ENOSPC")).toEqual(["ENOSPC"]);
  });
});
