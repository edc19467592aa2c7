import { compareText } from "../model/address.ts";
import { RESERVED_KEYS } from "../manifest/shape/patterns.ts";

/** Something live that needs a key. */
export interface Wish {
  readonly id: string;
  /** What it is called on the service, if anything. */
  readonly name: string | undefined;
  /** Begins the key of what has no name that a key could be made of: `case`. */
  readonly noun: string;
}

/** Room for a readable name; an address is to fit on a line. */
const LONGEST = 60;

/** Letters that Unicode does not take apart into a plain one and an accent. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["đ", "d"],
  ["ł", "l"],
  ["ı", "i"],
  ["þ", "th"],
]);

/**
 * A name as a key: lower case, so that two keys never differ in case alone and files named after them can stand side
 * by side anywhere. Empty where the name has no letter or digit that a key may hold.
 */
export function slug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæœøđłıþ]/g, (letter) => LETTERS.get(letter) ?? letter)
    .replaceAll(/['’]/g, "");
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== "");
  return shortened(words.join("-"));
}

function shortened(text: string): string {
  if (text.length <= LONGEST) return text;
  const cut = text.slice(0, LONGEST);
  const lastWord = cut.lastIndexOf("-");
  return lastWord > LONGEST / 2 ? cut.slice(0, lastWord) : cut;
}

/**
 * A key for each wish, by id. Names that nothing else bears become keys as they are; where several want one key, or it
 * is taken, each gets a piece of its id, and none the plain name: so keys follow from what is live, in whatever order
 * it is listed.
 *
 * @param taken keys in lower case.
 */
export function chooseKeys(wishes: readonly Wish[], taken: ReadonlySet<string>): ReadonlyMap<string, string> {
  const used = new Set<string>([...taken, ...RESERVED_KEYS]);
  const bases = wishes.map((wish) => ({ wish, base: slug(wish.name ?? "") }));
  const counts = new Map<string, number>();
  for (const { base } of bases) counts.set(base, (counts.get(base) ?? 0) + 1);
  const isPlain = (base: string): boolean => base !== "" && counts.get(base) === 1 && !used.has(base);
  const plain = bases.filter(({ base }) => isPlain(base));
  const others = bases.filter(({ base }) => !isPlain(base));
  const keys = new Map(plain.map(({ wish, base }) => [wish.id, base]));
  for (const base of keys.values()) used.add(base);
  for (const { wish, base } of others.toSorted((a, b) => compareText(a.wish.id, b.wish.id))) {
    const key = withId(base === "" ? wish.noun : base, wish.id, used);
    keys.set(wish.id, key);
    used.add(key);
  }
  return keys;
}

/** The shortest beginning of the id that tells it apart; ids that are alike to the end are counted. */
function withId(base: string, id: string, used: ReadonlySet<string>): string {
  const tail = id.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  for (const length of [4, 8, 12, tail.length]) {
    const key = [base, tail.slice(0, length)].filter((part) => part !== "").join("-");
    if (!used.has(key)) return key;
  }
  for (let count = 2; ; count++) if (!used.has(`${base}-${count}`)) return `${base}-${count}`;
}
