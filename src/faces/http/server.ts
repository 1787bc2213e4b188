import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, Socket } from 'node:net';
import { type Clock, pause } from '../../lib/clock.ts';
import { FairTurns } from '../../lib/flow/fair-turns.ts';
import { Shares } from '../../lib/flow/shares.ts';
import { inNameOf } from '../../lib/flow/in-name-of.ts';
import { encodeFailure } from '../../operations/core/envelope.ts';
import { Failure } from '../../domain/failure.ts';
import { descriptorOf, OpenConnections } from './connections/open-connections.ts';
import { HTTP_LIMITS, type HttpLimits, TURN_LIMITS } from './limits.ts';
import { Peers } from './peers.ts';
import { type Exchange, type FaceLog, Sender } from './sender.ts';
import { Visit } from './visit.ts';

/** How often a closing listener checks for idle connections. */
const IDLE_LOOK_MS = 20;

/** Where a listener accepts. `url` ends with the base path, without a slash after it. */
interface Listening {
  readonly url: string;
  readonly port: number;
}

/** Descriptors of a listening socket, and of its connections that are between two requests. */
export interface KeptSockets {
  readonly listening: number;
  readonly idle: readonly number[];
}

export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  readonly kept?: KeptSockets;
}

export interface ListenerOptions {
  readonly log: FaceLog;
  /** Determines the peers; by default no proxy is trusted. */
  readonly peers?: Peers;
  /** Shorter limits for tests. */
  readonly limits?: Partial<HttpLimits>;
  /** Those of the process; by default the listener has its own. */
  readonly turns?: FairTurns;
}

/** One port with the limits applied, and the sender of its answers. */
export class Listener {
  readonly limits: HttpLimits;
  readonly peers: Peers;
  readonly sender: Sender;
  readonly #clock: Clock;
  readonly #turns: FairTurns;
  readonly #serve: (exchange: Exchange) => Promise<void>;
  readonly #server: Server;
  readonly #open: OpenConnections;
  /** A trusted proxy has one connection for many clients, so its requests are counted by the client that it names. */
  readonly #requests: Shares;
  #refused = 0;
  #closed: Promise<void> | null = null;

  constructor(
    { log, peers = new Peers(), limits, turns }: ListenerOptions,
    clock: Clock,
    serve: (exchange: Exchange) => Promise<void>,
  ) {
    this.limits = { ...HTTP_LIMITS, ...limits };
    this.peers = peers;
    this.#clock = clock;
    this.sender = new Sender(this.limits, clock, log, peers);
    this.#open = new OpenConnections(this.limits);
    this.#requests = new Shares({ all: this.limits.connections, perHolder: this.limits.perAddress });
    this.#turns = turns ?? new FairTurns(clock, TURN_LIMITS);
    this.#serve = serve;
    const serveOne: RequestListener = (request, response) => void this.#serveOne(request, response);
    this.#server = createLimitedServer(this.limits, peers, this.#open, serveOne);
  }

