import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '../../../lib/clock.ts';
import type { SqliteConnection } from './driver.ts';

/** How a file is flushed to the disk; a test gives one that fails. */
export interface Flusher {
  /** In a thread of libuv. */
  later(fd: number): Promise<void>;
  /** In this thread. */
  now(fd: number): void;
}

const FLUSHER: Flusher = { later: promisify(fdatasync), now: fdatasyncSync };

/**
 * How long the threads of libuv may take, in milliseconds. They also serve file systems that can hang; a flush that
 * takes longer is made in this thread as well, so that a commit waits for no file but the log.
 */
const THREADS_LIMIT_MS = 500;

/**
 * A flush may hold the event loop for less than this, in milliseconds. On a quick disk (0.3 ms) it is made in this
 * thread: the way to another one and back makes groups smaller, and 16 clients got a quarter less done.
 */
const QUICK_MS = 3;
/** For this time after a slower flush the other threads flush, in milliseconds. */
const SLOW_FOR_MS = 250;

/** SQLITE_IOERR. */
const IO_ERROR = 10;

/** What SQLite answers about a checkpoint; `busy` is 1 where another process kept it from its end. */
type Checkpoint = Record<'busy' | 'log' | 'checkpointed', number>;

/** The disk did not confirm a commit: it is not known whether it would survive a power cut. */
export class FlushFailed extends Error {
  readonly errcode = IO_ERROR;
}

/**
 * Makes commits durable; a slow disk does not hold the event loop. With synchronous=NORMAL SQLite writes a commit into
 * the log and does not flush it. The flush that synchronous=FULL makes inside the commit is made here, by another
 * thread where the disk is slow, and the commit is answered after it. A flush covers all that is in the log when it
 * begins.
 */
export class LogSync {
  readonly #file: string;
  readonly #writer: SqliteConnection;
  readonly #clock: Clock;
  readonly #flusher: Flusher;
  #fd: number | null = null;
  #pending: Promise<void> | null = null;
  #isUnsure = false;
  /** On the monotonic clock. */
  #slowUntil = Number.NEGATIVE_INFINITY;

  constructor(file: string, writer: SqliteConnection, clock: Clock, flusher: Flusher = FLUSHER) {
    this.#file = file;
    this.#writer = writer;
    this.#clock = clock;
    this.#flusher = flusher;
  }

  /** Resolves, and never rejects, at the end of the flush under way; null without one. */
  get pending(): Promise<void> | null {
    return this.#pending;
  }

  /**
   * Called in the same turn as a commit, so that nothing reads it before `pending` is set. Commits follow each other:
   * one flush is under way at a time. Throws FlushFailed.
   */
  async flush(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pending = promise;
    try {
      if (this.#clock.monotonic() < this.#slowUntil) await this.#flushed();
      else this.#flushHere();
    } catch (error) {
      // Linux may drop what it could not write, and the next flush then succeeds: only a copy of it is certain.
      this.#isUnsure = true;
      this.restore(error);
    } finally {
      this.#pending = null;
      resolve();
    }
  }

  /** Before a transaction: after a failed flush the log is moved into the database first. Throws FlushFailed. */
  restore(cause: unknown = null): void {
    if (!this.#isUnsure) return;
    try {
      const { busy, log, checkpointed } = this.#moveLog();
      if (busy !== 0 || log !== checkpointed) throw new Error(`${checkpointed} of ${log} pages of the log were moved`);
    } catch (error) {
      throw new FlushFailed('the log of the database cannot be flushed', { cause: cause ?? error });
    }
    this.#isUnsure = false;
  }

  close(): void {
    // SQLite holds no locks on the log itself: closing a descriptor of it drops none.
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** SQLite writes each page of the log into the database and flushes that. */
  #moveLog(): Checkpoint {
    const [row] = this.#writer.run<Checkpoint>('pragma wal_checkpoint(full)', []).rows;
    return row ?? { busy: 1, log: 0, checkpointed: 0 };
  }

  #open(): number {
    return (this.#fd ??= openSync(this.#file, 'r'));
  }

  #flushHere(): void {
    const begun = this.#clock.monotonic();
    this.#flusher.now(this.#open());
    const ended = this.#clock.monotonic();
    if (ended - begun >= QUICK_MS) this.#slowUntil = ended + SLOW_FOR_MS;
  }

  async #flushed(): Promise<void> {
    const fd = this.#open();
    const late = Promise.withResolvers<void>();
    const cancel = this.#clock.after(THREADS_LIMIT_MS, () => {
      try {
        late.resolve(this.#flusher.now(fd));
      } catch (error) {
        late.reject(error);
      }
    });
    try {
      await Promise.race([this.#flusher.later(fd), late.promise]);
    } finally {
      cancel();
    }
  }
}
