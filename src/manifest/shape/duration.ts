const UNITS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** A timer of more milliseconds than fit in 31 bits would go off at once. */
const LONGEST = 24 * 3_600_000;

/** Milliseconds of a duration; `undefined` for what is none, for nothing at all and for more than a day. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const milliseconds = Math.round(Number(count) * (UNITS.get(unit) ?? Number.NaN));
  return milliseconds >= 1 && milliseconds <= LONGEST ? milliseconds : undefined;
}
