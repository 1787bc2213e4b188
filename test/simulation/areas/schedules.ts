import type { SimulatedArea } from './area.ts';

export const SCHEDULES: SimulatedArea = {
  scene: [
    ['local', 'schedule.add', { name: 'tick', cron: '* * * * *', command: ['succeeds'], inventory: 'localhost' }],
  ],
  atRest: [
    {
      rule: 'S1',
      sql: `select target, json_extract(detail, '$.slot') as slot, count(*) as n from ledger
        where operation = 'schedule.run' group by 1, 2 having count(*) > 1`,
      words: ({ target, slot, n }) => `the time ${String(slot)} of ${String(target)} ran ${String(n)} times`,
    },
  ],
};
