import { parseJson } from "../model/json.ts";
import { type Guard, isText } from "../model/shape.ts";
import { type Binding, type LocatorRecord, isBinding } from "../model/state.ts";

/**
 * A binding of which all digests stand in one text: as a document has them, they are ten objects, and those of 100,000
 * test cases a quarter of what a plan holds. It has the members of a plain one, and makes them when it is asked.
 */
class PackedBinding {
  static readonly #known = new Map<string, readonly string[]>();
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
    const all = JSON.stringify(names);
    const known = PackedBinding.#known.get(all) ?? names;
    PackedBinding.#known.set(all, known);
    this.#names = known;
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
/** How a document ends a binding that has them, and nothing else behind them. */
const LOCATORS = new RegExp(String.raw`,"locators":\{((?:${LOCATOR},)*${LOCATOR})\}\}$`);

/**
 * A binding as it is held, of its JSON; anything else as it is. Locators go by ids, so as objects each would be of a kind
 * of its own to V8, and once it knows too many kinds, so would other objects be. @throws SyntaxError
 */
export function heldBinding(json: Buffer): unknown {
  const text = json.toString();
  const [tail = "", { length } = ""] = LOCATORS.exec(text) ?? [];
  const value = parseJson(tail === "" ? text : `${text.slice(0, -tail.length)}}`);
  // A copy: what is cut out of a text keeps all of it.
  const locators = json.toString("latin1", json.length - 2 - length, json.length - 2);
  if (!isBinding(value)) return value;
  const { id, fields, ...others } = value;
  const names = Object.keys(fields);
  const digests = Object.values(fields).flatMap((one) => (isText(one) && one.length === DIGEST ? one : []));
  if (digests.length === names.length && Object.keys(others).length === 0)
    return new PackedBinding(id, names, digests.join(""), locators);
  return tail === "" ? value : parseJson(text);
}

export const isHeldBinding: Guard<Binding> = (value): value is Binding =>
  value instanceof PackedBinding || isBinding(value);

/** What a binding has of an element's locator. */
export function locatorOf(binding: Binding | undefined, element: string): LocatorRecord | undefined {
  return binding instanceof PackedBinding ? binding.locator(element) : binding?.locators?.[element];
}
