import { cached } from "../model/collections.ts";

export interface Pattern {
  readonly text: string;
  /** The canonical form of a short secret with its capitals: it matches only in its own case. */
  readonly exact?: string;
  /** Number of leading characters that the canonical form leaves out. */
  readonly lead?: number;
  /**
   * Alphabet of the encoding: only the beginning of a long encoded secret is searched for; this
   * matches the rest.
   */
  readonly tail?: RegExp;
}

const BASE = 0x5bd1e995;
/**
 * Number of characters that are compared one by one; the rest of a longer text is compared by its
 * hash.
 */
const COMPARED = 16;

/**
 * The offset of four characters within a pattern, the pattern's length, and `BASE` to the power of
 * that length.
 */
type Shape = { readonly offset: number; readonly length: number; readonly power: number };

const GRAM = 4;
/**
 * Each skipped position costs an entry for every pattern, so with many patterns no position is
 * skipped.
 */
const WIDEST_STEP = 16;
const MANY = 200;

/**
 * Searches for many patterns in one pass. It looks only at every n-th position, often enough to
 * find the shortest pattern. The four characters there give the possible lengths, and a hash gives
 * the pattern, so thousands take no longer.
 */
export class Search {
  readonly #step: number;
  readonly #shapes = new Map<number, Shape[]>();
  readonly #byHash = new Map<number, Pattern[]>();
  /**
   * Whether any pattern has four characters with this hash; the answer is "no" nearly everywhere.
   */
  readonly #filter = new Uint8Array(1 << 16);
  /**
   * Whether the first two of any such four are this pair. It is asked first, because reading a
   * character takes long.
   */
  readonly #pairs = new Uint8Array(1 << 16);

  constructor(patterns: readonly Pattern[]) {
    const shortest = patterns.reduce((least, { text }) => Math.min(least, text.length), Infinity);
    this.#step = patterns.length > MANY ? 1 : Math.min(WIDEST_STEP, shortest - GRAM + 1);
    for (const pattern of patterns) {
      const { length } = pattern.text;
      let [hash, power] = [0, 1];
      for (let at = 0; at < length; at++) {
        hash = (Math.imul(hash, BASE) + pattern.text.charCodeAt(at)) | 0;
        power = Math.imul(power, BASE);
      }
      const alike = cached<number, Pattern[]>(this.#byHash, hash, () => []);
      const known = alike.findIndex((one) => isSame(one, pattern));
      if (known === -1) alike.push(pattern);
      else alike[known] = pattern;
      for (let offset = 0; offset < this.#step; offset++) {
        const gram = gramAt(pattern.text, offset);
        const own = cached<number, Shape[]>(this.#shapes, gram, () => []);
        if (!own.some((one) => one.offset === offset && one.length === length))
          own.push({ offset, length, power });
        this.#filter[bucket(gram)] = 1;
        this.#pairs[pairAt(pattern.text, offset) & 0xffff] = 1;
      }
    }
    for (const own of this.#shapes.values()) own.sort((a, b) => b.length - a.length);
  }

  /** Whether `scan` may find anything; quick, and "no" for most texts. */
  mayFind(text: string): boolean {
    return this.#next(text, 0) < text.length;
  }

  scan(text: string, found: (start: number, end: number, pattern: Pattern) => void): void {
    const hashOf = hashing(text);
    let [from, reached] = [0, 0];
    for (let at = this.#next(text, 0); at < text.length; at = this.#next(text, at + this.#step)) {
      for (const { offset, length, power } of this.#shapes.get(gramAt(text, at)) ?? []) {
        const start = at - offset;
        const end = start + length;
        if (start < 0 || end > text.length) continue;
        for (const pattern of this.#byHash.get(hashOf(start, end, power)) ?? []) {
          // Skip a match within a longer one that starts at the same place: there may be thousands.
          if (start === from && end <= reached && !pattern.tail && !pattern.lead) continue;
          if (
            pattern.text.length !== length ||
            !text.startsWith(pattern.text.slice(0, COMPARED), start)
          )
            continue;
          found(start, end, pattern);
          if (pattern.exact === undefined) [from, reached] = [start, end];
        }
      }
    }
  }

  /**
   * Returns the next position that the filter lets pass, or the text's length. It calls nothing: a
   * page has millions of positions, and V8 is not to inline anything (context.ts).
   */
  #next(text: string, first: number): number {
    const filter = this.#filter;
    const pairs = this.#pairs;
    const step = this.#step;
    const end = text.length - GRAM;
    for (let at = first; at <= end; at += step) {
      const pair = (text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1);
      if (pairs[pair & 0xffff] === 0) continue;
      const gram = (pair << 16) ^ (text.charCodeAt(at + 2) << 8) ^ text.charCodeAt(at + 3);
      if (filter[Math.imul(gram, SPREAD) >>> 16] !== 0) return at;
    }
    return text.length;
  }
}

/** Whether two patterns find the same places in the same way. */
function isSame(one: Pattern, other: Pattern): boolean {
  return one.text === other.text && one.exact === other.exact && one.tail === other.tail;
}

/** Spreads the bits of four characters, of which the filter takes the upper half. */
const SPREAD = 0x9e3779b1;

function gramAt(text: string, at: number): number {
  return (pairAt(text, at) << 16) ^ pairAt(text, at + 2);
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1);
}

function bucket(start: number): number {
  return Math.imul(start, SPREAD) >>> 16;
}

/**
 * Returns a function that hashes pieces of a text, in time linear in the text in all: pieces are
 * hashed one by one until they have been as long as the text together, and then all prefixes at
 * once. Few pieces are asked for in most texts.
 */
function hashing(text: string): (start: number, end: number, power: number) => number {
  let left = text.length;
  let hashes: Int32Array | undefined;
  return (start, end, power) => {
    left -= end - start;
    if (left < 0) {
      hashes ??= hashesOf(text);
      return ((hashes[end] ?? 0) - Math.imul(hashes[start] ?? 0, power)) | 0;
    }
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
    return hash;
  };
}

/** Returns the hash of every prefix of the text; the hash of any piece follows from two of them. */
function hashesOf(text: string): Int32Array {
  const hashes = new Int32Array(text.length + 1);
  for (let at = 0, hash = 0; at < text.length; at++) {
    hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
    hashes[at + 1] = hash;
  }
  return hashes;
}
