import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { eventFile, labelVariables } from '../../domain/commands/event-input.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import { fromJson } from '../../lib/json.ts';
import { eventView } from '../../operations/events/events.ts';
import { VIEWS } from '../../views/views.ts';
import { commandRunner, type EventMaterials } from '../../runners/command/command.ts';
import { keepHostResults } from '../../store/commands/host-results.ts';
import { getEvent } from '../../store/events/events.ts';
import { isOwned } from '../../store/jobs/chunks.ts';
import { fenceOf } from '../../store/jobs/claims.ts';
import { askedBy } from '../../store/jobs/repeats.ts';
import type { EventRow } from '../../store/schema/schema.ts';
import { NOTHING_PREPARED, runKind } from '../jobs/run-support.ts';
import { hostMaterials } from './host-materials.ts';

export const COMMAND_RUN = runKind(commandKind, commandRunner, {
  async prepare(deps, job, spec) {
    if (spec.inventory === LOCALHOST) {
      const { db } = deps.store;
      const { eventId } = await askedBy(db, job);
      const event = eventId === null ? null : materialsOf(await getEvent(db, eventId));
      return { ...NOTHING_PREPARED, materials: { hosts: null, event } };
    }
    const hosts = await hostMaterials(deps, job, spec);
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

function materialsOf(row: EventRow): EventMaterials {
  const view = VIEWS['event.list'].element.parse(eventView(row));
  const annotations = fromJson(row.annotations);
  return { file: eventFile({ ...view, annotations }), variables: labelVariables(view.labels) };
}
