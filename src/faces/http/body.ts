import type { IncomingMessage } from 'node:http';
import { Failure } from '../../domain/failure.ts';
import { parseBody } from './json.ts';

export const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;.*)?$/i;
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Chunks of a body that are joined into one: each costs 400 bytes of memory besides its data, and a slow sender sends
 * them byte by byte.
 */
const CHUNKS_GATHERED = 256;

/** The client disconnected before its request was complete or answered, so no answer can be sent. */
export class ClientGone extends Error {
  constructor() {
    super('The client disconnected before it had its answer.');
    this.name = 'ClientGone';
  }
}

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The JSON object in the body of a write; an empty body is the empty object. Throws invalid_argument. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<Record<string, unknown>> {
  if (!hasBody(request)) return {};
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Failure('invalid_argument', 'Content-Encoding: a compressed body is not accepted.');
  }
  if (type !== undefined && !JSON_TYPE.test(type))
    throw new Failure('invalid_argument', 'Content-Type: expected application/json.');
  const bytes = await readBody(request, maxBytes);
  return bytes.length === 0 ? {} : parseBody(bytes);
}

/**
 * Reads at most `maxBytes`. `grown` gets the number of bytes so far; if it throws, reading ends. Throws
 * invalid_argument at once for a longer body, and ClientGone.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  grown: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  // Created only when needed: capturing the stack took 2 % of the processor time of a profiled enqueue.
  const tooLong = (): Failure => new Failure('invalid_argument', `The body: expected at most ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLong());
  return new Promise((resolve, reject) => {
    const blocks: Buffer[] = [];
    let chunks: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      request.off('data', take).off('end', finish).off('close', gone).off('error', gone);
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      try {
        if (length > maxBytes) throw tooLong();
        grown(length);
        chunks.push(chunk);
        if (chunks.length < CHUNKS_GATHERED) return;
        blocks.push(Buffer.concat(chunks));
        chunks = [];
      } catch (error) {
        stop();
        request.pause();
        reject(error);
      }
    };
    const finish = (): void => {
      stop();
      const all = [...blocks, ...chunks];
      resolve(all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all, length));
    };
    const gone = (): void => {
      stop();
      // Node destroys a request that is too slow, after it has sent its own answer.
      request.on('error', () => undefined);
      reject(new ClientGone());
    };
    request.on('data', take).on('end', finish).on('close', gone).on('error', gone);
  });
}
