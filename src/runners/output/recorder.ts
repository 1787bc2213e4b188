import type { Readable } from 'node:stream';
import type { JobProgress, PartialLine } from '../../domain/jobs/job.ts';
import { type HiddenFolders, pathForms } from '../../domain/secrets/path-mask.ts';
import type { Redactor } from '../../domain/secrets/pattern-replacer.ts';
import { compileSecrets, createRedactor, redactText, type SecretPatterns } from '../../domain/secrets/redaction.ts';
import { formatSize } from '../../domain/size.ts';
import type { Clock } from '../../lib/clock.ts';
import type { OutputSift } from '../runner.ts';
import { ChunkQueue, type RecordedChunk } from './chunk-queue.ts';
import { LineSplitter } from './lines.ts';
import { giveBack } from './own-read.ts';
import { Partials } from './partials.ts';
import { Refusals } from './refusals.ts';

/** Output kept of one job, in bytes of its redacted lines with their ends. */
const OUTPUT_CAP_BYTES = 256 * 1024 * 1024;
/** Most bytes that wait for the store before the pipes are left unread: three full chunks and one that fills. */
const PENDING_LIMIT_BYTES = 768 * 1024;
/** Reading continues below this, so that a pipe is not stopped and started for each chunk. */
const RESUME_BELOW_BYTES = 512 * 1024;
/** Read from one job in one turn of the event loop: 0.5 ms of work, so that eight jobs at it cost a request 4 ms. */
const TURN_BYTES = 128 * 1024;
/** A pause between turns of a job whose output is dropped: eight that write without end take 0.27 of a core. */
const DROP_PAUSE_MS = 4;
/** System lines and progress of one job, beside its output: they come after the cap too, but not without end. */
const NOTES_CAP_BYTES = 4 * 1024 * 1024;
/** Names of plays and tasks come from a checkout; more of one says nothing more to a reader. */
const NAME_LIMIT_CHARACTERS = 1000;
/** Of a note: it is the reason of a failure, in lists and notifications too. */
const NOTE_CHARACTERS = 300;
/** A process that outlives its program may hold its pipes open: they are closed after this time without a byte. */
const IDLE_AT_END_MS = 5000;

const NEWLINE = 10;

/** The run has lost its job: `write` rejects with this, and nothing more of the run is kept. */
export class RecorderFenced extends Error {
  constructor() {
    super('The run no longer owns its job.');
    this.name = 'RecorderFenced';
  }
}

export interface RecorderOptions {
  readonly secrets: readonly Buffer[];
  /** Shown by a word in place of their paths. */
  readonly folders?: HiddenFolders;
  /** The sequence number of the first event. */
  readonly firstSeq: number;
  readonly clock: Clock;
  /** Stores a chunk. One call at a time, in order; while it is under way, output waits and then the program does. */
  readonly write: (chunk: RecordedChunk) => Promise<void>;
  /** Stores the unfinished line where no chunk does; null removes it. In order with `write`. */
  readonly writePartial: (partial: PartialLine | null) => Promise<void>;
  readonly capBytes?: number;
}

interface Source {
  readonly name: 'stdout' | 'stderr';
  readonly stream: Readable;
  /** Made for its first bytes. */
  redactor: Redactor | undefined;
  readonly splitter: LineSplitter;
  readonly sift: OutputSift | undefined;
}

