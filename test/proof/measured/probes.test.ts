/** What a hostile target of a probe costs, and what a name server that answers nothing does. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { heldMib } from '../../support/measure/held-memory.ts';
import { listen } from '../../support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../support/network/probing.ts';
import type { SilentFindings } from '../../support/network/silent-names-story.ts';
import { tellStory } from '../../support/network/tell-story.ts';
import { needs } from '../../support/tools.ts';

const STORY = join(import.meta.dirname, '..', '..', 'support', 'network', 'silent-names-story.ts');

const deps = loopbackProbes();

/** Buffers are freed some turns after the collection that found them unused. */
async function leastHeld(): Promise<number> {
  let least = heldMib();
  for (let turn = 0; turn < 20; turn += 1) {
    await pause(10);
    least = Math.min(least, heldMib());
  }
  return least;
}

test('T39: a body without an end and a head without an end are down at once, and leave no memory behind', async (t) => {
  // The buffers of the target are in this process too: what it holds is measured once its connections have closed.
  const closed: Promise<void>[] = [];
  const noteEnd = (socket: Socket): void =>
    void closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
  const endless = await listen(t, (socket) => {
    noteEnd(socket);
    socket.resume().write('HTTP/1.1 200 OK\r\n\r\n');
    const more = (): boolean => socket.destroyed || (socket.write(Buffer.alloc(16_384, 'x')) && more());
    socket.on('drain', more);
    more();
  });
  const headers = await listen(t, (socket) => {
    noteEnd(socket);
    socket.resume().write('HTTP/1.1 200 OK\r\n');
    const more = (): boolean => socket.destroyed || (socket.write(`a: ${'x'.repeat(4_096)}\r\n`) && more());
    socket.on('drain', more);
    more();
  });
  const [body, head] = [`http://127.0.0.1:${endless.port}/`, `http://127.0.0.1:${headers.port}/`];
  assert.equal((await probeOnce(deps, 'http', body)).detail, 'ok');
  const heldAfter = async (rounds: number): Promise<number> => {
    for (let round = 0; round < rounds; round += 1) {
      assert.equal((await probeOnce(deps, 'http', body, { expectBody: 'y' })).detail, 'too_large');
      assert.equal((await probeOnce(deps, 'metric', body)).detail, 'too_large');
      assert.equal((await probeOnce(deps, 'http', head)).detail, 'too_large');
    }
    await Promise.all(closed.splice(0));
    return leastHeld();
  };
  const before = await heldAfter(2);
  const more = (await heldAfter(20)) - before;
  assert.ok(more < 2, `${more} MiB`);
});

describe('In a separate network, probes', { skip: needs('network namespaces') }, () => {
  test('F11: 200 dns checks against a black hole end within 15 s, and hold up no other probe', async () => {
    const { details, ms, tcpMs } = (await tellStory(STORY)) as SilentFindings;
    assert.deepEqual([details.length, [...new Set(details)]], [200, ['dns_failed']]);
    assert.ok(ms <= 15_000, `${ms} ms`);
    assert.ok(tcpMs <= 1_000, `${tcpMs} ms`);
  });
});
