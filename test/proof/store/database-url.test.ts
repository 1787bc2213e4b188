/** What the URL of a database says about hosts and encryption, against real servers of PostgreSQL. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createAuthority } from '../../support/notify/push-authority.ts';
import { freePort } from '../../support/network/free-port.ts';
import { type DebianServer, PASSWORD, query, startDebianServer } from '../../support/postgres/debian-server.ts';
import { needs } from '../../support/tools.ts';
import { Dialer } from '../../../src/store/engine/postgres/dial.ts';

const LIMIT_MS = 10_000;
/** Databases by the connections that the server takes for them. */
const ACCESS = [
  'local all all scram-sha-256',
  'hostssl encrypted all all scram-sha-256',
  'hostnossl clear all all scram-sha-256',
  'hostssl certified all all cert',
  'host postgres,either all all scram-sha-256',
];

const by = (mode: string, file: string): string => `either?sslmode=${mode}&sslrootcert=${file}`;

describe('A connection to PostgreSQL', { skip: needs('postgresql server', 'openssl') }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-database-url-'));
  const ending = { after: (work: () => Promise<void>) => void works.push(work) };
  const works: (() => Promise<void>)[] = [];
  const [key, cert, otherRoots] = ['client.key', 'client.pem', 'other.pem'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  let roots: string;
  let server: DebianServer;
  let plain: DebianServer;
  let standby: DebianServer;

  before(async () => {
    const authority = createAuthority(ending);
    roots = authority.caFile;
    writeFileSync(otherRoots, createAuthority(ending).ca);
    const own = authority.certificate(['localhost']);
    const client = authority.certificate(['postgres']);
    writeFileSync(key, client.key, { mode: 0o600 });
    writeFileSync(cert, client.cert);
    const tls = { key: String(own.key), certificate: String(own.cert), clientRoots: String(authority.ca) };
    [server, plain, standby] = await Promise.all([
      startDebianServer({ access: ACCESS, tls }),
      startDebianServer(),
      startDebianServer({ isStandby: true }),
    ]);
    const all = `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}/postgres`;
    for (const name of ['encrypted', 'clear', 'certified', 'either']) await query(all, `create database ${name}`);
  });
  after(async () => {
    await Promise.all([server, plain, standby].map((each) => each.stop()));
    for (const work of works) await work();
    rmSync(dir, { recursive: true });
  });

  /** How the connection is, or why it was refused. */
  async function outcomeOf(rest: string, hosts = `localhost:${server.port}`): Promise<string> {
    try {
      const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@${hosts}/${rest}`;
      const { client } = await new Dialer(url, LIMIT_MS).connect();
      const { rows } = await client.query<{ ssl: boolean; port: number | null }>(
        'select ssl, inet_server_port() as port from pg_stat_ssl where pid = pg_backend_pid()',
      );
      await client.end();
      if (rows[0]?.port === null) return 'socket';
      return rows[0]?.ssl === true ? 'encrypted' : 'clear';
    } catch (error) {
      assert.ok(error instanceof Error);
      assert.equal(error.message.includes('canary'), false, error.message);
      return error.message;
    }
  }

  test('is encrypted as sslmode says, and falls back only where the mode allows it', async () => {
    const REFUSED = 'the server does not accept this user from here (28000)';
    const table: readonly (readonly [string, string, string, string])[] = [
      ['disable', REFUSED, 'clear', 'clear'],
      ['allow', 'encrypted', 'clear', 'clear'],
      ['prefer', 'encrypted', 'clear', 'encrypted'],
      ['require', 'encrypted', REFUSED, 'encrypted'],
    ];
    for (const [mode, ...expected] of table)
      for (const [index, database] of ['encrypted', 'clear', 'either'].entries())
        assert.equal(await outcomeOf(`${database}?sslmode=${mode}`), expected[index], `${mode} ${database}`);
    assert.equal(await outcomeOf('either'), 'encrypted');
  });

  test('to a server without encryption is refused where the mode demands it', async () => {
    const at = `localhost:${plain.port}`;
    for (const mode of ['disable', 'allow', 'prefer'])
      assert.equal(await outcomeOf(`postgres?sslmode=${mode}`, at), 'clear');
    const rest = `postgres?sslrootcert=${roots}&sslmode=`;
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      assert.equal(await outcomeOf(rest + mode, at), 'the server does not take encrypted connections');
  });

  test('verifies the authority from verify-ca on, and wherever one is named; the name with verify-full', async () => {
    const unknown = /signed by no known authority/;
    const address = `127.0.0.1:${server.port}`;
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      assert.equal(await outcomeOf(by(mode, roots)), 'encrypted', mode);
      assert.match(await outcomeOf(by(mode, otherRoots)), unknown, mode);
    }
    assert.equal(await outcomeOf(by('prefer', otherRoots)), 'clear');
    assert.equal(await outcomeOf(by('verify-ca', roots), address), 'encrypted');
    assert.match(await outcomeOf(by('verify-full', roots), address), /for another name/);
    for (const rest of ['sslmode=verify-full', 'sslrootcert=system'])
      assert.match(await outcomeOf(`either?${rest}`), unknown);
    assert.match(
      await outcomeOf(by('prefer', join(dir, 'none.pem'))),
      /sslrootcert: .*none\.pem cannot be read.*ENOENT/,
    );
  });

  test('shows its own certificate, whose key no other user may read', async () => {
    const rest = `certified?sslmode=verify-full&sslrootcert=${roots}`;
    assert.match(await outcomeOf(rest), /28000/);
    assert.equal(await outcomeOf(`${rest}&sslcert=${cert}&sslkey=${key}`), 'encrypted');
    chmodSync(key, 0o644);
    assert.match(
      await outcomeOf(`${rest}&sslcert=${cert}&sslkey=${key}`),
      /client\.key can be read by others; run: chmod/,
    );
    chmodSync(key, 0o600);
  });

  test('runs through a Unix socket, whatever the mode', async () => {
    const rest = `either?host=${server.socketDir}&port=${server.port}`;
    assert.equal(await outcomeOf(rest), 'socket');
    assert.equal(await outcomeOf(`${rest}&sslmode=verify-full`), 'socket');
  });

  test('leads to the first host that answers and can write', async () => {
    const closed = `127.0.0.1:${await freePort()}`;
    const reader = `127.0.0.1:${standby.port}`;
    const writer = `localhost:${plain.port}`;
    assert.equal(await outcomeOf('postgres', `${closed},${reader},${writer}`), 'clear');
    assert.match(
      await outcomeOf('postgres', `${closed},${reader}`),
      /^127\.0\.0\.1:\d+: connection refused \(ECONNREFUSED\); 127\.0\.0\.1:\d+: the server is read-only/,
    );
    const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@${reader},${writer}/postgres`;
    const dialer = new Dialer(url, LIMIT_MS);
    for (const port of [plain.port, plain.port]) {
      const { client, host } = await dialer.connect();
      assert.equal(host.port, port);
      await client.end();
    }
    const wrong = `postgres://postgres:no@${writer},${reader}/postgres`;
    await assert.rejects(new Dialer(wrong, LIMIT_MS).connect(), {
      message: `${writer}: wrong user or password (28P01)`,
    });
  });
});
