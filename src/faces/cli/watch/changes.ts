import { isTerminal } from '../../../domain/jobs/job.ts';
import { isTrouble, type Snapshot } from './snapshot.ts';

/** One thing that is not as it was: a line for people, and the row for scripts. */
interface Change {
  readonly text: string;
  readonly row: object;
}

/** What changed between two looks; of the first one what is open now. */
export function changesBetween(before: Snapshot | null, now: Snapshot): Change[] {
  return [...jobs(before, now), ...approvals(before, now), ...checks(before, now)];
}

function jobs(before: Snapshot | null, now: Snapshot): Change[] {
  const had = new Map(before?.jobs.map(({ id, state }) => [id, state]));
  return now.jobs
    .filter(({ id, state }) => had.get(id) !== state && (before !== null || !isTerminal(state)))
    .toReversed()
    .map((job) => ({ text: `job ${job.id} ${job.state}: ${job.runbook}`, row: { job } }));
}

function approvals(before: Snapshot | null, now: Snapshot): Change[] {
  const had = new Set(before?.approvals.map(({ id }) => id));
  const has = new Set(now.approvals.map(({ id }) => id));
  const asked = now.approvals
    .filter(({ id }) => !had.has(id))
    .toReversed()
    .map((approval) => ({
      text: `approval ${approval.id} pending: ${approval.runbook}, asked by ${approval.requested_by}`,
      row: { approval },
    }));
  const settled = (before?.approvals ?? [])
    .filter(({ id }) => !has.has(id))
    .map(({ id, runbook }) => ({ text: `approval ${id} settled: ${runbook}`, row: { settled_approval: id } }));
  return [...settled, ...asked];
}

function checks(before: Snapshot | null, now: Snapshot): Change[] {
  const had = statuses(before);
  return [...statuses(now)]
    .filter(([key, { status }]) => (had.get(key)?.status ?? (before === null ? 'up' : status)) !== status)
    .filter(([, { status, trouble }]) => before !== null || (trouble && status === 'down'))
    .map(([, { check, name, status }]) => ({
      text: `check ${check} ${name} ${status}`,
      row: { target: { check, name, status } },
    }));
}

interface Status {
  readonly check: string;
  readonly name: string;
  readonly status: string;
  readonly trouble: boolean;
}

/** By check and target. */
function statuses(snapshot: Snapshot | null): Map<string, Status> {
  const all = (snapshot?.checks ?? []).flatMap((check) =>
    check.targets.map(({ name, status }): [string, Status] => [
      JSON.stringify([check.name, name]),
      { check: check.name, name, status, trouble: isTrouble(check) },
    ]),
  );
  return new Map(all);
}
