import type { IncomingMessage } from 'node:http';
import { REPAIRED, saysLeftOut } from '../../domain/events/message-refusal.ts';
import { Failure } from '../../domain/failure.ts';
import { encode } from '../../operations/core/envelope.ts';
import {
  type Accepted,
  type Hook,
  type Message,
  messageTaker,
  readMessage,
  refuseMessage,
  webhookFinder,
  type Webhook,
} from '../../operations/events/hooks-in.ts';
import { refusalOf, RefusalNoter } from '../../operations/events/hook-refusals.ts';
import { checkSignature } from '../../operations/events/hook-signature.ts';
import { Repeats } from '../../operations/events/repeats.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { VIEWS } from '../../views/views.ts';
import type { MessageReader } from '../../reaction/message/message-reader.ts';
import { Unreadable } from '../../reaction/normalise/payload.ts';
import { hasBody, readBody } from '../http/body.ts';
import { JSON_HEADERS } from '../http/headers.ts';
import type { Peers } from '../http/peers.ts';
import type { Exchange, Sender } from '../http/sender.ts';
import { type Held, overloaded, SharedRoom } from './room.ts';

const PATH = /^\/hook\/([^/?]+)(?:\?(.*))?$/s;
/** GET too: three of the senders use it, always or by default. */
const METHODS = ['POST', 'PUT', 'GET'];
/** The log has this instead of the path, which contains the token. */
const LOGGED_PATH = '/hook/[token]';
const NOTHING = Buffer.alloc(0);
/** Initial reservation for a body of unknown length; it grows with the body. */
const UNKNOWN_LENGTH_BYTES = 65_536;
const COMPRESSED = new Unreadable('Content-Encoding: a compressed body is not accepted.', 'compressed');
/** Bytes of a short Alertmanager alert, to estimate the number of alerts in a message. */
const ALERT_BYTES = 400;
/**
 * The estimate for a long message, which may be one alert with a long text: it must not block others while it is
 * read.
 */
const GUESS_MAX = 64;

/** Limits of concurrent work; more is refused at once, so that the sender retries later. */
export interface HookLimits {
  /**
   * Events that wait for the store. Every other write waits behind them, and one commit of them all blocks the
   * event loop: with 512 some refusals took more than 20 ms, and accepted messages 400 ms instead of 250. One message
   * more is let in while there is any room.
   */
  readonly events: number;
  /** The same for one webhook: a sender that floods one URL does not block the others. */
  readonly eventsEach: number;
  /**
   * Bytes of one body. The general bound of 1 MiB is that of the API: one message of Alertmanager holds all alerts of a
   * group.
   */
  readonly messageBytes: number;
  /** Bytes of all messages in progress: they are held until the outcomes of their events are durable. */
  readonly bodyBytes: number;
  /** The same for one webhook: a sender that is slow on one URL does not block the others. */
  readonly bodyBytesEach: number;
}

export const HOOK_LIMITS: HookLimits = {
  events: 256,
  eventsEach: 128,
  messageBytes: 8_388_608,
  bodyBytes: 67_108_864,
  bodyBytesEach: 16_777_216,
};

/** `/hook/{token}`: receives a message; answers 202 once the outcomes of its events are durable. */
export class HookRoutes {
  readonly #runtime: Runtime;
  readonly #find: ReturnType<typeof webhookFinder>;
  readonly #take: ReturnType<typeof messageTaker>;
  readonly #refused: RefusalNoter;
  readonly #sender: Sender;
  readonly #peers: Peers;
  readonly #read: (hook: Hook, message: Message) => ReturnType<typeof readMessage>;
  readonly #limits: HookLimits;
  readonly #events: SharedRoom;
  readonly #bodies: SharedRoom;

  constructor(runtime: Runtime, sender: Sender, peers: Peers, reader: MessageReader, limits: HookLimits = HOOK_LIMITS) {
    this.#runtime = runtime;
    this.#find = webhookFinder(runtime);
    const repeats = new Repeats(runtime.services.clock);
    this.#take = messageTaker(runtime, repeats);
    this.#read = (hook, message) => readMessage({ runtime, reader, repeats }, hook, message);
    this.#refused = new RefusalNoter(runtime.store);
    this.#sender = sender;
    this.#peers = peers;
    this.#limits = limits;
    this.#events = new SharedRoom(limits.events, limits.eventsEach, GUESS_MAX);
    this.#bodies = new SharedRoom(limits.bodyBytes, limits.bodyBytesEach);
  }

