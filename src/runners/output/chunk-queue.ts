import { CHUNK_RAW_LIMIT_BYTES, ChunkBuilder } from '../../lib/chunks/chunk-builder.ts';
import type { ChunkStream } from '../../lib/chunks/chunk-event.ts';
import type { JobProgress, PartialLine } from '../../domain/jobs/job.ts';
import type { Clock } from '../../lib/clock.ts';

/** An event reaches the store at most this long after it came, if the store takes it. */
const FLUSH_MS = 50;
/** Buffers kept for the next chunks, so that a job that writes without end makes no garbage of 256 KiB a time. */
const SPARE_BUFFERS = 4;

/** A chunk for the store: `data` as `decodeChunk` reads it, `rawBytes` its size before compression. */
export interface RecordedChunk {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly data: Buffer;
  readonly rawBytes: number;
  /** The last one in it. */
  readonly progress?: JobProgress;
  /** What the unfinished line is once the chunk is stored; absent where it stays as it was. */
  readonly partial?: PartialLine | null;
}

interface ChunkQueueOptions {
  readonly firstSeq: number;
  readonly clock: Clock;
  readonly write: (chunk: RecordedChunk) => Promise<void>;
  /** Stores the unfinished line where no chunk is about to be written; null for none any more. */
  readonly writePartial: (partial: PartialLine | null) => Promise<void>;
  /** A chunk was written: there is more room. */
  readonly onRoom: () => void;
  /** A write was rejected: nothing is written any more, and what waits is dropped. */
  readonly onRejected: (error: unknown) => void;
}

/**
 * Gathers events into chunks and writes them in order, one at a time. A chunk is written when it is full or FLUSH_MS
 * after its first event; during a write, new events are gathered in one chunk.
 */
export class ChunkQueue {
  readonly #options: ChunkQueueOptions;
  readonly #spare: Buffer[] = [];
  #open: ChunkBuilder | undefined;
  #full: ChunkBuilder[] = [];
  #fullBytes = 0;
  readonly #progress = new WeakMap<ChunkBuilder, JobProgress>();
  /** The change of the unfinished line that the store does not have yet. */
  #partial: PartialLine | null | undefined;
  #nextSeq: number;
  #due = false;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #rejected = false;

  constructor(options: ChunkQueueOptions) {
    this.#options = options;
    this.#nextSeq = options.firstSeq;
  }

  /** Bytes that the store has not taken yet. */
  get pendingBytes(): number {
    return this.#fullBytes + (this.#open?.rawBytes ?? 0);
  }

  /** Whole lines, each with its `\n`, none over CHUNK_RAW_LIMIT_BYTES less the 16 bytes of a run. */
  lines(stream: ChunkStream, data: Buffer): void {
    const atMs = this.#options.clock.now();
    let start = 0;
    while (start < data.length && !this.#rejected) {
      const taken = this.#builder().lines(stream, atMs, data, start);
      if (taken === 0) this.#seal();
      start += taken;
    }
  }

  /** One event of any bytes. */
  text(stream: ChunkStream, data: Buffer): void {
    const atMs = this.#options.clock.now();
    this.#add((builder) => builder.text(stream, atMs, data));
  }

  progress(play: string, task: string): void {
    const atMs = this.#options.clock.now();
    this.#add((builder) => {
      if (!builder.progress(atMs, play, task)) return false;
      this.#progress.set(builder, { play, task });
      return true;
    });
  }

  /** What the unfinished line is now. It is stored with the chunk that is open, so that no reader gets a line twice. */
  partial(partial: PartialLine | null): void {
    if (this.#rejected) return;
    this.#partial = partial;
    if (this.#open === undefined) this.#writing ??= this.#writeAll();
  }

  /**
   * Ends the queue once the full chunks are written, or dropped after a write was rejected. Answers the last chunk,
   * which is not written, so that the caller can store it together with the end of the run; null without one.
   */
  async close(): Promise<RecordedChunk | null> {
    this.#cancelTimer?.();
    this.#due = false;
    await this.#writing;
    this.#spare.length = 0;
    const last = this.#open;
    this.#open = undefined;
    return last === undefined || last.count === 0 ? null : await this.#recorded(last);
  }

  #add(put: (builder: ChunkBuilder) => boolean): void {
    if (this.#rejected || put(this.#builder())) return;
    this.#seal();
    if (!put(this.#builder())) throw new RangeError('An event is larger than a chunk.');
  }

  #builder(): ChunkBuilder {
    if (this.#open === undefined) {
      this.#open = new ChunkBuilder(this.#nextSeq, this.#spare.pop() ?? Buffer.allocUnsafe(CHUNK_RAW_LIMIT_BYTES));
      this.#cancelTimer = this.#options.clock.after(FLUSH_MS, () => this.#flush());
    }
    return this.#open;
  }

  #flush(): void {
    if (this.#writing === undefined) this.#seal();
    else this.#due = true;
  }

  #seal(): void {
    const builder = this.#open;
    this.#due = false;
    this.#cancelTimer?.();
    this.#open = undefined;
    if (builder === undefined || builder.count === 0) return;
    this.#nextSeq += builder.count;
    this.#full.push(builder);
    this.#fullBytes += builder.rawBytes;
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // Not before the caller has its promise, so that a queue at work is known by it.
    await Promise.resolve();
    for (let next = this.#next(); next !== undefined || this.#isPartialDue; next = this.#next()) {
      try {
        await (next === undefined
          ? this.#options.writePartial(this.#takePartial() ?? null)
          : this.#options.write(await this.#recorded(next)));
      } catch (error) {
        this.#reject(error);
        break;
      }
      if (next === undefined) continue;
      this.#full.shift();
      this.#fullBytes -= next.rawBytes;
      if (this.#spare.length < SPARE_BUFFERS) this.#spare.push(next.buffer);
      this.#options.onRoom();
    }
    this.#writing = undefined;
  }

  #next(): ChunkBuilder | undefined {
    if (this.#full.length === 0 && this.#due) this.#seal();
    return this.#full[0];
  }

  get #isPartialDue(): boolean {
    return this.#partial !== undefined && this.#open === undefined;
  }

  #takePartial(): PartialLine | null | undefined {
    const partial = this.#partial;
    this.#partial = undefined;
    return partial;
  }

  async #recorded(chunk: ChunkBuilder): Promise<RecordedChunk> {
    const { firstSeq, count, rawBytes } = chunk;
    const progress = this.#progress.get(chunk);
    const known = { firstSeq, lastSeq: firstSeq + count - 1, data: await chunk.encodeAside(), rawBytes };
    const partial = this.#takePartial();
    return { ...known, ...(progress === undefined ? {} : { progress }), ...(partial === undefined ? {} : { partial }) };
  }

  #reject(error: unknown): void {
    this.#rejected = true;
    this.#cancelTimer?.();
    this.#open = undefined;
    this.#partial = undefined;
    this.#full = [];
    this.#fullBytes = 0;
    this.#options.onRejected(error);
  }
}
