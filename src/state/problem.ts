import { type Diagnostic, oneLine, warning, wordOf } from "../model/diagnostic.ts";
import { type FailureReason, TascError, codeOf } from "../model/error.ts";
import { defined } from "../model/json.ts";
import type { LockInfo, StateKey } from "./backend.ts";

type Kind = keyof typeof WORDS;
/** A problem of state. `where` is the file, the row or the address, without credentials. */
export type StateProblem<K extends Kind = Kind> = {
  [P in K]: { readonly kind: P } & ((typeof WORDS)[P] extends (of: infer A) => unknown ? A : never);
}[K];

const REASONS: Partial<Record<Kind, FailureReason>> = {
  misconfigured: "invalid",
  locked: "locked",
  interrupted: "interrupted",
};

/**
 * Stops a command, or an apply that cannot record what it is about to send, and so must not send
 * it.
 */
export class StateFailure extends TascError {
  readonly problem: StateProblem;

  constructor(problem: StateProblem) {
    super(REASONS[problem.kind] ?? "failed", [explainProblem(problem)]);
    this.problem = problem;
  }
}

export function locked(key: StateKey, holder?: LockInfo): StateFailure {
  return new StateFailure({ kind: "locked", key, ...defined({ holder }) });
}

export function lockLost(key: StateKey, reason: string): StateFailure {
  return new StateFailure({ kind: "lock-lost", key, reason });
}

/** Returns the problem of an error, if it is of this kind. @throws the error otherwise */
export function problemOf<K extends Kind>(
  error: unknown,
  kind: K,
): Extract<StateProblem, { kind: K }> {
  const isOfKind = (problem: StateProblem): problem is Extract<StateProblem, { kind: K }> =>
    problem.kind === kind;
  if (error instanceof StateFailure && isOfKind(error.problem)) return error.problem;
  throw error;
}

/**
 * Turns errors of files, a database or a server into a StateFailure. Other errors are mistakes in
 * tasc and are rethrown.
 */
export async function attempt<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof StateFailure || !(error instanceof TascError || code !== undefined))
      throw error;
    // A refused connection may have no message, because it is several errors: one for each address.
    const { message } = error instanceof Error ? error : { message: "" };
    const next = adviceFor(code);
    throw new StateFailure({ kind: "failed", where, reason: message || String(code), next });
  }
}

/** What to do, by the code of Node or TLS, or by the SQLSTATE of PostgreSQL. */
const ADVICE: readonly (readonly [codes: RegExp, next: string])[] = [
  [/^28P01$/, "Check the user and the password in state.url."],
  [
    /^28000$/,
    "Check the user in state.url, and whether the server's pg_hba.conf admits it from here with this sslmode.",
  ],
  [/^3D000$/, "Correct the name of the database in state.url, or create it."],
  [
    /^42501$/,
    "Grant the role in state.url what it lacks; docs/how-to/operate-postgres.md lists the rights.",
  ],
  [/^25006$/, "state.url must lead to a server that accepts writes, not to a read-only replica."],
  [/^53300$/, "The database has no connection left: close others, or raise max_connections."],
  [/^(?:ENOSPC|EDQUOT|53100)$/, "Free space there, and run tasc again."],
  [/^(?:EACCES|EPERM)$/, "Give the user that runs tasc the right to read and write there."],
  [/^EROFS$/, "This file system is read-only: keep state in another place."],
  [/^(?:ENOENT|ENOTDIR|EISDIR|ELOOP)$/, "Check this path: every part but the last is a folder."],
  [/^(?:EMFILE|ENFILE)$/, "Raise the limit of open files (ulimit -n)."],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, "Check the host in the address of state, and DNS here."],
  [/^ECONNREFUSED$/, "Check host and port in the address of state, and that the server runs."],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    "The address of state must have a name that the server's certificate is for.",
  ],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, "Renew the server's certificate, or correct the clock."],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_|^CERT_|^INVALID_CA$/,
    "For a certificate of your own authority, name its file: sslrootcert in state.url for PostgreSQL, NODE_EXTRA_CA_CERTS for an http server.",
  ],
  [
    /^TLS_NOT_OFFERED$/,
    "Turn on TLS at the server. Where plain text is intended, write sslmode=disable in state.url.",
  ],
  [/^(?:EPROTO|ERR_SSL_\w+)$/, "Check that the server speaks TLS on this port."],
  [
    /^(?:CONNECTION_LOST|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|57P\d\d|08\w{3}|UND_ERR_\w+)$/,
    "Check that the server runs and that network, VPN and firewall let tasc reach it, and run tasc again.",
  ],
];

