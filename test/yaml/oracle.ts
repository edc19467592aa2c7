import { isMap, isScalar, parseAllDocuments, visit } from "yaml";

/**
 * What `yaml` itself makes of a text, with our rules for keys laid over it: the text that they are written
 * as, no two the same, no `<<`. Undefined where it refuses the text or we mean to.
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
