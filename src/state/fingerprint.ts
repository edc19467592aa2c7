import { Buffer } from "node:buffer";
import { createHmac, hash, hkdfSync, scrypt, scryptSync } from "node:crypto";
import { sortedTexts } from "../model/collections.ts";
import type { Json } from "../model/json.ts";
import { isRecord } from "../model/shape.ts";
import type { Fingerprint } from "../model/state.ts";
import type { Secret } from "../model/value.ts";

/*
 * State must show whether a value is the one last written, without containing it, and many values are easy to guess. So a
 * fingerprint is a keyed digest: the file alone does not allow testing a guess. The key itself can be tested against
 * `keyCheck`, so it is derived with scrypt, which makes each guess cost tens of milliseconds; a run does that once, and only
 * if it needs a digest. The stage is part of the salt: no digest of one stage equals one of another.
 *
 * A digest has 96 bits. Only a second preimage would do harm, and searching for one needs the key.
 */

const KEY_BYTES = 32;
const FINGERPRINT_BYTES = 12;
/** In base64url. */
const FINGERPRINT_LENGTH = (FINGERPRINT_BYTES / 3) * 4;
const SCRYPT = { N: 2 ** 14, r: 8, p: 1 };

/**
 * Creates a stage's fingerprinter.
 * @throws TypeError if the secret is empty, because that key is easy to guess
 */
export function createFingerprinter(
  secret: Secret,
  stage: string,
  source: "apiKey" | "fingerprintKey" = "apiKey",
) {
  if (secret.reveal() === "") throw new TypeError("a fingerprint key must not be empty");
  let own: ReturnType<typeof keepKeys> | undefined;
  const keys = () =>
    (own ??=
      derived.get(secret)?.get(stage) ??
      keepKeys(secret, stage, scryptSync(secret.reveal(), saltOf(stage), KEY_BYTES, SCRYPT)));
  return {
    /** Which setting the key is from, for messages. */
    source,
    /** Equal for two fingerprinters exactly if their keys and stages are equal. */
    get keyCheck(): string {
      return keys().keyCheck;
    },
    /**
     * Returns a fingerprint; the order of keys does not matter. `context`, e.g. an address and a
     * field name, distinguishes equal values. Its length comes first, so that its end and the start
     * of the value cannot be confused.
     */
    of: (context: string, value: Json): Fingerprint =>
      keys().digest(`${context.length}:${context}${canonicalJson(value)}`),
    /** Returns an HMAC, which proves that the writer of one of tasc's files had the key. */
    seal: (text: string): string =>
      createHmac("sha256", keys().sealKey).update(text).digest("base64url"),
  };
}

/** Keys by secret and stage. They are freed together with the secret. */
const derived = new WeakMap<Secret, Map<string, ReturnType<typeof keepKeys>>>();

/**
 * Derives the keys in the background. A call that needs a key earlier derives it itself, and blocks
 * meanwhile.
 */
export async function deriveKeys(secret: Secret, stage: string): Promise<void> {
  if (derived.get(secret)?.has(stage) === true) return;
  const strong = await new Promise<Buffer>((done, failed) =>
    scrypt(secret.reveal(), saltOf(stage), KEY_BYTES, SCRYPT, (error, key) =>
      error === null ? done(key) : failed(error),
    ),
  );
  keepKeys(secret, stage, strong);
}

function saltOf(stage: string): string {
  return `tasc state 2\0${stage}`;
}

function keepKeys(secret: Secret, stage: string, strong: Buffer) {
  const keys = {
    digest: digester(expand(strong, "fingerprint", KEY_BYTES)),
    sealKey: expand(strong, "seal", KEY_BYTES),
    keyCheck: expand(strong, "key check", FINGERPRINT_BYTES).toString("base64url"),
  };
  const byStage = derived.get(secret) ?? new Map<string, typeof keys>();
  derived.set(secret, byStage.set(stage, keys));
  return keys;
}

/** Derives a key for one purpose. It reveals nothing about keys for other purposes. */
function expand(strong: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", strong, "tasc state", `tasc state 2: ${purpose}`, bytes));
}

/** The block size of SHA-256, in bytes. */
const BLOCK = 64;

/**
 * Returns an HMAC-SHA-256 (RFC 2104) in two steps: `createHmac` takes several times as long, and a
 * plan makes thousands.
 */
function digester(key: Buffer): (content: string) => Fingerprint {
  const padded = (byte: number): Uint8Array =>
    Uint8Array.from({ length: BLOCK }, (_, at) => byte ^ (key[at] ?? 0));
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(KEY_BYTES)]);
  let inner = Buffer.concat([padded(0x36), Buffer.alloc(4096)]);
  return (content) => {
    // A character takes at most three bytes.
    const most = BLOCK + 3 * content.length;
    if (inner.length < most) inner = Buffer.concat([inner], 2 * most);
    const end = BLOCK + inner.write(content, BLOCK);
    outer.write(hash("sha256", inner.subarray(0, end), "binary"), BLOCK, "binary");
    return hash("sha256", outer, "base64url").slice(0, FINGERPRINT_LENGTH);
  };
}

/**
 * Returns the canonical JSON of a value: no white space, keys sorted by code unit, and no null for
 * numbers too large for JSON. Two values have the same text exactly if `sameJson` reports them as
 * equal.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  let members = "";
  for (const name of sortedTexts(Object.keys(value))) {
    const part = value[name];
    if (part === undefined) continue;
    members += `${members === "" ? "" : ","}${quoted(name)}:${canonicalJson(part)}`;
  }
  return `{${members}}`;
}

/**
 * Quotes the name of a member. Manifests have few, and to quote each again took a third of the time
 * of a record; those of headers and options may be any, so not all are kept.
 */
function quoted(name: string): string {
  const known = QUOTED.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (QUOTED.size < MOST_QUOTED) QUOTED.set(name, text);
  return text;
}

const QUOTED = new Map<string, string>();
const MOST_QUOTED = 1000;
