import { Slots } from '../../lib/flow/slots.ts';
import type { Clock } from '../../lib/clock.ts';

/** The place of one open stream. */
export interface Place {
  readonly holder: string;
  /** In milliseconds of the monotonic clock. */
  readonly takenAt: number;
  /** Ends the stream cleanly; set by the code that opens it. */
  end: () => void;
  /** May be called twice. */
  readonly release: () => void;
}

interface PlaceBounds {
  readonly all: number;
  readonly perHolder: number;
  /** If no place is free, one of this age in milliseconds is taken over; without a value never. */
  readonly keptMs?: number | undefined;
}

/** The places of the streams of one operation. */
export class StreamPlaces {
  readonly #clock: Clock;
  readonly #bounds: PlaceBounds;
  readonly #slots: Slots;
  readonly #taken = new Set<Place>();

  constructor(clock: Clock, bounds: PlaceBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
    this.#slots = new Slots(bounds);
  }

  get used(): number {
    return this.#slots.used;
  }

  /** Takes a place; null if all are taken. */
  take(holder: string): Place | null {
    const free = this.#slots.take(holder) ?? this.#giveUp(holder);
    if (free === null) return null;
    const place: Place = {
      holder,
      takenAt: this.#clock.monotonic(),
      end: () => undefined,
      release: () => {
        this.#taken.delete(place);
        free();
      },
    };
    this.#taken.add(place);
    return place;
  }

  /**
   * Whether a client still reads cannot be seen here: its kernel, or a proxy, accepts the bytes. But a client
   * that reads reconnects when its stream ends. So the oldest stream of the holder with most streams gives up its
   * place.
   */
  #giveUp(holder: string): (() => void) | null {
    const { keptMs } = this.#bounds;
    if (keptMs === undefined) return null;
    const before = this.#clock.monotonic() - keptMs;
    const old = [...this.#taken].filter(({ takenAt }) => takenAt <= before);
    const [victim] = old.toSorted((a, b) => this.#countOf(b.holder) - this.#countOf(a.holder) || a.takenAt - b.takenAt);
    if (victim === undefined) return null;
    victim.release();
    victim.end();
    return this.#slots.take(holder);
  }

  #countOf(holder: string): number {
    return [...this.#taken].filter((place) => place.holder === holder).length;
  }
}
