/** Scarce memory and scarce descriptors: the daemon and the jobs that behave go on. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const SOCKETS = 200;
/** Enough for the store, the listeners and a job, and less than the clients want. */
const DESCRIPTORS = 64;

function openSockets(t: TestContext, url: string, count: number): Socket[] {
  const { port } = new URL(url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  return sockets;
}

describe('scarce resources', () => {
  test('F17: a job that takes memory without end is ended alone', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    const calm = await api.run(['/bin/sh', '-c', 'sleep 3; echo calm']);
    const greedy = await api.run([
      '/bin/sh',
      '-c',
      'ulimit -v 300000; exec perl -e \'my @all; push @all, "x" x 1_000_000 while 1\'',
    ]);
    const end = await api.waitFor(greedy);
    assert.equal(end.state, 'failed');
    assert.ok(end.exit_code !== null && end.exit_code > 0);
    assert.equal((await api.waitFor(calm)).state, 'succeeded');
  });

  test(`F33: with ${DESCRIPTORS} descriptors and ${SOCKETS} clients jobs go on, and it recovers`, async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ wrapper: ['prlimit', `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`] });
    const api = daemon.api(fixture.token);
    const running = await api.run([
      '/bin/sh',
      '-c',
      'i=0; while [ $i -lt 50 ]; do echo $i; i=$((i+1)); sleep 0.1; done',
    ]);
    await until('the job prints', async () => (await api.events(running)).some((event) => event.type === 'log'));
    const sockets = openSockets(t, daemon.ready.web_url, SOCKETS);
    await until('every client was accepted or turned away', () => sockets.every((socket) => !socket.connecting));
    // Jobs that are claimed while nothing can be opened fail with a reason or wait; they are never lost.
    const queued = await Promise.all([1, 2, 3].map(() => fixture.queue({ command: ['/bin/true'], privileged: false })));

    const ended = await fixture.waitFor(running, ['succeeded', 'failed', 'interrupted']);
    assert.equal(ended.state, 'succeeded');
    const lines = (await fixture.events(running)).filter((event) => event.type === 'log');
    assert.equal(lines.length, 50);
    for (const socket of sockets) socket.destroy();
    for (const id of queued) await fixture.waitFor(id, ['succeeded', 'failed']);
    const after = await until('the daemon answers again', () => api.run(['/bin/echo', 'again']).catch(() => undefined));
    assert.equal((await api.waitFor(after)).state, 'succeeded');
    assert.equal(await daemon.stop(), 0);
  });
});
