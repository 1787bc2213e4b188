import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { connectFirst } from './connect-first.ts';
import { connector } from './guard.ts';

describe('The first connection of several addresses', () => {
  let server: Server;
  let port: number;
  before(async () => {
    server = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  after(() => server.close());

  /** `10.0.0.1` is silent, `10.0.0.2` refuses, `10.0.0.3` has no way, all others answer. */
  function network(): { opened: string[]; sockets: Socket[]; open: (address: string) => Socket } {
    const [opened, sockets]: [string[], Socket[]] = [[], []];
    const open = (address: string): Socket => {
      const socket = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].includes(address)
        ? new Socket()
        : connect({ host: '127.0.0.1', port });
      const code = { '10.0.0.2': 'ECONNREFUSED', '10.0.0.3': 'ENETUNREACH' }[address];
      if (code !== undefined) process.nextTick(() => socket.destroy(Object.assign(new Error(code), { code })));
      opened.push(address);
      sockets.push(socket);
      return socket;
    };
    return { opened, sockets, open };
  }

  test('The next address is tried when one fails or is silent, and the slower connections are closed', async () => {
    const { open, opened, sockets } = network();
    const ending = new AbortController();
    const rules = { open, clock: systemClock, signal: ending.signal };
    const addresses = ['fd00::7', '10.0.0.1', '10.0.0.2', '10.0.0.3'];
    const { socket, address } = await connectFirst({ addresses, port }, rules);
    assert.deepEqual({ address, opened }, { address: 'fd00::7', opened: ['10.0.0.1', 'fd00::7'] });
    assert.deepEqual(
      sockets.map((each) => each.destroyed),
      [true, false],
    );
    ending.abort();
    assert.ok(socket.destroyed);
  });

  test('When no address answers, the result is the error of the one that refused', async () => {
    for (const addresses of [
      ['10.0.0.3', '10.0.0.2', '10.0.0.3'],
      ['10.0.0.2', '10.0.0.3'],
    ]) {
      const { open, opened } = network();
      const rules = { open, clock: systemClock, signal: new AbortController().signal };
      await assert.rejects(connectFirst({ addresses, port }, rules), { code: 'ECONNREFUSED' });
      assert.deepEqual(opened, addresses);
    }
  });

  test('An abort ends all attempts, and no more than 16 addresses are tried', async () => {
    const { open, sockets } = network();
    const ending = new AbortController();
    const silent = connectFirst({ addresses: ['10.0.0.1'], port }, { open, clock: systemClock, signal: ending.signal });
    ending.abort(new Error('stopped'));
    await assert.rejects(silent, { message: 'stopped' });
    assert.ok(sockets.every((socket) => socket.destroyed));
    const many = network();
    const rules = { open: many.open, clock: systemClock, signal: new AbortController().signal };
    await assert.rejects(connectFirst({ addresses: Array<string>(40).fill('10.0.0.2'), port }, rules));
    assert.equal(many.opened.length, 16);
  });

  test('T37: a name with one forbidden address is not dialled, nor is a connection used that reached one', async () => {
    const only = 'only addresses of the network';
    const policy = { allows: (address: string) => address.startsWith('10.'), only };
    const { open, opened, sockets } = network();
    const { signal } = new AbortController();
    const mixed = connector({ resolve: async () => ['10.0.0.7', '127.0.0.1'], policy, open });
    const message = `the host resolves to a loopback address; ${only} are dialled`;
    await assert.rejects(mixed('web.test', port, signal), { message });
    assert.deepEqual(opened, []);
    const turned = connector({ resolve: async () => ['10.0.0.7'], policy, open });
    const accepted = once(server, 'connection');
    await assert.rejects(turned('web.test', port, signal), {
      message: `the connection reached a loopback address; ${only} are dialled`,
    });
    const [peer] = (await accepted) as [Socket];
    const bytes = await peer.toArray();
    assert.deepEqual({ bytes, destroyed: sockets.map((each) => each.destroyed) }, { bytes: [], destroyed: [true] });
  });
});
