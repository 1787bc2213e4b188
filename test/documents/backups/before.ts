import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { KEY } from '../files.ts';
import type { Given } from '../given.ts';

export function backupFor(given: Given): Promise<string> {
  return given.once('backup', async () => {
    await given.ended('backup.create', { name: 'of-the-test' });
    const [backup] = await given.place.call<{ id: string }[]>('backup.list', {});
    return backup?.id ?? '';
  });
}

/** A backup and the key are on other disks, and the data directory is lost. */
async function restorable(given: Given): Promise<void> {
  const { folder, root } = given.place;
  const id = await backupFor(given);
  const backups = join(folder, '..', 'data', 'backups');
  const target = join(root, 'mnt', 'backups');
  for (const name of readdirSync(backups).filter((each) => each.includes(id)))
    for (const as of [name, 'store.backup']) copyFileSync(join(backups, name), join(target, as));
  if (!existsSync(join(root, KEY))) await given.place.svc(`svc seal export ${join(root, KEY)} --yes`);
  rmSync(join(root, 'var', 'lib', 'gatehouse'), { recursive: true, force: true });
}

export const BEFORE_RESTORE = [/backup restore/, restorable] as const;
