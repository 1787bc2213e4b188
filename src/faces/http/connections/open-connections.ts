import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Use {
  /** Requests without an answer. */
  open: number;
  /** Bytes that had been read when the last answer ended; more are the beginning of a request. */
  readUpTo: number;
}

/** Which connections of a server are between two requests. Node has no public way to it. */
export class IdleConnections {
  readonly #uses = new Map<Socket, Use>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#uses.set(socket, { open: 0, readUpTo: 0 });
      socket.once('close', () => this.#uses.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const use = this.#uses.get(socket);
      if (use === undefined) return;
      use.open += 1;
      response.once('close', () => {
        use.open -= 1;
        use.readUpTo = socket.bytesRead;
      });
    });
  }

  /** Closes each of them here, after `take` got its descriptor. */
  release(take: (fd: number) => void): void {
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
