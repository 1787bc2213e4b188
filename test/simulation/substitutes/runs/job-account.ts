import { findJobAccount as realFind, JOB_ACCOUNT, type JobIdentity } from '../../../../src/config/job-account.ts';
import { running } from '../../world/current.ts';
import { stepped } from '../stepped.ts';

export * from '../../../../src/config/job-account.ts';

/** The account of jobs is there, with the same numbers on each machine. */
export function findJobAccount(jobUser: string | null): Promise<JobIdentity | null> {
  if (running() === null) return realFind(jobUser);
  return stepped(() => ({ account: { name: jobUser ?? JOB_ACCOUNT, uid: 990, gid: 990 }, isFallback: false }));
}
