import { unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { postgresEnvironment } from './postgres-environment.ts';
import { backupFileName, backupIdOf, type BackupSpec, partialFileName } from '../../domain/backups/backup.ts';
import { backupKind } from '../../domain/backups/kind.ts';
import { entryPath, pathPart } from '../../domain/path-part.ts';
import { errorCode } from '../../lib/error-code.ts';
import { openingForRoot } from '../../lib/files/closed.ts';
import { backupRunner, type MadeBackup } from '../../runners/backups/backup.ts';
import {
  fileOf,
  findBackup,
  forgetRemoved,
  insertBackup,
  listRemoved,
  removeSurplus,
} from '../../store/backups/backups.ts';
import { hostOfDaemon } from '../../store/maintenance/daemons.ts';
import type { Snapshot } from '../../store/engine/snapshot.ts';
import { checkTag, passesTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { VERSION } from '../../version.ts';
import type { CheckedJob } from '../jobs/checked-job.ts';
import { recordMove } from '../jobs/job-transitions.ts';
import { NO_RESULT, NOTHING_PREPARED, type RunDeps, runKind } from '../jobs/run-support.ts';

/** Removed backups that one pass looks at: the next backup looks again. */
const REMOVED_MAX = 100;

export const BACKUP_RUN = runKind(backupKind, backupRunner, {
  async prepare(deps, job, { name }) {
    const { store, keyring, paths } = deps;
    // Whatever is in the way of old files, a new backup is made.
    await removeFiles(deps).catch(() => undefined);
    const ring = await keyring();
    const head = {
      format: store.dialect.snapshotFormat,
      id: backupIdOf(job.id),
      job_id: job.id,
      name,
      created_at: beganAt(job),
      version: VERSION,
    };
    const copy = await copyOf(store);
    return {
      ...NOTHING_PREPARED,
      hidden: copy.by === 'program' ? passwordsIn(copy.environment) : [],
      materials: { copy, head, ring, folder: paths.backups },
      async finish({ result }) {
        // Also of a run that ended before its program was started.
        if (copy.by === 'program') await copy.close();
        return result === undefined ? NO_RESULT : (tx) => record(tx, deps, job, { ...result, name });
      },
    };
  },
  async recover(deps, job) {
    // A folder that cannot be reached must not keep the job from ending.
    const isRemoved = await removeUnfinished(deps, job).catch(() => false);
    if (isRemoved) return null;
    const host = await hostOfDaemon(deps.store.db, job.daemon_id);
    return host === null || host === hostname() ? null : (tx) => leaveToOther(tx, job, host);
  },
});

async function copyOf(store: Store): Promise<Snapshot> {
  const copy = await store.snapshot();
  return copy.by === 'store' ? copy : { ...copy, environment: { ...postgresEnvironment(), ...copy.environment } };
}

function passwordsIn({ PGPASSWORD: password }: Readonly<Record<string, string>>): Buffer[] {
  return password === undefined ? [] : [Buffer.from(password)];
}

function beganAt(job: JobRow): number {
  return job.started_at ?? job.created_at;
}

interface NamedBackup extends MadeBackup {
  readonly name: string;
}

/** In the transaction of the job's end: a backup is known only if its job has succeeded. */
async function record(tx: Tx, deps: RunDeps, job: JobRow, made: NamedBackup): Promise<void> {
  const { name } = made;
  const { keepBackups } = deps.settings;
  const id = backupIdOf(job.id);
  await insertBackup(tx, {
    id,
    job_id: job.id,
    name,
    file: made.file,
    host: hostname(),
    created_at: beganAt(job),
    size_bytes: made.sizeBytes,
    sha256: made.sha256,
    verified_at: made.verifiedAt,
  });
  const detail = { job_id: job.id, name, size_bytes: made.sizeBytes, sha256: made.sha256, heads: made.heads };
  recordMove(tx, job.daemon_id ?? '', 'backup.made', id, detail);
  if (keepBackups === 0) return;
  await removeSurplus(tx, name, keepBackups);
  // After a failure the next backup removes them.
  tx.afterCommit(() => void removeFiles(deps).catch(() => undefined));
}

/**
 * The machine of the dead daemon has what `removeUnfinished` looks for, if this one does not see its folder. A removed
 * backup names it, for the next one that is made there.
 */
async function leaveToOther(tx: Tx, job: CheckedJob, host: string): Promise<void> {
  const id = backupIdOf(job.id);
  // Two daemons may end the same job.
  await tx.dialect.lockKey(tx.db, id);
  if ((await findBackup(tx.db, id)) !== undefined) return;
  const spec: BackupSpec = backupKind.readSpec(job.spec);
  const made = { size_bytes: 0, sha256: '', verified_at: null, created_at: beganAt(job) };
  const file = backupFileName(spec, id, beganAt(job));
  await insertBackup(tx, { id, job_id: job.id, name: spec.name, file, host, ...made, removed_at: tx.now });
}

/** Removes the files of backups that newer ones have replaced, and then their rows. */
async function removeFiles({ store, paths }: RunDeps): Promise<void> {
  const folder = paths.backups;
  const gone: string[] = [];
  if (openingForRoot(folder) !== null) return;
  for (const row of await listRemoved(store.db, REMOVED_MAX)) {
    // A row that somebody changed removes no file, not even its own: it stays, and the doctor reports it.
    if (!(await passesTag(store, 'backups', row))) continue;
    const file = fileOf(await checkTag(store, 'backups', row));
    const partial = await removeFile(entryPath(folder, partialFileName(pathPart('id of the job', row.job_id))));
    const removed = (file !== null && (await removeFile(entryPath(folder, file)))) || partial;
    // Without a file here, it may be in the directory of another machine, whose daemon removes it.
    if (removed || row.host === hostname()) gone.push(row.id);
  }
  if (gone.length > 0) await store.write((tx) => forgetRemoved(tx, gone));
}

/** False where there is no such file. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/**
 * What a run whose daemon died has left in the folder: the file that it was writing, or a whole one without a row. True
 * where there was one.
 */
async function removeUnfinished({ store, paths }: RunDeps, job: CheckedJob): Promise<boolean> {
  const hadPartial = await removeFile(entryPath(paths.backups, partialFileName(job.id)));
  const id = backupIdOf(job.id);
  if ((await findBackup(store.db, id)) !== undefined) return hadPartial;
  const spec: BackupSpec = backupKind.readSpec(job.spec);
  return (await removeFile(entryPath(paths.backups, backupFileName(spec, id, beganAt(job))))) || hadPartial;
}
