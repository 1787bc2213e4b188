import {
  type AnyFacts,
  LISTED_MAX,
  listOf,
  namesIn,
  namesOf,
  type NotificationContext,
  type NotificationRow,
  PLAIN,
  type Words,
} from '../notify/row.ts';
import { JOB_STATES, type JobState } from './job.ts';

/** A job has ended. */
export interface EndedFacts extends AnyFacts {
  readonly kind: 'job';
  readonly jobId: string;
  readonly runbook: string;
  readonly state: JobState;
  readonly exitCode: number | null;
  /** Why, where there is more to say than the exit code; absent in what earlier builds stored. */
  readonly reason?: string | null;
  /** Who ordered it follows it, and sees the end there. */
  readonly followed?: boolean;
}

/** `count` jobs beside those sent one by one; `first` are the oldest, `names` the distinct runbooks, one too many. */
interface ManyEndedFacts {
  readonly count: number;
  readonly names: readonly string[];
  readonly states: Readonly<Partial<Record<JobState, number>>>;
  readonly first: readonly EndedFacts[];
  /** Whether each of them is. */
  readonly followed?: boolean;
}

const BURST = 'job';
/** No sound and no banner, in the words of ntfy. */
const LOW = 2;

const job: NotificationRow<EndedFacts> = {
  ...PLAIN,
  words: ended,
  terse: (facts) => `svc: 1 job ${facts.state}`,
  jobIds: ({ jobId }) => jobId,
  burst: { key: () => BURST, fold: foldJobs },
};

const jobs: NotificationRow<ManyEndedFacts> = {
  ...PLAIN,
  words: endedMany,
  terse: (facts) =>
    facts.count === 1 ? `svc: 1 job ${facts.first[0]?.state ?? 'ended'}` : `svc: ${facts.count} jobs ended`,
  jobIds: ({ first, count }) => jobList(first, count),
  burst: { key: () => BURST, fold: null },
};

export const JOB_NOTIFICATIONS = { job, jobs };

function ended(
  { jobId, runbook, state, exitCode, reason = null, followed = false }: EndedFacts,
  { baseUrl }: NotificationContext,
): Words {
  const good = state === 'succeeded' || state === 'degraded';
  const code = exitCode === null ? '' : ` with exit code ${exitCode}`;
  return {
    title: `${runbook} ${state}`,
    message: `Job ${jobId} ${state}${code}.${reason === null ? '' : ` ${reason}`}`,
    priority: followed ? LOW : good ? 3 : 4,
    tags: [good ? 'white_check_mark' : 'rotating_light'],
    click: `${baseUrl}/jobs/${jobId}`,
  };
}

function endedMany(
  { count, names, states, first, followed = false }: ManyEndedFacts,
  context: NotificationContext,
): Words {
  const [only] = first;
  if (count === 1 && only !== undefined) return ended(only, context);
  const counts = JOB_STATES.flatMap((state) => (states[state] === undefined ? [] : [`${states[state]} ${state}`]));
  return {
    title: `${count} jobs ended: ${counts.join(', ')}`,
    message: `More ended at once than are sent one by one: ${namesOf(names)}. ${jobList(first, count)}`,
    priority: followed ? LOW : 4,
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

function foldJobs(all: readonly AnyFacts[]): ManyEndedFacts & { readonly kind: 'jobs' } {
  const ends = all.filter((each): each is EndedFacts => each.kind === 'job');
  const states: Partial<Record<JobState, number>> = {};
  for (const { state } of ends) states[state] = (states[state] ?? 0) + 1;
  return {
    kind: 'jobs',
    count: ends.length,
    names: namesIn(ends.map(({ runbook }) => runbook)),
    states,
    first: ends.slice(0, LISTED_MAX),
    ...(ends.every(({ followed }) => followed === true) ? { followed: true } : {}),
  };
}
