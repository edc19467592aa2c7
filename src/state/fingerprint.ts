import { Buffer } from "node:buffer";
import { type KeyObject, createHmac, createSecretKey, hkdfSync } from "node:crypto";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { Fingerprint } from "../model/state.ts";
import type { Secret } from "../model/value.ts";
import { canonicalJson } from "./document.ts";
import type { LockInfo, StateKey, StateProblem } from "./problem.ts";

/*
 * State must tell whether a value is still the one last written without holding the value, and many values are
 * easy to guess (a status, a user name, a short password). So a fingerprint is no plain digest but a keyed one:
 * who has the file alone can test no guess. The key derives from the stage's API key, which whoever applies has
 * anyway, or from `state.fingerprintKey`.
 *
 * 96 bits keep a document of many fingerprints small. Only a second preimage would do harm (a changed value
 * taken for unchanged), and that is a matter of chance in 2^96, for nobody without the key can search for one.
 */

const SALT = "tasc state";
const KEY_BYTES = 32;
const FINGERPRINT_BYTES = 12;

/** Makes the keyed digests that state keeps in place of values. */
export interface Fingerprinter {
  /** Equal for two fingerprinters exactly when their keys are; tells nothing else about the key. */
  readonly keyCheck: string;
  /**
   * 16 characters of base64url. The order of an object's keys does not count. `context`, such as an address
   * with a field's name, makes equal values in different places have different fingerprints.
   */
  readonly of: (context: string, value: Json) => Fingerprint;
}

/** @throws TypeError if the secret is empty: that key anybody could guess. */
export function createFingerprinter(secret: Secret): Fingerprinter {
  const text = secret.reveal();
  if (text === "") throw new TypeError("a fingerprint key must not be empty");
  // As a key object it is made ready once, which halves the time of a digest.
  const key = createSecretKey(derive(text, "fingerprint", KEY_BYTES));
  const known = new Map<string, Fingerprint>();
  return {
    keyCheck: derive(text, "key check", FINGERPRINT_BYTES).toString("base64url"),
    of: (context, value) => {
      const content = contentOf(context, canonicalJson(value));
      const fingerprint = known.get(content) ?? digest(key, content);
      if (content.length <= LONGEST_KNOWN && known.size < MOST_KNOWN) known.set(content, fingerprint);
      return fingerprint;
    },
  };
}

/**
 * What a plan changes it asks for first, and an apply asks again for each call that it makes; between two answers of
 * the service a digest takes several times as long as one after another.
 */
const MOST_KNOWN = 10_000;
const LONGEST_KNOWN = 300;

/** What is derived for one purpose tells nothing about what is derived for another. */
function derive(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, SALT, `tasc state 1: ${purpose}`, bytes));
}

/** The length in front keeps the end of the context and the start of the value apart. */
function contentOf(context: string, value: string): string {
  return `${context.length}:${context}${value}`;
}

function digest(key: KeyObject, content: string): Fingerprint {
  return createHmac("sha256", key).update(content).digest().toString("base64url", 0, FINGERPRINT_BYTES);
}

/** A problem for the person who must act: what is so, why it matters, what to do. */
export function explainProblem(problem: StateProblem): Diagnostic {
  return { severity: "error", code: `state-${problem.kind}`, ...words(problem) };
}

/** The word about a lock that was taken over. */
export function explainTakeover({ stage, target }: StateKey, from: LockInfo): Diagnostic {
  return {
    severity: "warning",
    code: "state-lock-taken-over",
    summary: `The lock of target "${target}" in stage "${stage}" was left by a run that has ended; it was taken over.`,
    detail: `${describeHolder(from)} That run was interrupted before it could free the lock. What it had recorded is kept; what became of the calls it had under way is found out now.`,
  };
}

interface Words {
  readonly summary: string;
  readonly detail: string;
}

const REBUILD =
  "Or move it out of the way: the next apply then finds its resources by name again, sends write-only fields once more, and holds batch generations until you say whether they ran.";