/** Returns what to do about a failure with this code. */
export function adviceFor(code = ""): string {
  const found = ADVICE.find(([codes]) => codes.test(code));
  return found?.[1] ?? "Check that it exists, and that tasc can read and write it.";
}

export function explainProblem<K extends Kind>(problem: StateProblem<K>): Diagnostic {
  const [summary, why, ...commands] = EXPLAINED[problem.kind](problem);
  const detail = [oneLine(why), ...commands].join("\n  ");
  return { severity: "error", code: `state-${problem.kind}`, summary, detail };
}

export function explainTakeover({ stage, target }: StateKey, from: LockInfo): Diagnostic {
  return warning(
    "state-lock-taken-over",
    `The lock of target "${target}" in stage "${stage}" was left by a run that has ended; it was taken over`,
    `${describeHolder(from)} That run was interrupted before it could release the lock. Its records are kept, and tasc now checks the requests it had in flight.`,
  );
}

/**
 * Returns the warning that state includes what an earlier run could not save.
 * @param file where it was kept
 */
export function explainTakenIn({ stage, target }: StateKey, file: string): Diagnostic {
  return warning(
    "state-errored-taken-in",
    `State of target "${target}" in stage "${stage}" now includes what an earlier run could not save`,
    `It was kept in ${file}, which has been removed.`,
  );
}

export function explainWaiting(
  { stage, target }: StateKey,
  holder: LockInfo | undefined,
): Diagnostic {
  const summary = `Waiting for the lock of target "${target}" in stage "${stage}"`;
  return warning("state-lock-waiting", summary, describeHolder(holder));
}

const REBUILD =
  "Or move it out of the way: the next apply then matches its resources by name again, sends write-only fields once more, and holds batch generations until you say whether they ran.";

type At = { readonly where: string };
type Why = { readonly reason: string };
/** What to do, in whole sentences. */
type Next = { readonly next: string };
type Of = { readonly key: StateKey };

