import { Buffer } from "node:buffer";
import { type KeyObject, createHmac, createSecretKey, hkdfSync, scrypt, scryptSync } from "node:crypto";
import { compareText } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { Fingerprint } from "../model/state.ts";
import type { Secret } from "../model/value.ts";

/*
 * State must tell whether a value is still the one last written without holding the value, and many values are
 * easy to guess (a status, a user name, a short password). So a fingerprint is a keyed digest: who has the file alone
 * can test no guess. The key derives from the stage's API key, which whoever applies has anyway, or from
 * `state.fingerprintKey`.
 *
 * The key itself can be tested against `keyCheck` by whoever has the file, so it is derived with scrypt, which makes
 * each guess cost tens of milliseconds. That takes as long here, so it is done once in a run, and only when a digest
 * is needed. The stage is part of the salt: no digest of one stage equals one of another.
 *
 * 96 bits keep a document of many fingerprints small. Only a second preimage would do harm (a changed value
 * taken for unchanged), and that is a matter of chance in 2^96, for nobody without the key can search for one.
 */

const KEY_BYTES = 32;
const FINGERPRINT_BYTES = 12;
const SCRYPT = { N: 2 ** 14, r: 8, p: 1 };

/** Makes the keyed digests that state keeps in place of values. */
export interface Fingerprinter {
  /** Equal for two fingerprinters exactly when their keys and stages are. */
  readonly keyCheck: string;
  /**
   * 16 characters of base64url. The order of an object's keys does not count. `context`, such as an address
   * with a field's name, makes equal values in different places have different fingerprints.
   */
  readonly of: (context: string, value: Json) => Fingerprint;
  /** Proves that whoever wrote a file of tasc's own had the key. */
  readonly seal: (text: string) => string;
}

/** @throws TypeError if the secret is empty: that key anybody could guess. */
export function createFingerprinter(secret: Secret, stage: string): Fingerprinter {
  if (secret.reveal() === "") throw new TypeError("a fingerprint key must not be empty");
  const known = new Map<string, Fingerprint>();
  return {
    get keyCheck() {
      return derivedKeys(secret, stage).keyCheck;
    },
    of: (context, value) => {
      const content = contentOf(context, canonicalJson(value));
      const fingerprint = known.get(content) ?? digest(derivedKeys(secret, stage).key, content);
      if (content.length <= LONGEST_KNOWN && known.size < MOST_KNOWN) known.set(content, fingerprint);
      return fingerprint;
    },
    seal: (text) => createHmac("sha256", derivedKeys(secret, stage).sealKey).update(text).digest("base64url"),
  };
}

interface DerivedKeys {
  /** As a key object it is made ready once, which halves the time of a digest. */
  readonly key: KeyObject;
  readonly sealKey: KeyObject;
  readonly keyCheck: string;
}

/** By secret and stage; they go with the secret. */
const derived = new WeakMap<Secret, Map<string, DerivedKeys>>();

function derivedKeys(secret: Secret, stage: string): DerivedKeys {
  return (
    derived.get(secret)?.get(stage) ??
    keepKeys(secret, stage, scryptSync(secret.reveal(), saltOf(stage), KEY_BYTES, SCRYPT))
  );
}

/** Derives the keys beside other work: whoever needs one before waits for as long as it takes. */
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

function keepKeys(secret: Secret, stage: string, strong: Buffer): DerivedKeys {
  const keys = {
    key: createSecretKey(expand(strong, "fingerprint", KEY_BYTES)),
    sealKey: createSecretKey(expand(strong, "seal", KEY_BYTES)),
    keyCheck: expand(strong, "key check", FINGERPRINT_BYTES).toString("base64url"),
  };
  const byStage = derived.get(secret) ?? new Map<string, DerivedKeys>();
  derived.set(secret, byStage.set(stage, keys));
  return keys;
}

/** What is derived for one purpose tells nothing about what is derived for another. */
function expand(strong: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", strong, "tasc state", `tasc state 2: ${purpose}`, bytes));
}

/**
 * What a plan changes it asks for first, and an apply asks again for each call that it makes; between two answers of
 * the service a digest takes several times as long as one after another.
 */
const MOST_KNOWN = 10_000;
const LONGEST_KNOWN = 300;

/** The length in front keeps the end of the context and the start of the value apart. */
function contentOf(context: string, value: string): string {
  return `${context.length}:${context}${value}`;
}

function digest(key: KeyObject, content: string): Fingerprint {
  return createHmac("sha256", key).update(content).digest().toString("base64url", 0, FINGERPRINT_BYTES);
}

/**
 * The one JSON text of a value: no white space, an object's keys sorted by code unit, members that are undefined left out.
 * Two values have the same text exactly when `sameJson` calls them equal. Nearly all come with their keys in order.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null || isInOrder(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members: [string, unknown][] = Object.entries(value);
  const texts = members
    .filter(([, part]) => part !== undefined)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`);
  return `{${texts.join(",")}}`;
}

function isInOrder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let previous = "";
  for (const name of Object.keys(value)) {
    if (name < previous || !isInOrder(Reflect.get(value, name))) return false;
    previous = name;
  }
  return true;
}
