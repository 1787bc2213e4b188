import type { IncomingMessage } from 'node:http';
import { Failure } from '../../../domain/failure.ts';
import { pause, type Clock } from '../../../lib/clock.ts';
import { errorCode, wordsOfCode } from '../../../lib/error-code.ts';
import type { Fields } from '../syntax/arguments.ts';
import { type Called, type CallOptions, type Client, knownCode, type SentEvent, SentFailure } from './client.ts';
import { checkPathFields, place, type Placed } from './remote-request.ts';
import { NOT_CONNECTED, send } from './send.ts';
import { ServerEventParser } from './sse.ts';
import type { OperationCall } from '../syntax/tree.ts';

export interface RemoteOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: string;
  readonly clock: Clock;
  /** Tells the user what the command waits for. */
  readonly say: (line: string) => void;
}

/** Retries after a refusal by the busy authentication gate. */
const BUSY_RETRIES = 3;
/** A server may ask for a longer pause than a person at a prompt accepts. */
const BUSY_PAUSE_MAX_S = 10;
/** How often an interrupted stream is resumed without any event in between. */
export const RESUME_TRIES = 10;
const RESUME_PAUSE_MS = 1_000;
/** A stream that lasted so long was ended on purpose: the server ends each after 15 minutes. It counts as no try. */
const STEADY_MS = 60_000;
/** The server sends a comment every 15 s: after three of them missed the connection is dead, whatever TCP says. */
const STREAM_SILENCE_MAX_MS = 50_000;
/** An error envelope has some hundred bytes; of another answer no more than this is read. */
const ERROR_BYTES_MAX = 1024 * 1024;