  /** Requests that wait for their turn, and those that were refused because too many did or were in progress. */
  get load(): { readonly waiting: number; readonly refused: number } {
    return { waiting: this.#turns.waiting, refused: this.#refused + this.#turns.refused };
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#open.count;
  }

  /**
   * Rejects with the operating system's error, which has a `code` such as EADDRINUSE; it can then be called again.
   * With `kept`, the sockets of a program that ran in this process before are used.
   */
  listen(at: ListenPlace, basePath = ''): Promise<Listening> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(at.kept === undefined ? { host: at.host, port: at.port } : { fd: at.kept.listening }, () => {
        this.#server.removeListener('error', reject);
        for (const fd of at.kept?.idle ?? []) this.#adopt(fd);
        const { port } = this.#server.address() as AddressInfo;
        resolve({ url: `http://${hostInUrl(at.host)}:${port}${basePath}`, port });
      });
    });
  }

  /** Serves a request when it is its turn, unless the client has gone by then. Never rejects. */
  async #serveOne(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = new Visit(this.#turns, this.peers.turnKey(request), response);
    const exchange = { request, response, visit };
    const leave = this.#requests.take(this.peers.requestKey(request));
    let hasBegun = false;
    try {
      if (leave === null) throw this.#refusal();
      response.once('close', leave);
      const turn = visit.begin();
      if (turn !== undefined) await turn;
      hasBegun = true;
      if (!response.destroyed) await inNameOf(visit, () => this.#serve(exchange));
    } catch (error) {
      // A refusal takes no turn: closed, its connection sends no further request that would have to be refused.
      this.sender.sendFailure(hasBegun ? exchange : { ...exchange, unread: true }, error);
    } finally {
      visit.leave();
    }
  }

  #refusal(): Failure {
    this.#refused += 1;
    return new Failure('unavailable', 'Too many requests of this client are in progress.');
  }

  /** A connection that is gone by now is closed like any other. */
  #adopt(fd: number): void {
    try {
      this.#server.emit('connection', new Socket({ fd, readable: true, writable: true }));
    } catch {
      // No socket any more.
    }
  }

  /**
   * To be called directly before `close`, for the program that follows in this process: `copy` makes a descriptor that
   * stays open, of the listening socket and of each connection that is between two requests. Null without a listener.
   */
  release(copy: (fd: number) => number | null): KeptSockets | null {
    const fd = descriptorOf(this.#server);
    const listening = fd === null ? null : copy(fd);
    if (listening === null) return null;
    const idle: number[] = [];
    this.#open.releaseIdle((each) => idle.push(...[copy(each)].filter((kept) => kept !== null)));
    return { listening, idle };
  }

  /** Stops accepting and lets requests finish for `graceMs` milliseconds. May be called twice, or before `listen`. */
  close(graceMs: number): Promise<void> {
    this.sender.closing = true;
    this.#closed ??= closeServer(this.#server, this.#clock, graceMs);
    return this.#closed;
  }
}

/** A plain HTTP server with our limits. It uses Node's strict parser, never the lenient one. */
function createLimitedServer(limits: HttpLimits, peers: Peers, open: OpenConnections, serve: RequestListener): Server {
  const listener = open.limitWork(serve);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headerBytes,
      insecureHTTPParser: false,
      noDelay: true,
    },
    listener,
  );
  server.maxConnections = limits.connections;
  server.timeout = limits.idleMs;
  server.on('clientError', refuseUnparsable);
  // An unknown expectation must not cause an answer that is not an envelope.
  server.on('checkExpectation', listener);
  limitConnections(server, limits, peers);
  open.follow(server);
  return server;
}

/** Connections above the limit of their address are closed in the turn that accepted them, before a byte is read. */
function limitConnections(server: Server, limits: HttpLimits, peers: Peers): void {
  const open = new Shares({ all: limits.connections, perHolder: limits.perAddress });
  server.on('connection', (socket: Socket) => {
    const leave = open.take(peers.connectionKey(socket));
    if (leave === null) socket.destroy();
    else socket.once('close', leave);
  });
}

/** Refuses invalid HTTP, a too long header or a slow request: an envelope if one can be sent, then the end. */
function refuseUnparsable(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const slow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const why = slow
    ? 'The request did not arrive in time.'
    : 'The request is not well-formed HTTP, or its header is too long.';
  const body = encodeFailure(new Failure('invalid_argument', why));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function hostInUrl(host: string): string {
  // A client cannot connect to the wildcard address; on this machine it uses the loopback address.
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Stops accepting and waits for the requests under way; after `graceMs` milliseconds their connections are cut. */
async function closeServer(server: Server, clock: Clock, graceMs: number): Promise<void> {
  if (!server.listening) {
    server.closeAllConnections();
    return;
  }
  const closed = new AbortController();
  const done = new Promise<void>((resolve) => server.close(() => resolve())).then(() => closed.abort());
  const cancel = clock.after(graceMs, () => server.closeAllConnections());
  // Node closes only the connections that are idle now; those whose answer ends later would be kept alive.
  while (await pause(clock, IDLE_LOOK_MS, closed.signal)) server.closeIdleConnections();
  await done;
  cancel();
}
