/** What is due at a time. */
interface Due {
  readonly dueAt: number;
}

/** The items of a queue by the time at which they are due, the earliest first: a binary heap. */
export class DueQueue<T extends Due> {
  #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** The earliest item, which stays in the queue. */
  get first(): T | undefined {
    return this.#heap[0];
  }

  /** Replaces all items. */
  reset(items: Iterable<T>): void {
    // A sorted list is a heap.
    this.#heap = [...items].toSorted((a, b) => a.dueAt - b.dueAt);
  }

  add(item: T): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.dueAt <= item.dueAt) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = item;
  }

  /** Takes the earliest item out. */
  take(): T | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(item: T): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      const below = right !== undefined && right.dueAt < left.dueAt ? right : left;
      if (below === right) child += 1;
      if (below.dueAt >= item.dueAt) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = item;
  }
}
