import { parseJson } from "../model/json.ts";
import type { Guard } from "../model/shape.ts";
import { type Binding, type LocatorRecord, isBinding } from "../model/state.ts";

/**
 * A binding whose records stay JSON, in one text with those of its document: as objects, those of 100,000 test cases are a
 * quarter of what a plan holds, and locators, which go by ids, would each be of a kind of its own to V8. It has the members
 * of a plain one, and makes them when it is asked.
 */
class PackedBinding {
  static readonly #members: Record<"fields" | "locators", PropertyDescriptor & ThisType<PackedBinding>> = {
    fields: {
      enumerable: true,
      get() {
        return parseJson(`{${this.#document.bytes.toString("latin1", this.#from, this.#middle)}}`);
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
  readonly #document: { readonly bytes: Buffer };
  readonly #from: number;
  readonly #middle: number;
  readonly #to: number;

  constructor(id: string, document: { readonly bytes: Buffer }, from: number, middle: number, to: number) {
    Object.defineProperty(this, "fields", PackedBinding.#members.fields);
    this.id = id;
    this.#document = document;
    this.#from = from;
    this.#middle = middle;
    this.#to = to;
    if (middle < to) Object.defineProperty(this, "locators", PackedBinding.#members.locators);
  }

  get #locators(): string {
    return this.#document.bytes.toString("latin1", this.#middle, this.#to);
  }

  locator(element: string): LocatorRecord | undefined {
    const name = `"${element}":{"line":"`;
    const locators = this.#locators;
    const at = locators.lastIndexOf(name);
    const [line = "", , , , selectors = ""] = locators.slice(at + name.length).split('"', 5);
    return at < 0 ? undefined : { line, selectors };
  }
}

const FIELD = String.raw`"[\w.]+":"[\w-]*"`;
const LOCATOR = String.raw`"[\w-]+":\{"line":"[\w-]*","selectors":"[\w-]*"\}`;
/** A binding in its line of a document, as nearly all of them are: digests, an id, and locators if there are any. */
const LINE = new RegExp(
  String.raw`(\n {4}"([\w.-]+)": )\{"fields":\{((?:${FIELD},)*${FIELD})\},"id":"([\w-]+)"(?:,"locators":\{((?:${LOCATOR},)*${LOCATOR})\})?\}`,
  "g",
);

/** What stands for a binding in the text that is left of a document. */
export const HELD = 0;

/** The bindings of a document by address that can be packed; and its JSON, a character a byte, without them. */
export function holdBindings(bytes: Buffer): {
  readonly text: string;
  readonly held: ReadonlyMap<string, Binding>;
} {
  const held = new Map<string, Binding>();
  const document = { bytes };
  const kept: string[] = [];
  let from = 0;
  const pack = (
    _: string,
    start: string,
    address: string,
    fields: string,
    id: string,
    locators = "",
    at: number,
  ) => {
    const middle = from + fields.length;
    // A copy: what is cut out of a text keeps all of it.
    const idAt = at + start.length + `{"fields":{},"id":"`.length + fields.length;
    const own = bytes.toString("latin1", idAt, idAt + id.length);
    held.set(address, new PackedBinding(own, document, from, middle, (from = middle + locators.length)));
    kept.push(fields, locators);
    return `${start}${HELD}`;
  };
  const text = bytes.toString("latin1").replaceAll(LINE, pack);
  document.bytes = Buffer.from(kept.join(""), "latin1");
  return { text, held };
}

export const isHeldBinding: Guard<Binding> = (value): value is Binding =>
  value instanceof PackedBinding || isBinding(value);

/** What a binding has of an element's locator. */
export function locatorOf(binding: Binding | undefined, element: string): LocatorRecord | undefined {
  return binding instanceof PackedBinding ? binding.locator(element) : binding?.locators?.[element];
}
