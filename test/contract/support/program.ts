// The program `tasc` for scripts: it runs each command line in the process of the test.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Env, needsProcess, runHere } from "./here.ts";

/** The executable under test. TASC_EXECUTABLE can name another build. */
export const EXECUTABLE = resolve(process.env["TASC_EXECUTABLE"] ?? "dist/tasc.cjs");

/** What `scriptOf` sends: a word of its own, the folder, the arguments and their number, variables. */
interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Env;
}

/**
 * Asks for the result of a command line and gives it as its own. What shows a process is run as one.
 */
const scriptOf = (port: number, word: string): string => `#!/bin/bash
if [ "\${0##*/}" = node ]; then
  case "$1" in */tasc.cjs) test -e "$1" && shift ;; *) false ;; esac || exec "${process.execPath}" "$@"
fi
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' ${word} "$PWD" $# "$@"; env -0; printf '\\0'; } >&3
read -r code out err <&3
test "$code" != process || exec "${process.execPath}" "${EXECUTABLE}" "$@" 3>&-
test "$out" = 0 || head -c "$out" <&3
test "$err" = 0 || head -c "$err" <&3 >&2
exit "$code"
`;

/**
 * Returns a folder for the PATH of scripts, with the programs `tasc`, and `node` for scripts that
 * run the file `tasc.cjs` by it. A test that waits for a script without giving way to other work,
 * as with `execFileSync`, would wait forever.
 */
export async function programs(): Promise<string> {
  return await (written ??= write());
}

/** The programs of a worker. */
let written: Promise<string> | undefined;

async function write(): Promise<string> {
  const word = randomUUID();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    void callFrom(socket, word)
      .then(resultOf)
      .then(
        (answer) => socket.end(answer),
        (error: unknown) => socket.end(answerOf(70, "", String(error))),
      );
  });
  server.unref().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  const folder = mkdtempSync(join(tmpdir(), "tasc-programs-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["tasc", "node"]) {
    writeFileSync(join(folder, name), scriptOf(address.port, word));
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

async function resultOf({ args, cwd, env }: Call): Promise<Buffer> {
  if (needsProcess(args, env)) return Buffer.from("process\n");
  const { code, stdout, stderr } = await runHere(args, cwd, env);
  return answerOf(code, stdout, stderr);
}

function answerOf(code: number, stdout: string, stderr: string): Buffer {
  const [out, err] = [Buffer.from(stdout), Buffer.from(stderr)];
  return Buffer.concat([Buffer.from(`${code} ${out.length} ${err.length}\n`), out, err]);
}

/** Reads a call, which ends with an empty variable. */
function callFrom(socket: Socket, word: string): Promise<Call> {
  let text = "";
  return new Promise((done, fail) => {
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const [sent, cwd = "", count, ...rest] = text.split("\0");
      if (sent !== word) return fail(new Error("not a call of this test"));
      const [args, set] = [rest.slice(0, Number(count)), rest.slice(Number(count))];
      const end = set.indexOf("");
      // The text after the last end mark is empty in every part.
      if (end === -1 || end === set.length - 1) return undefined;
      const pairs = set.slice(0, end).map((one): [string, string] => {
        const at = one.indexOf("=");
        return [one.slice(0, at), one.slice(at + 1)];
      });
      return done({ args, cwd, env: Object.fromEntries(pairs) });
    });
    socket.on("close", () => fail(new Error("the script ended")));
  });
}
