import { copyOf, parseJson } from "../model/json.ts";
import type { Guard } from "../model/shape.ts";
import { type Binding, type LocatorRecord, isBinding } from "../model/state.ts";

/**
 * A binding of which all digests stand in one text: as a document has them, they are ten objects, and those of 100,000
 * test cases a quarter of what a plan holds. It has the members of a plain one, and makes them when it is asked.
 */
class PackedBinding {
  static readonly #members: Record<"fields" | "locators", PropertyDescriptor & ThisType<PackedBinding>> = {
    fields: {
      enumerable: true,
      get() {
        const at = (nth: number) => this.#digests.slice(nth * DIGEST, (nth + 1) * DIGEST);
        return Object.fromEntries(this.#names.map((name, nth) => [name, at(nth)]));
      },
    },
    locators: {
      enumerable: true,
      get() {
        return parseJson(`{${this.#locators}}`);
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

  locator(element: string): LocatorRecord | undefined {
    const name = `"${element}":{"line":"`;
    const at = this.#locators.lastIndexOf(name);
    const [line = "", , , , selectors = ""] = this.#locators.slice(at + name.length).split('"', 5);
    return at < 0 ? undefined : { line, selectors };
  }
}

const DIGEST = 16;
const LOCATOR = String.raw`"[\w-]+":\{"line":"[\w-]*","selectors":"[\w-]*"\}`;

/** What bindings look like that have nothing but digests of these fields, an id, and locators if there are any. */
function packable(names: readonly string[]): RegExp {
  const fields = names.map((name) => `"${name.replaceAll(/\W/g, "\\$&")}":"([\\w-]{${DIGEST}})"`);
  return new RegExp(
    String.raw`^ ?\{"fields":\{${fields.join()}\},"id":"([\w-]+)"(?:,"locators":\{((?:${LOCATOR},)*${LOCATOR})\})?\}$`,
  );
}

/** By the fields that bindings were met with: they have few of all kinds, and to match them takes half of the time of parsing. */
const FORMS = new Map<string, { readonly names: readonly string[]; readonly pattern: RegExp }>();
const MOST_FORMS = 50;

/**
 * A binding as it is held, of its JSON; anything else as it is, and the first of a form. Locators go by ids, so as objects
 * each would be of a kind of its own to V8, and once it knows too many, so would other objects be. @throws SyntaxError
 */
export function heldBinding(json: string): unknown {
  for (const { names, pattern } of FORMS.values()) {
    const found = pattern.exec(json);
    if (found === null) continue;
    const [id = "", locators = ""] = found.slice(-2);
    // Copies: what is cut out of a text keeps all of it.
    return new PackedBinding(copyOf(id), names, found.slice(1, -2).join(""), copyOf(locators));
  }
  const value = parseJson(json);
  if (!isBinding(value) || FORMS.size === MOST_FORMS) return value;
  const names = Object.keys(value.fields);
  if (!FORMS.has(names.join())) FORMS.set(names.join(), { names, pattern: packable(names) });
  return value;
}

export const isHeldBinding: Guard<Binding> = (value): value is Binding =>
  value instanceof PackedBinding || isBinding(value);

/** What a binding has of an element's locator. */
export function locatorOf(binding: Binding | undefined, element: string): LocatorRecord | undefined {
  return binding instanceof PackedBinding ? binding.locator(element) : binding?.locators?.[element];
}
