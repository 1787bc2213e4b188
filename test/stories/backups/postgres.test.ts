/** Backups of a store on PostgreSQL, by pg_dump and pg_restore. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../support/api-client.ts';
import {
  backUp,
  type BackupFixture,
  listOf,
  onlyFile,
  openBackupFixture,
  outputOf,
  queueBackup,
} from '../../support/backups/backup-fixture.ts';
import { type DebianServer, query, startDebianServer } from '../../support/postgres/debian-server.ts';
import { svc } from '../../support/terminal.ts';
import { needs } from '../../support/tools.ts';
import * as app from '../../../src/app.ts';

const PASSWORD = 'canary of a database password';

function restore(on: BackupFixture, databaseUrl: string | null, into: string) {
  const place = ['--into', into, '--seal-key-file', on.keyFile, '--backup-dir', on.folder, '--data-dir', on.dataDir];
  return svc(['backup', 'restore', onlyFile(on), ...place, '--yes', '--output', 'json'], {
    app,
    env: databaseUrl === null ? {} : { SVC_DATABASE_URL: databaseUrl },
  });
}

describe('A backup of a PostgreSQL store', { skip: needs('pg_dump', 'postgresql server') }, () => {
  let server: DebianServer;
  before(async () => {
    server = await startDebianServer();
  });
  after(() => server.stop());

  test(
    'F32: restores into an empty database, at rest, with the same jobs and a sound ledger',
    { timeout: 240_000 },
    async (t) => {
      const databaseUrl = await server.database();
      const on = await openBackupFixture(t, [], { databaseUrl });
      const daemon = await on.fixture.start(on.flags);
      const done = await on.fixture.queue({ command: ['/bin/echo', 'hello'] });
      await on.fixture.waitFor(done, ['succeeded']);
      const running = await on.fixture.queue({ command: on.fixture.witness.command('k', 600), key: 'k' });
      await on.fixture.waitFor(running, ['running']);
      const backup = await backUp(on);
      const [made] = await listOf(on);
      assert.notEqual(made?.verified_at, null);
      assert.equal((await outputOf(on, backup)).includes(PASSWORD), false);
      await daemon.kill();

      const empty = await server.database();
      const into = join(on.fixture.dir, 'restored');
      const restored = await restore(on, empty, into);
      assert.equal(restored.exitCode, 0, restored.stdout + restored.stderr);
      assert.equal(readFileSync(join(into, 'seal.key'), 'utf8'), readFileSync(on.keyFile, 'utf8'));
      assert.deepEqual(
        readdirSync(into).filter((name) => name.startsWith('.') || name.endsWith('.db')),
        [],
      );
      const states = await query(empty, 'select id, state from jobs order by id');
      assert.deepEqual(Object.fromEntries(states.map(({ id, state }) => [id, state])), {
        [done]: 'succeeded',
        [running]: 'interrupted',
        [backup]: 'interrupted',
      });

      const again = await on.fixture.start({ ...on.flags, dataDir: into, databaseUrl: empty });
      const api = again.api(on.fixture.token);
      assert.equal((await api.get<{ cordoned: boolean }>('/maintenance/readiness')).data.cordoned, true);
      const doctor = (await api.get<{ name: string; status: string; detail: string }[]>('/health')).data;
      assert.deepEqual(
        doctor.filter(({ status }) => status === 'fail'),
        [],
      );
      assert.equal(doctor.find(({ name }) => name === 'audit_ledger')?.status, 'ok');
      const events = await api.events(done);
      assert.ok(events.some(({ text }) => text === 'hello'));
    },
  );

  test('is refused for a database that holds something, and for none', { timeout: 120_000 }, async (t) => {
    const on = await openBackupFixture(t, [], { databaseUrl: await server.database() });
    await on.fixture.start(on.flags);
    await backUp(on);
    const used = await server.database();
    await query(used, 'create table mine ()');
    const into = join(on.fixture.dir, 'restored');
    const full = await restore(on, used, into);
    assert.equal(full.exitCode, 5);
    assert.match(full.stdout, /the database holds 1 tables; name an empty database/);
    const none = await restore(on, null, into);
    assert.equal(none.exitCode, 5);
    assert.match(none.stdout, /the backup is of a PostgreSQL store; name an empty database/);
  });

  test('that was restored in part starts no daemon', { timeout: 120_000 }, async (t) => {
    const databaseUrl = await server.database();
    const on = await openBackupFixture(t, [], { databaseUrl });
    await query(databaseUrl, 'create table restore_unfinished ()');
    const { stdout } = await svc(['job', 'list', '--data-dir', on.dataDir, '--output', 'json'], {
      app,
      env: { SVC_DATABASE_URL: databaseUrl, SVC_SEAL_KEY_FILE: on.keyFile },
    });
    assert.match(stdout, /"code":"unavailable".*A restore into this database did not finish/);
  });

  test('keeps the password out of the arguments of its programs', { timeout: 120_000 }, async (t) => {
    const on = await openBackupFixture(t, [], { databaseUrl: await server.database() });
    await on.fixture.start(on.flags);
    const id = await queueBackup(on);
    const seen = new Set<string>();
    await until('the backup has ended', async () => {
      for (const line of commandLines()) if (line.includes('pg_dump')) seen.add(line);
      return (await on.fixture.row(id)).state === 'succeeded' ? true : undefined;
    });
    for (const line of seen) assert.equal(line.includes('canary'), false, line);
  });

  test('fails with the reason where pg_dump is not on the PATH', { timeout: 120_000 }, async (t) => {
    const on = await openBackupFixture(t, [], { databaseUrl: await server.database() });
    await on.fixture.start({ ...on.flags, env: { PATH: on.fixture.dir } });
    const id = await queueBackup(on);
    await on.fixture.waitFor(id, ['failed'], 60_000);
    assert.match(await outputOf(on, id), /pg_dump is not on the PATH of the daemon; install the client of PostgreSQL/);
    assert.deepEqual(readdirSync(on.folder), []);
    rmSync(on.folder, { recursive: true });
  });
});

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
    } catch {
      return [];
    }
  });
}
