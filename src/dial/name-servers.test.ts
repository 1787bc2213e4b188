import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type DnsServer, startDnsServer } from '../../test/support/network/dns-server.ts';
import { systemClock } from '../lib/clock.ts';
import { nameServers } from './name-servers.ts';
import type { Resolve } from './resolve.ts';
import { probeResolver } from './resolver.ts';

const LIMITS = { timeoutMs: 500, tries: 1, totalMs: 2_000 };
const { signal } = new AbortController();

describe('The resolver of probes', () => {
  let server: DnsServer;
  let ask: Resolve;
  before(async () => {
    server = await startDnsServer({
      'both.test': ['10.0.0.5', 'fd00::5'],
      'four.test': ['10.0.0.5'],
      'six.test': ['fd00::5'],
      'empty.test': [],
      'half.test': 'no-aaaa-answer',
      'silent.test': 'silent',
      'ill.test': 'SERVFAIL',
      'web.lan.test': ['10.0.0.7'],
    });
    ask = nameServers(systemClock, LIMITS, [server.address]);
  });
  after(() => server.close());

  test('A name has the addresses of both families, and one family is enough', async () => {
    assert.deepEqual((await ask('both.test', signal)).toSorted(), ['10.0.0.5', 'fd00::5']);
    assert.deepEqual(await ask('four.test', signal), ['10.0.0.5']);
    assert.deepEqual(await ask('six.test', signal), ['fd00::5']);
  });

  test('Each failure has its code', async () => {
    const codes = {
      'none.test': 'ENOTFOUND',
      'empty.test': 'ENODATA',
      'ill.test': 'ESERVFAIL',
      'silent.test': 'ETIMEOUT',
    };
    await Promise.all(Object.entries(codes).map(([name, code]) => assert.rejects(ask(name, signal), { code }, name)));
  });

  test('A server that never answers for IPv6 delays an answer for IPv4 by less than its time limit', async () => {
    const patient = nameServers(systemClock, { timeoutMs: 60_000, tries: 1, totalMs: 60_000 }, [server.address]);
    assert.deepEqual(await patient('half.test', signal), ['10.0.0.5']);
  });

  test('F11: 100 questions to a silent server end together at the limit, and hold up no other question', async () => {
    const patient = nameServers(systemClock, { timeoutMs: 60_000, tries: 1, totalMs: 1_000 }, [server.address]);
    let open = 100;
    const ends = Array.from({ length: open }, () =>
      assert.rejects(patient('silent.test', signal), { code: 'ETIMEOUT' }).then(() => (open -= 1)),
    );
    assert.deepEqual(await patient('four.test', signal), ['10.0.0.5']);
    assert.equal(open, 100);
    await Promise.all(ends);
  });

  test('An abort ends a question at once', async () => {
    const ending = new AbortController();
    const patient = nameServers(systemClock, { timeoutMs: 60_000, tries: 1, totalMs: 60_000 }, [server.address]);
    const asked = patient('silent.test', ending.signal);
    ending.abort(new Error('stopped'));
    await assert.rejects(asked, { message: 'stopped' });
  });

  test('The names of probes come from the hosts file, then from the name servers with the search list', async () => {
    const resolve = probeResolver({
      ask,
      clock: systemClock,
      readHosts: async () => '10.0.0.9 db # here',
      readConfiguration: async () => 'nameserver 192.0.2.1\nsearch other.test lan.test',
    });
    assert.deepEqual(await resolve('DB', signal), ['10.0.0.9']);
    assert.deepEqual(await resolve('db.', signal), ['10.0.0.9']);
    assert.deepEqual(await resolve('web', signal), ['10.0.0.7']);
    assert.deepEqual(await resolve('four.test', signal), ['10.0.0.5']);
    await assert.rejects(resolve('web.', signal), { code: 'ENOTFOUND' });
    await assert.rejects(resolve('gone', signal), { code: 'ENOTFOUND' });
    assert.deepEqual(await resolve('localhost.', signal), ['127.0.0.1', '::1']);
  });
});
