/** A server that answers what a test says: for what a real one would seldom do. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { encodeFailure } from '../../src/operations/core/envelope.ts';
import { Failure, type FailureCode, failureRow } from '../../src/domain/failure.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  readonly seen: Seen[];
}

/** `answer` is called with each request and how many came before it. The server ends with the test. */
export async function standIn(
  t: TestContext,
  answer: (request: Seen, response: ServerResponse, before: number) => void,
): Promise<StandIn> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      answer(one, response, seen.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
}

/** As the HTTP face tells a failure. */
export function sendFailure(response: ServerResponse, code: FailureCode, message = 'It is so.'): void {
  const { status, retryAfter } = failureRow(code);
  sendJson(
    response,
    status,
    encodeFailure(new Failure(code, message)),
    retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  );
}

/** Begins a stream and sends `events` as the HTTP face writes them. */
export function sendEvents(
  response: ServerResponse,
  events: readonly { event: string; id?: number; data: string }[],
): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.write(
    events
      .map(({ event, id, data }) => `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)
      .join(''),
  );
}
