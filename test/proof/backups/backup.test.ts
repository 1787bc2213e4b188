/** Backups by a real daemon: made while jobs run, checked, kept and removed, and killed on the way. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { partialFileName } from '../../../src/domain/backups/backup.ts';
import { randomBytes } from '../../../src/lib/random.ts';
import { jobIdPart } from '../../../src/domain/path-part.ts';
import { findRunDir } from '../../../src/runners/run-dir.ts';
import { until } from '../../support/api-client.ts';
import { runsDirFor } from '../../support/daemon.ts';
import {
  type BackupFixture,
  backUp,
  listOf,
  openBackupFixture,
  outputOf,
  queueBackup,
  verb,
} from '../../support/backups/backup-fixture.ts';
import type { Fixture } from '../../support/fixtures/installation.ts';
import { needs, OWN_MOUNTS } from '../../support/tools.ts';

describe('A backup', () => {
  test('F32: is made while jobs run, is listed with the digest of its file, and verifies', async (t) => {
    const on = await openBackupFixture(t);
    const daemon = await on.fixture.start(on.flags);
    const running = await on.fixture.queue({ command: on.fixture.witness.command('k', 60) });
    await on.fixture.waitFor(running, ['running']);
    const job = await backUp(on);
    const [made, ...rest] = await listOf(on);
    assert.deepEqual(rest, []);
    assert.equal(made?.job_id, job);
    const [file = '', ...others] = readdirSync(on.folder);
    assert.deepEqual(others, []);
    assert.match(file, new RegExp(`^store-\\d{8}T\\d{6}Z-${made.id}\\.backup$`));
    const bytes = readFileSync(join(on.folder, file));
    assert.equal(statSync(join(on.folder, file)).mode & 0o777, 0o600);
    assert.equal(made.size_bytes, bytes.length);
    assert.equal(made.sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.notEqual(made.verified_at, null);
    assert.equal((await on.fixture.row(job)).exit_code, 0);
    assert.equal((await on.fixture.row(running)).state, 'running');
    const answer = await daemon.api(on.fixture.token).get('/backups');
    assert.deepEqual(answer.data, [made]);
    const verified = await verb(on, 'backup', 'verify', made.id);
    assert.equal(verified.exitCode, 0, verified.stdout);
    assert.equal((JSON.parse(verified.stdout) as { kind: string }).kind, 'backup.get');
  });

  test('F32: T20: holds neither the key nor a word of the store in clear', async (t) => {
    const on = await openBackupFixture(t);
    await on.fixture.call('secret.set', { secret: 'net/token', value: 'canary-of-a-secret' });
    await on.fixture.queue({ command: ['/bin/echo', 'canary-of-a-command'] });
    await on.fixture.start(on.flags);
    await backUp(on);
    const bytes = readFileSync(join(on.folder, readdirSync(on.folder)[0] ?? ''));
    const key = readFileSync(join(on.fixture.dir, 'seal.key'), 'utf8').split(' ')[1] ?? '';
    for (const text of ['canary', 'SQLite format', 'localhost', key])
      assert.equal(bytes.includes(text), false, `the file has "${text}" in clear`);
    assert.equal(bytes.includes(Buffer.from(key, 'base64')), false);
  });

  test('F32: with one bit flipped is refused as damaged, and listed as not verified', async (t) => {
    const on = await openBackupFixture(t);
    await on.fixture.start(on.flags);
    await backUp(on);
    const id = (await listOf(on))[0]?.id ?? '';
    const path = join(on.folder, readdirSync(on.folder)[0] ?? '');
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 4, bytes.length >> 1);
    writeFileSync(path, bytes);
    const refused = await verb(on, 'backup', 'verify', id);
    assert.equal(refused.exitCode, 5);
    assert.match(refused.stdout, /"code":"conflict".*is damaged or incomplete/);
    assert.equal((await listOf(on))[0]?.verified_at, null);
    const { stdout } = await verb(on, 'audit', 'list', '--operation', 'backup.verify');
    assert.match(stdout, /"detail":\{"whole":false\}/);
  });

  test('whose file is gone is not found, and the message says where it was looked for', async (t) => {
    const on = await openBackupFixture(t);
    await on.fixture.start(on.flags);
    await backUp(on);
    const id = (await listOf(on))[0]?.id ?? '';
    const refused = await verb({ ...on, folder: on.fixture.dir }, 'backup', 'verify', id);
    assert.equal(refused.exitCode, 3);
    assert.match(refused.stdout, /has no file in the directory of backups \(--backup-dir\)/);
  });

  test('replaces the oldest of its name where more than --keep-backups are kept', async (t) => {
    const on = await openBackupFixture(t, ['--keep-backups', '2']);
    await on.fixture.start(on.flags);
    await backUp(on, 'other');
    await backUp(on, 'nightly');
    const kept = [await backUp(on, 'nightly'), await backUp(on, 'nightly')];
    await until('the oldest file is gone', () => readdirSync(on.folder).length === 3);
    const listed = await listOf(on);
    assert.deepEqual(
      listed.slice(0, 2).map((each) => each.job_id),
      kept.toReversed(),
    );
    assert.equal(listed.length, 3);
    const files = readdirSync(on.folder);
    for (const { id } of listed) assert.ok(files.some((file) => file.includes(id)));
  });

  test('fails with the reason where its directory cannot be written, and leaves nothing', async (t) => {
    const on = await openBackupFixture(t);
    const folder = join(on.fixture.dir, 'missing', 'backups');
    await on.fixture.start({ args: ['--backup-dir', folder] });
    const id = await queueBackup(on);
    const { state } = await on.fixture.waitFor(id, ['succeeded', 'failed'], 60_000);
    assert.equal(state, 'failed');
    assert.match(await outputOf(on, id), /No backup was made: the directory of backups does not exist\./);
    assert.deepEqual(await listOf(on), []);
    await until('the run is gone', () => on.fixture.leftRuns().length === 0);
  });
});

/** Incompressible, so that copying and sealing it take a while. */
async function fill({ store }: Fixture): Promise<void> {
  const chunk = { first_seq: 1, last_seq: 1, at: 0, raw_bytes: 1_000_000 };
  for (let i = 0; i < 60; i += 1)
    await store.write(({ db }) =>
      db
        .insertInto('job_chunks')
        .values({ ...chunk, job_id: `filler-${i}`, data: randomBytes(1_000_000) })
        .execute(),
    );
}

