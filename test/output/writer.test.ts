import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/render/redact.ts";
import { Writer } from "../../src/render/terminal.ts";
import { screen, terminalFor } from "./screen.ts";

describe("the writer", () => {
  test("parts results from all else", () => {
    const { writer, stdout, stderr } = screen();
    writer.text("plan\n");
    writer.note("reading\n");
    writer.document("{}\n");
    expect(stdout()).toBe("plan\n{}\n");
    expect(stderr()).toBe("reading\n");
  });

  test("redacts and disarms whatever goes out", () => {
    const { writer, stdout, stderr } = screen({ secrets: ["hunter2!pass"], live: true });
    writer.text("a hunter2!pass \u001b[2J\n::error::x\n");
    writer.note("b hunter2!pass \u009b\n");
    writer.status(["c hunter2!pass"]);
    expect(stdout()).toBe("a (sensitive) \\u001b[2J\n: :error::x\n");
    expect(stderr()).toBe("b (sensitive) \\u009b\nc (sensitive)\n");
  });

  test("leaves documents as they are, but for secrets", () => {
    const { writer, stdout } = screen({ secrets: ["hunter2!pass", "1234", "changes"] });
    writer.document('::notice::{"changes":1234,"x":"hunter2!pass"}\n');
    expect(stdout()).toBe('::notice::{"changes":1234,"x":"(sensitive)"}\n');
  });

  test("takes nothing but words out of markup", () => {
    const { writer, stdout } = screen({ secrets: ["plan -->", "```diff\n", "hunter2-pass"] });
    writer.document("<!-- plan -->\n```diff\n- testCase.shop.HUNTER2-pass\n```\n", true);
    expect(stdout()).toBe("<!-- plan -->\n```diff\n- testCase.shop.(sensitive)\n```\n");
  });

  test("takes nothing out of JSON but pieces of its strings", () => {
    const { writer, stdout } = screen({ secrets: ['a", "harmful": true, "b": "c', 'say "hunter2"'] });
    writer.document('{"x":"a", "harmful": true, "b": "c","y":"say \\"hunter2\\" \\\\"}\n');
    expect(stdout()).toBe('{"x":"a", "harmful": true, "b": "c","y":"(sensitive) \\\\"}\n');
  });

  test("takes no lines out of a result for people", () => {
    const { writer, stdout, stderr } = screen({ secrets: ["one\n  - two\n  ~ three"] });
    writer.text("~ one\n  - two\n  ~ three\n");
    writer.note("~ one\n  - two\n  ~ three\n");
    expect(stdout()).toBe("~ one\n  - two\n  ~ three\n");
    expect(stderr()).toBe("~ (sensitive)\n");
  });

  test("draws the status over, and around other output", () => {
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

  test("cuts a status line that would break in two, by what it takes on the screen", () => {
    const { writer, stderr } = screen({ live: true });
    writer.status(["語".repeat(50)]);
    expect(stderr()).toBe(`${"語".repeat(29)}…\n`);
  });

  test("draws no status where it cannot", () => {
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

describe("what cannot be written", () => {
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
  test("because its reader has gone is no error", async () => {
    expect(await failuresOf("EPIPE")).toEqual([]);
  });
  test("because the disk is full is one, told once", async () => {
    expect(await failuresOf("ENOSPC")).toEqual(["ENOSPC"]);
  });
});
