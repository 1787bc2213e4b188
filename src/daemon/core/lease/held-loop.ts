/** An event loop that had no turn for this time is logged, in milliseconds. */
export const HELD_LOGGED_MS = 30_000;
/** After this time the process is ended: nothing is answered, claimed or ended by it any more. */
export const HELD_ENDED_MS = 300_000;

/** What another thread finds out about the event loop of the process. */
export class HeldLoop {
  readonly #longestMs: number;
  #turns: bigint;
  #lookedAt: number;
  #heldMs = 0;
  #isLogged = false;

  /**
   * `everyMs` is the interval of the looks. Of a longer one, as after a suspend of the machine, only twice this counts:
   * the event loop had no turn because nothing had.
   */
  constructor({ turns, now, everyMs }: { readonly turns: bigint; readonly now: number; readonly everyMs: number }) {
    this.#turns = turns;
    this.#lookedAt = now;
    this.#longestMs = 2 * everyMs;
  }

  /** `log` once for each time that it is held, and `end` when it has been for too long. */
  look(turns: bigint, now: number): { readonly to: 'log' | 'end'; readonly heldMs: number } | null {
    const sinceMs = Math.min(now - this.#lookedAt, this.#longestMs);
    this.#lookedAt = now;
    if (turns !== this.#turns) {
      this.#turns = turns;
      this.#heldMs = 0;
      this.#isLogged = false;
      return null;
    }
    this.#heldMs += sinceMs;
    if (this.#heldMs >= HELD_ENDED_MS) return { to: 'end', heldMs: this.#heldMs };
    if (this.#heldMs < HELD_LOGGED_MS || this.#isLogged) return null;
    this.#isLogged = true;
    return { to: 'log', heldMs: this.#heldMs };
  }
}
