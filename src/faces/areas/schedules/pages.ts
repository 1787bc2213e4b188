import type { AreaPages } from '../../console/area-pages.ts';
import { plainPage } from '../../console/plain.ts';

const LIST = plainPage({
  path: '/schedules',
  section: 'Schedules',
  title: 'Schedules',
  parts: [
    { operation: 'schedule.list', kind: 'schedule.list' },
    { operation: 'schedule.agenda', kind: 'schedule.agenda', heading: 'The next 7 days' },
  ],
});

export const SCHEDULES: AreaPages = { pages: [LIST] };
