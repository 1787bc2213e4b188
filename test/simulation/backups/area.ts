import { call, keyOf, some } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from '../areas/area.ts';

/** Of few names: old ones of a name are removed. */
function create(chance: Stream): Made {
  return call('local', 'backup.create', { name: chance.pick(['store', 'store', 'nightly']) }, keyOf(chance));
}

export const BACKUPS: SimulatedArea = {
  rarity: 3,
  isUnmodelled: true,
  makers: [
    [12, create],
    [2, (chance) => call('local', 'backup.verify', { id: some(chance, 'backup') })],
    [1, () => call('reader', 'backup.list', {})],
    [2, (chance) => call('operator', 'job.cancel', { id: some(chance, 'job of a backup') })],
    [2, (chance) => call('operator', 'job.redrive', { ids: [some(chance, 'job of a backup')] }, keyOf(chance))],
  ],
  picks: { backup: 'backups', 'job of a backup': "jobs where kind = 'backup'" },
  atRest: [
    {
      rule: 'U1',
      sql: `select backups.id, jobs.state from backups left join jobs on jobs.id = backups.job_id
        where backups.removed_at is null and (jobs.state is null or jobs.state <> 'succeeded')`,
      words: ({ id, state }) => `the job of backup ${String(id)} is ${String(state)}`,
    },
  ],
};
