import type { PartialLine } from '../../domain/jobs/job.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, PartialRow } from '../schema/schema.ts';

/** The unfinished line of a running job: at most one row a job, which its end removes. */

const put = prepared<PartialRow, unknown>((db, value) =>
  db
    .insertInto('job_partials')
    .values({ job_id: value('job_id'), stream: value('stream'), data: value('data') })
    .onConflict((conflict) =>
      conflict
        .column('job_id')
        .doUpdateSet((eb) => ({ stream: eb.ref('excluded.stream'), data: eb.ref('excluded.data') })),
    ),
);

const remove = prepared<{ jobId: string }, unknown>((db, value) =>
  db.deleteFrom('job_partials').where('job_id', '=', value('jobId')),
);

const find = prepared<{ jobId: string }, PartialRow>((db, value) =>
  db.selectFrom('job_partials').selectAll().where('job_id', '=', value('jobId')),
);

/** For a run that owns its job; null removes it. */
export function setPartial(tx: Tx, jobId: string, partial: PartialLine | null): void {
  tx.later(partial === null ? remove(tx.db, { jobId }) : put(tx.db, { job_id: jobId, ...partial }));
}

export async function findPartial(db: Db, jobId: string): Promise<PartialLine | undefined> {
  const [row] = (await find(db, { jobId })).rows;
  return row;
}
