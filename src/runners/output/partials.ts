import type { PartialLine } from '../../domain/jobs/job.ts';
import type { Clock } from '../../lib/clock.ts';
import type { OutputSift } from '../runner.ts';
import { type LineSplitter, pieceLength } from './lines.ts';

/** A line is shown unfinished after this time, so that a program at work makes none of it. */
const UNFINISHED_MS = 1_000;
/** Between two that are shown of one job, each of which is a write. */
const PACE_MS = 1_000;
/** Of a longer line its end is shown: there is the question. The row of a job stays small. */
const PARTIAL_BYTES_MAX = 4 * 1024;

const RETURN = 13;
const CUT_MARK = Buffer.from('…');

interface Shown {
  readonly of: LineSplitter;
  readonly stream: PartialLine['stream'];
  readonly data: Buffer;
}

/**
 * The unfinished line of a run: of several streams, that of the one that printed last. What a stream prints has passed
 * the redactor, which holds back whatever may be the beginning of a secret.
 */
export class Partials {
  readonly #clock: Clock;
  readonly #show: (partial: PartialLine | null) => void;
  readonly #sifts: Pick<OutputSift, 'isHolding'>[] = [];
  /** The streams with an unfinished line, and when it began. The last one printed last. */
  readonly #open = new Map<LineSplitter, { readonly stream: PartialLine['stream']; readonly sinceMs: number }>();
  #shown: Shown | null = null;
  #shownMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** `show` gets what is shown from now on; null for nothing. */
  constructor(clock: Clock, show: (partial: PartialLine | null) => void) {
    this.#clock = clock;
    this.#show = show;
  }

  /** Shows nothing while this program prints what may not be seen yet. */
  heed(sift: Pick<OutputSift, 'isHolding'>): void {
    this.#sifts.push(sift);
  }

  /** The stream printed something. */
  printed(of: LineSplitter, stream: PartialLine['stream']): void {
    if (this.#isHeld) this.#put(null);
    if (this.#isClosed || of.unfinished.length === 0) return;
    const sinceMs = this.#open.get(of)?.sinceMs ?? this.#clock.monotonic();
    this.#open.delete(of);
    this.#open.set(of, { stream, sinceMs });
    this.#plan(sinceMs);
  }

  /** A line of the stream has ended, or a piece of one is kept. */
  ended(of: LineSplitter): void {
    this.#open.delete(of);
    if (this.#shown?.of !== of) return;
    this.#put(null);
    // Another stream may still wait behind its question.
    for (const { sinceMs } of this.#open.values()) this.#plan(sinceMs);
  }

  /** Nothing is shown any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#put(null);
  }

  get #isHeld(): boolean {
    return this.#sifts.some(({ isHolding }) => isHolding === true);
  }

  #plan(sinceMs: number): void {
    if (this.#isClosed || this.#cancel !== undefined) return;
    const atMs = Math.max(sinceMs + UNFINISHED_MS, this.#shownMs + PACE_MS);
    this.#cancel = this.#clock.after(Math.max(0, atMs - this.#clock.monotonic()), () => this.#look());
  }

  #look(): void {
    this.#cancel = undefined;
    const before = this.#clock.monotonic() - UNFINISHED_MS;
    const open = [...this.#open];
    const newest = open.findLast(([, { sinceMs }]) => sinceMs <= before);
    if (newest !== undefined && !this.#isHeld) {
      const [of, { stream }] = newest;
      const data = lastState(of.unfinished);
      this.#put(data.length === 0 ? null : { of, stream, data });
    }
    const next = open.find(([, { sinceMs }]) => sinceMs > before);
    if (next !== undefined) this.#plan(next[1].sinceMs);
  }

  #put(partial: Shown | null): void {
    const shown = this.#shown;
    this.#shown = partial;
    if (partial === null) {
      if (shown !== null) this.#show(null);
    } else if (shown?.of !== partial.of || !partial.data.equals(shown.data)) {
      this.#shownMs = this.#clock.monotonic();
      this.#show({ stream: partial.stream, data: partial.data });
    }
  }
}

/** A copy of what a terminal would show of the line: what follows the last carriage return with text behind it. */
function lastState(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && line[end - 1] === RETURN) end -= 1;
  const start = line.subarray(0, end).lastIndexOf(RETURN) + 1;
  const whole = line.subarray(start, start + pieceLength(line.subarray(start, end)));
  if (whole.length <= PARTIAL_BYTES_MAX) return Buffer.from(whole);
  let from = whole.length - PARTIAL_BYTES_MAX;
  while (((whole[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return Buffer.concat([CUT_MARK, whole.subarray(from)]);
}
