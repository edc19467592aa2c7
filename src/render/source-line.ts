import { SENSITIVE } from "../model/value.ts";
import { safeLine } from "../output/safe.ts";
import type { DiagnosticView } from "./diagnostic-view.ts";

export interface SourceLine {
  readonly line: string;
  readonly beforeCaret: string;
}

/**
 * The line that a diagnostic is about. What may be a password that someone wrote in by mistake is not repeated in
 * a log: the error that forbids it must not be the one that spreads it.
 */
export function sourceLine(source: string, diagnostic: DiagnosticView): SourceLine | undefined {
  const text = source.split("\n")[(diagnostic.line ?? 0) - 1]?.replace(/\r$/, "");
  if (text === undefined || text.trim() === "") return undefined;
  return {
    line: untabbed(withoutSecrets(text, diagnostic)),
    beforeCaret: untabbed(text.slice(0, (diagnostic.column ?? 1) - 1)),
  };
}

function untabbed(text: string): string {
  return safeLine(text.replaceAll("\t", "  "));
}

/** A quoted value, or a bare one up to where a flow map goes on; a reference to a secret may be seen. */
const VALUE = String.raw`(?!["']?\$\{)(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s,}](?:[^,}]*[^\s,}])?)`;
const SECRET_PAIR = new RegExp(
  String.raw`\b((?:password|otpInitializerKey|apiKey|fingerprintKey)["']?\s*:\s*)${VALUE}`,
  "g",
);
const ANY_PAIR = new RegExp(String.raw`(:\s+)${VALUE}`, "g");

function withoutSecrets(text: string, { path }: DiagnosticView): string {
  return text.replace(path?.includes("additionalHeaderFields") ? ANY_PAIR : SECRET_PAIR, `$1${SENSITIVE}`);
}
