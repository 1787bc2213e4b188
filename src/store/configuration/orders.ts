import { hash } from 'node:crypto';
import type { OrderedChange } from '../../domain/configuration/change.ts';
import { Failure } from '../../domain/failure.ts';
import type { Tx } from '../engine/tx.ts';
import type { ConfigOrderRow, Db } from '../schema/schema.ts';

/** SHA-256, hex: the order of the job has it under its tag. */
export function digestOfText(text: string): string {
  return hash('sha256', text);
}

export async function insertConfigOrder(tx: Tx, row: ConfigOrderRow): Promise<void> {
  await tx.db.insertInto('config_orders').values(row).execute();
}

/** Throws forbidden where a text is not the one that was ordered. */
export async function readConfigOrder(
  db: Db,
  jobId: string,
  ordered: { readonly file: string; readonly shown: string },
): Promise<{ readonly file: string; readonly changes: readonly OrderedChange[] }> {
  const row = await db.selectFrom('config_orders').selectAll().where('job_id', '=', jobId).executeTakeFirst();
  if (row === undefined || digestOfText(row.file) !== ordered.file || digestOfText(row.changes) !== ordered.shown)
    throw new Failure('forbidden', `Integrity: the configuration of job ${jobId} is not the one that was asked for.`);
  return { file: row.file, changes: JSON.parse(row.changes) as OrderedChange[] };
}
