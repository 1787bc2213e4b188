/** A value above this share of the whole would only displace the others. */
const SHARE = 1 / 8;

interface KeptLimits<V> {
  /** Of all values, in the unit of `sizeOf`. */
  readonly most: number;
  readonly sizeOf: (key: string, value: V) => number;
}

/**
 * Values that were read at one value of a counter of changes: when it changes, all are dropped. Bounded by their size;
 * the oldest is dropped first.
 */
export class KeptValues<V> {
  readonly #limits: KeptLimits<V>;
  readonly #values = new Map<string, V>();
  #version: string | null = null;
  #size = 0;

  constructor(limits: KeptLimits<V>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** Nothing where there is no counter (`version` is null). */
  find(version: string | null, key: string): V | undefined {
    return version === null || version !== this.#version ? undefined : this.#values.get(key);
  }

  /** `version` is the counter from before the value was read: a later commit makes the value void. */
  keep(version: string | null, key: string, value: V): void {
    if (version === null) return;
    if (version !== this.#version) {
      this.#values.clear();
      this.#size = 0;
      this.#version = version;
    }
    const { most, sizeOf } = this.#limits;
    const size = sizeOf(key, value);
    if (size > most * SHARE || this.#values.has(key)) return;
    for (const [oldest, dropped] of this.#values) {
      if (this.#size + size <= most) break;
      this.#values.delete(oldest);
      this.#size -= sizeOf(oldest, dropped);
    }
    this.#values.set(key, value);
    this.#size += size;
  }
}
