/**
 * A PostgreSQL server of Debian, whose pg_dump and pg_restore fit it: those of the package refuse the newer server that
 * the other tests use.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { until } from '../api-client.ts';
import { freePort } from '../network/free-port.ts';
import { POSTGRESQL_BIN } from '../tools.ts';

export interface DebianServer {
  readonly port: number;
  /** The folder of its Unix socket. */
  readonly socketDir: string;
  /** The URL of a new database, with the password. */
  database(): Promise<string>;
  stop(): Promise<void>;
}

export const PASSWORD = 'canary of a database password';
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
const START_LIMIT_MS = 60_000;

interface DebianServerOptions {
  /** Lines of pg_hba.conf in place of those of initdb. */
  readonly access?: readonly string[];
  /** Its key and certificate, as PEM. */
  readonly tls?: { readonly key: string; readonly certificate: string; readonly clientRoots: string };
  /** It is a standby: it only reads, until it is promoted. */
  readonly isStandby?: boolean;
}

export async function startDebianServer({
  access,
  tls,
  isStandby = false,
}: DebianServerOptions = {}): Promise<DebianServer> {
  const dir = mkdtempSync('/tmp/gatehouse-debian-postgres-');
  chmodSync(dir, 0o755);
  const account = process.getuid?.() === 0 ? unprivileged() : null;
  const socketDir = join(dir, 'socket');
  mkdirSync(socketDir);
  if (account !== null) chownSync(socketDir, account.uid, account.gid);
  const [data, passwords] = [join(dir, 'data'), join(dir, 'password')];
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwords, PASSWORD, { mode: 0o600 });
  if (account !== null) for (const path of [data, passwords]) chownSync(path, account.uid, account.gid);
  const options = { ...account, cwd: data, env: ENVIRONMENT };
  const made = spawnSync(
    join(POSTGRESQL_BIN ?? '', 'initdb'),
    ['-D', data, '-U', 'postgres', '--pwfile', passwords, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? ''}\n${made.stderr}`);
  const place = (name: string, text: string): string => {
    const file = join(data, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (account !== null) chownSync(file, account.uid, account.gid);
    return file;
  };
  if (access !== undefined) place('pg_hba.conf', `${access.join('\n')}\n`);
  if (isStandby) place('standby.signal', '');
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${socketDir}`,
    'fsync=off',
    'max_connections=100',
    ...(tls === undefined ? [] : tlsSettings(tls, place)),
  ];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((each) => ['-c', each])];
  const server = spawn(join(POSTGRESQL_BIN ?? '', 'postgres'), args, { ...options, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const urlOf = (name: string): string =>
    `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`;
  const answers = async (): Promise<true | undefined> => {
    try {
      await query(urlOf('postgres'), 'select 1');
      return true;
    } catch {
      return undefined;
    }
  };
  await until('the server answers', answers, START_LIMIT_MS);
  let databases = 0;
  return {
    port,
    socketDir,
    async database() {
      const name = `store_${(databases += 1)}`;
      await query(urlOf('postgres'), `create database ${name}`);
      return urlOf(name);
    },
    async stop() {
      server.kill('SIGQUIT');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function tlsSettings(
  { key, certificate, clientRoots }: NonNullable<DebianServerOptions['tls']>,
  place: (name: string, text: string) => string,
): string[] {
  return [
    'ssl=on',
    `ssl_key_file=${place('server.key', key)}`,
    `ssl_cert_file=${place('server.crt', certificate)}`,
    `ssl_ca_file=${place('clients.crt', clientRoots)}`,
  ];
}

export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function unprivileged(): { uid: number; gid: number } {
  const row = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody');
  return { uid: Number(row?.[2]), gid: Number(row?.[3]) };
}
