import { Failure } from '../../domain/failure.ts';

/** Changes the held amount. Throws unavailable if it grows and the room is full. */
export type Resize = (amount: number) => void;

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

  /**
   * Runs `work` with `amount` held. Throws unavailable if the room is full; the last one in may exceed the bound.
   */
  async hold<T>(amount: number, work: (resize: Resize, correct: Resize) => Promise<T>): Promise<T> {
    if (this.isFull) throw overloaded();
    let held = amount;
    this.#taken += held;
    const correct = (to: number): void => {
      this.#taken += to - held;
      held = to;
    };
    const resize = (to: number): void => {
      if (to > held && this.isFull) throw overloaded();
      correct(to);
    };
    try {
      return await work(resize, correct);
    } finally {
      this.#taken -= held;
    }
  }
}

/** A shared room of which each holder may use at most `each`. */
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

  /** As Room; throws unavailable also if the share of the holder is full. */
  async hold<T>(holder: string, amount: number, work: (resize: Resize, correct: Resize) => Promise<T>): Promise<T> {
    const own = this.#own.get(holder) ?? new Room(this.#each);
    this.#own.set(holder, own);
    const counted = (to: number): number => Math.min(to, this.#countedMax);
    try {
      return await own.hold(amount, (resizeOwn, correctOwn) =>
        this.#all.hold(counted(amount), (resizeAll, correctAll) =>
          work(
            (to) => {
              resizeOwn(to);
              resizeAll(counted(to));
            },
            (to) => {
              correctOwn(to);
              correctAll(counted(to));
            },
          ),
        ),
      );
    } finally {
      if (own.isEmpty) this.#own.delete(holder);
    }
  }
}

/** Senders retry only a 503, so never 429. */
export function overloaded(): Failure {
  return new Failure('unavailable', 'The service is overloaded. The message was not accepted; retry later.');
}
