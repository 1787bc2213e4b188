import assert from 'node:assert/strict';
import type { Check, Content } from '../content.ts';
import type { Session } from '../place.ts';

export const BACKUP_CONTENT: Content = {
  name: 'a backup of the older build is correct',
  since: 23,
  // One of PostgreSQL needs the programs of the version of its server.
  isOfSqlite: true,
  make: makeBackup,
};

async function makeBackup(old: Session): Promise<Check> {
  await old.verb(['backup', 'create', '--name', 'before', '--wait']);
  return async (now) => {
    const [backup] = await now.verb<{ id: string }[]>(['backup', 'list']);
    assert.ok(backup, 'the backup is listed');
    await now.verb(['backup', 'verify', backup.id]);
  };
}
