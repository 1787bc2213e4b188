import type { HostResult } from '../../domain/commands/hosts.ts';
import { insertRow } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db } from '../schema/schema.ts';

/** Keeps the ends of some hosts. One that is kept already stays, because the write may be tried again. */
export async function keepHostResults(tx: Tx, jobId: string, results: readonly HostResult[]): Promise<void> {
  for (const result of results) await insertRow(tx.db, 'host_results', { job_id: jobId, ...result }, 'skip');
}

/** By host. */
export function listHostResults(db: Db, jobId: string): Promise<HostResult[]> {
  return db
    .selectFrom('host_results')
    .select(['host', 'status', 'rc', 'stdout', 'stderr'])
    .where('job_id', '=', jobId)
    .orderBy('host')
    .execute();
}
