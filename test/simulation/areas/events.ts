import { ENDED } from '../rules/ended.ts';
import type { SimulatedArea } from './area.ts';

export const EVENTS: SimulatedArea = {
  atRest: [
    {
      rule: 'E1',
      sql: `select json_extract(labels, '$.job_id') as job, count(*) as n from events
        where source = 'job-outcome' and json_extract(labels, '$.job_id') is not null group by 1 having count(*) > 1`,
      words: ({ job, n }) => `${String(job)} has ${String(n)} events of its end`,
    },
    {
      rule: 'E2',
      sql: `select id, state from jobs where outcome_event_id is null and state in ${ENDED}`,
      words: ({ id, state }) => `${String(id)} is ${String(state)} and has no event of it`,
    },
  ],
};
