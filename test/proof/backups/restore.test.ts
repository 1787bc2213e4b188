/** A backup restored as after the loss of the machine: from its file and the key, onto an empty directory. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import * as app from '../../../src/app.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { formatSealKey } from '../../../src/config/seal-key.ts';
import { until } from '../../support/api-client.ts';
import {
  type BackupFixture,
  backUp,
  listOf,
  onlyFile,
  openBackupFixture,
  verb,
} from '../../support/backups/backup-fixture.ts';
import { svc } from '../../support/terminal.ts';

interface Job {
  readonly id: string;
  readonly state: string;
}

const OTHER_KEY = Buffer.alloc(32, 9);

async function jobsOf(on: BackupFixture, dataDir = on.dataDir): Promise<readonly Job[]> {
  const { stdout } = await verb({ ...on, dataDir }, 'job', 'list', '--limit', '0');
  return (JSON.parse(stdout) as { data: readonly Job[] }).data;
}

/** A fixture with one backup, whose file and key lie beside the data directory; its daemon is stopped. */
async function backedUp(t: TestContext): Promise<BackupFixture> {
  const on = await openBackupFixture(t);
  const daemon = await on.fixture.start(on.flags);
  await on.fixture.waitFor(await on.fixture.queue({ command: ['/bin/true'] }), ['succeeded']);
  await backUp(on);
  assert.equal(await daemon.stop(), 0);
  return on;
}

function restore(on: BackupFixture, into: string, what: string, ...more: readonly string[]) {
  return verb(on, 'backup', 'restore', what, '--into', into, '--yes', ...more);
}

const messageOf = (stdout: string): string => (JSON.parse(stdout) as { error: { message: string } }).error.message;

