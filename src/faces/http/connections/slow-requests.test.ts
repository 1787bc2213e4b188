import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { pause, systemClock } from '../../../lib/clock.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { OpenConnections } from './open-connections.ts';
import { slowRequestChecks } from './slow-requests.ts';

const EVERY_MS = 10;

test('the interval of a server runs while there is a connection', async (t) => {
  // The repeated timers of this interval: those of the test itself fire once.
  const intervals = new Set<number>();
  let checks = 0;
  const hook = createHook({
    init: (id, type, _trigger, resource) => {
      if (type === 'Timeout' && Reflect.get(resource, '_repeat') === EVERY_MS) intervals.add(id);
    },
    before: (id) => void (checks += intervals.has(id) ? 1 : 0),
  }).enable();
  t.after(() => hook.disable());
  const server = createServer({ connectionsCheckingInterval: EVERY_MS });
  t.after(() => server.close());
  new OpenConnections(HTTP_LIMITS).follow(server, slowRequestChecks(server, EVERY_MS));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const checksIn = async (ms: number): Promise<number> => {
    const before = checks;
    await pause(systemClock, ms);
    return checks - before;
  };
  assert.equal(await checksIn(100), 0);
  for (let n = 0; n < 2; n += 1) {
    const accepted = once(server, 'connection') as Promise<[NodeJS.EventEmitter]>;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = await accepted;
    let looks = 0;
    while (looks < 1_000 && (await checksIn(EVERY_MS)) === 0) looks += 1;
    assert.ok(looks < 1_000, 'nothing was checked in 10 s');
    client.destroy();
    await once(socket, 'close');
    assert.equal(await checksIn(100), 0);
  }
});
