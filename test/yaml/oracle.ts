import { isMap, isScalar, parseAllDocuments, visit } from "yaml";

/**
 * The value that the `yaml` library reads, with our rules for keys: kept as written, unique, no
 * `<<`. `undefined` if the library or our rules reject the text.
 */
export function oracle(text: string): { value: unknown } | undefined {
  const documents = parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    uniqueKeys: false,
  });
  const [document] = documents;
  if (
    !Array.isArray(documents) ||
    document === undefined ||
    documents.length !== 1 ||
    document.errors.length > 0
  )
    return undefined;
  let regular = true;
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key) || isMap(key)) {
          regular = false;
          continue;
        }
        if (key.type === "PLAIN") key.value = key.source;
        if (key.type === "PLAIN" && (key.source === "" || key.source === "<<")) regular = false;
        if (seen.has(key.value)) regular = false;
        seen.add(key.value);
      }
    },
  });
  try {
    return regular ? { value: document.toJS({ maxAliasCount: -1 }) as unknown } : undefined;
  } catch {
    return undefined;
  }
}