describe('A restore', () => {
  test('F32: onto an empty directory after rm -rf shows the same jobs, with a sound ledger, cordoned', async (t) => {
    const on = await openBackupFixture(t);
    const daemon = await on.fixture.start(on.flags);
    await on.fixture.call('secret.set', { secret: 'net/token', value: 'the value of a secret' });
    for (const command of [['/bin/true'], ['/bin/false'], ['/bin/echo', 'hello']])
      await on.fixture.waitFor(await on.fixture.queue({ command }), ['succeeded', 'failed']);
    const running = await on.fixture.queue({ command: on.fixture.witness.command('k', 600), key: 'k' });
    const queued = await on.fixture.queue({ command: ['/bin/true'], key: 'k' });
    await on.fixture.waitFor(running, ['running']);
    const backup = await backUp(on);
    const before = await jobsOf(on);
    await daemon.kill();
    const [made] = await listOf(on);
    rmSync(on.dataDir, { recursive: true });

    const restored = await restore(on, on.dataDir, made?.id ?? '');

    assert.equal(restored.exitCode, 0, restored.stdout + restored.stderr);
    const open = new Set([running, queued, backup]);
    const expected = before.map((job) => (open.has(job.id) ? { ...job, state: 'interrupted' } : job));
    const shown = await jobsOf(on);
    assert.deepEqual(
      shown.map(({ id, state }) => ({ id, state })),
      expected.map(({ id, state }) => ({ id, state })),
    );
    assert.deepEqual(
      shown.filter(({ id }) => !open.has(id)),
      before.filter(({ id }) => !open.has(id)),
    );
    const ledger = await verb(on, 'audit', 'list', '--operation', 'backup.restore');
    assert.match(ledger.stdout, new RegExp(`"target":"${made?.id}","detail":\\{"interrupted":3`));
    const again = await on.fixture.start(on.flags);
    const api = again.api(on.fixture.token);
    assert.equal((await api.get<{ cordoned: boolean }>('/maintenance/readiness')).data.cordoned, true);
    const doctor = await api.get<{ name: string; status: string; detail: string }[]>('/health');
    assert.deepEqual(
      doctor.data.filter(({ status }) => status === 'fail'),
      [],
    );
    assert.equal(doctor.data.find(({ name }) => name === 'audit_ledger')?.status, 'ok');
    assert.equal(on.fixture.witness.starts(running), 1, 'nothing is run again by itself');
    const listed = await api.get<{ id: string }[]>('/backups');
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      [made?.id],
    );
    await api.post('/maintenance/uncordon');
    const next = await api.run(['/bin/true']);
    assert.equal((await api.waitFor(next)).state, 'succeeded');
  });

  test('F32: takes a file by its path, and puts the key beside the store, closed to others', async (t) => {
    const on = await backedUp(t);
    const into = join(on.fixture.dir, 'elsewhere', 'data');
    const { exitCode, stdout } = await restore(on, into, onlyFile(on));
    assert.equal(exitCode, 0, stdout);
    assert.equal(readFileSync(join(into, 'seal.key'), 'utf8'), readFileSync(on.keyFile, 'utf8'));
    for (const file of ['seal.key', 'gatehouse.db']) assert.equal(statSync(join(into, file)).mode & 0o777, 0o600);
    assert.equal(existsSync(join(into, '.restore')), false);
    const list = await svc(['job', 'list', '--data-dir', into, '--output', 'json'], { app });
    assert.equal(list.exitCode, 0, list.stdout);
  });

  test('F32: refuses one flipped bit and another key, saying which, and writes nothing', async (t) => {
    const on = await backedUp(t);
    const into = join(on.fixture.dir, 'new');
    const flipped = join(on.fixture.dir, 'flipped.backup');
    const bytes = readFileSync(onlyFile(on));
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 100) ^ 1, bytes.length - 100);
    writeFileSync(flipped, bytes);
    const damaged = await restore(on, into, flipped);
    assert.equal(damaged.exitCode, 5);
    assert.match(messageOf(damaged.stdout), /is damaged or incomplete: its content does not match its digest/);

    const key = join(on.fixture.dir, 'other.key');
    writeFileSync(key, formatSealKey(OTHER_KEY), { mode: 0o600 });
    const foreign = await restore(on, into, onlyFile(on), '--seal-key-file', key);
    assert.equal(foreign.exitCode, 5);
    const own = createKeyring([{ key: Buffer.from(keyOf(on), 'base64'), createdAt: null }]).activeId;
    assert.match(messageOf(foreign.stdout), new RegExp(`was sealed with key ${own}, which is not in .*other\\.key`));

    const missing = await restore(on, into, onlyFile(on), '--seal-key-file', join(on.fixture.dir, 'none.key'));
    assert.equal(missing.exitCode, 1);
    assert.match(messageOf(missing.stdout), /--seal-key-file: .*none\.key is missing/);

    const noBackup = await restore(on, into, on.keyFile);
    assert.equal(noBackup.exitCode, 5);
    assert.match(messageOf(noBackup.stdout), /is not a file that this service has sealed/);
    assert.equal(existsSync(into), false);
  });

  test('refuses a directory that holds something, and changes nothing in it', async (t) => {
    const on = await backedUp(t);
    const other = join(on.fixture.dir, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'notes'), 'mine');
    for (const [into, name] of [
      [on.dataDir, 'gatehouse.db'],
      [other, 'notes'],
    ] as const) {
      const before = readdirSync(into);
      const refused = await restore(on, into, onlyFile(on));
      assert.equal(refused.exitCode, 5);
      assert.ok(messageOf(refused.stdout).includes(`holds "${name}"`), refused.stdout);
      assert.deepEqual(readdirSync(into), before);
    }
  });

  test('asks at a terminal, and without one needs --yes', async (t) => {
    const on = await backedUp(t);
    const into = join(on.fixture.dir, 'new');
    const silent = await verb(on, 'backup', 'restore', onlyFile(on), '--into', into, '--no-input');
    assert.equal(silent.exitCode, 1);
    assert.match(messageOf(silent.stdout), /needs a confirmation; use --yes/);
    const argv = ['backup', 'restore', onlyFile(on), '--into', into, '--seal-key-file', on.keyFile];
    const no = await svc(argv, { app, typed: 'no\n' });
    assert.equal(no.exitCode, 1);
    assert.match(no.stderr, /Restore bak_\w+ of \S+ with 2 jobs into .*\? \[y\/N\]/);
    assert.equal(existsSync(join(into, 'gatehouse.db')), false);
    const yes = await svc(argv, { app, typed: 'y\n' });
    assert.equal(yes.exitCode, 0, yes.stderr);
    assert.match(yes.stdout, /The restored service is cordoned/);
  });

  test('that was killed is done again into the same directory', async (t) => {
    const on = await backedUp(t);
    const into = join(on.fixture.dir, 'new');
    mkdirSync(join(into, '.restore'), { recursive: true, mode: 0o700 });
    writeFileSync(join(into, '.restore', 'gatehouse.db'), 'half');
    copyFileSync(on.keyFile, join(into, 'seal.key'));
    const { exitCode, stdout } = await restore(on, into, onlyFile(on));
    assert.equal(exitCode, 0, stdout);
    await until('nothing half is left', () => !existsSync(join(into, '.restore')));
  });

  test('T24: of an id that no file has is not found, and other ids are taken as paths', async (t) => {
    const on = await backedUp(t);
    const into = join(on.fixture.dir, 'new');
    for (const what of ['bak_01m7yd4zyke00anp2z332d2j5p', '../../../etc/nothing', 'bak_short']) {
      const { exitCode, stdout } = await restore(on, into, what);
      assert.equal(exitCode, 3, stdout);
      assert.match(stdout, /(There is no file|has no file of backup) /);
    }
    assert.equal(existsSync(into), false);
  });
});

function keyOf(on: BackupFixture): string {
  return readFileSync(on.keyFile, 'utf8').split(' ')[1] ?? '';
}
