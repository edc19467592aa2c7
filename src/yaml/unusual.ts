/**
 * Texts with something in them that the two parsers may see differently, or that is refused anyway. Looking
 * for it in the raw text, quoted or not, sends a few good files the slow way and needs no parser.
 *
 * - tabs; control characters; line ends other than LF and CRLF; byte order marks: the parsers part where white
 *   space, line ends and printable characters are defined
 * - `%` or `...` at the start of a line: directives and ends of documents
 * - `? `: an explicit key, which may be a map or a list
 * - a backslash at the end of a line, and spaces behind the last line end: each counts empty lines in its own
 *   way
 * - an escape of eight digits: they may name no character
 * - `|2`: an indentation that is told, which js-yaml counts from elsewhere at the top of a document
 */
const UNUSUAL = new RegExp(
  [
    String.raw`[\0-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]`,
    String.raw`\r(?!\n)`,
    String.raw`^%`,
    String.raw`^\.\.\.`,
    String.raw`(?:^|\s)[|>][-+]?[0-9][-+]?\s*(?:$|#)`,
    String.raw`\\(?:\r?$|U)`,
    String.raw`\n +(?![^])`,
    String.raw`(?:^|[-?:\[{,]) *\?(?![^ \r\n])`,
  ].join("|"),
  "m",
);

export function isUnusual(text: string): boolean {
  return UNUSUAL.test(text);
}
