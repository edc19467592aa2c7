import { EXIT } from "../cli/options.ts";
import { type World, realWorld } from "../cli/world.ts";
import type { Console } from "../commands/console.ts";
import type { Opened } from "../commands/opening.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { DiagnosticJson } from "../model/plan.ts";
import { diagnosticJson } from "../render/json.ts";
import { type Redactor, createRedactor, redactDiagnostic } from "../render/redact.ts";
import { PLAIN } from "../render/style.ts";
import { TascError } from "./error.ts";

/** A console that prints nothing and keeps what was said. */
export function silentConsole(secrets: readonly string[]): Console {
  return {
    writer: { text() {}, document() {}, note() {}, status() {} },
    redactor: createRedactor(secrets),
    style: { stdout: PLAIN, stderr: PLAIN },
    columns: 80,
    screen: undefined,
    live: false,
    level: "error",
    said: [],
    data() {},
    json() {},
    say() {},
  };
}

/** The outside world of a library's caller. */
export function libraryWorld(root: string, env: World["env"]): World {
  return { ...realWorld(), cwd: root, env };
}

export function publicDiagnostics(
  said: readonly Diagnostic[],
  redactor: Redactor,
): readonly DiagnosticJson[] {
  return said.map((diagnostic) => redactDiagnostic(diagnosticJson(diagnostic), redactor));
}

/** Does the work with a console of its own, and turns whatever is thrown into the library's error. */
export async function quietly<T>(opened: Opened, work: (opened: Opened) => Promise<T>): Promise<T> {
  const console = silentConsole(opened.project.secrets);
  try {
    return await work({ ...opened, console });
  } catch (error) {
    if (error instanceof TascError) throw error;
    const summary = error instanceof Error ? error.message : String(error);
    throw refusal(console, EXIT.failed, { severity: "error", code: "", summary, detail: "" });
  }
}

/** The library's error, with all that was said until now. */
export function refusal(
  { said, redactor }: Console,
  code: number,
  ...more: readonly Diagnostic[]
): TascError {
  return new TascError(code, publicDiagnostics([...said, ...more], redactor));
}
