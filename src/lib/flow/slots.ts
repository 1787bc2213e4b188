/** Slots with two limits: in total and per holder. */
export class Slots {
  readonly #limits: { readonly all: number; readonly perHolder: number };
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(limits: { readonly all: number; readonly perHolder: number }) {
    this.#limits = limits;
  }

  get used(): number {
    return this.#used;
  }

  /** The number of holders with a slot: 0 when all were released. */
  get holders(): number {
    return this.#held.size;
  }

  held(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  /**
   * Takes a slot for `holder`: charges the limit per holder first, then the total, and undoes the first when the total
   * is full. The result releases the slot and may be called twice; null when no slot is free.
   */
  take(holder: string): (() => void) | null {
    const own = this.held(holder) + 1;
    if (own > this.#limits.perHolder) return null;
    this.#held.set(holder, own);
    if (this.#used >= this.#limits.all) {
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
    const left = this.held(holder) - 1;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }
}
