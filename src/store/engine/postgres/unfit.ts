import type { Connections } from './connections.ts';
import { UNFINISHED_TABLE } from './dump.ts';

/** Throws for a server that can't write, and for a store that a restore has left unfinished unless `isRestore`. */
export async function refuseUnfit(connections: Connections, isRestore: boolean): Promise<void> {
  const { rows } = await connections.use((client) =>
    client.query<{ standby: boolean; unfinished: boolean }>(
      `select pg_is_in_recovery() as standby, to_regclass('${UNFINISHED_TABLE}') is not null as unfinished`,
    ),
  );
  if (rows[0]?.standby === true) throw new Error('The PostgreSQL server is a read-only standby; use the primary.');
  if (rows[0]?.unfinished === true && !isRestore)
    throw new Error('A restore into this database did not finish: empty the database, and restore again.');
}
