import { call, keyOf } from '../plan/make.ts';
import type { SimulatedArea } from './area.ts';

const RUN = { playbook: 'site.yml', dir: '/roots/site', inventory: 'localhost' };

export const PLAYBOOKS: SimulatedArea = {
  rarity: 3,
  isUnmodelled: true,
  files: { '/roots/site/site.yml': '- hosts: all\n' },
  makers: [
    [8, (chance) => call('local', 'playbook.run', RUN, keyOf(chance))],
    [1, (chance) => call('local', 'playbook.run', { ...RUN, parallel: true }, keyOf(chance))],
  ],
  atRest: [
    {
      rule: 'P1',
      sql: `select id from jobs where kind = 'playbook' and state in ('succeeded', 'degraded')
        and id not in (select job_id from playbook_runs where hosts = 1 and tasks = 2)`,
      words: ({ id }) => `the results of ${String(id)} are not kept`,
    },
    {
      rule: 'P2',
      sql: `select job_id from playbook_runs where job_id not in
        (select id from jobs where state in ('succeeded', 'degraded', 'failed', 'cancelled'))`,
      words: ({ job_id: id }) => `${String(id)} has results and has not ended by itself`,
    },
  ],
};
