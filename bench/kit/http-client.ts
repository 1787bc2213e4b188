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
  #received: Buffer = Buffer.alloc(0);

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
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd).toLowerCase();
    const start = headEnd + HEAD_END.length;
    const bodyEnd = this.#bodyEnd(head, start);
    if (bodyEnd < 0) return;
    const response = { status: Number(head.slice(9, 12)), head, body: this.#received.subarray(start, bodyEnd) };
    this.#received = this.#received.subarray(bodyEnd);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(response);
  }

  /** Where the body ends, or -1 while it has not all come. Chunks are left as they are: nobody looks into them. */
  #bodyEnd(head: string, start: number): number {
    const at = head.indexOf('\r\ncontent-length:');
    if (at >= 0) {
      const stop = head.indexOf('\r\n', at + 2);
      const length = Number(head.slice(at + 17, stop < 0 ? undefined : stop));
      return this.#received.length - start >= length ? start + length : -1;
    }
    if (!head.includes('\r\ntransfer-encoding: chunked')) return start;
    return this.#received.subarray(-CHUNKS_END.length).equals(CHUNKS_END) ? this.#received.length : -1;
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }
}
