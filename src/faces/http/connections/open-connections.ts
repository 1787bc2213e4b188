import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { eventBatch } from '../../../lib/flow/event-batch.ts';
import type { HttpLimits } from '../limits.ts';
import { limitChunks } from './chunk-limit.ts';

type Limits = Pick<HttpLimits, 'pipelined' | 'shortChunks' | 'chunkBytes'>;

/** What is known of one connection. */
interface Use {
  /** Requests without an answer. */
  open: number;
  /** Bytes that had been read when the last answer ended; more are the beginning of a request. */
  readUpTo: number;
  /** The batch of events of its last request, and the answers that ended since. */
  batch: number;
  ended: number;
}

/** The connections of a server, and what each is doing. Node has no public way to it. */
export class OpenConnections {
  readonly #limits: Limits;
  readonly #uses = new Map<Socket, Use>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#uses.size;
  }

  /** To be called before the server listens. */
  follow(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#uses.set(socket, { open: 0, readUpTo: 0, batch: 0, ended: 0 });
      socket.once('close', () => this.#uses.delete(socket));
    });
  }

  /**
   * Bounds the work of one read from a connection: 64 KiB hold 2,300 requests, or 10,900 chunks of a body, and Node
   * handles all of them before any other connection (measured: 117 ms, and 400 bytes of memory for a chunk of one
   * byte). A connection that sends more than a normal client is closed.
   */
  limitWork(serve: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      const use = this.#uses.get(socket);
      // Later requests of the same read are still parsed.
      if (use === undefined || socket.destroyed) return;
      if (!this.#begin(use)) {
        socket.destroy();
        return;
      }
      response.once('close', () => {
        use.open -= 1;
        use.ended += 1;
        use.readUpTo = socket.bytesRead;
      });
      if (request.headers['transfer-encoding'] !== undefined) limitChunks(this.#limits, request);
      serve(request, response);
    };
  }

  /** False where the connection has too many requests. One that was answered at once counts for the same read. */
  #begin(use: Use): boolean {
    const batch = eventBatch();
    if (use.batch !== batch) use.ended = 0;
    use.batch = batch;
    if (use.open + use.ended >= this.#limits.pipelined) return false;
    use.open += 1;
    return true;
  }

  /** Closes each connection that is between two requests, after `take` got its descriptor. */
  releaseIdle(take: (fd: number) => void): void {
    for (const [socket, { open, readUpTo }] of this.#uses) {
      const fd = descriptorOf(socket);
      if (fd === null || open > 0 || socket.destroyed || socket.bytesRead !== readUpTo) continue;
      take(fd);
      socket.destroy();
    }
  }
}

/** Node has no public way to the descriptor of a socket, either. */
export function descriptorOf(socket: Server | Socket): number | null {
  const { _handle: handle } = socket as (Server | Socket) & { readonly _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd ?? -1;
  return fd < 0 ? null : fd;
}
