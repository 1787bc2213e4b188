/** A daemon starts whole or not at all, and says what was wrong. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type DaemonFlags, runsDirFor, startRefused } from '../../support/daemon.ts';
import { openFixture, type Fixture, type FixtureFlags } from '../../support/fixtures/installation.ts';

interface Refused {
  readonly what: string;
  readonly args: readonly string[];
  /** The flag that the message names. */
  readonly names: string;
}

const REFUSED: readonly Refused[] = [
  { what: 'an ingress on every address', args: ['--ingress-addr', '0.0.0.0:0'], names: '--ingress-addr' },
  { what: 'an ingress on every IPv6 address', args: ['--ingress-addr', '[::]:0'], names: '--ingress-addr' },
  { what: 'an ingress on a name', args: ['--ingress-addr', `${hostname()}:0`], names: '--ingress-addr' },
  { what: 'an ingress without a host', args: ['--ingress-addr', ':0'], names: '--ingress-addr' },
  { what: 'an address without a port', args: ['--web-addr', '127.0.0.1'], names: '--web-addr' },
  { what: 'a port that does not exist', args: ['--web-addr', '127.0.0.1:65536'], names: '--web-addr' },
  {
    what: 'an address that is not of this machine',
    args: ['--web-addr', '127.0.0.1:0', '--ingress-addr', '[::1%nowhere]:0'],
    names: '--ingress-addr',
  },
  { what: 'a base path without its slash', args: ['--base-path', 'ops'], names: '--base-path' },
  { what: 'a base path that climbs', args: ['--base-path', '/ops/..'], names: '--base-path' },
  { what: 'a base path with a query', args: ['--base-path', '/ops?x'], names: '--base-path' },
  { what: 'a public URL with a path', args: ['--public-url', 'https://gate.example/ops'], names: '--public-url' },
  { what: 'a public URL with a closing slash', args: ['--public-url', 'https://gate.example/'], names: '--public-url' },
  { what: 'a public URL of another scheme', args: ['--public-url', 'ftp://gate.example'], names: '--public-url' },
  {
    what: 'a public URL with credentials',
    args: ['--public-url', 'https://me:pw@gate.example'],
    names: '--public-url',
  },
  { what: 'a canary that is a name', args: ['--check-canary', 'gate.example:53'], names: '--check-canary' },
  { what: 'a canary without a port', args: ['--check-canary', '192.0.2.1'], names: '--check-canary' },
  { what: 'a file without certificates', args: ['--check-ca-file', '/etc/passwd'], names: '--check-ca-file' },
  { what: 'no job at all at a time', args: ['--max-jobs', '0'], names: '--max-jobs' },
  { what: 'a size without its unit', args: ['--job-memory', '512'], names: '--job-memory' },
  { what: 'too few processes for a job', args: ['--job-processes', '1'], names: '--job-processes' },
  { what: 'a lease that is too short', args: ['--lease', '1ms'], names: '--lease' },
];

/** Every way to write an address that others can reach. */
const OPEN_ADDRESSES = ['0.0.0.0:0', '[::]:0', ':0', `${hostname()}:0`, '192.0.2.1:0'];

async function assertRefused(fixture: Fixture, flags: FixtureFlags, names: string): Promise<void> {
  const full: DaemonFlags = {
    dataDir: join(fixture.dir, 'data'),
    sealKeyFile: join(fixture.dir, 'seal.key'),
    databaseUrl: fixture.databaseUrl,
    ...flags,
  };
  const { exitCode, stdout, stderr } = await startRefused(full);
  assert.equal(exitCode, 1, `${stdout}${stderr}`);
  const { kind, error } = JSON.parse(stdout) as { kind: string; error: { code: string; message: string } };
  assert.deepEqual([kind, error.code], ['error', 'invalid_argument']);
  assert.ok(error.message.includes(names), error.message);
}

/** A refused start leaves no daemon that others would wait for, no job begun and no directory for runs. */
async function assertNothingBegan(fixture: Fixture, jobId: string): Promise<void> {
  assert.ok(!existsSync(runsDirFor(join(fixture.dir, 'data'))));
  assert.deepEqual(await fixture.store.db.selectFrom('daemons').select('id').execute(), []);
  assert.equal((await fixture.row(jobId)).state, 'queued');
}

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

describe('F33: a daemon that cannot start whole does not start', () => {
  test('F33: settings that make no sense are refused by name, and no job is claimed', async (t) => {
    const fixture = await openFixture(t);
    const id = await fixture.queue({ command: ['/bin/true'] });
    for (const { what, args, names } of REFUSED) {
      await assert.doesNotReject(assertRefused(fixture, { args }, names), what);
    }
    await assertNothingBegan(fixture, id);
  });

  test('F33: a port that is taken is named, on either listener, and no job is claimed', async (t) => {
    const fixture = await openFixture(t);
    const id = await fixture.queue({ command: ['/bin/true'] });
    const port = await takenPort(t);
    for (const flag of ['--web-addr', '--ingress-addr']) {
      await assertRefused(fixture, { args: [flag, `127.0.0.1:${port}`] }, flag);
    }
    await assertNothingBegan(fixture, id);
  });

  test('F33: without an active token no address that others can reach is listened on', async (t) => {
    const fixture = await openFixture(t);
    await fixture.store.write(
      async (tx) => void (await tx.db.updateTable('tokens').set({ revoked_at: tx.now }).execute()),
    );
    const id = await fixture.queue({ command: ['/bin/true'] });
    for (const address of OPEN_ADDRESSES) await assertRefused(fixture, { args: ['--web-addr', address] }, '--web-addr');
    await assertNothingBegan(fixture, id);
  });

  test('F33: with an active token an open address is listened on', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ args: ['--web-addr', '0.0.0.0:0'] });
    const port = new URL(daemon.ready.web_url).port;
    assert.equal((await fetch(`http://127.0.0.1:${port}/api/v1/jobs`)).status, 401);
  });

  test('F33: a data directory that cannot be used is named', async (t) => {
    const fixture = await openFixture(t);
    const file = join(fixture.dir, 'file');
    writeFileSync(file, '');
    const open = join(fixture.dir, 'open');
    mkdirSync(open);
    writeFileSync(join(open, 'notes'), '');
    chmodSync(open, 0o777);
    await assertRefused(fixture, { dataDir: file }, '--data-dir');
    await assertRefused(fixture, { dataDir: join(file, 'below') }, '--data-dir');
    await assertRefused(fixture, { dataDir: '/proc/nothing/here' }, '--data-dir');
    await assertRefused(fixture, { dataDir: open }, '--data-dir');
    assert.deepEqual(readdirSync(open), ['notes']);
  });

  test('F33: a base path serves below itself and nowhere else', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ args: ['--base-path', '/ops/'] });
    const headers = { authorization: `Bearer ${fixture.token}` };
    const { origin } = new URL(daemon.ready.web_url);
    assert.equal((await fetch(`${origin}/ops/api/v1/jobs`, { headers })).status, 200);
    assert.equal((await fetch(`${origin}/api/v1/jobs`, { headers })).status, 404);
  });
});
