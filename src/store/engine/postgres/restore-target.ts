import type { DatabaseHost } from '../../../domain/database/database-url.ts';
import { Failure } from '../../../domain/failure.ts';
import { ConnectFault, Dialer } from './dial.ts';
import { accessAt, UNFINISHED_TABLE } from './dump.ts';

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
  const { value: others, host } = await query(url, OTHERS);
  if (Number(others) > 0)
    throw new Failure('conflict', `--database-url: the database holds ${others} tables; name an empty database.`);
  const { url: dbname, environment } = accessAt(url, host);
  return {
    environment,
    argv: (file) => [
      'pg_restore',
      '--no-owner',
      '--no-privileges',
      '--no-password',
      '--exit-on-error',
      '--single-transaction',
      `--dbname=${dbname}`,
      file,
    ],
    begin: async () => void (await query(url, `create table if not exists ${UNFINISHED_TABLE} ()`)),
  };
}

/** The store is whole: daemons may start on it. */
export async function finishRestore(url: string): Promise<void> {
  await query(url, `drop table ${UNFINISHED_TABLE}`);
}

/** The column `value` of the only row, if there is one, and the host that answered. */
async function query(url: string, text: string): Promise<{ readonly value?: string; readonly host: DatabaseHost }> {
  const { client, host } = await new Dialer(url, CONNECT_TIMEOUT_MS).connect().catch((error: unknown) => {
    if (!(error instanceof ConnectFault)) throw error;
    throw new Failure('unavailable', `--database-url: the database cannot be reached: ${error.message}.`);
  });
  try {
    const [row] = (await client.query<{ value: string }>(text)).rows;
    return { ...row, host };
  } catch {
    throw new Failure('unavailable', '--database-url: the database does not take the statement.');
  } finally {
    await client.end().catch(() => undefined);
  }
}
