/** Characters of a page that are looked at; an error page says what it has to say at its beginning. */
const MAX_HTML = 16 * 1024;

/** Parts of a page that nobody reads. */
const UNREAD = /<(script|style|svg)\b[^]*?<\/\1>|<!--[^]*?-->/gi;
const TAG = /<[^<>]*>/g;

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  amp: "&",
};

/** The readable text of an HTML page, for a message: not a parser, and not fit to make HTML safe. */
export function textOfHtml(html: string): string {
  const text = html.slice(0, MAX_HTML).replace(UNREAD, " ").replace(TAG, " ");
  return text.replace(/&(?:(\w{2,5})|#(\d{1,7})|#x([\da-f]{1,6}));/gi, entity);
}

function entity(
  whole: string,
  name: string | undefined,
  decimal: string | undefined,
  hex: string | undefined,
): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
