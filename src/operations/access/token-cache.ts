import type { Caller, Via } from '../../domain/access/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Token } from '../../store/access/tokens.ts';

/** Verified tokens that are remembered: 500 bytes each, and far more than one installation has in use. */
const VERIFIED_MAX = 4_096;
/** Refused texts that are remembered, and how long. Short, so that no refusal outlives its reason. */
const REFUSED_MAX = 4_096;
const REFUSED_MS = 10_000;

/** A token whose secret was verified once by this process. */
export interface Verified {
  readonly row: Token;
  /** The version of the tokens when the row was last compared; null when it has to be compared each time. */
  checkedAt: string | null;
  readonly callers: Map<Via, Caller>;
}

/**
 * What is known of token texts, by their SHA-256: the text itself is not kept. Both halves are bounded, oldest out
 * first.
 */
export class TokenCache {
  readonly #clock: Clock;
  readonly #verified = new Map<string, Verified>();
  readonly #refused = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#verified.size;
  }

  verified(digest: string): Verified | undefined {
    return this.#verified.get(digest);
  }

  keep(digest: string, entry: Verified): void {
    bound(this.#verified, VERIFIED_MAX);
    this.#verified.set(digest, entry);
  }

  drop(digest: string): void {
    this.#verified.delete(digest);
  }

  isRefused(digest: string): boolean {
    const until = this.#refused.get(digest);
    if (until === undefined) return false;
    if (this.#clock.monotonic() < until) return true;
    this.#refused.delete(digest);
    return false;
  }

  refuse(digest: string): void {
    bound(this.#refused, REFUSED_MAX);
    this.#refused.set(digest, this.#clock.monotonic() + REFUSED_MS);
  }
}

function bound(map: Map<string, unknown>, max: number): void {
  if (map.size < max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
