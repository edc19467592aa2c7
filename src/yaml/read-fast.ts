// The browser build is the same parser, compiled for older engines. V8 (Node 20) runs it three times as fast
// as the main one, whose parser state, spread together anew for each text, never gets a shape of its own.
import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
} from "js-yaml/browser";
import type { Json } from "../model/json.ts";
import { ALIAS_BUDGET, MAX_DEPTH, MAX_KEY_LENGTH } from "./bounds.ts";
import { NOT_PLAIN_DATA, plainValue } from "./core-schema.ts";
import { setOwn } from "./own.ts";
import { isUnusual } from "./unusual.ts";

/**
 * Reads a text that is plainly good, several times faster than the parser with positions and messages can.
 *
 * It never says what is wrong: whatever it does not read with certainty it leaves to `readSlow` by returning
 * undefined. Certain is what both parsers agree on under fuzzing, in a text with one document and without
 * tags, directives, tabs and explicit `? ` keys. Of js-yaml only the events are used: its own construction of
 * values would take `1.0: a` and `"1": b` for one key, and knows no bound on what aliases expand to.
 *
 * @returns the value, or undefined when `readSlow` must decide. Aliased values are shared, not copied.
 */
export function readFast(text: string): Json | undefined {
  if (isUnusual(text)) return undefined;
  try {
    return new Builder(text, parseEvents(text, { maxDepth: MAX_DEPTH })).document();
  } catch {
    // The parser or the builder refused; why, and where, is for the slow path to say.
    return undefined;
  }
}

class Deferred extends Error {}

type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>;
type MappingEvent = Extract<Event, { type: typeof EVENT_ID.MAPPING }>;
type Content = ScalarEvent | MappingEvent | Extract<Event, { type: typeof EVENT_ID.SEQUENCE }>;

/** js-yaml's offset of what is not there. */
const ABSENT = -1;

/** An anchored value; undefined while it is still being built, when an alias to it would be a cycle. */
type Anchored = { built: { readonly value: Json; readonly size: number } | undefined };

class Builder {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #anchors = new Map<string, Anchored>();
  #next = 0;
  /** Where the last scalar or alias ended: near enough to the end of a map or a list to measure it. */
  #end = 0;
  #aliased = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  document(): Json {
    const start = this.#take();
    if (start.type !== EVENT_ID.DOCUMENT || start.directives.length > 0) throw new Deferred();
    // js-yaml takes an indented `---` for a mark, too, where it is text.
    if (start.explicitStart && !/^---\r?$/m.test(this.#text)) throw new Deferred();
    // A manifest is a map. Texts that are one scalar, or nothing, have the finest points of indentation in
    // them.
    if (this.#events[this.#next]?.type === EVENT_ID.SCALAR) throw new Deferred();
    const value = this.#value();
    if (this.#take().type !== EVENT_ID.POP || this.#next !== this.#events.length) throw new Deferred();
    return value;
  }

  #take(): Event {
    const event = this.#events[this.#next++];
    if (event === undefined) throw new Deferred();
    return event;
  }

  #value(): Json {
    const event = this.#take();
    if (event.type === EVENT_ID.ALIAS) return this.#alias(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) throw new Deferred();
    if (event.tagStart !== ABSENT) throw new Deferred();
    return event.anchorStart === ABSENT ? this.#content(event) : this.#anchored(event);
  }

  #content(event: Content): Json {
    if (event.type === EVENT_ID.SCALAR) return this.#scalar(event);
    return event.type === EVENT_ID.MAPPING ? this.#map(event) : this.#list();
  }

  #scalar(event: ScalarEvent): Json {
    if (event.valueStart === ABSENT) return null;
    this.#end = event.valueEnd;
    const text = getScalarValue(this.#text, event);
    if (event.style !== SCALAR_STYLE.PLAIN) return text;
    const value = plainValue(text);
    if (value === NOT_PLAIN_DATA) throw new Deferred();
    return value;
  }

  #list(): Json {
    const items: Json[] = [];
    while (!this.#closed()) items.push(this.#value());
    return items;
  }

  #map(event: MappingEvent): Json {
    // `[a: b]` is a map without braces; the parsers differ on how far such a key may reach.
    if (event.style === COLLECTION_STYLE.FLOW && this.#text[event.start] !== "{") throw new Deferred();
    const map: Record<string, Json> = {};
    while (!this.#closed()) {
      const key = this.#key(event.style);
      if (Object.hasOwn(map, key)) throw new Deferred();
      setOwn(map, key, this.#value());
    }
    return map;
  }

  #closed(): boolean {
    if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false;
    this.#next++;
    return true;
  }

  #key(style: MappingEvent["style"]): string {
    const event = this.#take();
    if (event.type !== EVENT_ID.SCALAR || event.tagStart !== ABSENT || event.anchorStart !== ABSENT)
      throw new Deferred();
    const source = this.#text.slice(event.valueStart, event.valueEnd);
    if (event.valueStart === ABSENT || source.length > MAX_KEY_LENGTH / 2 || source.includes("\n"))
      throw new Deferred();
    const plain = event.style === SCALAR_STYLE.PLAIN;
    if (style === COLLECTION_STYLE.FLOW && !this.#isPlainlyFollowed(event.valueEnd + (plain ? 0 : 1)))
      throw new Deferred();
    if (!plain) return getScalarValue(this.#text, event);
    if (source === "<<") throw new Deferred();
    return source;
  }

  /**
   * In braces the parsers differ on colons that stand apart from their key, or that nothing stands apart
   * from.
   */
  #isPlainlyFollowed(end: number): boolean {
    return this.#text[end] === ":" && /[ \r\n,}]/.test(this.#text.charAt(end + 1));
  }

  #anchored(event: Content): Json {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    if (!/^[ \r\n]?$/.test(this.#text.charAt(event.anchorEnd)) || !/^[\w-]+$/.test(name))
      throw new Deferred();
    // Kept apart from the name, which an anchor inside of this one may take over.
    const anchored: Anchored = { built: undefined };
    this.#anchors.set(name, anchored);
    const aliasedBefore = this.#aliased;
    const value = this.#content(event);
    const size = Math.max(1, this.#end - event.anchorEnd) + this.#aliased - aliasedBefore;
    anchored.built = { value, size };
    return value;
  }

  #alias(start: number, end: number): Json {
    const built = this.#anchors.get(this.#text.slice(start, end))?.built;
    if (built === undefined) throw new Deferred();
    this.#aliased += built.size;
    if (this.#aliased > ALIAS_BUDGET) throw new Deferred();
    this.#end = end;
    return built.value;
  }
}
