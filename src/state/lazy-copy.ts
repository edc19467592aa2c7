/** A map that is copied before its first change, so that whoever else holds the original never sees one. */
export class LazyCopy<K extends string, V> {
  #map: ReadonlyMap<K, V>;
  #copy: Map<K, V> | undefined;

  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
  }

  /** The original as long as nothing changed. Not to be handed out before the last change. */
  get current(): ReadonlyMap<K, V> {
    return this.#map;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    this.#writable().set(key, value);
  }

  delete(key: K): void {
    if (this.#map.has(key)) this.#writable().delete(key);
  }

  /** The value of `from`, if there is one, becomes that of `to`. */
  move(from: K, to: K): void {
    const value = this.#map.get(from);
    if (value === undefined) return;
    this.delete(from);
    this.set(to, value);
  }

  /** Replaces every value. */
  convert(change: (value: V) => V): void {
    for (const [key, value] of this.#map) this.set(key, change(value));
  }

  #writable(): Map<K, V> {
    if (this.#copy === undefined) {
      this.#copy = new Map(this.#map);
      this.#map = this.#copy;
    }
    return this.#copy;
  }
}
