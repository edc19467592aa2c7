import { EXIT } from "../cli/options.ts";
import { table } from "./table.ts";

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "done",
  failed:
    "a call or change failed, the plan has errors, a policy or an answer refused it, the state is unreadable",
  changes: "there are changes (`--detailed-exitcode`)",
  invalid: "the manifests or the arguments are wrong",
  stale: "the saved plan is stale",
  locked: "the state is locked",
  unreachable: "the service refused the key or cannot be reached",
  interrupted: "interrupted",
};

/** The exit codes as a table; the same stands in the README. */
export function exitCodeTable(): string {
  const meanings = new Map(Object.entries(MEANINGS));
  const rows = Object.entries(EXIT).map(([name, code]) => [String(code), meanings.get(name) ?? ""]);
  return table(["code", "meaning"], rows);
}
