import { ranOnMoreDays } from '../../domain/schedules/timetable.ts';
import { listEarlier, listRefused } from '../../store/schedules/schedules.ts';
import type { Db } from '../../store/schema/schema.ts';
import { type Facts, type Finding, NAMED_MAX, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/**
 * Reports enabled schedules whose last slot queued no job, and why: no user waits for a schedule, so a failure would
 * stay unseen. And those that run on other days than in the build that they were written for.
 */
export function examineSchedules({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const faults = [...(await refused(db)), ...(await onOtherDays(db))];
    return faults.length === 0 ? ok('The last slot of each enabled schedule queued its job.') : warn(faults.join(' '));
  });
}

async function refused(db: Db): Promise<string[]> {
  const rows = await listRefused(db, NAMED_MAX + 1);
  const named = rows
    .slice(0, NAMED_MAX)
    .map(({ name, last_refusal: why }) => `The last slot of ${name} was refused: ${why ?? 'no reason is known.'}`);
  return rows.length > NAMED_MAX ? [...named, 'There are more: svc schedule list.'] : named;
}

async function onOtherDays(db: Db): Promise<string[]> {
  const rows = (await listEarlier(db)).filter(({ cron }) => ranOnMoreDays(cron));
  if (rows.length === 0) return [];
  const named = rows.slice(0, NAMED_MAX).map(({ name, cron }) => `${name} (${cron})`);
  const more = rows.length > NAMED_MAX ? ` and ${rows.length - NAMED_MAX} more` : '';
  return [
    `These schedules run on fewer days than in the version that they were added with: ${named.join(', ')}${more}. A ` +
      'star with a step does not restrict days by itself, so a day must be in both fields. If either field is to be ' +
      'enough, write 1-31/2 for */2. Add them again with svc schedule add NAME --replace to end this warning.',
  ];
}
