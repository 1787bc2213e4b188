/** Backups of a store on PostgreSQL, by pg_dump and pg_restore. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
import { createAuthority } from '../../support/notify/push-authority.ts';
import { freePort } from '../../support/network/free-port.ts';
import { type DebianServer, PASSWORD, query, startDebianServer } from '../../support/postgres/debian-server.ts';
import { svc } from '../../support/terminal.ts';
import { needs } from '../../support/tools.ts';
import * as app from '../../../src/app.ts';

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

  test('F32: restores into an empty database, at rest, with the same jobs and a sound ledger', async (t) => {
    const databaseUrl = await server.database();
    const on = await openBackupFixture(t, [], { databaseUrl });
    const daemon = await on.fixture.start(on.flags);
    const done = await on.fixture.queue({ command: ['/bin/echo', 'hello'] });
    await on.fixture.waitFor(done, ['succeeded']);
    const running = await on.fixture.queue({ command: on.fixture.witness.command('k', 600), key: 'k' });
    await on.fixture.waitFor(running, ['running']);
    const backup = await queueBackup(on);
    const seen = new Set<string>();
    await until('the backup has ended', async () => {
      for (const line of commandLines()) if (line.includes('pg_dump')) seen.add(line);
      return (await on.fixture.row(backup)).state === 'succeeded' ? true : undefined;
    });
    for (const line of seen) assert.equal(line.includes('canary'), false, line);
    const [made] = await listOf(on);
    assert.notEqual(made?.verified_at, null);
    assert.equal((await outputOf(on, backup)).includes(PASSWORD), false);
    await daemon.kill();

    const empty = await server.database();
    const into = join(on.fixture.dir, 'restored');
    const full = await restore(on, databaseUrl, into);
    assert.equal(full.exitCode, 5);
    assert.match(full.stdout, /the database holds \d+ tables; name an empty database/);
    const none = await restore(on, null, into);
    assert.equal(none.exitCode, 5);
    assert.match(none.stdout, /the backup is of a PostgreSQL store; name an empty database/);
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
  });

  test('that was restored in part starts no daemon', async (t) => {
    const databaseUrl = await server.database();
    const on = await openBackupFixture(t, [], { databaseUrl });
    await query(databaseUrl, 'create table restore_unfinished ()');
    const { stdout } = await svc(['job', 'list', '--data-dir', on.dataDir, '--output', 'json'], {
      app,
      env: { SVC_DATABASE_URL: databaseUrl, SVC_SEAL_KEY_FILE: on.keyFile },
    });
    assert.match(stdout, /"code":"unavailable".*A restore into this database did not finish/);
  });
});

describe('One URL', { skip: needs('pg_dump', 'postgresql server', 'openssl') }, () => {
  const works: (() => Promise<void>)[] = [];
  let server: DebianServer;
  let certificates: string;
  before(async () => {
    const authority = createAuthority({ after: (work) => void works.push(work) });
    const own = authority.certificate(['localhost']);
    const client = authority.certificate(['postgres']);
    server = await startDebianServer({
      access: ['local all all scram-sha-256', 'host postgres all all scram-sha-256', 'hostssl all all all cert'],
      tls: { key: String(own.key), certificate: String(own.cert), clientRoots: String(authority.ca) },
    });
    const [key, cert] = [`${authority.caFile}.key`, `${authority.caFile}.own`];
    writeFileSync(key, client.key, { mode: 0o600 });
    writeFileSync(cert, client.cert);
    certificates = `sslrootcert=${authority.caFile}&sslcert=${cert}&sslkey=${key}`;
  });
  after(async () => {
    await server.stop();
    for (const work of works) await work();
  });

  test('leads a daemon, its lease, its backups and a restore to the host that can write', async (t) => {
    const { port, socketDir } = server;
    await server.database();
    await server.database();
    const hosts = `localhost:${await freePort()},localhost:${port}`;
    const databaseUrl = `postgres://postgres@${hosts}/store_1?sslmode=verify-full&${certificates}`;
    const on = await openBackupFixture(t, [], { databaseUrl });
    const daemon = await on.fixture.start(on.flags);
    await backUp(on);
    assert.equal((await migrated(on, databaseUrl)).exitCode, 0);
    await daemon.kill();
    const word = encodeURIComponent(PASSWORD);
    const socket = `postgres://postgres:${word}@/store_2?host=${socketDir}&port=${port}`;
    const into = join(on.fixture.dir, 'restored');
    const restored = await restore(on, socket, into);
    assert.equal(restored.exitCode, 0, restored.stdout + restored.stderr);
    const again = await on.fixture.start({ ...on.flags, dataDir: into, databaseUrl: socket });
    await until('the lease is renewed through the socket', async () => {
      const nodes = (await again.api(on.fixture.token).get<{ state: string }[]>('/nodes')).data;
      return nodes.some(({ state }) => state !== 'gone') ? true : undefined;
    });
  });
});

function migrated(on: BackupFixture, databaseUrl: string) {
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_SEAL_KEY_FILE: on.keyFile };
  return svc(['migrate', '--data-dir', on.dataDir], { app, env });
}

/** The first number of a version, such as 15 of "pg_dump (PostgreSQL) 15.18". */
function majorOf(text: string): number {
  return Number(/\b(\d+)\b/.exec(text)?.[1]);
}

test(
  'A backup of a PostgreSQL store fails with the reason where pg_dump is missing, or older than the server',
  { skip: needs('pg_dump') },
  async (t) => {
    const on = await openBackupFixture(t, [], { postgres: true });
    const without = await on.fixture.start({ ...on.flags, env: { PATH: on.fixture.dir } });
    const missing = await queueBackup(on);
    await on.fixture.waitFor(missing, ['failed'], 60_000);
    assert.match(
      await outputOf(on, missing),
      /pg_dump is not on the PATH of the daemon; install the client of PostgreSQL/,
    );
    await without.stop();

    const [version] = await query(on.fixture.databaseUrl ?? '', 'show server_version');
    const theirs = majorOf(String(version?.['server_version']));
    const own = majorOf(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout);
    if (own >= theirs) return;
    await on.fixture.start(on.flags);
    const old = await queueBackup(on);
    await on.fixture.waitFor(old, ['failed'], 60_000);
    const output = await outputOf(on, old);
    assert.match(output, new RegExp(`server version: ${theirs}\\.\\d.*; pg_dump version: ${own}\\.`));
    assert.match(output, new RegExp(`pg_dump has to be as new as the server, which is PostgreSQL ${theirs}\\.`));
    assert.deepEqual(readdirSync(on.folder), []);
    assert.deepEqual(await listOf(on), []);
  },
);

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
