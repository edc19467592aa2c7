import { RESERVED_KEYS } from "../../manifest/shape.ts";
import { compareText } from "../../model/address.ts";
import { countValues } from "../../model/collections.ts";

/**
 * Makes a key from a name, in lower case because some file systems ignore case; empty if no letter
 * or digit is usable.
 */
export function slug(name: string): string {
  const plain = name
    .replaceAll(/\p{M}/gu, "")
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæœøđłıþ]/g, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(/['’]/g, "");
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== "");
  // Keys that begin with `x-` are not resources in a manifest.
  const key = words.join("-").replace(/^x-/, "x_");
  if (key.length <= LONGEST) return key;
  const cut = key.slice(0, LONGEST);
  const lastWord = cut.lastIndexOf("-");
  return lastWord > LONGEST / 2 ? cut.slice(0, lastWord) : cut;
}

/** Maximum length of a readable name, so that an address fits on a line. */
const LONGEST = 60;

/** Letters that Unicode does not decompose into a plain letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ł: "l",
  ı: "i",
  þ: "th",
};

/**
 * Returns a key for each request, by id. If several want the same key, or it is taken, each gets a
 * piece of its id and none the plain name, so keys depend on live values and not on their order.
 * The noun replaces a missing name.
 */
export function chooseKeys(
  requests: readonly {
    readonly id: string;
    readonly name: string | undefined;
    readonly noun: string;
  }[],
  isTaken: (key: string) => boolean = () => false,
) {
  const used = new Set<string>(RESERVED_KEYS);
  const isFree = (key: string): boolean => !used.has(key) && !isTaken(key);
  const counted = new Map<string, number>();
  const bases = requests.map((request) => ({ ...request, base: slug(request.name ?? "") }));
  const counts = countValues(bases.map(({ base }) => base));
  const plain = bases.filter(({ base }) => base !== "" && counts.get(base) === 1 && isFree(base));
  const keys = new Map(plain.map(({ id, base }) => [id, base]));
  for (const base of keys.values()) used.add(base);
  for (const { id, noun, base } of bases.toSorted((a, b) => compareText(a.id, b.id))) {
    if (keys.has(id)) continue;
    const key = withId(base === "" ? noun : base, id, isFree, counted);
    keys.set(id, key);
    used.add(key);
  }
  return keys;
}

/**
 * Adds the shortest beginning of the id that makes the key unique; if even the whole id does not,
 * adds a number.
 */
function withId(
  base: string,
  id: string,
  isFree: (key: string) => boolean,
  counted: Map<string, number>,
) {
  const start = base === "x" ? "x_" : base;
  const tail = id.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  for (const length of [4, 8, 12, tail.length]) {
    const key = [start, tail.slice(0, length)].filter((part) => part !== "").join("-");
    if (isFree(key)) return key;
  }
  for (let count = counted.get(start) ?? 2; ; counted.set(start, ++count))
    if (isFree(`${start}-${count}`)) return `${start}-${count}`;
}
