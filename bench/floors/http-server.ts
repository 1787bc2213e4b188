/**
 * A bare node:http server, as little as there can be. Its one order says what it answers with: `insert` stores each
 * body with all that arrived in the same turn in one synchronous=FULL commit and answers after it; `bytes` sends a
 * given body.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orders, say } from '../kit/child.ts';
import type { ServerOrder } from './server.ts';
import { INSERT, openFull } from './insert.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

function insertHandler(file: string): Handler {
  const db = openFull(file);
  const insert = db.prepare(INSERT);
  let waiting: { body: string; response: ServerResponse }[] = [];
  const flush = (): void => {
    const group = waiting;
    waiting = [];
    db.exec('begin immediate');
    for (const { body } of group) insert.run(Date.now(), body);
    db.exec('commit');
    for (const { response } of group) response.end('{"ok":true}\n');
  };
  return (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => void (body += chunk.toString()));
    request.on('end', () => {
      response.writeHead(202, { 'content-type': 'application/json' });
      waiting.push({ body: JSON.stringify(JSON.parse(body)), response });
      if (waiting.length === 1) setImmediate(flush);
    });
  };
}

function bytesHandler(body: Buffer): Handler {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length };
  return (_request, response) => void response.writeHead(200, headers).end(body);
}

for await (const order of orders<ServerOrder>()) {
  const handler = order.mode === 'insert' ? insertHandler(order.file) : bytesHandler(Buffer.from(order.body));
  const server = createServer(handler);
  server.listen(0, '127.0.0.1', () => say({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
}
