import type { Settings } from '../../../config/settings/settings.ts';
import { Failure, type FailureCode, failureRow, FAILURES } from '../../../domain/failure.ts';
import type { Fields } from '../syntax/arguments.ts';
import type { OperationCall } from '../syntax/tree.ts';

/** The answer: nothing to show (204), or bytes to show, unchanged in JSON mode. */
export type Called =
  { readonly shape: 'none' } | { readonly shape: 'body'; readonly chunks: AsyncIterable<string | Uint8Array> };

/** One event of a stream, its data as the JSON text that was sent. */
export interface SentEvent {
  readonly event: string;
  readonly id?: number;
  readonly data: string;
}

export interface CallOptions {
  readonly idempotencyKey?: string | undefined;
  /** Ends the call, which then throws Failure. */
  readonly signal?: AbortSignal;
}

/**
 * The two ways to call an operation: in this process on the data directory, or on a server. Both throw Failure.
 */
export interface Client {
  call(call: OperationCall, fields: Fields, options?: CallOptions): Promise<Called>;
  /** Ends after the event `end`, or when `signal` aborts. */
  follow(call: OperationCall, fields: Fields, signal: AbortSignal): AsyncIterable<SentEvent>;
  /** Of this process; only the local client works with them. */
  readonly settings?: Settings;
  /** Which daemons of the store live; only the local client looks. */
  liveness?(): Promise<Liveness>;
  close(): Promise<void>;
}

/** A job that counts as running although its daemon, of this name, is gone. */
export interface LostRun {
  readonly id: string;
  readonly node: string | null;
}

export interface Liveness {
  /** Daemons that are alive. */
  readonly alive: number;
  readonly lost: readonly LostRun[];
}

/** A failure that a server sent: its envelope is shown unchanged. */
export class SentFailure extends Failure {
  readonly body: string;
  readonly hint: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    sent: { body: string; hint: string; retryAfterSeconds: number | undefined },
  ) {
    super(code, message);
    this.body = sent.body;
    this.hint = sent.hint;
    this.retryAfterSeconds = sent.retryAfterSeconds;
  }
}

/** A code that this build does not know is `internal` here; the envelope that is shown keeps it. */
export function knownCode(code: unknown): FailureCode {
  return typeof code === 'string' && Object.hasOwn(FAILURES, code) ? (code as FailureCode) : 'internal';
}

export function exitCodeOf(failure: Failure): number {
  return failureRow(failure.code).exit;
}

export async function readAll(chunks: AsyncIterable<string | Uint8Array>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString('utf8');
}

/** A parsed answer: `data` has the shape of its kind's view if the server is correct. */
export interface Answer {
  readonly kind: string;
  readonly data: unknown;
  /** The envelope. */
  readonly text: string;
}

export async function readData(called: Called): Promise<Answer> {
  if (called.shape === 'none') throw new Failure('internal', 'The server sent an empty answer.');
  const text = await readAll(called.chunks);
  const { kind, data } = parseEnvelope(text);
  return { kind, data, text };
}

export function parseEnvelope(text: string): { kind: string; data: unknown } {
  try {
    return JSON.parse(text) as { kind: string; data: unknown };
  } catch {
    throw new Failure('internal', 'The server sent an incomplete answer.');
  }
}
