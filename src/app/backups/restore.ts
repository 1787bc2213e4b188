import { createWriteStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PRIVATE_FILE_MODE } from '../../config/data-dir.ts';
import { readSealKey, refusal, type SealKeys } from '../../config/seal-key.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { RUN_SUPPORT } from '../../daemon/kinds.ts';
import { localCaller } from '../../domain/access/caller.ts';
import { idOfBackupFile } from '../../domain/backups/backup.ts';
import { Failure } from '../../domain/failure.ts';
import type { OpenedRestore, Restored, RestoreOrder } from '../../faces/cli/backups/open-restore.ts';
import { rfc3339, systemClock } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import { isId, newId } from '../../lib/id.ts';
import { createKeyring, type Keyring } from '../../lib/seal.ts';
import { userName } from '../../lib/user-name.ts';
import { type BackupFile, openBackup } from '../../operations/backups/backup-file.ts';
import { actorOf } from '../../operations/core/reply.ts';
import { compareHeads } from '../../store/audit/verify.ts';
import { findBackup, insertBackup } from '../../store/backups/backups.ts';
import type { Restoring, Settled } from '../../store/area.ts';
import { settleRestored } from '../../store/settle.ts';
import { assertSameKey } from '../../store/secrets/seal.ts';
import type { SnapshotFormat } from '../../store/engine/snapshot.ts';
import { newestSchema, openStore, type Store, type StoreOptions } from '../../store/store.ts';
import { pathsOf } from '../base.ts';
import { RESTORE_FORMS } from './restore-form.ts';
import { makeTarget, requireEmptyTarget } from './restore-target.ts';

/** The open backup, its key, and its target. */
interface Plan {
  readonly settings: Settings;
  readonly path: string;
  readonly file: BackupFile;
  readonly format: SnapshotFormat;
  readonly key: SealKeys;
  readonly ring: Keyring;
  readonly into: string;
}

/** Checks backup, key and target, and writes nothing. Throws Failure. */
export async function openRestore(settings: Settings, { backup, into }: RestoreOrder): Promise<OpenedRestore> {
  const { path, key, ring } = { ...(await readKey(settings)), path: await findFile(settings, backup) };
  const file = await openBackup(path, ring, { what: basename(path), keyPlace: keyFileOf(settings) });
  try {
    const { id, created_at: createdAt, schema, jobs } = file.head;
    const target = resolve(into);
    const format = requireRestorable(file);
    await requireEmptyTarget(target, key.text);
    await RESTORE_FORMS[format].check(settings);
    const plan = { settings, path, file, format, key, ring, into: target };
    return {
      facts: { id, format, created_at: rfc3339(createdAt), schema, jobs, data_dir: target },
      run: () => restore(plan),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function keyFileOf(settings: Settings): string {
  return pathsOf(settings).sealKey;
}

/** A restore makes no key: it could open nothing. */
async function readKey(settings: Settings): Promise<{ readonly key: SealKeys; readonly ring: Keyring }> {
  const path = keyFileOf(settings);
  const key = await readSealKey(path);
  if (key.ok) return { key, ring: createKeyring(key.keys) };
  const advice = key.fault === 'missing' ? '; name the file that "svc seal export" has written' : '';
  throw refusal(path, `${key.reason}${advice}`);
}

/** The id of a backup in the directory of backups, or the path of a file. Throws not_found. */
async function findFile(settings: Settings, backup: string): Promise<string> {
  if (!isId('bak', backup)) return resolve(backup);
  const folder = pathsOf(settings).backups;
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw new Failure('unavailable', `--backup-dir: ${folder} cannot be read: ${errorCode(error) ?? 'unknown error'}.`);
  });
  const name = names.find((each) => idOfBackupFile(each) === backup);
  if (name === undefined)
    throw new Failure(
      'not_found',
      `--backup-dir: ${folder} has no file of backup ${backup}; name its directory or file.`,
    );
  return join(folder, name);
}

/** Throws conflict for a store of an unknown kind of database, unavailable for one of a newer build. */
function requireRestorable({ head }: BackupFile): SnapshotFormat {
  if (!isFormat(head.format))
    throw new Failure('conflict', `The backup is of a store of an unknown kind: ${head.format}.`);
  const newest = newestSchema(head.format);
  if (head.schema > newest)
    throw new Failure(
      'unavailable',
      `The backup has schema ${head.schema}; this build knows schemas up to ${newest}. Use the build that made it ` +
        `(${head.version}), or a newer one.`,
    );
  return head.format;
}

function isFormat(format: string): format is SnapshotFormat {
  return Object.hasOwn(RESTORE_FORMS, format);
}

async function restore(plan: Plan): Promise<Restored> {
  const target = await makeTarget(plan.into);
  try {
    const form = RESTORE_FORMS[plan.format];
    await plan.file.content(async (content) => {
      await pipeline(content, createWriteStream(target.content, { flags: 'wx', mode: PRIVATE_FILE_MODE }));
    });
    const location = await form.load(plan.settings, target.content);
    const settled = await settle(plan, location);
    await form.finish(plan.settings, target.content);
    await target.finish(plan.key.text, form.isFile);
    const { id, created_at: createdAt, jobs } = plan.file.head;
    return { id, created_at: rfc3339(createdAt), data_dir: target.dir, jobs, ...settled };
  } catch (error) {
    await target.clear();
    const code = errorCode(error);
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw new Failure('unavailable', `--into: the disk of ${plan.into} is full; nothing was restored.`);
    throw error;
  }
}

async function settle({ file, path, ring, settings }: Plan, location: StoreOptions['location']): Promise<Settled> {
  const store = await openStore({
    location,
    isRestore: true,
    clock: systemClock,
    daemonId: newId('dmn', systemClock.now()),
    keyring: () => Promise.resolve(ring),
    // No daemon uses it yet: a backup of an earlier build gets the schema of this one.
    schema: 'migrate',
  });
  try {
    await assertSameKey(store, ring);
    const [fault] = await compareHeads(store.db, file.head.heads);
    if (fault !== undefined) throw new Failure('conflict', `Integrity: the audit ledger of the backup: ${fault}.`);
    return await writeSettled(store, file, dirname(path) === pathsOf(settings).backups ? basename(path) : null);
  } finally {
    await store.close();
  }
}

const interruptedAsKind: Restoring['interrupted'] = (tx, job) => RUN_SUPPORT[job.kind].interrupted(tx, job);

/** `fileName` where the file lies in the directory of backups, in which the restored store finds it again. */
function writeSettled(
  store: Store,
  { head, sizeBytes, sha256 }: BackupFile,
  fileName: string | null,
): Promise<Settled> {
  const caller = localCaller(userName());
  return store.write(async (tx) => {
    const settled = await settleRestored(tx, { by: caller.name, interrupted: interruptedAsKind });
    tx.record({ ...actorOf(caller), operation: 'backup.restore', target: head.id, detail: { ...settled } });
    // The backup has no row of itself: that was written after its copy was made.
    if (fileName !== null && (await findBackup(tx.db, head.id)) === undefined) {
      const { id, job_id, name, created_at } = head;
      const facts = { size_bytes: sizeBytes, sha256, verified_at: tx.now, host: hostname() };
      await insertBackup(tx, { id, job_id, name, created_at, file: fileName, ...facts });
    }
    return settled;
  });
}
