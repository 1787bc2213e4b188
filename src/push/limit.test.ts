import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { oneLine } from '../domain/one-line.ts';
import type { Clock } from '../lib/clock.ts';
import { DialFailed } from '../dial/dial-failed.ts';
import { guardedDial } from '../dial/guard.ts';
import { CONNECT_MS, TOTAL_MS } from '../dial/limits.ts';
import { post } from './post.ts';
import { sendMail } from './smtp.ts';

const PAGE = {
  id: 'page_1',
  title: oneLine('a page'),
  message: oneLine('text'),
  priority: 3,
  tags: [],
  click: 'http://svc.test/',
  actions: [],
};

/** Does not advance by itself. */
class HandClock implements Clock {
  #at = 0;
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();

  get waiting(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#at;
  }

  monotonic(): number {
    return this.#at;
  }

  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.#at + ms, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#at += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#at) continue;
      this.#timers.delete(timer);
      timer.fire();
    }
  }
}

test(
  'F11: a resolver that never answers and takes no notice of the end holds a send up for as long as a ' +
    'connection may take',
  async () => {
    const clock = new HandClock();
    const dial = guardedDial({ resolve: () => new Promise(() => undefined) });
    const sent = post({ clock, dial }, { url: new URL('https://push.example.com/a'), headers: {}, body: 'x' });
    clock.advance(CONNECT_MS);
    await assert.rejects(sent, new DialFailed('no connection within 3s'));
    assert.equal(clock.waiting, 0, 'a timer is left');
  },
);

test('F19: a mail server that keeps saying a little is left, with its connection, when the time is over', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const clock = new HandClock();
  const reached = once(server, 'connection') as Promise<[Socket]>;
  const sent = sendMail(
    { host: '127.0.0.1', port, secure: false, auth: null, from: 'a@example.com', to: 'b@example.com' },
    { clock },
  )(PAGE);
  const refused = assert.rejects(sent, new DialFailed('not done within 10s'));
  const [socket] = await reached;
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // An answer to EHLO that is never over.
  socket.write('220 mail.test\r\n');
  await once(socket, 'data');
  socket.write('250-wait\r\n');
  clock.advance(TOTAL_MS);
  await refused;
  await closed;
  assert.equal(clock.waiting, 0, 'a timer is left');
});
