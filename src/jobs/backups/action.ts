import type { BackupAction } from '../../domain/backups/action.ts';
import { backupKind } from '../../domain/backups/kind.ts';
import type { ActionRow } from '../action-row.ts';
import { queueBackup } from './queue.ts';

export const backupAction: ActionRow<BackupAction> = {
  runbook: ({ backup: name }) => backupKind.runbook({ name }),
  // A backup is of the whole store: its name names nothing that must exist.
  requireTargets: () => Promise.resolve(),
  queue: (queueing, { backup: name, timeoutMs }) => queueBackup(queueing, { name, timeoutMs }),
};
