import { Failure } from '../../domain/failure.ts';
import type { Reload } from '../../operations/maintenance/services.ts';
import { answerReload } from '../../store/maintenance/reloads.ts';
import type { RestartRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { recordService } from '../jobs/job-transitions.ts';

interface ReloadDeps {
  readonly store: Store;
  readonly readSettings: () => Promise<Reload>;
}

/** Reads the settings again, as `by` asked. Throws invalid_argument, and then nothing has changed. */
export async function reloadSettings({ store, readSettings }: ReloadDeps, by: string): Promise<Reload> {
  const fresh = await readSettings();
  await store.write(async (tx) => {
    await fresh.write(tx);
    recordService(tx, 'maintenance.reload', by, { restart_needed: fresh.restartNeeded });
  });
  return fresh;
}

/** Reads the settings again if the command line has requested that, and leaves the answer for it. */
export async function reloadIfRequested(deps: ReloadDeps, row: RestartRow): Promise<void> {
  if (row.reload_requested_at === null || row.reload_answer !== null) return;
  const answer = await reloadSettings(deps, row.node).then(
    ({ transports, restartNeeded }) => ({ transports, restartNeeded }),
    (error: unknown) => {
      if (error instanceof Failure) return { code: error.code, message: error.message };
      throw error;
    },
  );
  await deps.store.write((tx) => answerReload(tx, row, answer));
}
