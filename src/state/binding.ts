import { sortedTexts } from "../model/collections.ts";
import { copyOf, parseJson } from "../model/json.ts";
import type { Guard } from "../model/shape.ts";
import {
  type Binding,
  type FieldRecord,
  type Fingerprint,
  type LocatorRecord,
  isBinding,
} from "../model/state.ts";
import { canonicalJson } from "./fingerprint.ts";

/**
 * A binding that keeps all its digests in one string, to save memory: unpacked, a binding is ten
 * objects, and for 100,000 test cases a quarter of a plan's memory. It has the members of a plain
 * binding, and creates them when they are read.
 */
class PackedBinding {
  static readonly #members: Record<
    "fields" | "locators",
    PropertyDescriptor & ThisType<PackedBinding>
  > = {
    fields: {
      enumerable: true,
      get() {
        const digests = this.#digests.split(BETWEEN);
        return Object.fromEntries(this.#names.map((name, nth) => [name, digests[nth]]));
      },
    },
    locators: {
      enumerable: true,
      get() {
        return this.#parsed();
      },
    },
  };
  declare readonly fields: Binding["fields"];
  readonly id: string;
  readonly #names: readonly string[];
  readonly #digests: string;
  readonly #locators: string;

  constructor(id: string, names: readonly string[], digests: string, locators: string) {
    this.#names = names;
    this.#digests = digests;
    this.#locators = locators;
    Object.defineProperty(this, "fields", PackedBinding.#members.fields);
    this.id = id;
    if (locators !== "") Object.defineProperty(this, "locators", PackedBinding.#members.locators);
  }

  /** Its canonical JSON: names are sorted, and digests are plain words. */
  get text(): string {
    const digests = this.#digests.split(BETWEEN);
    const fields = this.#names.map((name, nth) => `${JSON.stringify(name)}:"${digests[nth]}"`);
    const locators = this.#locators === "" ? "" : `,"locators":${canonicalJson(this.#parsed())}`;
    return `{"fields":{${fields.join()}},"id":${JSON.stringify(this.id)}${locators}}`;
  }

  #parsed(): unknown {
    return parseJson(`{${this.#locators}}`);
  }

  locator(element: string): LocatorRecord | undefined {
    const name = `"${element}":{"line":"`;
    const at = this.#locators.lastIndexOf(name);
    const [line = "", , , , selectors = ""] = this.#locators.slice(at + name.length).split('"', 5);
    return at < 0 ? undefined : { line, selectors };
  }
}

const BETWEEN = " ";
/** A digest, and for a list of steps a short one of each step. */
const DIGEST = String.raw`[\w-]{16}(?:\.[\w-]*)?`;
const LOCATOR = String.raw`"[\w-]+":\{"line":"[\w-]*","selectors":"[\w-]*"\}`;

/**
 * Returns a pattern for the JSON of bindings that have only digests of these fields, an id, and
 * optionally locators.
 */
function packable(names: readonly string[]): RegExp {
  const fields = names.map((name) => `"${name.replaceAll(/\W/g, "\\$&")}":"(${DIGEST})"`);
  return new RegExp(
    String.raw`^ ?\{"fields":\{${fields.join()}\},"id":"([\w-]+)"(?:,"locators":\{((?:${LOCATOR},)*${LOCATOR})\})?\}$`,
  );
}

/**
 * Forms by field names. Bindings have only a few forms, and matching a pattern takes half the time
 * of parsing.
 */
const FORMS = new Map<string, { readonly names: readonly string[]; readonly pattern: RegExp }>();
const MOST_FORMS = 50;

/** Returns the shared names of a form, if its bindings are packed: only with sorted names. */
function formOf(names: readonly string[]) {
  const form = names.join();
  if (!FORMS.has(form) && FORMS.size < MOST_FORMS && sortedTexts(names).join() === form)
    FORMS.set(form, { names, pattern: packable(names) });
  return FORMS.get(form);
}

/** Packs a binding if it has nothing but an id and digests of fields. */
export function packed(binding: Binding): Binding {
  const { id, fields, ...rest } = binding;
  const names = sortedTexts(Object.keys(fields));
  const digests = names.map((name) => fields[name]);
  const hasMore = Object.keys(rest).length > 0;
  if (hasMore || digests.length === 0 || !digests.every(isDigest)) return binding;
  const form = formOf(names);
  // In the same order, so that the result does not depend on how many forms there are.
  return form === undefined
    ? { id, fields: Object.fromEntries(names.map((name, nth) => [name, digests[nth] ?? ""])) }
    : new PackedBinding(id, form.names, digests.join(BETWEEN), "");
}

const isDigest = (record: FieldRecord | undefined): record is Fingerprint =>
  typeof record === "string" && /^[\w.-]+$/.test(record);

/**
 * Parses a binding, and packs it if its form is known; other values and the first of a form stay
 * plain. Locators have ids as keys, so as objects each would have its own V8 shape, and after too
 * many so would other objects. @throws SyntaxError
 */
export function heldBinding(json: string): unknown {
  for (const { names, pattern } of FORMS.values()) {
    const found = pattern.exec(json);
    if (found === null) continue;
    const [id = "", locators = ""] = found.slice(-2);
    // Copies, because a substring keeps the whole text in memory.
    return new PackedBinding(copyOf(id), names, found.slice(1, -2).join(BETWEEN), copyOf(locators));
  }
  const value = parseJson(json);
  if (isBinding(value)) formOf(Object.keys(value.fields));
  return value;
}

export const isHeldBinding: Guard<Binding> = (value): value is Binding =>
  value instanceof PackedBinding || isBinding(value);

/** Returns the canonical JSON of an entry of a document. A packed binding has it nearly ready. */
export function entryText(entry: unknown): string {
  return entry instanceof PackedBinding ? entry.text : canonicalJson(entry);
}

/** Returns the record of an element's locator, if the binding has one. */
export function locatorOf(
  binding: Binding | undefined,
  element: string,
): LocatorRecord | undefined {
  return binding instanceof PackedBinding ? binding.locator(element) : binding?.locators?.[element];
}
