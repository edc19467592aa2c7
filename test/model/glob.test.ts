import * as fc from "fast-check";
import picomatch from "picomatch";
import { expect, test } from "vitest";
import { compileGlob, globMatcher, parseGlob } from "../../src/model/glob.ts";

function fits(source: string, text: string, dot = true): boolean {
  const glob = compileGlob(source, { dot });
  if ("fault" in glob) throw new Error(glob.fault);
  return glob.test(text);
}

test.each<[glob: string, fit: readonly string[], unfit: readonly string[]]>([
  ["*", ["", "a", "a.b\n"], []],
  ["testCase.*.login", ["testCase.shop.login", "testCase..login"], ["testCase.login"]],
  ["?", ["a", "ü", "😀"], ["", "ab"]],
  ["a{b,c}d", ["abd", "acd"], ["ad", "abcd"]],
  ["a{b,}c", ["abc", "ac"], ["a,c"]],
  ["{a,b{c,d}}e", ["ae", "bce", "bde"], ["be"]],
  ["{a}", ["{a}"], ["a"]],
  ["[a-c_]", ["a", "c", "_"], ["d", "-"]],
  ["[!a]", ["b"], ["a", ""]],
  ["[]a]", ["]", "a"], ["b"]],
  [String.raw`\*a`, ["*a"], ["xa"]],
  ["a+(b)|^$.", ["a+(b)|^$."], ["ab", "aab"]],
  ["!a*", ["!ab"], ["b"]],
])("%s fits what it says", (glob, fit, unfit) => {
  expect(fit.filter((text) => !fits(glob, text))).toEqual([]);
  expect(unfit.filter((text) => fits(glob, text))).toEqual([]);
});

test("a name that begins with a dot fits only a glob that does, where hidden files are left out", () => {
  expect(["*", "?a", ".*", String.raw`\.*`].map((glob) => fits(glob, ".a", false))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test.each([
  ["{a,b", "a `{` is not closed"],
  ["[z-a]", "`[z-a]` is not a range of characters"],
  ["[ab", "`[ab` is not a range of characters"],
  ["*".repeat(1001), "it is longer than 1000 characters"],
])("a wrong glob is refused: %.10s", (glob, fault) => {
  expect(compileGlob(glob)).toEqual({ fault });
});

test("globs fit what picomatch says that they fit", () => {
  const piece = fc.constantFrom("a", "b", ".", "*", "?", "{a,b}", "{ab,*}", "[ab]", "[!a]");
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "."), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), text, (pieces, name) => {
      const glob = pieces.join("").replaceAll(/\*+/g, "*");
      const options = { dot: true, noextglob: true, nonegate: true, posix: true };
      // To picomatch, a `*` behind a dot is never empty at the end of a name.
      fc.pre(!/^\*?$/.test(glob) && name !== "" && !/^\.|\.$/.test(name));
      expect(fits(glob, name)).toBe(picomatch.isMatch(name, glob, options));
    }),
    { numRuns: 300 },
  );
});

/** Steps of a match of a glob with a text that does not fit. */
function steps(glob: string, text: string): number {
  const program = parseGlob(glob);
  if ("fault" in program) throw new Error(program.fault);
  let count = 0;
  globMatcher(program, () => (count += 1))(text);
  return count;
}

test.each([
  ["*a*a*a*a*b", "a"],
  ["{*a,a*}{*a,a*}{*a,a*}b", "a"],
  [`${"{a,aa}".repeat(20)}b`, "a"],
])("the steps of %s grow as the text does", (glob, letter) => {
  const [short = 0, long = 0] = [200, 800].map((length) => steps(glob, letter.repeat(length)));
  expect(long).toBeLessThanOrEqual(short * 4.2);
});

test("the steps grow as the glob does", () => {
  const [few = 0, many = 0] = [50, 200].map((times) =>
    steps(`${"*a".repeat(times)}b`, "a".repeat(400)),
  );
  expect(many).toBeLessThanOrEqual(few * 5);
});
