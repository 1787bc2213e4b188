/** A message above the limits of the ingress is refused at once, with an answer that makes the sender retry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOOK_LIMITS } from '../../../src/faces/ingress/hook-routes.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/api-client.ts';
import { openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { open, untilHas } from '../../support/raw-http.ts';

/** A store whose writes wait until they are let go. */
function heldStore(): { wrap: (store: Store) => Store; waiting: () => number; release: () => void } {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  return {
    wrap: (store) =>
      new Proxy(store, {
        get(target, name, receiver) {
          if (name !== 'write') return Reflect.get(target, name, receiver) as unknown;
          return async (work: Parameters<Store['write']>[0]) => {
            waiting += 1;
            await gate.promise;
            return target.write(work);
          };
        },
      }),
    waiting: () => waiting,
    release: () => gate.resolve(),
  };
}

test('F21: While the queue of events is full, further ones are 503 unread, and accepted ones are kept', async (t) => {
  const held = heldStore();
  const fixture = await openHookFixture(t, { wrapStore: held.wrap, hookLimits: { ...HOOK_LIMITS, events: 3 } });
  const url = await fixture.hook('generic');
  // One message may go over the bound: one of a thousand alerts must get in at all.
  const taken = tell(url, [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }]);
  await until('the first message waits for the store', () => Promise.resolve(held.waiting() > 0 || undefined));
  const refused = await tell(url, { name: 'e' });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.match(refused.text, /"code":"unavailable"/);
  assert.equal(held.waiting(), 1, 'it does not wait for the store');
  // Its body has not come yet, and is not waited for.
  const socket = await open(fixture.port);
  t.after(() => socket.destroy());
  socket.write(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{`);
  assert.match(await untilHas(socket, '\r\n\r\n'), /^HTTP\/1\.1 503 /);
  held.release();
  assert.equal((await taken).status, 202);
  assert.equal((await tell(url, { name: 'f' })).status, 202);
  assert.deepEqual(
    (await fixture.events()).map(({ name }) => name),
    ['a', 'b', 'c', 'd', 'f'],
  );
});

test('One webhook takes at most a quarter of the room for bodies, so a slow sender keeps no other out', async (t) => {
  const fixture = await openHookFixture(t, { hookLimits: { ...HOOK_LIMITS, bodyBytesEach: 1_000 } });
  const [known, other] = [await fixture.hook('generic', 'known'), await fixture.hook('generic', 'other')];
  const socket = await open(fixture.port);
  t.after(() => socket.destroy());
  socket.write(`POST ${new URL(known).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`);
  await until(
    'another body of it is refused',
    async () => (await tell(known, { name: 'x' })).status === 503 || undefined,
  );
  assert.equal((await tell(other, { name: 'y' })).status, 202);
  socket.destroy();
  await until('there is room again', async () => (await tell(known, { name: 'x' })).status === 202 || undefined);
});

test('T64: One webhook takes half of the room for events at most, also by one message of too many', async (t) => {
  const held = heldStore();
  const fixture = await openHookFixture(t, { wrapStore: held.wrap });
  const [known, other] = [await fixture.hook('generic', 'known'), await fixture.hook('generic', 'other')];
  const many = Array.from({ length: 2 * HOOK_LIMITS.events }, (_, n) => ({ name: 'a', fingerprint: `${n}` }));
  const taken = tell(known, many);
  await until('the first message waits for the store', () => Promise.resolve(held.waiting() > 0 || undefined));
  assert.equal((await tell(known, { name: 'b' })).status, 503);
  const waits = tell(other, { name: 'c' });
  await until('the message of the other webhook waits for the store', () =>
    Promise.resolve(held.waiting() > 1 || undefined),
  );
  held.release();
  assert.deepEqual([(await taken).status, (await waits).status], [202, 202]);
});

test('Bodies in transfer have a bound, and a message for an unknown token does not count', async (t) => {
  const fixture = await openHookFixture(t, { hookLimits: { ...HOOK_LIMITS, bodyBytes: 1_000 } });
  const path = new URL(await fixture.hook('generic')).pathname;
  const begin = async (target: string, length: string) => {
    const socket = await open(fixture.port);
    t.after(() => socket.destroy());
    socket.write(`POST ${target} HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
    return socket;
  };
  for (let n = 0; n < 10; n += 1) {
    const stranger = await begin('/hook/unknown', 'Content-Length: 2000');
    assert.match(await untilHas(stranger, '\r\n\r\n'), /^HTTP\/1\.1 404 /);
  }
  for (const length of ['Content-Length: 2000', 'Transfer-Encoding: chunked']) {
    const slow = await begin(path, length);
    await until('a second body is refused', async () => {
      const answer = await tell(`${fixture.url}${path}`, { name: 'x' });
      return answer.status === 503 || undefined;
    });
    slow.destroy();
    await until('there is room again', async () => {
      const answer = await tell(`${fixture.url}${path}`, { name: 'x' });
      return answer.status === 202 || undefined;
    });
  }
});
