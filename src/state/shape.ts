/** Tests of what came from a file, a database or a server and may be anything. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** A whole number from zero on. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

/** Whether the value is a record of nothing but what passes the test. */
export function isRecordOf<V>(
  value: unknown,
  test: (part: unknown) => part is V,
): value is Readonly<Record<string, V>> {
  if (!isRecord(value)) return false;
  for (const name of Object.keys(value)) if (!test(value[name])) return false;
  return true;
}

type Test = (part: unknown) => boolean;

/**
 * Whether the value is a record with exactly these members. A member more than we know is refused as well: to
 * read past it would be to lose it at the next write.
 */
export function hasMembers(
  value: unknown,
  required: Readonly<Record<string, Test>>,
  optional: Readonly<Record<string, Test>> = {},
): boolean {
  if (!isRecord(value)) return false;
  const isKnown = (name: string) => testOf(name, required, optional)?.(value[name]) === true;
  return (
    Object.keys(required).every((name) => Object.hasOwn(value, name)) && Object.keys(value).every(isKnown)
  );
}

/** Own members only: `__proto__` and `constructor` are names like others. */
function testOf(name: string, ...tables: readonly Readonly<Record<string, Test>>[]): Test | undefined {
  return tables.find((table) => Object.hasOwn(table, name))?.[name];
}