/** The messages: the problem, why it matters, and what to do. */
const WORDS = {
  /** Not a document of ours, or a damaged one. */
  corrupt: ({ where, reason }: At & Why) => [
    "State cannot be read",
    `${where}: ${reason}. It was not modified, because overwriting it would lose what can still be saved. Restore it from git or a backup. ${REBUILD}`,
  ],
  /** Git left its conflict markers, or the lines of both sides. */
  conflicted: ({ where, line }: At & { readonly line: number }) => [
    "State contains an unresolved merge",
    `${where}:${line}: git could not merge both sides, or kept a line of each. Keep one line for each binding, the one whose id the service still lists, and remove git's markers. ${REBUILD}`,
  ],
  newer: ({ where, version, understood }: At & Record<"version" | "understood", number>) => [
    "State was written by a newer version of tasc",
    `${where} has version ${version}; this tasc supports versions up to ${understood}. Use the version of tasc that wrote it, or a newer one.`,
  ],
  misplaced: ({ where, expected, found }: At & Record<"expected" | "found", StateKey>) => [
    "State belongs to another stage or target",
    `${where} should contain ${nameOf(expected)} but contains ${nameOf(found)}. With its ids, tasc would change the wrong resources. Put the right document there, or give each stage and target its own place. ${REBUILD}`,
  ],
  "other-service": ({ where, expected, found }: At & Record<"expected" | "found", string>) => [
    "State was created for a different service",
    `${where} was created for ${found}; you are using ${expected}. If the address is wrong, correct service.baseUrl or the variable behind it. If the service has moved, change "service" in the document. If it is a different service, give it its own stage. ${REBUILD}`,
  ],
  /** A journal of an interrupted run, whose document has been replaced since. */
  "stranded-journal": ({ where, journal }: At & { readonly journal: string }) => [
    "An interrupted run left changes that no longer match its state",
    `${journal} contains what that run recorded, on top of a ${where} that has been replaced since, for example by git. Ignoring it could create resources twice. Restore the document that was there when the run was interrupted (git stash, git checkout), run \`tasc apply\`, which completes it, and then merge the other version. Or remove ${journal} if nothing of that run matters.`,
  ],
  /**
   * `holder` is absent if the backend does not know it. A server or a file may contain any text as
   * a key or a lock's id.
   */
  locked: ({ key, holder }: Of & { readonly holder?: LockInfo }) => [
    `Target "${key.target}" in stage "${key.stage}" is locked`,
    `${describeHolder(holder)} Wait for it, for example with --lock-timeout 10m. If you are sure that it is no longer running:`,
    `tasc state unlock ${wordOf(key.target, "TARGET")} ${wordOf(holder?.id ?? "", "")}`.trim() +
      ` --stage ${key.stage}`,
  ],
  "lock-lost": ({ key, reason }: Of & Why) => [
    `The lock of target "${key.target}" in stage "${key.stage}" was lost during the run`,
    `${sentence(reason)} Nothing was sent or written after that, so that two runs do not overwrite each other. What was saved before is kept. Run tasc again: it checks the requests that were in flight.`,
  ],
  /** Something else wrote the document after it was read, so nothing was written. */
  changed: ({ where }: At) => [
    "State was changed by something else during the run",
    `${where} is not what this run read, although its lock is held: a tool or a person wrote it. It was not overwritten. Run tasc again: it starts from the current state.`,
  ],
  /** The file system, the database or the server failed. */
  failed: ({ where, reason, next }: At & Why & Next) => [
    "State cannot be reached",
    `${where}: ${sentence(reason)} Without it, tasc does not know what it has created. ${next}`,
  ],
  /** Another role could run code with our rights, e.g. by a trigger. */
  "foreign-schema": ({ where, reason }: At & Why) => [
    "The tables of state belong to another role",
    `${where}: ${sentence(reason)} Nothing was read or written, because the owner of a table can run code with the rights of everybody who uses it.`,
  ],
  interrupted: () => ["Interrupted while waiting for a lock", "Nothing was changed."],
  misconfigured: ({ reason }: Why) => ['The "state" section of tasc.yaml is wrong', `${reason}.`],
} satisfies Record<
  string,
  (problem: never) => [summary: string, detail: string, ...commands: string[]]
>;
const EXPLAINED: {
  readonly [K in Kind]: (problem: StateProblem<K>) => readonly [string, string, ...string[]];
} = WORDS;

export function describeHolder(holder: LockInfo | undefined): string {
  if (holder === undefined) return "The server does not say who holds it.";
  const process = holder.process === undefined ? "" : `, process ${holder.process.pid}`;
  const folder = holder.folder === undefined ? "" : ` in ${holder.folder}`;
  const job = holder.job === undefined ? "" : ` CI job: ${holder.job}`;
  return oneLine(
    `Held by ${holder.who}${process}${folder}, since ${holder.since}, for: ${holder.why}.${job} Lock id: ${holder.id}.`,
  );
}

function nameOf({ stage, target }: StateKey): string {
  return `target "${target}" of stage "${stage}"`;
}

function sentence(text: string): string {
  const full = /[.!?]$/.test(text) ? text : `${text}.`;
  return full.charAt(0).toUpperCase() + full.slice(1);
}
