import type { TurnLimits } from '../../lib/flow/fair-turns.ts';

/** The limits of a client. A test can lower every value; operators cannot change them. */
export interface HttpLimits {
  /**
   * Connections at a time. With 64 KiB of buffers each that is 128 MiB at worst, and far below the usual 20,000 files.
   */
  readonly connections: number;
  /**
   * Connections at a time of one address off loopback, or of one /64 of IPv6; and requests in progress of one client
   * behind a trusted proxy. A browser opens 6, so 16 people behind one address have room, and no single address takes
   * more than a twentieth of all connections.
   */
  readonly perAddress: number;
  /**
   * Requests in progress of one connection. Clients wait for an answer before they ask again; what is above closes the
   * connection.
   */
  readonly pipelined: number;
  /**
   * Chunks of a body that may be short, and the bytes that one more needs on average: programs send buffers of 4 KiB
   * and more.
   */
  readonly shortChunks: number;
  readonly chunkBytes: number;
  /** A connection that has not sent all headers by then is closed: 1,000 slow connections are gone after 15 s. */
  readonly headersMs: number;
  /** The same for headers and body together. Streams are not affected: their request is complete. */
  readonly requestMs: number;
  /** Interval of the check of the two above: with Node's default of 30 s the 10 s would become 40. */
  readonly checkMs: number;
  /** How long an idle connection waits for its next request. */
  readonly keepAliveMs: number;
  /**
   * A connection without traffic for this time is closed. Longer than the longest wait that a request may ask
   * for, 5 min.
   */
  readonly idleMs: number;
  /** Bytes of request line and headers. */
  readonly headerBytes: number;
  /** Bytes of a body; a longer one is refused and not read to its end. */
  readonly bodyBytes: number;
  /**
   * A refused body up to this size is read and dropped, so that the connection can be used again; a longer one ends it.
   */
  readonly dropBytes: number;
  /** Time for the refusal of a longer body to reach a client that is still sending. */
  readonly lingerMs: number;
  /**
   * Bytes that wait in memory for a slow client; no more are produced until it reads. Bytes on
   * their way to the kernel exist twice, and one batch of events waits behind them.
   */
  readonly bufferBytes: number;
  /** How long that buffer may stay full before the connection is closed. A stream can be resumed. */
  readonly drainMs: number;
  /** Bytes of whole answers that clients have not read yet; above it the oldest of the largest share are cut off. */
  readonly unreadBytes: number;
  /** How long a client may read nothing while bytes of a stream wait for it, however few. */
  readonly stalledMs: number;
  /** Interval of comments on an open stream, so that proxies keep it and a lost client is detected. */
  readonly heartbeatMs: number;
  /** How often the credential of an open stream is checked again. */
  readonly revalidateMs: number;
  readonly streams: {
    /** Maximum open streams of one kind: in this process, and by one identity. */
    readonly all: number;
    readonly perHolder: number;
    /**
     * A stream ends cleanly after this time and can be resumed: whether its client still reads cannot be seen while a
     * proxy takes the bytes.
     */
    readonly lifetimeMs: number;
  };
  /** Bytes of cached encoded answers. */
  readonly keptBytes: number;
}

/**
 * How the requests of a process share the event loop. A client has fewer than 64 requests in progress, and 64 do not
 * fill the queue of writes. As many may wait as a listener has connections, and a quarter of that for one token: later
 * ones would be answered after seconds.
 */
export const TURN_LIMITS: TurnLimits = { turnMs: 5, placesEach: 64, waitingEach: 512, waiting: 2_048 };

export const HTTP_LIMITS: HttpLimits = {
  connections: 2_000,
  perAddress: 100,
  pipelined: 8,
  shortChunks: 256,
  chunkBytes: 256,
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  keepAliveMs: 15_000,
  idleMs: 360_000,
  headerBytes: 16_384,
  bodyBytes: 1_048_576,
  dropBytes: 65_536,
  lingerMs: 1_000,
  bufferBytes: 131_072,
  drainMs: 10_000,
  unreadBytes: 134_217_728,
  stalledMs: 30_000,
  heartbeatMs: 15_000,
  revalidateMs: 2_000,
  streams: { all: 8, perHolder: 4, lifetimeMs: 900_000 },
  keptBytes: 16_777_216,
};
