import { hostname } from 'node:os';
import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { BACKUP_NAME_DEFAULT } from '../../domain/backups/backup.ts';
import { Failure } from '../../domain/failure.ts';
import { jobTimeoutMs } from '../../domain/jobs/timeout.ts';
import { entryPath } from '../../domain/path-part.ts';
import { queueBackup } from '../../jobs/backups/queue.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { drain } from '../../lib/sealed-file/read.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import { fileOf, getBackup, listBackups, noteVerified } from '../../store/backups/backups.ts';
import type { BackupRow } from '../../store/schema/schema.ts';
import { listInBatches, replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { type Context, localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { actorOf, reply, written } from '../core/reply.ts';
import { queueingOf, writtenJob } from '../jobs/queued.ts';
import type { ViewItem } from '../../views/views.ts';
import { openBackup } from './backup-file.ts';

const LOCAL_ONLY = localOnly('Backups are files of a machine; they are made and read on that machine.');

function backupView(row: BackupRow): ViewItem<'backup.list'> {
  return {
    ...row,
    created_at: rfc3339(row.created_at),
    verified_at: row.verified_at === null ? null : rfc3339(row.verified_at),
  };
}

const list = readOperation({
  id: 'backup.list',
  summary: 'List backups, newest first',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/backups' },
  cli: { verb: 'backup list', examples: ['svc backup list'] },
  mcp: { tool: 'backup_list' },
  answers: ['backup.list'],
  run: ({ store }) =>
    replyList(
      'backup.list',
      listInBatches((before, rows) => listBackups(store.db, before, rows), backupView),
    ),
});

const create = writeOperation({
  id: 'backup.create',
  summary: 'Queue a backup of the store',
  effect: 'enqueue',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'backup create',
    wait: 'job',
    examples: ['svc backup create --wait', 'svc backup create --name nightly'],
  },
  input: z.strictObject({
    name: field.name.default(BACKUP_NAME_DEFAULT).describe('Name of the backup; old ones of the name are removed'),
    timeout: field.timeout,
    summary: field.summary,
  }),
  answers: ['job.enqueued'],
  async run(context, { name, timeout, summary }) {
    const request = { name, timeoutMs: jobTimeoutMs(timeout) };
    return writtenJob(await queueBackup(queueingOf(context, summary), request), { name });
  },
});

const verify = writeOperation({
  id: 'backup.verify',
  causes: { none: 'It reads a backup and changes nothing.' },
  summary: 'Check a backup: read its file, and compare digest and seals',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'backup verify', positionals: ['id'], examples: ['svc backup verify bak_01m7yd4zyke00anp2z332d2j5p'] },
  input: z.strictObject({ id: field.id('bak') }),
  answers: ['backup.get'],
  failures: ['not_found', 'conflict', 'unavailable'],
  async prepare(context, { id }): Promise<{ at: number }> {
    const row = await getBackup(context.store.db, id);
    try {
      await requireWhole(context, row);
    } catch (error) {
      if (error instanceof Failure && error.code === 'conflict') await noteBad(context, row);
      throw error;
    }
    return { at: context.services.clock.now() };
  },
  async run({ tx }, { id }, { at }) {
    await noteVerified(tx, id, at);
    return written(reply('backup.get', backupView(await getBackup(tx.db, id))), id, { whole: true });
  },
});

/** Throws forbidden for a row that somebody changed, conflict for a file that is not whole. */
async function requireWhole({ store, services }: Context, row: BackupRow): Promise<void> {
  const what = `Backup ${row.id}`;
  const keyPlace = 'the seal key file of this service';
  const name = fileOf(await checkTag(store, 'backups', row));
  if (name === null)
    throw new Failure(
      'conflict',
      `Integrity: the file that the row of backup ${row.id} names is not that of a backup.`,
    );
  const file = await openBackup(entryPath(services.paths.backups, name), await services.keyring(), {
    what,
    keyPlace,
  }).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== 'not_found') throw error;
    const other = row.host === hostname() ? '' : ` It was written by the machine ${row.host}: verify it there.`;
    throw new Failure('not_found', `Backup ${row.id} has no file in the directory of backups (--backup-dir).${other}`);
  });
  try {
    if (file.head.id !== row.id || file.sha256 !== row.sha256)
      throw new Failure('conflict', `Integrity: the file of backup ${row.id} is not the one that was made.`);
    await file.content(drain);
  } finally {
    await file.close();
  }
}

/** Recorded before the refusal: the doctor reports it. */
async function noteBad({ store, caller }: Context, { id }: BackupRow): Promise<void> {
  await store.write(async (tx) => {
    await noteVerified(tx, id, null);
    tx.record({ ...actorOf(caller), operation: 'backup.verify', target: id, detail: { whole: false } });
  });
}

export const BACKUP_OPERATIONS = [list, create, verify];
