/** Places with two limits, in total and for each holder; beyond them it refuses. Only holders of one are kept. */
export class Shares {
  readonly #limits: { readonly all: number; readonly perHolder: number };
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(limits: { readonly all: number; readonly perHolder: number }) {
    this.#limits = limits;
  }

  get used(): number {
    return this.#used;
  }

  /** The number of holders with a place: 0 when all were released. */
  get holders(): number {
    return this.#held.size;
  }

  held(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  /**
   * Takes a place for `holder`; one that is null is not counted, and always has one. The result gives it back and may
   * be called twice; null when none is free.
   */
  take(holder: string | null): (() => void) | null {
    if (holder === null) return () => undefined;
    const own = this.held(holder) + 1;
    if (own > this.#limits.perHolder || this.#used >= this.#limits.all) return null;
    this.#held.set(holder, own);
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
