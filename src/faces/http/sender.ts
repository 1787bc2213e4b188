import type { IncomingMessage, ServerResponse } from 'node:http';
import { asFailure, Failure, failureRow } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import { encodeFailure } from '../../operations/core/envelope.ts';
import { ClientGone, hasBody } from './body.ts';
import { type HeaderList, JSON_HEADERS } from './headers.ts';
import { UnreadAnswers } from './connections/unread-answers.ts';
import type { HttpLimits } from './limits.ts';
import { PatientWriter } from './patient-writer.ts';
import type { Peers } from './peers.ts';
import type { Visit } from './visit.ts';

/** One request and the place of its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly visit: Visit;
  /** The body is not read, even if it is short: the answer ends the connection. */
  readonly unread?: boolean;
}

/** The part of the log that a face needs; pino's has this form. */
export interface FaceLog {
  error(fields: object, message: string): void;
}

/** How an answer presents a failure. */
export interface FailureFormat {
  readonly headers: HeaderList;
  readonly body: (failure: Failure) => string;
}

/** Answers up to this size are not counted: those that all connections may have are fewer than 256 MiB. */
const SMALL_BYTES = 16_384;

const ENVELOPE: FailureFormat = { headers: JSON_HEADERS, body: encodeFailure };

/** Writes answers. Every answer that is not a stream is sent by `send`. */
export class Sender {
  readonly #limits: HttpLimits;
  readonly #clock: Clock;
  readonly #log: FaceLog;
  readonly #peers: Peers;
  readonly #unread: UnreadAnswers;
  /** Answers by the first digit of their status, from 1 to 5. */
  readonly counts: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  /** Set when the listener stops: an answer then ends its connection. */
  closing = false;

  constructor(limits: HttpLimits, clock: Clock, log: FaceLog, peers: Peers) {
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
    this.#peers = peers;
    this.#unread = new UnreadAnswers(limits.unreadBytes);
  }

  /** Answers that were cut off because too many bytes were unread. */
  get cut(): number {
    return this.#unread.cut;
  }

  /** Sends a whole answer, with its length even if it has no body (HEAD). */
  send(
    { request, response, visit, unread: refused = false }: Exchange,
    status: number,
    headers: HeaderList,
    body: Buffer | string,
  ): void {
    if (response.headersSent || response.destroyed) return;
    this.#count(status);
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const full = status === 204 || status === 304 ? [...headers] : [...headers, 'Content-Length', String(length)];
    const unread = !request.complete && hasBody(request) && (refused || !this.#mayDrop(request));
    if (unread || refused || this.closing) full.push('Connection', 'close');
    response.writeHead(status, full);
    if (unread) this.#linger(request, response, body);
    else if (length <= SMALL_BYTES || request.method === 'HEAD' || status === 304) response.end(body);
    else void this.#sendLong(visit.holder, response, typeof body === 'string' ? Buffer.from(body) : body);
  }

  /** At the speed of its reader. Never rejects. */
  async #sendLong(holder: string, response: ServerResponse, body: Buffer): Promise<void> {
    this.#unread.add(holder, response, body.length);
    const writer = new PatientWriter(response, this.#clock, this.#limits);
    if (await writer.write(body)) writer.end();
  }

  /** The bytes of an answer in parts that are in memory: to be called with the size of each. */
  holding({ response, visit }: Exchange): (bytes: number) => void {
    return this.#unread.add(visit.holder, response, 0);
  }

  /** Sends the head of an answer whose length is not known yet. */
  begin({ response }: Exchange, status: number, headers: HeaderList): void {
    this.#count(status);
    response.writeHead(status, [...headers]);
    response.flushHeaders();
  }

  /**
   * Sends any thrown error. One that is not a Failure is logged under an id, which the client gets instead of its
   * text.
   */
  sendFailure(exchange: Exchange, thrown: unknown, format = ENVELOPE): void {
    if (thrown instanceof ClientGone) {
      exchange.response.destroy();
      return;
    }
    const failure = asFailure(thrown);
    const headers = [...format.headers];
    const { status, retryAfter } = failureRow(failure.code);
    if (status === 401) headers.push('WWW-Authenticate', 'Bearer');
    if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter));
    if (!(thrown instanceof Failure)) headers.push('X-Request-Id', this.report(exchange, thrown));
    this.send(exchange, status, headers, format.body(failure));
  }

  /** Logs an unexpected error, which a client that has gone is not; returns the id of the line. */
  report({ request }: Exchange, error: unknown): string {
    const id = newId('req', this.#clock.now());
    if (error instanceof ClientGone) return id;
    // Without the query, which may contain text of an operator.
    this.#log.error(
      {
        request: id,
        method: request.method,
        path: request.url?.split('?', 1)[0],
        peer: this.#peers.of(request).address,
        err: error,
      },
      'request failed',
    );
    return id;
  }

  #count(status: number): void {
    const at = Math.floor(status / 100) - 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
  }

  #mayDrop(request: IncomingMessage): boolean {
    const length = request.headers['content-length'];
    return length !== undefined && Number(length) <= this.#limits.dropBytes;
  }

  /**
   * The client is still sending a body that is not read. Ending the connection now would reset it, and the
   * answer could be lost; so the answer is sent, nothing more is read, and the connection ends a little later.
   */
  #linger(request: IncomingMessage, response: ServerResponse, body: Buffer | string): void {
    request.pause();
    response.write(body);
    const end = (): void => {
      cancel();
      response.end();
      request.socket.destroySoon();
    };
    const cancel = this.#clock.after(this.#limits.lingerMs, end);
    response.once('close', cancel);
  }
}
