import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedResolver } from '../dial/resolver.ts';

const { signal } = new AbortController();
const failing = (code: string) => Promise.reject(Object.assign(new Error('no'), { code }));

const HOSTS = `127.0.0.1 localhost
10.0.0.5  ntfy.lan NTFY # here
# 10.0.0.6 old.lan
10.0.0.7 ntfy.lan
`;

test('A name in the hosts file, in any case, has the addresses of that file, and no server is asked', async () => {
  const resolve = namedResolver({
    ask: () => assert.fail(),
    lookUp: () => assert.fail(),
    readHosts: async () => HOSTS,
  });
  assert.deepEqual(await resolve('Ntfy.lan', signal), ['10.0.0.5', '10.0.0.7']);
  assert.deepEqual(await resolve('ntfy', signal), ['10.0.0.5']);
});

test('localhost and what ends with it is this machine, also where no file says so', async () => {
  const resolve = namedResolver({ ask: () => assert.fail(), lookUp: () => assert.fail(), readHosts: async () => '' });
  for (const name of ['localhost', 'a.localhost']) assert.deepEqual(await resolve(name, signal), ['127.0.0.1', '::1']);
});

test('What the name servers do not know is asked of the rest of the machine', async () => {
  for (const code of ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ECONNREFUSED']) {
    const resolve = namedResolver({
      ask: () => failing(code),
      lookUp: async (name) => [`address of ${name}`],
      readHosts: async () => HOSTS,
    });
    assert.deepEqual(await resolve('old.lan', signal), ['address of old.lan']);
  }
});

const asking = (code: string) =>
  namedResolver({ ask: () => failing(code), lookUp: () => assert.fail('asked'), readHosts: async () => '' });

test('F11: Name servers that are silent are not waited for a second time, in a thread that nothing ends', async () => {
  await assert.rejects(asking('ETIMEOUT')('ntfy.lan', signal), { code: 'ETIMEOUT' });
  await assert.rejects(asking('ECANCELLED')('ntfy.lan', AbortSignal.abort()), { code: 'ECANCELLED' });
});
