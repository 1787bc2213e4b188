/**
 * The connections of the real daemon, as the kernel sees them, while endpoints inside its network are registered.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ADDRESS_FORMS } from '../../support/address-forms.ts';
import type { Api } from '../../support/api-client.ts';
import type { RunningDaemon } from '../../support/daemon.ts';
import { openNameServer } from '../../support/notify/push-names.ts';
import type { PreloadedNetwork } from '../../support/notify/push-preload.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const PATH = '/notify/endpoints';
const STOP_LIMIT_MS = 15_000;
const PRELOAD = join(import.meta.dirname, '..', '..', 'support', 'notify', 'push-preload.ts');

interface Registered {
  readonly id: string;
}

async function endTraced({ pid, exited }: RunningDaemon): Promise<void> {
  process.kill(pid, 'SIGTERM');
  const timer = setTimeout(() => process.kill(pid, 'SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}

/** The addresses of names inside the network. */
const INSIDE = [
  ['127.0.0.1'],
  ['93.184.215.14', '10.0.0.1'],
  ['169.254.169.254'],
  ['0.0.0.0'],
  ['100.64.0.1'],
  ['224.0.0.1'],
];

interface Traced {
  readonly api: Api;
  readonly names: Awaited<ReturnType<typeof openNameServer>>;
  /** How many endpoints are registered. */
  readonly rows: () => Promise<number>;
  /** Calls that make a socket of the internet, or that send to somewhere by its address. */
  readonly reached: () => string[];
}

/** A daemon under strace, with a separate name server. */
async function openTraced(t: TestContext): Promise<Traced> {
  const started: RunningDaemon[] = [];
  // Before the fixture ends what it started, which is strace: that would only let go of the daemon.
  t.after(() => Promise.all(started.map(endTraced)));
  const fixture = await openFixture(t);
  const names = await openNameServer(t);
  INSIDE.forEach((addresses, i) => names.names.set(`inside${i}.example.com`, addresses));
  names.names.set('push.example.com', ['93.184.215.14']);
  const network: PreloadedNetwork = { nameServer: names.at, ports: {} };
  const log = join(fixture.dir, 'strace.log');
  // Of a child that a job's launcher is, too. Who is connected to is decided by connect, or by where a datagram is
  // sent.
  const wrapper = [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    log,
    '-e',
    'trace=socket,connect,sendto,sendmsg,sendmmsg',
  ];
  const daemon = await fixture.start({
    wrapper,
    nodeArgs: ['--import', PRELOAD],
    env: { GATEHOUSE_TEST_NETWORK: JSON.stringify(network) },
  });
  started.push(daemon);
  const api = daemon.api(fixture.token);
  const rows = async (): Promise<number> =>
    (await fixture.store.db.selectFrom('endpoints').select('id').execute()).length;
  const reached = (): string[] =>
    readFileSync(log, 'latin1')
      .split('\n')
      .filter((line) => /\bsocket\(AF_INET6?,|sa_family=AF_INET6?\b/.test(line));
  return { api, names, rows, reached };
}

test(
  'T36: while each of more than 250 forms is posted, and names of something inside, the daemon opens no socket ' +
    'but to its name server; every answer is 400 and no row is written',
  { skip: needs('strace') },
  async (t) => {
    const { api, names, rows, reached } = await openTraced(t);

    // The token is verified once, and what is opened until now was for the start.
    assert.equal((await api.get('/whoami')).status, 200);
    const before = reached().length;
    assert.ok(ADDRESS_FORMS.length >= 250);
    for (const endpoint of ADDRESS_FORMS) {
      const { status, error } = await api.post(PATH, { endpoint });
      assert.deepEqual([status, error?.code], [400, 'invalid_argument'], endpoint);
    }
    assert.deepEqual(reached().slice(before), []);
    assert.deepEqual(names.asked, [], 'a form was resolved');
    assert.equal(await rows(), 0);

    for (const [i] of INSIDE.entries()) {
      const { status, error } = await api.post(PATH, { endpoint: `https://inside${i}.example.com/push` });
      assert.deepEqual([status, error?.code], [400, 'invalid_argument'], String(INSIDE[i]));
      assert.match(
        error?.message ?? '',
        /^endpoint: the host resolves to an? [a-z -]+ address; only public ones are dialled\.$/,
      );
    }
    assert.equal((await api.post(PATH, { endpoint: 'https://unknown.example.com/push' })).status, 400);
    assert.equal(await rows(), 0);
    // The name server is on loopback; this also shows that strace sees what is opened.
    const asked = reached().slice(before);
    assert.ok(names.asked.length >= INSIDE.length && asked.some((line) => line.includes('AF_INET')));
    const port = names.at.split(':')[1] ?? '';
    assert.deepEqual(
      asked.filter((line) => line.includes('sa_family=') && !line.includes(`htons(${port})`)),
      [],
    );
    assert.deepEqual(
      asked.filter((line) => line.includes('SOCK_STREAM')),
      [],
    );

    const one = await api.post<Registered>(PATH, { endpoint: 'https://push.example.com/a', label: 'phone' });
    const again = await api.post<Registered>(PATH, { endpoint: 'HTTPS://Push.Example.com:443/a' });
    assert.deepEqual([one.status, again.status, again.data], [200, 200, one.data]);
    assert.equal(await rows(), 1);
  },
);
