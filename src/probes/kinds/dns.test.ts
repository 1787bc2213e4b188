import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDnsServer } from '../../../test/support/network/dns-server.ts';
import { loopbackProbes, probeOnce } from '../../../test/support/network/probing.ts';
import { nameServers } from '../../dial/name-servers.ts';
import { systemClock } from '../../lib/clock.ts';

test('A dns target is up when the name servers know it, with the expected address', async (t) => {
  const server = await startDnsServer({
    'web.test': ['10.0.0.5', '10.0.0.6', 'fd00::5'],
    'here.test': ['127.0.0.1'],
    'empty.test': [],
    'ill.test': 'SERVFAIL',
    'silent.test': 'silent',
  });
  t.after(() => server.close());
  const ask = nameServers(systemClock, { timeoutMs: 500, tries: 1, totalMs: 1_000 }, [server.address]);
  const deps = loopbackProbes({ seams: { ask } });
  const detail = async (name: string, expectAddr: string | null = null): Promise<string> =>
    (await probeOnce(deps, 'dns', name, { expectAddr })).detail;
  assert.equal(await detail('web.test'), 'ok');
  assert.equal(await detail('web.test.'), 'ok');
  assert.equal(await detail('web.test', '10.0.0.6'), 'ok');
  assert.equal(await detail('web.test', 'FD00:0::5'), 'ok');
  assert.equal(await detail('web.test', '10.0.0.7'), 'value_unexpected');
  assert.equal(await detail('here.test'), 'ok');
  assert.equal(await detail('empty.test'), 'no_such_name');
  assert.equal(await detail('none.test'), 'no_such_name');
  assert.equal(await detail('localhost'), 'no_such_name');
  assert.equal(await detail('ill.test'), 'dns_failed');
  assert.equal(await detail('silent.test'), 'dns_failed');
  const web = async (name: string): Promise<string> => (await probeOnce(deps, 'http', `http://${name}/`)).detail;
  assert.equal(await web('none.test'), 'no_such_name');
  assert.equal(await web('ill.test'), 'dns_failed');
});
