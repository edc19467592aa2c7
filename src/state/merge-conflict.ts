/** What git leaves in a file that both sides changed; no line of JSON begins like this. */
const MARKER = /^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)/m;

/** The line, from 1, of git's first conflict marker in a text that is no JSON. */
export function conflictMarkerLine(text: string): number | undefined {
  return lineOf(text, MARKER.exec(text)?.index);
}

const ENTRY = '\n    "';
const TWICE = /^ {4}("[^"\n]*"): .*\n {4}\1: /m;

/**
 * The line, from 1, of an entry that is there twice, as `merge=union` leaves it; a JSON parser takes the last
 * without a word. Entries are sorted, so the two are neighbours. Counting them first spares nearly every
 * document the search.
 *
 * @param entries as many as the parsed document has.
 */
export function doubledEntryLine(text: string, entries: number): number | undefined {
  return count(text, ENTRY) > entries ? lineOf(text, TWICE.exec(text)?.index) : undefined;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found += 1;
  return found;
}

function lineOf(text: string, index: number | undefined): number | undefined {
  return index === undefined ? undefined : text.slice(0, index).split("\n").length;
}
