import { type OrderedChange, writesOf } from '../../domain/configuration/change.ts';
import { Failure } from '../../domain/failure.ts';
import { configKind } from '../../domain/config-order/kind.ts';
import { changesSince } from '../../store/configuration/managed.ts';
import { readConfigOrder } from '../../store/configuration/orders.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import type { Db, JobRow } from '../../store/schema/schema.ts';
import { type QueueRules, UNCHANGING } from '../queue-rules.ts';

/** What the ledger says of the objects decides early; the run compares the objects themselves. */
export const CONFIG_RULES: QueueRules = {
  ...UNCHANGING,
  async stillHolds(db, { job_id: jobId, created_at: since }) {
    let changes: readonly OrderedChange[];
    try {
      changes = await changesOf(db, await getJob(db, jobId));
    } catch (error) {
      if (error instanceof Failure) return { is: 'changed', why: error.message };
      throw error;
    }
    const operations = [...new Set(changes.map(({ kind }) => kind))].flatMap(writesOf);
    const names = new Set(changes.map(({ kind, name }) => `${kind} ${name}`));
    const moved = (await changesSince(db, since, operations)).find(({ operation, target }) =>
      names.has(`${operation.slice(0, operation.indexOf('.'))} ${target}`),
    );
    if (moved === undefined) return { is: 'good' };
    const { operation, target, principal } = moved;
    const why = `${operation} of ${target} by ${principal} came after this change was asked for; ask again.`;
    return { is: 'changed', why };
  },
  redriveObstacle: () => Promise.resolve('A change of the configuration is asked for again, with svc config apply'),
  order: async (db, job) => ({ changes: await changesOf(db, job) }),
};

async function changesOf(db: Db, { id, spec }: JobRow): Promise<readonly OrderedChange[]> {
  return (await readConfigOrder(db, id, configKind.readSpec(spec))).changes;
}
