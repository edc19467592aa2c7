/** A queue that takes the same time however long it is: 100,000 calls may wait in one. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head++];
    if (this.#head > 1000 && this.#head * 2 > this.#items.length) this.#compact();
    return item;
  }

  /** Empties the queue. */
  takeAll(): readonly T[] {
    const items = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return items;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
