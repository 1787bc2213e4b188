import { Failure } from '../../domain/failure.ts';

/** Changes how much is held. Throws unavailable where more is asked for and the room is full. */
export type Resize = (amount: number) => void;

/** A number that goes up and down below a bound. */
export class Room {
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

  /** Runs `work` with `amount` held. Throws unavailable where the room is full; the last one in may exceed the bound. */
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

/** Senders try a 503 again and nothing else: never 429. */
export function overloaded(): Failure {
  return new Failure('unavailable', 'The service is overloaded. The message was not accepted; retry later.');
}
