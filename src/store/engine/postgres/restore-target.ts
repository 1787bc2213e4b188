import { Client } from 'pg';
import { Failure } from '../../../domain/failure.ts';
import { accessOf, UNFINISHED_TABLE } from './dump.ts';

const CONNECT_TIMEOUT_MS = 5_000;

const OTHERS = `select count(*) as value from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname <> 'information_schema'
  and n.nspname not like 'pg\\_%' and c.relname <> '${UNFINISHED_TABLE}'`;

/** An empty database that gets a store. */
interface EmptyDatabase {
  /** The arguments of pg_restore for a file, and its environment. */
  readonly argv: (file: string) => readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** From now on no daemon starts on it. */
  begin(): Promise<void>;
}

/** Throws conflict for a database that holds anything, and unavailable where it cannot be reached. */
export async function openEmptyDatabase(url: string): Promise<EmptyDatabase> {
  const others = await query(url, OTHERS);
  if (Number(others) > 0)
    throw new Failure('conflict', `--database-url: the database holds ${others} tables; name an empty database.`);
  const { url: bare, environment } = accessOf(url);
  return {
    environment,
    argv: (file) => [
      'pg_restore',
      '--no-owner',
      '--no-privileges',
      '--no-password',
      '--exit-on-error',
      '--single-transaction',
      `--dbname=${bare}`,
      file,
    ],
    begin: async () => void (await query(url, `create table if not exists ${UNFINISHED_TABLE} ()`)),
  };
}

/** The store is whole: daemons may start on it. */
export async function finishRestore(url: string): Promise<void> {
  await query(url, `drop table ${UNFINISHED_TABLE}`);
}

/** The column `value` of the only row, if there is one. */
async function query(url: string, text: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<{ value: string }>(text)).rows[0]?.value;
  } catch {
    throw new Failure('unavailable', '--database-url: the database cannot be reached, or does not take the statement.');
  } finally {
    await client.end().catch(() => undefined);
  }
}
