import { call, keyOf, some } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import { ENDED } from '../rules/ended.ts';
import type { SimulatedArea } from './area.ts';

const TOOLS = ['succeeds', 'succeeds', 'fails', 'hangs', 'deaf', 'floods'];

function command(chance: Stream): Made {
  const key = keyOf(chance);
  // With its key as an argument, so that the rules can tell of each job which request asked for it.
  return call('operator', 'command.run', { inventory: 'localhost', command: [chance.pick(TOOLS), key] }, key);
}

export const JOBS: SimulatedArea = {
  makers: [
    [6, command],
    [3, (chance) => call('operator', 'job.cancel', { id: some(chance, 'job') })],
    [2, (chance) => call('operator', 'job.redrive', { ids: [some(chance, 'job')] }, keyOf(chance))],
    // All of them: some were queued again before.
    [1, (chance) => call('local', 'job.redrive', { state: ['interrupted', 'cancelled'] }, keyOf(chance))],
    [2, (chance) => call('operator', 'job.rerun', { id: some(chance, 'job') }, keyOf(chance))],
    [2, () => ({ do: 'repeat' })],
    [1, () => call('reader', 'job.list', {})],
    [1, () => call('reader', 'command.run', { inventory: 'localhost', command: ['succeeds'] })],
  ],
  picks: { job: 'jobs' },
  unfinished: { jobs: "state in ('queued', 'running', 'awaiting_approval') or outcome_event_id is null" },
  atRest: [
    {
      rule: 'J9',
      sql: `select id, state from jobs where state not in ${ENDED}`,
      words: ({ id, state }) => `${String(id)} is still ${String(state)}`,
    },
    {
      rule: 'J10',
      sql: `select target, count(*) as n from ledger where operation = 'job.end' group by target having count(*) > 1`,
      words: ({ target, n }) => `${String(target)} was ended ${String(n)} times`,
    },
    {
      rule: 'J11',
      // The second word of a command is the key of the request that asked for it.
      sql: `select json_extract(spec, '$.command[1]') as request, count(*) as n from jobs
        where kind = 'command' and redrive_of is null and rerun_of is null
        and json_extract(spec, '$.command[1]') like 'key-%' group by 1 having count(*) > 1`,
      words: ({ request, n }) => `the request ${String(request)} has ${String(n)} jobs`,
    },
    {
      rule: 'O1',
      sql: `select job_id, first_seq, before from (select job_id, first_seq,
        lag(last_seq) over (partition by job_id order by first_seq) as before from job_chunks)
        where (before is null and first_seq > 2) or (before is not null and first_seq <> before + 1)`,
      words: ({ job_id: id, first_seq: seq, before }) =>
        `the output of ${String(id)} has ${String(seq)} after ${String(before)}`,
    },
  ],
};