function words(problem: StateProblem): Words {
  switch (problem.kind) {
    case "corrupt":
      return {
        summary: "State cannot be read.",
        detail: `${problem.where}: ${problem.reason}. It is left as it is, since writing over it would lose what can still be saved. Restore it from git or a backup. ${REBUILD}`,
      };
    case "conflicted":
      return {
        summary: "State holds an unresolved merge.",
        detail: `${problem.where}:${problem.line}: git could not join both sides, or kept a line of each. Keep one line for each binding, the one whose id the service still lists, and remove git's markers. ${REBUILD}`,
      };
    case "newer":
      return {
        summary: "State was written by a later tasc.",
        detail: `${problem.where} has version ${problem.version}; this tasc understands up to ${problem.understood}. Writing it would lose what the later one keeps. Use that version of tasc, or a later one.`,
      };
    case "misplaced":
      return {
        summary: "State belongs to another stage or target.",
        detail: `${problem.where} should hold ${nameOf(problem.expected)} and holds ${nameOf(problem.found)}. With its ids, tasc would change the wrong resources. Put the right document there, or give each stage and target a place of its own. ${REBUILD}`,
      };
    case "other-service":
      return {
        summary: "State belongs to another service.",
        detail: `${problem.where} was written for ${problem.found}, and this run talks to ${problem.expected}. Ids of one service mean nothing to another. If the address is wrong, correct service.baseUrl or the variable behind it. If the same service has moved, change "service" in the document. If it is another service, give it a stage of its own. ${REBUILD}`,
      };
    case "stranded-journal":
      return {
        summary: "An interrupted run left changes that no longer fit its state.",
        detail: `${problem.journal} holds what that run recorded, on top of a ${problem.where} that has been replaced since, by git for example. Leaving it out could make resources twice. Restore the document that was there when the run was interrupted (git stash, git checkout), run tasc apply, which completes it, and then merge the other version. Or remove ${problem.journal} if nothing of that run matters.`,
      };
    case "locked":
      return {
        summary: `Target "${problem.key.target}" in stage "${problem.key.stage}" is locked.`,
        detail: `${describeHolder(problem.holder)} Wait for it, with --lock-timeout 10m for example. If you are sure that it no longer runs:\n  tasc state unlock ${problem.key.target} --stage ${problem.key.stage}`,
      };
    case "lock-lost":
      return {
        summary: `The lock of target "${problem.key.target}" in stage "${problem.key.stage}" was lost during the run.`,
        detail: `${sentence(problem.reason)} Nothing was written after that, so that two runs do not overwrite each other. What was saved before is kept. Run tasc again: it finds out what became of the calls under way.`,
      };
    case "changed":
      return {
        summary: "State was changed by something else during the run.",
        detail: `${problem.where} is no longer what this run read, although its lock is held: a tool or a person wrote it. It was not overwritten. Run tasc again: it starts from what is there now.`,
      };
    case "failed":
      return {
        summary: "State cannot be reached.",
        detail: `${problem.where}: ${sentence(problem.reason)} Without it tasc does not know what it has made. Check that it exists, that you may read and write it, and that there is room.`,
      };
    case "misconfigured":
      return {
        summary: 'The "state" section of the project does not fit its backend.',
        detail: `${problem.reason}.`,
      };
  }
}

/** Who holds a lock, since when, why and where, in sentences. */
export function describeHolder(holder: LockInfo | undefined): string {
  if (holder === undefined) return "It is not known who holds it.";
  const process = holder.process === undefined ? "" : `, process ${holder.process.pid}`;
  const folder = holder.folder === undefined ? "" : ` in ${holder.folder}`;
  const job = holder.job === undefined ? "" : ` CI job: ${holder.job}`;
  return `Held by ${holder.who}${process}${folder}, since ${holder.since}, for: ${holder.why}.${job}`;
}

function nameOf({ stage, target }: StateKey): string {
  return `target "${target}" of stage "${stage}"`;
}

function sentence(text: string): string {
  const full = /[.!?]$/.test(text) ? text : `${text}.`;
  return full.charAt(0).toUpperCase() + full.slice(1);
}
