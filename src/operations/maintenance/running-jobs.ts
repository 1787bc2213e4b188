import { rfc3339 } from '../../lib/clock.ts';
import { listRunning } from '../../store/maintenance/nodes.ts';
import type { Db } from '../../store/schema/schema.ts';

/** The jobs that run, oldest first, as views show them: those of one daemon, or of all. */
export async function runningJobs(db: Db, node: string | null) {
  return (await listRunning(db, node)).map(({ id, kind, node: where, started_at: startedAt }) => ({
    job_id: id,
    kind,
    node: where,
    started_at: startedAt === null ? null : rfc3339(startedAt),
  }));
}
