import { createHash } from 'node:crypto';
import { type Seeded, seeded } from '../../support/seeded.ts';

/** A stream of chance. */
export interface Stream extends Pick<Seeded, 'next' | 'whole' | 'pick'> {
  /** True with this probability, from 0 to 1. */
  chance(probability: number): boolean;
  bytes(length: number): Buffer;
}

/**
 * The chance of one seed, in streams by purpose. A change in what one purpose draws leaves the others as they are:
 * otherwise each action that is left out of a plan would make another run of the rest.
 */
export class Chance {
  readonly #seed: number;
  readonly #streams = new Map<string, Stream>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  of(purpose: string): Stream {
    let stream = this.#streams.get(purpose);
    if (stream === undefined) this.#streams.set(purpose, (stream = openStream(this.#seed, purpose)));
    return stream;
  }
}

function openStream(seed: number, purpose: string): Stream {
  const source = seeded(createHash('sha256').update(`${seed} ${purpose}`).digest().readUInt32LE(0));
  return {
    ...source,
    chance: (probability) => source.next() < probability,
    bytes: (length) => Buffer.from(Array.from({ length }, () => source.whole(0, 255))),
  };
}
