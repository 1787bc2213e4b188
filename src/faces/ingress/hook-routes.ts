import type { IncomingMessage } from 'node:http';
import { Failure } from '../../domain/failure.ts';
import { encode } from '../../operations/envelope.ts';
import { type Hook, messageTaker, readMessage, refuseMessage, webhookFinder } from '../../operations/hooks-in.ts';
import { checkSignature } from '../../operations/hook-signature.ts';
import type { Home } from '../../operations/invoke.ts';
import { VIEWS } from '../../operations/views.ts';
import { hasBody, readBody } from '../http/body.ts';
import { JSON_HEADERS } from '../http/headers.ts';
import type { Peers } from '../http/peers.ts';
import type { Exchange, Sender } from '../http/sender.ts';

const PATH = /^\/hook\/([^/?]+)(?:\?(.*))?$/s;
/** GET too: three of the senders can do no better, or do so unless told otherwise. */
const METHODS = ['POST', 'PUT', 'GET'];
/** What stands in the log in place of the path: the path holds the token. */
const LOGGED_PATH = '/hook/[token]';
const NOTHING = Buffer.alloc(0);
/** Of one alert in a message, for a guess how many there are; a short one of Alertmanager. */
const ALERT_BYTES = 400;

/** What may be under way at a time; what is above is refused at once, so that its sender tries again later. */
export interface HookLimits {
  /**
   * Events that wait for the store. Everything that writes waits behind them, and one commit of them all keeps the event
   * loop: with 512 some refusals took more than 20 ms, and what was taken 400 ms in place of 250. One message more is let
   * in while there is any room.
   */
  readonly events: number;
  /** Bytes of bodies that are being read, for webhooks that exist. */
  readonly bodyBytes: number;
  /** The same of one webhook: who knows one URL, and sends slowly, takes no room from the others. */
  readonly bodyBytesEach: number;
  /** The same for all who know no token, so that they take no room from those who do. */
  readonly strangerBytes: number;
}

export const HOOK_LIMITS: HookLimits = { events: 256, bodyBytes: 67_108_864, bodyBytesEach: 16_777_216, strangerBytes: 8_388_608 };

/** A number that goes up and down below a bound. */
class Room {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#taken >= this.#max;
  }

  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /** Runs `work` with `amount` taken, which it may correct. Throws unavailable where nothing is left; the last one in may go over the bound. */
  async hold<T>(amount: number, work: (correct: (amount: number) => void) => Promise<T>): Promise<T> {
    if (this.isFull) throw overloaded();
    let held = amount;
    this.#taken += held;
    try {
      return await work((corrected) => {
        this.#taken += corrected - held;
        held = corrected;
      });
    } finally {
      this.#taken -= held;
    }
  }
}

/** Senders try a 503 again and nothing else: never 429. */
function overloaded(): Failure {
  return new Failure('unavailable', 'Too much is being taken at the moment: nothing was taken of this message.');
}

/** `/hook/{token}`: a message comes in, and is answered with 202 once what became of its events is durable. */
export class HookRoutes {
  readonly #home: Home;
  readonly #find: ReturnType<typeof webhookFinder>;
  readonly #take: ReturnType<typeof messageTaker>;
  readonly #sender: Sender;
  readonly #peers: Peers;
  readonly #bodyBytesMax: number;
  readonly #events: Room;
  readonly #bodies: Room;
  readonly #bodiesOf = new Map<string, Room>();
  readonly #bodyBytesEach: number;
  readonly #strangers: Room;

  constructor(home: Home, sender: Sender, peers: Peers, bodyBytesMax: number, limits: HookLimits = HOOK_LIMITS) {
    this.#home = home;
    this.#find = webhookFinder(home);
    this.#take = messageTaker(home);
    this.#sender = sender;
    this.#peers = peers;
    this.#bodyBytesMax = bodyBytesMax;
    this.#events = new Room(limits.events);
    this.#bodies = new Room(limits.bodyBytes);
    this.#bodyBytesEach = limits.bodyBytesEach;
    this.#strangers = new Room(limits.strangerBytes);
  }

  /** False when the request is for something else. Never rejects. */
  async serve(exchange: Exchange): Promise<boolean> {
    const { request } = exchange;
    const [, token, query = ''] = PATH.exec(request.url ?? '') ?? [];
    if (token === undefined) return false;
    request.url = LOGGED_PATH;
    if (!METHODS.includes(request.method ?? '')) return false;
    try {
      // Before anything is read: over capacity the answer costs next to nothing.
      if (this.#events.isFull) throw overloaded();
      const row = await this.#find(token);
      const body = await this.#accept(row, request, query);
      this.#sender.send(exchange, 202, JSON_HEADERS, body);
    } catch (error) {
      this.#sender.sendFailure(exchange, error);
    }
    return true;
  }

  async #accept(row: Hook['row'], request: IncomingMessage, asked: string): Promise<string> {
    const peer = this.#peers.of(request).address;
    const bytes = hasBody(request) ? await this.#read(row, peer, request) : NOTHING;
    const signature = await checkSignature(this.#home, row, request.headers, bytes);
    const hook: Hook = { row, signature };
    // Only the body is signed.
    const query = signature === null ? asked : '';
    const contentType = request.headers['content-type'] ?? '';
    // Taken before anybody has looked into it: who is refused hears so at once, and not after its turn to be read.
    const likely = row === undefined ? 1 : Math.ceil(bytes.length / ALERT_BYTES) || 1;
    const accepted = await this.#events.hold(likely, async (correct) => {
      const normalised = await readMessage(this.#home, hook, { contentType, query, bytes, peer });
      correct(normalised.events.length + normalised.problems.length);
      return this.#take(hook, normalised, peer);
    });
    return encode('event.accepted', VIEWS['event.accepted'].parse(accepted));
  }

  async #read(row: Hook['row'], peer: string, request: IncomingMessage): Promise<Buffer> {
    const { 'content-encoding': encoding = 'identity', 'content-length': told } = request.headers;
    if (encoding !== 'identity') return refuseMessage(this.#home, { row, signature: null }, peer, 'Content-Encoding: a compressed body is not accepted.');
    // A body of unknown length may be as long as any.
    const bytes = Math.min(told === undefined ? this.#bodyBytesMax : Number(told), this.#bodyBytesMax);
    try {
      const read = (): Promise<Buffer> => readBody(request, this.#bodyBytesMax);
      return await (row === undefined ? this.#strangers.hold(bytes, read) : this.#holdBody(row.hash, bytes, read));
    } catch (error) {
      if (error instanceof Failure && error.code === 'invalid_argument') return refuseMessage(this.#home, { row, signature: null }, peer, error.message);
      throw error;
    }
  }

  async #holdBody(hook: string, bytes: number, read: () => Promise<Buffer>): Promise<Buffer> {
    const own = this.#bodiesOf.get(hook) ?? new Room(this.#bodyBytesEach);
    this.#bodiesOf.set(hook, own);
    try {
      return await own.hold(bytes, () => this.#bodies.hold(bytes, read));
    } finally {
      if (own.isEmpty) this.#bodiesOf.delete(hook);
    }
  }
}
