/** What the longest header of a client costs. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { Peers } from '../../../src/faces/http/peers.ts';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';

function peerOf(trusted: readonly string[], from: string, forwarded: string): string {
  const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress: from } };
  return new Peers(trusted).of(request as unknown as IncomingMessage).address;
}

test('T64: of one X-Forwarded-For the last 16 addresses are read, and the longest header costs next to nothing', () => {
  const proxies = Array<string>(16).fill('10.1.1.1').join(',');
  assert.equal(peerOf(['10.0.0.0/8'], '10.0.0.1', `198.51.100.7,${proxies.slice(9)}`), '198.51.100.7');
  assert.equal(peerOf(['10.0.0.0/8'], '10.0.0.1', `198.51.100.7,${proxies}`), '10.1.1.1');
  for (const piece of ['10.1.1.1,', ',', ' ', '[', '"', '1', ':']) {
    const header = piece.repeat(1_048_576 / piece.length);
    const spans = Array.from({ length: 3 }, () => {
      const begun = threadCpuMs();
      peerOf(['10.0.0.0/8'], '10.0.0.1', header);
      return threadCpuMs() - begun;
    });
    assert.ok(Math.min(...spans) < 20, `${piece}: ${spans.join(', ')} ms`);
  }
});
