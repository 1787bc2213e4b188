import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { eventFile, labelVariables } from '../../domain/commands/event-input.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import { eventView } from '../../operations/events/events.ts';
import { VIEWS } from '../../operations/views/views.ts';
import { commandRunner, type EventMaterials } from '../../runners/command/command.ts';
import { keepHostResults } from '../../store/commands/host-results.ts';
import { findEventOfJob, getEvent } from '../../store/events/events.ts';
import { isOwned } from '../../store/jobs/chunks.ts';
import { fenceOf } from '../../store/jobs/claims.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import type { Db, EventRow, JobRow } from '../../store/schema/schema.ts';
import { NOTHING_PREPARED, runKind } from '../jobs/run-support.ts';
import { hostMaterials } from './host-materials.ts';

export const COMMAND_RUN = runKind(commandKind, commandRunner, {
  async prepare(deps, job, spec) {
    if (spec.inventory === LOCALHOST) {
      const row = await eventOf(deps.store.db, job);
      return { ...NOTHING_PREPARED, materials: { hosts: null, event: row === null ? null : materialsOf(row) } };
    }
    const hosts = await hostMaterials(deps, spec);
    return {
      ...NOTHING_PREPARED,
      hidden: hosts.key === null ? [] : [hosts.key],
      materials: { hosts },
      async checkpoint(tx, results) {
        const owned = await isOwned(tx, fenceOf(job));
        if (owned) await keepHostResults(tx, job.id, results);
        return { owned };
      },
    };
  },
});

/** The event that asked for the job, or for the one that it repeats; null where none did or it is no longer stored. */
async function eventOf(db: Db, job: JobRow): Promise<EventRow | null> {
  let asked: Pick<JobRow, 'id' | 'trigger' | 'redrive_of'> | undefined = job;
  while (asked !== undefined) {
    const made = await findEventOfJob(db, asked);
    if (made !== undefined) return getEvent(db, made.id);
    asked = asked.redrive_of === null ? undefined : await findJob(db, asked.redrive_of);
  }
  return null;
}

function materialsOf(row: EventRow): EventMaterials {
  const view = VIEWS['event.get'].parse(eventView(row));
  const annotations = JSON.parse(row.annotations) as Record<string, string>;
  return { file: eventFile({ ...view, annotations }), variables: labelVariables(view.labels) };
}
