import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../library/package.ts";
import { type Block, blocksOf } from "./page.ts";

const EXECUTABLE = resolve(process.env["TASC_EXECUTABLE"] ?? "dist/tasc.cjs");
const folder = mkdtempSync(join(tmpdir(), "tasc-tutorial-"));
const bin = join(folder, "bin");
const project = join(folder, "project");
const servers: { kill: () => unknown }[] = [];
afterAll(() => {
  for (const server of servers) server.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts what the page runs in a second terminal, on a port of its own, and gives its address. */
async function start(command: string, path: string): Promise<string> {
  const [program = "", ...args] = command.trim().split(" ");
  const child = spawn(program, [...args, "--port", "0"], { cwd: project, env: { PATH: path, HOME: folder } });
  servers.push(child);
  return new Promise((found, fail) => {
    let said = "";
    child.once("exit", () => fail(new Error(`it ended:\n${said}`)));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const [address] = /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(said) ?? [];
        if (address !== undefined) found(address);
      });
  });
}

test("the tutorial goes as it says", async () => {
  mkdirSync(bin);
  mkdirSync(project);
  writeFileSync(join(bin, "tasc"), `#!/bin/sh\nexec "${process.execPath}" "${EXECUTABLE}" "$@"\n`);
  chmodSync(join(bin, "tasc"), 0o755);
  const path = [bin, process.env["PATH"]].join(delimiter);
  const env: Record<string, string> = { PATH: path };
  const exported: string[] = [];
  let output = "";
  let commands = 0;
  const play = async ({ language, mark, text, line }: Block): Promise<void> => {
    const where = `docs/tutorial.md:${line}`;
    if (mark.startsWith("file=")) {
      const file = join(project, mark.slice("file=".length));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    } else if (mark === "background") {
      env["TASC_BASE_URL"] = await start(text, path);
    } else if (language === "sh") {
      const ran = await run("bash", ["-e", "-c", [...exported, text].join("\n")], project, env);
      output = ran.output;
      commands += text.trim().split("\n").length;
      expect(ran.code, `${where}\n${output}`).toBe(Number(/^exit=(\d+)$/.exec(mark)?.[1] ?? 0));
      exported.push(...text.split("\n").filter((command) => command.startsWith("export ")));
    } else if (language === "text") {
      for (const wanted of text.trimEnd().split("\n")) expect(output, where).toContain(wanted);
    } else {
      throw new Error(`${where}: nobody runs or checks this block`);
    }
  };
  for (const block of blocksOf("docs/tutorial.md")) await play(block);
  expect(commands).toBeGreaterThan(15);
});
