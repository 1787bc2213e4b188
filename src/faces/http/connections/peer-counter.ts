/**
 * Counts what each peer has open, and refuses more than the limit. It stores only peers that have something open,
 * and at most `peersMax` of them.
 */
export class PeerCounter {
  readonly #held = new Map<string, number>();
  readonly #each: number;
  readonly #peersMax: number;

  constructor(each: number, peersMax: number) {
    this.#each = each;
    this.#peersMax = peersMax;
  }

  /** How many peers are known at the moment. */
  get peers(): number {
    return this.#held.size;
  }

  /** True if the peer was admitted: call `leave` once afterwards. A null key is not counted and always admitted. */
  enter(key: string | null): boolean {
    if (key === null) return true;
    const held = this.#held.get(key);
    if (held === undefined ? this.#held.size >= this.#peersMax : held >= this.#each) return false;
    this.#held.set(key, (held ?? 0) + 1);
    return true;
  }

  leave(key: string | null): void {
    if (key === null) return;
    const held = (this.#held.get(key) ?? 1) - 1;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}
