import { BACKUP_KEY, type BackupSpec } from '../../domain/backups/backup.ts';
import { backupKind } from '../../domain/backups/kind.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import { newJob, type Queued, type Queueing, queueOrAsk } from '../queue.ts';

interface BackupRequest extends BackupSpec {
  readonly timeoutMs: number;
}

export async function queueBackup(queueing: Queueing, { name, timeoutMs }: BackupRequest): Promise<Queued> {
  const spec: BackupSpec = { name };
  const job: NewJob = {
    ...newJob(queueing, backupKind.runbook(spec)),
    kind: 'backup',
    source: null,
    workspace: null,
    concurrencyKey: BACKUP_KEY,
    privileged: false,
    spec: JSON.stringify(spec),
    timeoutMs,
  };
  return queueOrAsk(queueing, job);
}
