const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The three forms that RFC 9110, section 5.6.7, has recipients accept. All are in UTC, said or not. */
const FORMS: readonly RegExp[] = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  /^\w{3}, (?<day>\d{2}) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  // Sunday, 06-Nov-94 08:49:37 GMT
  /^\w{6,9}, (?<day>\d{2})-(?<month>\w{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  // Sun Nov  6 08:49:37 1994
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * A date of an HTTP header. Not `Date.parse`: it takes the third form for local time, and much else for a date.
 * @param now for the century of two-digit years: those that seem more than 50 years ahead are past
 * @returns milliseconds since 1970, or undefined when it is none
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const groups = FORMS.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const month = MONTHS.indexOf(groups["month"] ?? "") + 1;
  const year = fullYear(groups["year"] ?? "", now);
  return month === 0 ? undefined : instant(year, month, Number(groups["day"]), groups["time"] ?? "");
}

/** Built as the one form that every engine reads alike, so that the 31st of June is no date. */
function instant(year: number, month: number, day: number, time: string): number | undefined {
  const date = `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
  const at = Date.parse(`${date}T${time}Z`);
  // Engines let the 31st roll over into the next month.
  return Number.isNaN(at) || new Date(at).getUTCDate() !== day ? undefined : at;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

function fullYear(text: string, now: number): number {
  if (text.length === 4) return Number(text);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(text);
  return year > thisYear + 50 ? year - 100 : year;
}
