import type { IncomingMessage } from 'node:http';
import type { HttpLimits } from '../limits.ts';

/**
 * Closes the connection of a body that comes in too many short chunks. Node passes each of them to `push`, even if the
 * body is not read.
 */
export function limitChunks(
  { shortChunks, chunkBytes }: Pick<HttpLimits, 'shortChunks' | 'chunkBytes'>,
  request: IncomingMessage,
): void {
  const push = request.push.bind(request);
  let [chunks, bytes] = [0, 0];
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) return push(chunk);
    if (request.socket.destroyed) return false;
    chunks += 1;
    bytes += chunk.length;
    if (chunks <= shortChunks + bytes / chunkBytes) return push(chunk);
    request.socket.destroy();
    return false;
  };
}