/** Calls the operations of a server, through its public routes. */
export class RemoteClient implements Client {
  readonly #options: RemoteOptions;

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  async call(call: OperationCall, fields: Fields, { idempotencyKey, signal }: CallOptions = {}): Promise<Called> {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const placed = placeCall(call, fields);
    for (let retries = 0; ; retries += 1) {
      try {
        const response = await this.#send(placed, headers, signal);
        if (response.statusCode === 204) {
          response.resume();
          return { shape: 'none' };
        }
        this.#requireType(response, 'application/json');
        return { shape: 'body', chunks: this.#read(response) };
      } catch (error) {
        if (!(error instanceof SentFailure) || error.code !== 'kdf_busy' || retries >= BUSY_RETRIES) throw error;
        const seconds = Math.min(error.retryAfterSeconds ?? 1, BUSY_PAUSE_MAX_S);
        this.#options.say(
          `The server is busy verifying tokens; retrying in ${seconds}s (${retries + 1} of ${BUSY_RETRIES}).`,
        );
        await pause(this.#options.clock, seconds * 1000);
      }
    }
  }

  async *follow(call: OperationCall, fields: Fields, signal: AbortSignal): AsyncGenerator<SentEvent> {
    let last: number | undefined;
    let isConnected = false;
    const connected = (): void => void (isConnected = true);
    for (let tries = 0; tries <= RESUME_TRIES; tries += 1) {
      const beganMs = this.#options.clock.monotonic();
      try {
        for await (const event of this.#streamOnce(call, fields, last, signal, connected)) {
          tries = 0;
          // A server that restarts the stream must not make us show an event twice.
          if (event.id !== undefined && last !== undefined && event.id <= last) continue;
          last = event.id ?? last;
          yield event;
          if (event.event === 'end') return;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!isConnected || !isPassing(error)) throw error;
      }
      if (signal.aborted) return;
      const isSteady = this.#options.clock.monotonic() - beganMs >= STEADY_MS;
      if (isSteady) tries = 0;
      else if (tries === RESUME_TRIES) break;
      else this.#options.say('The stream was interrupted; resuming it.');
      if (!(await pause(this.#options.clock, RESUME_PAUSE_MS, signal))) return;
    }
    throw new Failure(
      'unavailable',
      `The stream of ${this.#options.baseUrl} was interrupted and could not be resumed.`,
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async *#streamOnce(
    call: OperationCall,
    fields: Fields,
    last: number | undefined,
    signal: AbortSignal,
    connected: () => void,
  ): AsyncGenerator<SentEvent> {
    // To resume, the last event is named; `since` of the first request no longer applies.
    const { since, ...others } = fields;
    const placed = placeCall(call, last === undefined && since !== undefined ? fields : others);
    const headers = { Accept: 'text/event-stream', ...(last === undefined ? {} : { 'Last-Event-ID': String(last) }) };
    const ended = new AbortController();
    const limitSilence = (): (() => void) => this.#options.clock.after(STREAM_SILENCE_MAX_MS, () => ended.abort());
    let cancel = limitSilence();
    try {
      const response = await this.#send(placed, headers, AbortSignal.any([signal, ended.signal]));
      this.#requireType(response, 'text/event-stream');
      connected();
      const parser = new ServerEventParser();
      const decoder = new TextDecoder();
      for await (const chunk of bytesOf(response)) {
        cancel();
        cancel = limitSilence();
        for (const { event, id, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
          yield { event, ...(id === undefined ? {} : { id: Number(id) }), data };
        }
      }
    } catch (error) {
      throw error instanceof Failure ? error : this.#lost(error, placed);
    } finally {
      cancel();
      ended.abort();
    }
  }

  async #send(placed: Placed, headers: Record<string, string>, signal?: AbortSignal): Promise<IncomingMessage> {
    const { baseUrl, token } = this.#options;
    const { method, body } = placed;
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const all = { Accept: 'application/json', Authorization: `Bearer ${token}`, ...type, ...headers };
    let response: IncomingMessage;
    try {
      response = await send(baseUrl + placed.path, { method, headers: all, body, signal });
    } catch (error) {
      throw this.#lost(error, placed);
    }
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    throw await this.#refusal(response);
  }

  async *#read(response: IncomingMessage): AsyncGenerator<Uint8Array> {
    try {
      yield* bytesOf(response);
    } catch {
      throw new Failure(
        'unavailable',
        `The connection to ${this.#options.baseUrl} was lost in the middle of the answer.`,
      );
    }
  }

  #requireType(response: IncomingMessage, type: string): void {
    if (response.headers['content-type']?.startsWith(type) === true) return;
    response.destroy();
    throw this.#stranger(response.statusCode, 'internal');
  }

  /** The failure that a server sent, with the bytes of its envelope; our own failure if it sent none. */
  async #refusal(response: IncomingMessage): Promise<Failure> {
    const body = await readSome(response);
    const error = errorOf(body);
    if (error === null) {
      const code = {
        401: 'unauthenticated',
        403: 'forbidden',
        429: 'unavailable',
        502: 'unavailable',
        503: 'unavailable',
        504: 'unavailable',
      } as const;
      return this.#stranger(response.statusCode, code[response.statusCode as keyof typeof code] ?? 'internal');
    }
    const after = Number(response.headers['retry-after'] ?? Number.NaN);
    return new SentFailure(knownCode(error.code), String(error.message), {
      body,
      hint: String(error.hint),
      retryAfterSeconds: Number.isFinite(after) && after >= 0 ? after : undefined,
    });
  }

  #stranger(status: number | undefined, code: Failure['code']): Failure {
    return new Failure(
      code,
      `The server at ${this.#options.baseUrl} does not speak this API (status ${status}); check the base URL.`,
    );
  }

  #lost(error: unknown, placed: Placed): Failure {
    const code = errorCode(error);
    if (code !== null && UNTRUSTED.includes(code))
      return new Failure(
        'unavailable',
        `Could not reach ${this.#options.baseUrl}: ${NOT_TRUSTED} (${code}). ${TRUST_IT}`,
      );
    const message = error instanceof Error ? error.message : 'the connection was lost';
    const text = code === null ? message : wordsOfCode(code);
    const isSure = placed.method === 'GET' || NEVER_REACHED.includes(code ?? text);
    const more = isSure ? '' : ' The server may have executed the request.';
    return new Failure('unavailable', `Could not reach ${this.#options.baseUrl}: ${text}.${more}`);
  }
}

/** What Node says of a certificate of an authority that it does not know. */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
const NOT_TRUSTED = 'the authority that signed its certificate is not trusted';
const TRUST_IT = 'For a private authority, set NODE_EXTRA_CA_CERTS to the file with the certificate of the authority.';

/** Errors before the connection was established: the server has seen nothing. */
const NEVER_REACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', NOT_CONNECTED];

function placeCall(call: OperationCall, fields: Fields): Placed {
  if ('none' in call.http) throw new Failure('not_implemented', `${call.operation} has no route.`);
  checkPathFields(call, fields);
  return place(call.http, fields);
}

/** A temporary error, for example while the daemon restarts. */
function isPassing(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'unavailable' || error.code === 'kdf_busy');
}

function bytesOf(response: IncomingMessage): AsyncIterable<Buffer> {
  return response;
}

async function readSome(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of bytesOf(response)) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > ERROR_BYTES_MAX) break;
    }
  } catch {
    // The body was cut off: use the part that arrived.
  }
  return text;
}

function errorOf(body: string): { code: unknown; message: unknown; hint: unknown } | null {
  try {
    const parsed = JSON.parse(body) as { kind?: unknown; error?: unknown } | null;
    const error = parsed?.kind === 'error' ? parsed.error : null;
    return typeof error === 'object' && error !== null && 'code' in error && 'message' in error && 'hint' in error
      ? error
      : null;
  } catch {
    return null;
  }
}
