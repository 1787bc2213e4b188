import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { HandClock } from '../../../../test/support/clock.ts';
import { open } from '../../../../test/support/raw-http.ts';
import { nextTurn } from '../../../lib/flow/cooperative.ts';
import { FairTurns } from '../../../lib/flow/fair-turns.ts';
import { HTTP_LIMITS, TURN_LIMITS } from '../limits.ts';
import { Peers } from '../peers.ts';
import { Sender } from '../sender.ts';
import { Visit } from '../visit.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** More than the kernel takes for a client that does not read. */
const BYTES = 16_777_216;

interface Asked {
  readonly client: Socket;
  readonly response: ServerResponse;
}

/** A server whose answers no client reads by itself. */
class Fixture {
  readonly clock = new HandClock(0);
  readonly #server = createServer();

  async listen(t: TestContext): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  async ask(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Asked> {
    const client = await open((this.#server.address() as AddressInfo).port);
    client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [request, response] = (await once(this.#server, 'request')) as [IncomingMessage, ServerResponse];
    answer(request, response);
    return { client, response };
  }
}

test('T87: above the bound the oldest unread answer of the largest share is cut off', async (t) => {
  const fixture = new Fixture();
  await fixture.listen(t);
  const unread = new UnreadAnswers(3 * BYTES);
  const asked: Asked[] = [];
  for (const holder of ['bo', 'ana', 'ana', 'eve']) {
    if (holder === 'eve') assert.equal(unread.bytes, 3 * BYTES);
    asked.push(
      await fixture.ask((_request, response) => {
        response.end(Buffer.alloc(BYTES));
        unread.add(holder, response, BYTES);
      }),
    );
  }
  assert.deepEqual(
    asked.map(({ response }) => response.destroyed),
    [false, true, false, false],
  );
  assert.equal(unread.bytes, 3 * BYTES);
});

test('T87: of an answer in parts the part counts that is in memory, until the answer is closed', async (t) => {
  const fixture = new Fixture();
  await fixture.listen(t);
  const unread = new UnreadAnswers(100);
  const holds: ((bytes: number) => void)[] = [];
  const asked: Asked[] = [];
  for (let i = 0; i < 2; i += 1)
    asked.push(await fixture.ask((_request, response) => void holds.push(unread.add('ana', response, 0))));
  const [first, second] = holds;
  first?.(60);
  second?.(30);
  first?.(70);
  assert.deepEqual([unread.bytes, asked.map(({ response }) => response.destroyed)], [100, [false, false]]);
  second?.(31);
  assert.deepEqual([unread.bytes, asked.map(({ response }) => response.destroyed)], [31, [true, false]]);
  first?.(70);
  assert.deepEqual([unread.bytes, unread.cut], [31, 1]);
});

test('T87: a whole answer of which nothing is read for 10 s is cut off, and one that is read is not', async (t) => {
  const fixture = new Fixture();
  await fixture.listen(t);
  const { clock } = fixture;
  const log = { error: (fields: object) => assert.fail(JSON.stringify(fields)) };
  const sender = new Sender(HTTP_LIMITS, clock, log, new Peers());
  const turns = new FairTurns(clock, TURN_LIMITS);
  const send = (request: IncomingMessage, response: ServerResponse): void =>
    sender.send({ request, response, visit: new Visit(turns, 'ana', response) }, 200, [], Buffer.alloc(BYTES));
  const [idle, slow] = [await fixture.ask(send), await fixture.ask(send)];
  // The kernel takes what it has room for; at some look it has none any more. Each wait of the slow one ends in time.
  while (!idle.response.destroyed) {
    const drained = once(slow.response, 'drain');
    slow.client.resume();
    await drained;
    slow.client.pause();
    assert.equal(slow.response.destroyed, false);
    clock.advance(HTTP_LIMITS.drainMs / 2);
    await nextTurn();
  }
  slow.client.resume();
  if (!slow.response.closed) await once(slow.response, 'close');
  assert.equal(slow.response.writableFinished, true);
});