/** Records the output of one run: redacts, splits into lines, numbers, compresses, and hands on to the store. */
export class Recorder {
  readonly #options: RecorderOptions;
  #compiled: SecretPatterns | undefined;
  readonly #capBytes: number;
  readonly #queue: ChunkQueue;
  readonly #sources = new Set<Source>();
  readonly #partials: Partials;
  #keptBytes = 0;
  #noteBytes = 0;
  /** Why output is read and dropped: the cap, a rejected write, the end. */
  #dropping = false;
  #closed = false;
  #failure: unknown;
  /** Reading is stopped because the store is behind. */
  #behind = false;
  #turnBytes = 0;
  #turnEnds = false;
  #reads = 0;
  #onSourcesEnded: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;
  #finished: Promise<RecordedChunk | null> | undefined;
  readonly #refusals = new Refusals();
  #note: string | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#capBytes = options.capBytes ?? OUTPUT_CAP_BYTES;
    this.#queue = new ChunkQueue({
      ...options,
      onRoom: () => this.#flow(),
      onRejected: (error) => this.#rejected(error),
    });
    this.#partials = new Partials(options.clock, (partial) => this.#queue.partial(partial));
  }

  /** Reads the stream to its end. Several may be attached, also one after another. `sift` sees the bytes first. */
  attach(stream: Readable, name: 'stdout' | 'stderr', sift?: OutputSift): void {
    const splitter: LineSplitter = new LineSplitter((data, ended) => {
      this.#take(name, data, ended);
      this.#partials.ended(splitter);
    });
    const source: Source = { name, stream, splitter, sift, redactor: undefined };
    this.#sources.add(source);
    if (sift?.isHolding !== undefined) this.#partials.heed(sift);
    stream.on('data', (chunk: Buffer | string) =>
      this.#read(source, typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
    );
    stream.once('end', () => this.#ended(source));
    stream.once('close', () => this.#ended(source));
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#ended(source))
        this.system(`The ${name} of the program could not be read further (${error.code ?? error.name}).`);
    });
    if (stream.readableEnded || stream.destroyed) this.#ended(source);
    else this.#flow();
  }

  /** A program begins: what was said or printed before it is no reason for its end. */
  begin(): void {
    this.#note = null;
    this.#refusals.clear();
  }

  /** The first line of the last `system` text since the last program began; null without one. */
  get note(): string | null {
    return this.#note;
  }

  /** Whether the last program printed at its end that something was refused. */
  get saysRefused(): boolean {
    return this.#refusals.isLikely;
  }

  /** A `system` line, or several, with secrets replaced; nothing after `finish`. `note`: as the reason of an end. */
  system(text: string, note?: string | null): void {
    const redacted = redactText(text, this.#secrets);
    // With null, the reason is still what it was.
    if (note !== null) this.#note = (note ?? redacted).split('\n', 1)[0]?.slice(0, NOTE_CHARACTERS) ?? null;
    const line = Buffer.from(redacted);
    if (this.#closed || !this.#mayNote(line.length)) return;
    const splitter = new LineSplitter((data, ended) =>
      ended ? this.#queue.lines('system', data) : this.#queue.text('system', data),
    );
    splitter.push(line);
    splitter.end();
  }

  redact(text: string): string {
    return redactText(text, this.#secrets);
  }

  event(progress: JobProgress): void {
    const play = this.redact(progress.play).slice(0, NAME_LIMIT_CHARACTERS);
    const task = this.redact(progress.task).slice(0, NAME_LIMIT_CHARACTERS);
    if (!this.#closed && this.#mayNote(play.length + task.length)) this.#queue.progress(play, task);
  }

  /**
   * Waits for the attached streams to end. Answers the last chunk, which the caller stores; null if all is stored.
   * Rejects when a write was rejected, except with RecorderFenced.
   */
  finish(): Promise<RecordedChunk | null> {
    this.#finished ??= this.#finishOnce();
    return this.#finished;
  }

  async #finishOnce(): Promise<RecordedChunk | null> {
    if (this.#sources.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onSourcesEnded = resolve;
        this.#watchIdle();
      });
    }
    this.#closed = true;
    this.#partials.close();
    const last = await this.#queue.close();
    if (this.#failure !== undefined) throw this.#failure;
    return last;
  }

  #read(source: Source, chunk: Buffer): void {
    this.#reads += 1;
    this.#turnBytes += chunk.length;
    // It also receives output that is not kept: it may search for something else.
    const shown = source.sift?.push(chunk) ?? chunk;
    this.#refusals.push(shown);
    if (!this.#dropping) source.splitter.push(this.#redactorOf(source).push(shown));
    this.#partials.printed(source.splitter, source.name);
    giveBack(source.stream, chunk);
    this.#endTurn();
    this.#flow();
  }

  /** Not before there is output: a program that is about to start does not wait for it. */
  get #secrets(): SecretPatterns {
    const { secrets, folders } = this.#options;
    return (this.#compiled ??= compileSecrets(secrets, folders === undefined ? [] : pathForms(folders)));
  }

  #redactorOf(source: Source): Redactor {
    return (source.redactor ??= createRedactor(this.#secrets));
  }

  #endTurn(): void {
    if (this.#turnEnds) return;
    this.#turnEnds = true;
    const next = (): void => {
      this.#turnEnds = false;
      this.#turnBytes = 0;
      this.#flow();
    };
    if (this.#dropping) this.#options.clock.after(DROP_PAUSE_MS, next);
    else setImmediate(next);
  }

  /** Lets the streams run, or stops them: for the rest of a turn that had enough, or while the store is behind. */
  #flow(): void {
    const pending = this.#queue.pendingBytes;
    this.#behind = !this.#dropping && pending >= (this.#behind ? RESUME_BELOW_BYTES : PENDING_LIMIT_BYTES);
    const stop = this.#behind || this.#turnBytes >= TURN_BYTES;
    for (const { stream } of this.#sources) {
      if (stop === stream.isPaused()) continue;
      if (stop) stream.pause();
      else stream.resume();
    }
  }

  #take(name: 'stdout' | 'stderr', data: Buffer, ended: boolean): void {
    if (this.#dropping) return;
    const fitting = this.#fitting(data, ended);
    this.#keptBytes += fitting.length;
    if (ended) this.#queue.lines(name, fitting);
    else if (fitting.length > 0) this.#queue.text(name, fitting);
    if (fitting.length === data.length) return;
    this.#dropping = true;
    const limit = formatSize(this.#capBytes);
    this.#queue.text('system', Buffer.from(`Output limit of ${limit} reached; the rest is not kept.`));
    this.#partials.close();
  }

  /** What of `data` the cap leaves room for: whole lines, or the piece as a whole. */
  #fitting(data: Buffer, ended: boolean): Buffer {
    const room = this.#capBytes - this.#keptBytes;
    if (data.length <= room) return data;
    return data.subarray(0, ended && room > 0 ? data.lastIndexOf(NEWLINE, room - 1) + 1 : 0);
  }

  #mayNote(bytes: number): boolean {
    this.#noteBytes += bytes;
    return this.#noteBytes <= NOTES_CAP_BYTES;
  }

  /** Takes what the redactor and the splitter still hold. False when the source had ended before. */
  #ended(source: Source): boolean {
    if (!this.#sources.delete(source)) return false;
    if (source.sift !== undefined) source.splitter.push(this.#redactorOf(source).push(source.sift.end()));
    if (source.redactor !== undefined) source.splitter.push(source.redactor.end());
    source.splitter.end();
    if (this.#sources.size === 0) {
      this.#cancelIdle?.();
      this.#onSourcesEnded?.();
    }
    return true;
  }

  #watchIdle(): void {
    const before = this.#reads;
    this.#cancelIdle = this.#options.clock.after(IDLE_AT_END_MS, () => {
      // A pipe that is left unread because the store is behind is not idle, and its output is still to come.
      if (this.#behind || (this.#reads > before && !this.#dropping)) this.#watchIdle();
      else this.#abandon();
    });
  }

  #abandon(): void {
    for (const source of this.#sources) {
      source.stream.destroy();
      this.#ended(source);
    }
    this.system(
      'The output is still open in a process that outlived the program; what it writes from now on is not kept.',
    );
  }

  #rejected(error: unknown): void {
    this.#dropping = true;
    this.#flow();
    if (error instanceof RecorderFenced) return;
    this.#failure = error ?? new Error('Output could not be stored.');
  }
}
