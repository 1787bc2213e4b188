import { loadSettings } from '../../../config/settings/load-settings.ts';
import { encode } from '../../../operations/core/envelope.ts';
import { inline, line } from '../../text/safe.ts';
import type { ProgramSession } from '../connection/session.ts';
import { ask } from '../input/question.ts';
import { write } from '../terminal.ts';
import type { Restored } from './open-restore.ts';

/** `svc backup restore`: asks once it is known that the backup can be restored there. Resolves to the exit code. */
export async function restoreBackup(session: ProgramSession): Promise<number> {
  const { terminal, flags, fields, options } = session;
  const settings = await loadSettings(flags, terminal.env);
  const order = { backup: String(fields['id_or_file']), into: String(fields['into']) };
  const opened = await (await terminal.app()).openRestore(settings, order);
  try {
    const { id, created_at: createdAt, jobs, data_dir: dir } = opened.facts;
    const text = `Restore ${id} of ${createdAt} with ${jobs} jobs into ${inline(dir)}? [y/N] `;
    if (!options.yes) await ask(session, { text, isYes: (answer) => /^y(es)?$/i.test(answer) });
    const restored = await opened.run();
    await write(terminal.stdout, options.output === 'json' ? encode('backup.restored', restored) : textOf(restored));
    return 0;
  } finally {
    await opened.close();
  }
}

function textOf(restored: Restored): string {
  const { id, created_at: createdAt, data_dir: dir, jobs, interrupted, cancelled, approvals, deliveries } = restored;
  return [
    `Restored ${id} of ${createdAt} into ${dir}: ${jobs} jobs.`,
    `Interrupted: ${interrupted} jobs, ${restored.workflow_runs} workflow runs. Cancelled: ${cancelled} jobs. ` +
      `Expired: ${approvals} approvals. Not sent: ${deliveries} notifications.`,
    `The restored service is cordoned. Check it, then let it work:`,
    `  svc doctor --data-dir ${dir}`,
    `  svc serve --data-dir ${dir}`,
    `  svc maintenance uncordon --data-dir ${dir}`,
  ]
    .map((text) => line(text))
    .join('');
}
