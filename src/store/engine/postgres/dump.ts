import type { Client } from 'pg';
import { Failure } from '../../../domain/failure.ts';
import { type DatabaseHost, readDatabaseUrl, urlOfHost } from '../../../domain/database/database-url.ts';
import type { Snapshot, SnapshotFacts } from '../snapshot.ts';
import type { Dialer } from './dial.ts';

/** How the programs of PostgreSQL reach a database; the password is in the environment, never among the arguments. */
interface ProgramAccess {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** There while a restore is under way, so that no daemon starts on half of a store. */
export const UNFINISHED_TABLE = 'restore_unfinished';

/** The access to the database at the host where a connection leads: a name may have another server next time. */
export function accessAt(url: string, host: DatabaseHost): ProgramAccess {
  const { password } = readDatabaseUrl(url);
  return { url: urlOfHost(url, host), environment: password === undefined ? {} : { PGPASSWORD: password } };
}

/**
 * A copy by pg_dump, of the moment of this call: the transaction of the returned snapshot holds it, and what the copy
 * holds is read in it.
 */
export async function dumpSnapshot(dialer: Dialer): Promise<Snapshot> {
  // The end of the server is reported by pg_dump.
  const { client, host } = await dialer.connect().catch(() => {
    throw new Failure('unavailable', 'The store cannot be reached.');
  });
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const facts = await factsOf(client);
    const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id');
    const version = await client.query<{ server_version: string }>('show server_version');
    const { url, environment } = accessAt(dialer.url, host);
    return {
      by: 'program',
      facts,
      needs: `pg_dump has to be as new as the server, which is PostgreSQL ${version.rows[0]?.server_version ?? ''}`,
      environment,
      argv: (file) => [
        'pg_dump',
        '--format=custom',
        // The backup is compressed as a whole.
        '--compress=0',
        '--no-owner',
        '--no-privileges',
        '--no-password',
        `--snapshot=${rows[0]?.id ?? ''}`,
        `--file=${file}`,
        `--dbname=${url}`,
      ],
      close: () => client.end().catch(() => undefined),
    };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error instanceof Failure ? error : new Failure('unavailable', 'The store cannot be reached.');
  }
}

async function factsOf(client: Client): Promise<SnapshotFacts> {
  const number = async (query: string): Promise<number> =>
    Number((await client.query<{ value: string }>(query)).rows[0]?.value);
  const heads = await client.query<{ chain: string; seq: string; hash: string }>(
    'select id as chain, length as seq, head as hash from chains where length > 0 order by id',
  );
  return {
    schema: await number('select max(number) as value from schema_migrations'),
    jobs: await number('select count(*) as value from jobs'),
    heads: heads.rows.map(({ chain, seq, hash }) => ({ chain, seq: Number(seq), hash })),
  };
}