  /** False if the request is for another route. Never rejects. */
  async serve(exchange: Exchange): Promise<boolean> {
    const { request } = exchange;
    const [, token, query = ''] = PATH.exec(request.url ?? '') ?? [];
    if (token === undefined) return false;
    request.url = LOGGED_PATH;
    if (!METHODS.includes(request.method ?? '')) return false;
    try {
      // Before anything is read, so that a refusal over capacity is cheap.
      if (this.#events.isFull) throw overloaded();
      const row = await this.#find(token);
      if (row === undefined)
        this.#sender.sendFailure({ ...exchange, unread: true }, new Failure('not_found', 'There is no such hook.'));
      else {
        await exchange.visit.enter(`hook:${row.hash}`);
        await this.#serveHook(exchange, row, query);
      }
    } catch (error) {
      this.#sender.sendFailure(exchange, error);
    }
    return true;
  }

  async #serveHook(exchange: Exchange, row: Webhook, query: string): Promise<void> {
    try {
      const accepted = await this.#accept(row, exchange.request, query);
      this.#sender.send(exchange, 202, JSON_HEADERS, encode('event.accepted', VIEWS['event.accepted'].parse(accepted)));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== null) this.#refused.note(row.name, refusal);
      throw error;
    }
  }

  async #accept(row: Webhook, request: IncomingMessage, query: string): Promise<Accepted> {
    if (this.#events.isFullFor(row.hash)) throw overloaded();
    const peer = this.#peers.of(request).address;
    if (!hasBody(request)) return this.#takeMessage(row, request, { peer, query, bytes: NOTHING });
    const { 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
    if (encoding !== 'identity') return refuseMessage(this.#runtime, { row, signature: null }, peer, COMPRESSED);
    const { messageBytes } = this.#limits;
    const bytes = length === undefined ? UNKNOWN_LENGTH_BYTES : Math.min(Number(length), messageBytes);
    // Held until the message is processed: its events take as much memory as its body.
    const held = this.#bodies.take(row.hash, bytes);
    try {
      const body = await this.#readBody(row, peer, request, held);
      return await this.#takeMessage(row, request, { peer, query, bytes: body });
    } finally {
      held.release();
    }
  }

  async #takeMessage(
    row: Webhook,
    request: IncomingMessage,
    { peer, query, bytes }: Omit<Message, 'contentType'>,
  ): Promise<Accepted> {
    const { length } = bytes;
    const signature = await checkSignature(this.#runtime, row, request.headers, bytes);
    const hook: Hook = { row, signature };
    // Only the body is signed.
    const message = {
      contentType: request.headers['content-type'] ?? '',
      query: signature === null ? query : '',
      bytes,
      peer,
    };
    // Held before the body is parsed: a sender is refused at once, and not after waiting for its turn to be
    // read.
    const held = this.#events.take(row.hash, Math.min(Math.ceil(length / ALERT_BYTES) || 1, GUESS_MAX));
    try {
      const normalised = await this.#read(hook, message);
      held.correct(normalised.events.length + normalised.problems.length);
      if (normalised.problems.some(saysLeftOut)) this.#refused.note(row.name, 'truncated');
      if (normalised.problems.includes(REPAIRED)) this.#refused.note(row.name, 'repaired');
      return await this.#take(hook, normalised, peer);
    } finally {
      held.release();
    }
  }

  async #readBody(row: Webhook, peer: string, request: IncomingMessage, room: Held): Promise<Buffer> {
    const { messageBytes } = this.#limits;
    const unknown = request.headers['content-length'] === undefined;
    let held = UNKNOWN_LENGTH_BYTES;
    const grown = (bytes: number): void => {
      if (!unknown || bytes <= held) return;
      held = Math.min(Math.max(2 * held, bytes), messageBytes);
      room.resize(held);
    };
    try {
      return await readBody(request, messageBytes, grown);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'invalid_argument') throw error;
      return refuseMessage(this.#runtime, { row, signature: null }, peer, new Unreadable(error.message, 'too_large'));
    }
  }
}
