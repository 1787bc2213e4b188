import { isTerminal } from '../../../domain/jobs/job.ts';
import type { Projected } from '../../../views/views.ts';
import { type Client, readData } from '../connection/client.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';

type Job = Projected<'job.list'>[number];
type Approval = Projected<'approval.list'>[number];
type Check = Projected<'check.list'>[number];

/** What `svc watch` shows: newest jobs, those that have not ended first; pending approvals; checks. */
export interface Snapshot {
  readonly jobs: readonly Job[];
  readonly approvals: readonly Approval[];
  readonly checks: readonly Check[];
}

/** More jobs are on no screen. */
const JOBS = 100;

/** Throws Failure. */
export async function readSnapshot(client: Client): Promise<Snapshot> {
  const read = async <T>(verb: string, fields: object): Promise<T> =>
    (await readData(await client.call(operationVerb(TREE, verb).call, { ...fields }))).data as T;
  const jobs = await read<readonly Job[]>('job list', { limit: JOBS });
  const approvals = await read<readonly Approval[]>('approval list', {});
  const checks = await read<readonly Check[]>('check list', {});
  return { jobs: jobs.toSorted((a, b) => ended(a) - ended(b)), approvals, checks };
}

function ended({ state }: Job): number {
  return isTerminal(state) ? 1 : 0;
}

/** Whether somebody should look at it. */
export function isTrouble({ enabled, targets }: Check): boolean {
  return enabled && targets.some(({ status }) => status === 'down');
}
