/** Finished backups are restored by the product, in steps of the world, and a daemon is started on what they make. */
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { openRestore } from '../../../src/app/backups/restore.ts';
import { readSealKey } from '../../../src/config/seal-key.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import { createKeyring, type Keyring } from '../../../src/lib/seal.ts';
import { openBackup } from '../../../src/operations/backups/backup-file.ts';
import type { Place } from '../place.ts';
import type { Rows } from '../rules/rules.ts';
import { runAs } from '../world/current.ts';
import { newHost } from '../world/host.ts';
import type { KeptBackup } from './backup-watch.ts';
import { momentOf } from './moments.ts';
import { liveOn } from './restored-life.ts';
import { wrongRows } from './restored-rows.ts';

/** Restored in one run, at most: each takes as long as the end of the run itself. */
const RESTORED_MAX = 2;
const RESTORE_MS = 60_000;
/** A restore is killed in this share of the tries, within as many steps. */
const KILLED = { share: 0.4, withinSteps: 150 };
const TRIES_MAX = 5;

/** To be called after all else: the daemons of the place have ended then. */
export async function lookAtRestores(place: Place, kept: readonly KeptBackup[]): Promise<void> {
  const { world, store, watch } = place;
  if (store.hasLeases || kept.length === 0) return;
  const [host] = world.hosts;
  if (host === undefined) return;
  const dataDir = store.settingsOf(host).flags['data-dir'];
  const key = await readSealKey(join(dataDir, 'seal.key'));
  if (!key.ok) return watch.violated('U6', `the seal key ${key.reason}`);
  for (const each of world.hosts) if (each.isAlive) world.drop(each);
  place.nodes.clear();
  const chance = world.chance.of('restores');
  const chosen = [...kept];
  while (chosen.length > RESTORED_MAX) chosen.splice(chance.whole(0, chosen.length - 1), 1);
  for (const backup of chosen) {
    await lookAtOne(place, { backup, dataDir, ring: createKeyring(key.keys) }).catch((error: unknown) =>
      watch.violated('U6', `backup ${backup.id} is not whole: ${wordsOf(error)}`),
    );
    if (watch.broken.length > 0) return;
  }
}

interface Order {
  readonly backup: KeptBackup;
  /** Of the service that made it. */
  readonly dataDir: string;
  readonly ring: Keyring;
}

async function lookAtOne(place: Place, order: Order): Promise<void> {
  const { watch, world } = place;
  // What is written now is of no store that is watched.
  world.onCommit = () => undefined;
  const { id, path, moments } = order.backup;
  await unpack(path, order.ring);
  using copy = new DatabaseSync(`${path}.db`, { readOnly: true });
  const before: Rows = (sql, ...parameters) => copy.prepare(sql).all(...parameters);
  if (!moments.has(momentOf(before)))
    watch.violated('U5', `backup ${id} holds the store of no moment between the start of its job and its end`);
  const into = await restored(place, order);
  if (into === null) return;
  const made = new DatabaseSync(join(into, 'gatehouse.db'), { readOnly: true });
  for (const what of wrongRows(before, (sql, ...parameters) => made.prepare(sql).all(...parameters)))
    watch.violated('U7', `backup ${id}: ${what}`);
  made.close();
  if (watch.broken.length > 0) return;
  for (const what of await liveOn(place.world, into, before)) watch.violated('U8', `backup ${id}: ${what}`);
}

/** The store as the copy has it, before it is brought to rest. */
async function unpack(path: string, ring: Keyring): Promise<void> {
  const file = await openBackup(path, ring, { what: path, keyPlace: 'the key' });
  try {
    await file.content((content) => pipeline(content, createWriteStream(`${path}.db`)));
  } finally {
    await file.close();
  }
}

/** Restores it, again after each kill. Answers the new data directory; null where that failed. */
async function restored(place: Place, { backup, dataDir }: Order): Promise<string | null> {
  const { world, watch, store } = place;
  const chance = world.chance.of('restores');
  const into = `${backup.path}.restored`;
  const settings = readSettings({ 'data-dir': dataDir }, {});
  const host = newHost(99, 'restorer', store.machine);
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    host.isAlive = true;
    host.life += 1;
    let end: { readonly fault: unknown } | null = null;
    const restore = async (): Promise<void> => {
      const opened = await openRestore(settings, { backup: backup.path, into });
      await opened.run();
      await opened.close();
    };
    runAs({ host, life: host.life }, () =>
      world.add('restore', 0, () => {
        restore().then(
          () => (end = { fault: null }),
          (fault: unknown) => (end = { fault }),
        );
      }),
    );
    const isKilled = tries < TRIES_MAX && chance.chance(KILLED.share);
    const until = isKilled ? world.steps + chance.whole(1, KILLED.withinSteps) : Number.POSITIVE_INFINITY;
    await place.until(() => end !== null || world.steps >= until, RESTORE_MS);
    world.drop(host);
    const over = end as { readonly fault: unknown } | null;
    world.note(`restore of ${backup.id}: ${over === null ? 'killed' : 'ended'}`);
    if (over !== null && over.fault !== null)
      return wrong(`backup ${backup.id} cannot be restored: ${wordsOf(over.fault)}`);
    // What is there has to be whole, also after a kill.
    if (existsSync(join(into, 'gatehouse.db'))) return into;
    if (over !== null || !isKilled) break;
  }
  return wrong(`backup ${backup.id} was not restored`);

  function wrong(what: string): null {
    watch.violated('U6', what);
    return null;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
