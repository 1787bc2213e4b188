import { Failure } from '../../domain/failure.ts';

/** A counter with an upper bound. */
class Room {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#taken >= this.#max;
  }

  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  change(by: number): void {
    this.#taken += by;
  }
}

/** A room that all holders share, of which each may use at most `each`. The last one in may exceed a bound. */
export class SharedRoom {
  readonly #all: Room;
  readonly #each: number;
  readonly #countedMax: number;
  readonly #own = new Map<string, Room>();

  /**
   * What one work holds is counted for all up to `countedMax`: one that is larger than expected does not keep other
   * holders out.
   */
  constructor(all: number, each: number, countedMax = Number.POSITIVE_INFINITY) {
    this.#all = new Room(all);
    this.#each = each;
    this.#countedMax = countedMax;
  }

  get isFull(): boolean {
    return this.#all.isFull;
  }

  isFullFor(holder: string): boolean {
    return this.isFull || this.#own.get(holder)?.isFull === true;
  }

  /** Throws unavailable if the room or the share of the holder is full. The caller releases what it gets. */
  take(holder: string, amount: number): Held {
    if (this.isFullFor(holder)) throw overloaded();
    const own = this.#own.getOrInsertComputed(holder, () => new Room(this.#each));
    const held = new Held(own, this.#all, this.#countedMax, () => {
      // One that holds nothing at the moment may have been forgotten before, and another one made.
      if (own.isEmpty && this.#own.get(holder) === own) this.#own.delete(holder);
    });
    held.correct(amount);
    return held;
  }
}

/** An amount of a room that is in use. */
export class Held {
  readonly #own: Room;
  readonly #all: Room;
  readonly #countedMax: number;
  readonly #released: () => void;
  #amount = 0;

  constructor(own: Room, all: Room, countedMax: number, released: () => void) {
    this.#own = own;
    this.#all = all;
    this.#countedMax = countedMax;
    this.#released = released;
  }

  /** Changes the amount. Throws unavailable if it grows and the room is full. */
  resize(to: number): void {
    if (to > this.#amount && this.#own.isFull) throw overloaded();
    if (this.#counted(to) > this.#counted(this.#amount) && this.#all.isFull) throw overloaded();
    this.correct(to);
  }

  /** Changes the amount to what it turned out to be, beyond the bounds too. */
  correct(to: number): void {
    this.#own.change(to - this.#amount);
    this.#all.change(this.#counted(to) - this.#counted(this.#amount));
    this.#amount = to;
  }

  release(): void {
    this.correct(0);
    this.#released();
  }

  #counted(amount: number): number {
    return Math.min(amount, this.#countedMax);
  }
}

/** Senders retry only a 503, so never 429. */
export function overloaded(): Failure {
  return new Failure('unavailable', 'The service is overloaded. The message was not accepted; retry later.');
}
