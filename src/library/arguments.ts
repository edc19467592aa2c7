/** What an option of the library takes. */
export type Kind = "text" | "texts" | "flag" | "number" | "function" | "signal" | "variables";

const FITS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  texts: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  flag: (value) => typeof value === "boolean",
  number: (value) => Number.isSafeInteger(value),
  function: (value) => typeof value === "function",
  signal: (value) => value instanceof AbortSignal,
  variables: (value) => typeof value === "object" && value !== null,
};

const WORDS: Readonly<Record<Kind, string>> = {
  text: "a string",
  texts: "a list of strings",
  flag: "true or false",
  number: "a whole number",
  function: "a function",
  signal: "an AbortSignal",
  variables: "an object of variables",
};

/**
 * What types say, for callers without them: an option that is misspelt or of a wrong type would be passed over, and a
 * plan that was to be narrowed would be one of everything.
 *
 * @throws TypeError
 */
export function checkOptions(options: object, kinds: Readonly<Record<string, Kind>>): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = kinds[name];
    if (kind === undefined || !Object.hasOwn(kinds, name))
      throw new TypeError(`There is no option ${name}; there are ${Object.keys(kinds).join(", ")}`);
    if (value !== undefined && !FITS[kind](value)) throw new TypeError(`${name} takes ${WORDS[kind]}`);
  }
}
