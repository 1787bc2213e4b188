/** Places that are counted twice: how many there are in all, and how many one holder may have of them. */
export class Slots {
  readonly #max: number;
  readonly #maxPerHolder: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(limits: { readonly all: number; readonly perHolder: number }) {
    this.#max = limits.all;
    this.#maxPerHolder = limits.perHolder;
  }

  get used(): number {
    return this.#used;
  }

  /** How many holders have a place: 0 when all were given back. */
  get holders(): number {
    return this.#held.size;
  }

  /**
   * Takes a place for `holder`: its own count is charged first, then that of all, and the first is undone when the
   * second is full. The result gives the place back and may be called twice; null when there was none.
   */
  take(holder: string): (() => void) | null {
    const own = (this.#held.get(holder) ?? 0) + 1;
    if (own > this.#maxPerHolder) return null;
    this.#held.set(holder, own);
    if (this.#used >= this.#max) {
      this.#release(holder);
      return null;
    }
    this.#used += 1;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#used -= 1;
      this.#release(holder);
    };
  }

  #release(holder: string): void {
    const left = (this.#held.get(holder) ?? 0) - 1;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }
}
