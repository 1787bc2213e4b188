/** Calls without an answer, and those whose daemon died: each move of the service that a caller asked for is of one. */
import type { Caller } from '../../../src/domain/access/caller.ts';
import type { Running } from '../world/host.ts';
import type { Fact } from './facts.ts';

/** Who asked. */
interface Asker extends Pick<Caller, 'owner' | 'scopes' | 'via'> {
  /** `link`: a decision link, which acts as its recipient. */
  readonly credential: Caller['credential'] | 'link';
}

/** What a call asked for. */
export interface Asked {
  readonly operation: string;
  readonly caller: Asker;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly key: string | undefined;
  /** The daemon that was asked, in one of its lives. */
  readonly who: Running;
}

/** What a committed call has done; only what its operation makes is there. */
export interface Effect {
  readonly fact: Fact;
  /** The calls that it may be of. */
  readonly fits: ReadonlySet<Call>;
  readonly job?: string;
  readonly run?: string;
  /** The id of a token or a quiet time. */
  readonly made?: string;
  readonly state?: string;
  readonly jobState?: string;
  /** Old and new jobs of a redrive. */
  readonly pairs?: readonly (readonly [string, string])[];
  readonly running?: number;
}

export interface Call extends Asked {
  /** Under which its answer is kept; null without a key. */
  readonly held: string | null;
  /** The number of moves before it. */
  readonly since: number;
  /** In milliseconds of the world. */
  readonly startedAt: number;
  /** The answers that were allowed at some moment since it was made. */
  readonly allowed: Set<string>;
  effect: Effect | null;
  /** When its daemon died; null while an answer may come. */
  lostAt: number | null;
}

/** A write that was with the server when its daemon died is committed within this time, in milliseconds. */
const LOST_MS = 5_000;

export class Calls {
  readonly #calls = new Set<Call>();

  add(call: Call): void {
    this.#calls.add(call);
  }

  /** Those that may still be answered. */
  open(): Call[] {
    return [...this.#calls].filter(({ lostAt }) => lostAt === null);
  }

  answered(call: Call): void {
    this.#calls.delete(call);
  }

  /** Their daemon has died. */
  lost({ host, life }: Running, now: number): void {
    for (const call of this.#calls)
      if (call.who.host === host && call.who.life === life && call.lostAt === null) call.lostAt = now;
  }

  /** Those that a move may be of: the open ones before those of a dead daemon. */
  fitting(isOf: (call: Call) => boolean, now: number): Call[] {
    const able = [...this.#calls].filter(
      (call) => (call.lostAt === null || now - call.lostAt <= LOST_MS) && isOf(call),
    );
    return able.toSorted((a, b) => (a.lostAt ?? 0) - (b.lostAt ?? 0));
  }

  /** Other calls that may have the effect of this one, while this one may have theirs. */
  twins(call: Call): Call[] {
    const isOther = ({ held }: Call): boolean => held === null || held !== call.held;
    return [...this.#calls].filter(
      (other) => isOther(other) && other !== call && fits(call.effect, other) && fits(other.effect, call),
    );
  }
}

function fits(effect: Effect | null, call: Call): boolean {
  return effect === null || effect.fits.has(call);
}
