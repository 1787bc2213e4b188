import { formatDuration } from '../../domain/duration.ts';
import { Worker } from 'node:worker_threads';
import type { NormalEvent, WebhookSource } from '../../domain/events/event.ts';
import { Failure } from '../../domain/failure.ts';
import type { MessageRefusal } from '../../domain/events/message-refusal.ts';
import type { Clock } from '../../lib/clock.ts';
import { Limiter, LimiterFull } from '../../lib/flow/limiter.ts';
import type { TaskSlicer } from '../../lib/flow/cooperative.ts';
import { normalise, normaliseStrictly } from '../normalise/normalise.ts';
import { type Normalised, type Payload, Unreadable } from '../normalise/payload.ts';
import { programEntry } from '../../lib/files/program-files.ts';

/** Up to here a message is read in place: the worst one takes 5 ms (1 MiB: 150 ms), and most messages are shorter. */
export const INLINE_BYTES_MAX = 65_536;

/** Up to here JSON is repaired in place: of 64 KiB the worst takes 200 ms, of this 25. */
const REPAIRED_INLINE_BYTES_MAX = 8_192;

export interface ReaderLimits {
  /** A message that takes longer is refused and its thread ended, in milliseconds. 8 MiB take less than one second. */
  readonly messageMs: number;
  /** Memory of the thread, in MiB: a message of a million values takes about 100. */
  readonly memoryMb: number;
  /** Messages that wait for the thread; more are refused. Their bytes are bounded by the ingress. */
  readonly waiting: number;
}

export const READER_LIMITS: ReaderLimits = { messageMs: 5_000, memoryMb: 256, waiting: 64 };

/** What the thread gets. */
export interface ReaderTask {
  readonly source: WebhookSource;
  readonly contentType: string;
  readonly query: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What the thread answers: each event as JSON with the index behind it, or why nothing can be read. */
export type ReaderAnswer =
  | {
      readonly json: Uint8Array<ArrayBuffer>;
      readonly ends: Uint32Array<ArrayBuffer>;
      readonly problems: readonly string[];
    }
  | { readonly why: string; readonly refusal: MessageRefusal };

/**
 * Reads messages: short ones on the event loop, long ones one at a time in a thread that starts with the first of them.
 */
export class MessageReader {
  readonly #clock: Clock;
  readonly #turns: TaskSlicer;
  readonly #limits: ReaderLimits;
  readonly #one: Limiter;
  #thread: Promise<Worker> | null = null;
  #closed = false;

  constructor(clock: Clock, turns: TaskSlicer, limits: ReaderLimits = READER_LIMITS) {
    this.#clock = clock;
    this.#turns = turns;
    this.#limits = limits;
    this.#one = new Limiter({ running: 1, waiting: limits.waiting });
  }

  /** Throws Unreadable, and Failure unavailable if too many wait. The bytes of a long message are empty afterwards. */
  async read(source: WebhookSource, payload: Payload): Promise<Normalised> {
    const { length } = payload.bytes;
    if (length <= INLINE_BYTES_MAX) {
      const read = length <= REPAIRED_INLINE_BYTES_MAX ? normalise : normaliseStrictly;
      try {
        const [normalised] = await this.#turns.each([payload], (each) => read(source, each));
        return normalised ?? { events: [], problems: [] };
      } catch (error) {
        if (read === normalise || !(error instanceof Unreadable)) throw error;
      }
    }
    try {
      return await this.#one.run(() => this.#readInThread(source, payload));
    } catch (error) {
      if (error instanceof LimiterFull)
        throw new Failure('unavailable', 'The service is overloaded. The message was not accepted; retry later.');
      throw error;
    }
  }

  /** Ends the thread. A message that is being read is refused. May be called twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  async #readInThread(source: WebhookSource, { contentType, query, bytes }: Payload): Promise<Normalised> {
    if (this.#closed)
      throw new Failure('unavailable', 'The service is stopping. The message was not accepted; retry later.');
    this.#thread ??= this.#start();
    const thread = await this.#thread;
    const task = { source, contentType, query, bytes: whole(bytes) };
    const answer = await this.#answerOf(thread, task);
    if ('why' in answer) throw new Unreadable(answer.why, answer.refusal);
    const { json, ends, problems } = answer;
    const text = Buffer.from(json.buffer);
    const events = await this.#turns.each(
      [...ends.entries()],
      ([index, end]) => JSON.parse(text.toString('utf8', ends[index - 1] ?? 0, end)) as NormalEvent,
    );
    return { events, problems };
  }

  async #answerOf(thread: Worker, task: ReaderTask): Promise<ReaderAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ReaderAnswer>();
    const lost = (): void => reject(new Unreadable('The message could not be read: the reader failed.'));
    const late = (): void =>
      reject(
        new Unreadable(`The message could not be read within ${formatDuration(this.#limits.messageMs)}.`, 'too_slow'),
      );
    const cancel = this.#clock.after(this.#limits.messageMs, late);
    thread.once('message', resolve).once('messageerror', lost).once('exit', lost);
    thread.ref();
    try {
      thread.postMessage(task, [task.bytes.buffer]);
      return await promise;
    } catch (error) {
      // The next message gets a new thread in any case.
      await this.#end();
      throw error;
    } finally {
      cancel();
      thread.unref();
      thread.off('message', resolve).off('messageerror', lost).off('exit', lost);
    }
  }

  /** Rejects with unavailable where no thread can be started: that is no fault of the message. */
  #start(): Promise<Worker> {
    const { promise, resolve, reject } = Promise.withResolvers<Worker>();
    const thread = new Worker(programEntry('reaction/message/message-reader-thread'), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
      // The thread needs no variable of the daemon.
      env: {},
    });
    thread.once('message', () => {
      thread.unref();
      resolve(thread);
    });
    // An exit event follows an error.
    thread.on('error', () => undefined);
    thread.once('exit', () => {
      if (this.#thread === promise) this.#thread = null;
      reject(new Failure('unavailable', 'The message could not be read at the moment; retry later.'));
    });
    return promise;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    // A thread that did not start is gone.
    await thread?.then((started) => started.terminate()).catch(() => undefined);
  }
}

/** Only a buffer that is the whole of its memory can be handed over; of any other a copy is. */
function whole(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength)
    return new Uint8Array(buffer);
  return new Uint8Array(bytes);
}