describe('A daemon that is killed during a backup', () => {
  for (const [moment, path] of Object.entries({
    copies: (on: BackupFixture, id: string) => `${findRunDir(runsDirFor(on.dataDir), jobIdPart(id))}.in/store.copy`,
    seals: (on: BackupFixture, id: string) => join(on.folder, partialFileName(jobIdPart(id))),
  }))
    test(`F32: while it ${moment}, leaves nothing half: the job is interrupted`, async (t) => {
      const on = await openBackupFixture(t);
      await fill(on.fixture);
      const daemon = await on.fixture.start(on.flags);
      const id = await queueBackup(on);
      await until('the file is being written', () => existsSync(path(on, id)), 60_000);
      await daemon.kill();
      await on.fixture.start(on.flags);
      await on.fixture.waitFor(id, ['interrupted'], 60_000);
      await until('the run is gone', () => on.fixture.leftRuns().length === 0);
      assert.deepEqual(readdirSync(on.folder), []);
      assert.deepEqual(await listOf(on), []);
      await backUp(on);
      assert.equal(readdirSync(on.folder).length, 1);
    });
});

test(
  'F32: On a full disk no backup is made or restored, the reason is said, and nothing half is left',
  { skip: needs('mount namespaces') },
  async (t) => {
    const story = join(import.meta.dirname, '..', '..', 'support', 'backups', 'disk-full.ts');
    const argv = [...OWN_MOUNTS, process.execPath, '--disable-warning=ExperimentalWarning', story];
    const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'pipe'], signal: t.signal });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, output);
  },
);
