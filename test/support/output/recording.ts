import assert from 'node:assert/strict';
import { decodeChunk } from '../../../src/lib/chunks/chunk.ts';
import type { ChunkEvent } from '../../../src/lib/chunks/chunk-event.ts';
import type { PartialLine } from '../../../src/domain/jobs/job.ts';
import { HandClock } from '../clock.ts';
import { Recorder, type RecorderOptions } from '../../../src/runners/output/recorder.ts';
import type { RecordedChunk } from '../../../src/runners/output/chunk-queue.ts';

// For the tests of this folder only.

/** A store that keeps what it is given, and checks with each chunk that no seq is left out or comes twice. */
export class Store {
  readonly chunks: RecordedChunk[] = [];
  /** Each change of the unfinished line, as a text. */
  readonly partials: (string | null)[] = [];
  #next: number;
  #waiting: (() => void)[] = [];
  #held = false;
  constructor(firstSeq: number) {
    this.#next = firstSeq;
  }
  readonly write = async (chunk: RecordedChunk): Promise<void> => {
    assert.equal(chunk.firstSeq, this.#next, 'I9: no gap and no repeat');
    this.#next = chunk.lastSeq + 1;
    this.chunks.push(chunk);
    if (chunk.partial !== undefined) void this.writePartial(chunk.partial);
    if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  };
  readonly writePartial = (partial: PartialLine | null): Promise<void> => {
    this.partials.push(partial === null ? null : `${partial.stream}: ${Buffer.from(partial.data).toString()}`);
    return Promise.resolve();
  };
  hold(): void {
    this.#held = true;
  }
  release(): void {
    this.#held = false;
    for (const go of this.#waiting.splice(0)) go();
  }
  get events(): ChunkEvent[] {
    return this.chunks.flatMap(({ data }) => decodeChunk(data, { after: 0, limit: 1_000_000 }));
  }
  get lines(): string[] {
    return this.events.map((event) => (event.type === 'log' ? `${event.stream}: ${event.text}` : event.type));
  }
}

export function setUp(options: Partial<RecorderOptions> = {}): {
  store: Store;
  clock: HandClock;
  recorder: Recorder;
  /** As a run ends it, where the caller stores the last chunk. Answers the last stored seq. */
  finish: () => Promise<{ lastSeq: number }>;
} {
  const clock = new HandClock(Date.parse('2026-01-02T03:04:05.006Z'));
  const store = new Store(options.firstSeq ?? 1);
  let lastSeq = (options.firstSeq ?? 1) - 1;
  const write = async (chunk: RecordedChunk): Promise<void> => {
    await (options.write ?? store.write)(chunk);
    lastSeq = chunk.lastSeq;
  };
  const { writePartial } = store;
  const recorder = new Recorder({ secrets: [], firstSeq: 1, clock, writePartial, ...options, write });
  const finish = async (): Promise<{ lastSeq: number }> => {
    const last = await recorder.finish();
    if (last !== null) await write(last);
    return { lastSeq };
  };
  return { store, clock, recorder, finish };
}

/** Lets everything happen that needs no time: streams, promises, the thread pool. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
