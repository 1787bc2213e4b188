import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { freshDatabase, startPostgres, type PostgresServer } from '../../support/postgres/postgres.ts';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('Two fresh databases share nothing', async () => {
  const [a, b] = await Promise.all([freshDatabase(), freshDatabase()]);
  await query(a.url, 'CREATE TABLE t (n int)');
  await assert.rejects(query(b.url, 'SELECT * FROM t'), /relation "t" does not exist/);
  await Promise.all([a.drop(), b.drop()]);
});

test('A dropped database is gone, also while a connection to it is open, and a second drop is no error', async () => {
  const fresh = await freshDatabase();
  const client = new Client({ connectionString: fresh.url });
  const cut = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await fresh.drop();
  await cut;
  await fresh.drop();
  await assert.rejects(query(fresh.url, 'SELECT 1'), /does not exist/);
});

describe('A separate server', () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  test('is PostgreSQL 18, syncs what it commits, and opens no socket in the file system', async () => {
    const settings =
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', " +
      "'unix_socket_directories') ORDER BY name";
    assert.deepEqual(await query(server.url, settings), [
      { name: 'fsync', setting: 'on' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    const [version] = await query(server.url, 'SHOW server_version_num');
    assert.match(JSON.stringify(version), /"18\d{4}"/);
  });

  test('refuses a wrong password', async () => {
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await assert.rejects(query(wrong.href, 'SELECT 1'), /password authentication failed/);
  });

  test('keeps over a kill what it had committed, and answers at the same URL after the start', async () => {
    await query(server.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    await server.kill();
    await assert.rejects(query(server.url, 'SELECT 1'), /ECONNREFUSED/);
    await server.start();
    assert.deepEqual(await query(server.url, 'SELECT n FROM kept'), [{ n: 7 }]);
  });
});

test('A killed test process leaves no server behind', async () => {
  const program =
    'const { startPostgres } = await import(process.argv[1]); console.log((await startPostgres()).url); ' +
    'setInterval(() => {}, 1000);';
  const module = new URL('../../support/postgres/postgres.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, module], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const client = new Client({ connectionString: url });
  const cut = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  child.kill('SIGKILL');
  await cut;
  await assert.rejects(query(url, 'SELECT 1'), /ECONNREFUSED|ECONNRESET|shutting down|terminat/);
});
