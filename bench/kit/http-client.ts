/**
 * A client of HTTP/1.1 on one kept connection, as lean as possible: the generator of load must cost less than what it
 * loads. It knows no more than our servers need: a length or chunks, one request at a time.
 */
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const CHUNKS_END = Buffer.from('0\r\n\r\n');

export interface HttpRequest {
  readonly method: string;
  /** An absolute http URL. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** The head as text, lower-cased. */
  readonly head: string;
  readonly body: Buffer;
}

/** The bytes of a request, made once for many sendings. */
export function requestBytes({ method, url, headers = {}, body }: HttpRequest): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

export class HttpConnection {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<HttpResponse> | null = null;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes that the answer has in all, once its head says so. */
  #wanted = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(url: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new HttpConnection(socket));
      });
    });
  }

  /** Sends one request and waits for its whole answer. */
  send(bytes: Buffer): Promise<HttpResponse> {
    this.#waiting = Promise.withResolvers();
    this.#socket.write(bytes);
    return this.#waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // A long answer comes in a hundred pieces: joining them at each would cost more than reading them.
    if (this.#size < this.#wanted) return;
    const received = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#keep(received);
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = received.toString('latin1', 0, headEnd).toLowerCase();
    const start = headEnd + HEAD_END.length;
    const bodyEnd = this.#bodyEnd(received, head, start);
    if (bodyEnd < 0) return;
    const response = { status: Number(head.slice(9, 12)), head, body: received.subarray(start, bodyEnd) };
    this.#wanted = 0;
    this.#keep(received.subarray(bodyEnd));
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(response);
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
  }

  /** Where the body ends, or -1 while it has not all come. Chunks are not decoded. */
  #bodyEnd(received: Buffer, head: string, start: number): number {
    const at = head.indexOf('\r\ncontent-length:');
    if (at >= 0) {
      const stop = head.indexOf('\r\n', at + 2);
      this.#wanted = start + Number(head.slice(at + 17, stop < 0 ? undefined : stop));
      return received.length >= this.#wanted ? this.#wanted : -1;
    }
    if (!head.includes('\r\ntransfer-encoding: chunked')) return start;
    return received.subarray(-CHUNKS_END.length).equals(CHUNKS_END) ? received.length : -1;
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }
}
