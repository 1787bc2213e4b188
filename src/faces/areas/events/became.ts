import type { Projected } from '../../../views/views.ts';
import { relative } from '../../text/time.ts';

type Approval = Pick<Projected<'approval.get'>, 'state' | 'expires_at' | 'decided_at' | 'decided_by' | 'reason'>;
type Job = Pick<
  Projected<'job.get'>,
  'id' | 'runbook' | 'state' | 'created_at' | 'started_at' | 'finished_at' | 'reason'
>;

/** What an event asked for; null for what it did not, or what is no longer stored. */
interface Asked {
  readonly approval: Approval | null;
  readonly job: Job | null;
}

/** What became of an event, as sentences; null where it asked for nothing. */
export function becameOf({ approval, job }: Asked, nowMs: number): string | null {
  // A job that was never let run says no more than its decision.
  const couldRun = approval === null || approval.state === 'approved';
  const sentences = [
    ...(approval === null ? [] : [decisionOf(approval, nowMs)]),
    ...(job === null || !couldRun ? [] : [endOf(job, nowMs)]),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}

function decisionOf(
  { state, expires_at: until, decided_at: at, decided_by: by, reason }: Approval,
  nowMs: number,
): string {
  if (state === 'pending') return `It waits for an approval, which expires ${relative(until, nowMs)}.`;
  if (state === 'expired') return `No one decided in time: it expired ${relative(at ?? until, nowMs)}.`;
  const who = by === null ? '' : ` by ${by}`;
  return `It was ${state} ${relative(at, nowMs)}${who}${reason === null ? '' : `: ${reason}`}.`;
}

function endOf(
  { id, runbook, state, created_at: created, started_at, finished_at, reason }: Job,
  nowMs: number,
): string {
  const at = finished_at ?? started_at ?? created;
  return `Its job ${id} (${runbook}) is ${state}, ${relative(at, nowMs)}${reason === null ? '' : `: ${reason}`}.`;
}
