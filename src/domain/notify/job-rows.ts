import { JOB_STATES, type JobState } from '../jobs/job.ts';
import type { EndedFacts, FactsOf, NotificationFacts } from './notification-facts.ts';
import {
  LISTED_MAX,
  listOf,
  namesIn,
  namesOf,
  type NotificationContext,
  type NotificationRow,
  PLAIN,
  type Words,
} from './row.ts';

const BURST = 'job';

export const jobRow: NotificationRow<'job'> = {
  ...PLAIN,
  words: ended,
  terse: (facts) => `svc: 1 job ${facts.state}`,
  jobIds: ({ jobId }) => jobId,
  burst: { key: () => BURST, fold: foldJobs },
};

export const jobsRow: NotificationRow<'jobs'> = {
  ...PLAIN,
  words: endedMany,
  terse: (facts) =>
    facts.count === 1 ? `svc: 1 job ${facts.first[0]?.state ?? 'ended'}` : `svc: ${facts.count} jobs ended`,
  jobIds: ({ first, count }) => jobList(first, count),
  burst: { key: () => BURST, fold: null },
};

function ended(
  { jobId, runbook, state, exitCode, reason = null }: EndedFacts,
  { baseUrl }: NotificationContext,
): Words {
  const good = state === 'succeeded' || state === 'degraded';
  const code = exitCode === null ? '' : ` with exit code ${exitCode}`;
  return {
    title: `${runbook} ${state}`,
    message: `Job ${jobId} ${state}${code}.${reason === null ? '' : ` ${reason}`}`,
    priority: good ? 3 : 4,
    tags: [good ? 'white_check_mark' : 'rotating_light'],
    click: `${baseUrl}/jobs/${jobId}`,
  };
}

function endedMany({ count, names, states, first }: FactsOf<'jobs'>, context: NotificationContext): Words {
  const [only] = first;
  if (count === 1 && only !== undefined) return ended(only, context);
  const counts = JOB_STATES.flatMap((state) => (states[state] === undefined ? [] : [`${states[state]} ${state}`]));
  return {
    title: `${count} jobs ended: ${counts.join(', ')}`,
    message: `More ended at once than are sent one by one: ${namesOf(names)}. ${jobList(first, count)}`,
    priority: 4,
    tags: ['rotating_light'],
    click: `${context.baseUrl}/jobs`,
  };
}

function jobList(first: readonly EndedFacts[], count: number): string {
  return listOf(
    first.map(({ jobId }) => jobId),
    count,
  );
}

function foldJobs(all: readonly NotificationFacts[]): NotificationFacts {
  const jobs = all.filter((each) => each.kind === 'job');
  const states: Partial<Record<JobState, number>> = {};
  for (const { state } of jobs) states[state] = (states[state] ?? 0) + 1;
  return {
    kind: 'jobs',
    count: jobs.length,
    names: namesIn(jobs.map(({ runbook }) => runbook)),
    states,
    first: jobs.slice(0, LISTED_MAX),
  };
}
