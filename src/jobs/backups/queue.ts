import { BACKUP_KEY, type BackupSpec } from '../../domain/backups/backup.ts';
import { backupKind } from '../../domain/backups/kind.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import { type Asker, type Gate, newJob, type QueueDeps, type Queued, queueOrAsk } from '../queue.ts';

interface BackupRequest extends BackupSpec {
  readonly timeoutMs: number;
}

export async function queueBackup(
  tx: Tx,
  deps: QueueDeps,
  asker: Asker,
  { name, timeoutMs }: BackupRequest,
  gate: Gate | null,
): Promise<Queued> {
  const spec: BackupSpec = { name };
  const job: NewJob = {
    ...newJob(tx, asker, backupKind.runbook(spec)),
    kind: 'backup',
    source: null,
    workspace: null,
    concurrencyKey: BACKUP_KEY,
    privileged: false,
    spec: JSON.stringify(spec),
    timeoutMs,
  };
  return queueOrAsk(tx, deps, job, gate);
}
