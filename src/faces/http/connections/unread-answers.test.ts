import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { HandClock } from '../../../../test/support/clock.ts';
import { open } from '../../../../test/support/raw-http.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** More than the kernel takes for a client that does not read. */
const BYTES = 16_777_216;
const DRAIN_MS = 10_000;

interface Asked {
  readonly client: Socket;
  readonly response: ServerResponse;
}

/** A server whose answers no client reads by itself. */
class Fixture {
  readonly clock = new HandClock(0);
  readonly unread = new UnreadAnswers(this.clock, { drainMs: DRAIN_MS, unreadBytes: 3 * BYTES });
  readonly #server = createServer();

  async listen(t: TestContext): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  async ask(holder: string): Promise<Asked> {
    const client = await open((this.#server.address() as AddressInfo).port);
    client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [, response] = (await once(this.#server, 'request')) as [unknown, ServerResponse];
    this.unread.send(holder, response, Buffer.alloc(BYTES));
    return { client, response };
  }
}

/** What the kernel has taken. */
function written({ response }: Asked): number {
  return response.socket?.bytesWritten ?? 0;
}

test('T87: above the bound the oldest unread answer of the largest share is cut off', async (t) => {
  const fixture = new Fixture();
  await fixture.listen(t);
  const [bo, first, second] = [await fixture.ask('bo'), await fixture.ask('ana'), await fixture.ask('ana')];
  assert.equal(fixture.unread.bytes, 3 * BYTES);
  const eve = await fixture.ask('eve');
  assert.deepEqual(
    [bo, first, second, eve].map(({ response }) => response.destroyed),
    [false, true, false, false],
  );
  assert.equal(fixture.unread.bytes, 3 * BYTES);
});

test('T87: an answer of which nothing is read for 10 s is cut off, and one that is read is not', async (t) => {
  const fixture = new Fixture();
  await fixture.listen(t);
  const [idle, slow] = [await fixture.ask('ana'), await fixture.ask('ana')];
  // The kernel takes what it has room for; at some look it has none any more.
  while (!idle.response.destroyed) {
    const before = written(slow);
    slow.client.resume();
    while (written(slow) === before && written(slow) < BYTES) await new Promise((resolve) => setTimeout(resolve, 1));
    slow.client.pause();
    assert.equal(slow.response.destroyed, false);
    fixture.clock.advance(DRAIN_MS);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  slow.client.resume();
  await once(slow.response, 'close');
  assert.equal(slow.response.writableFinished, true);
  assert.equal(fixture.unread.bytes, 0);
  fixture.clock.advance(DRAIN_MS);
});
