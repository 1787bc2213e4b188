import { Failure } from '../../domain/failure.ts';
import { KINDS } from '../../domain/kinds.ts';
import { idPartIn, jobIdPart, type PathPart } from '../../domain/path-part.ts';
import type { JobRow } from '../../store/schema/schema.ts';

/** A job of a known kind whose id may name something on the disk. */
export type CheckedJob = JobRow & { readonly id: PathPart };

/** Throws forbidden, with a sentence for the job's output, for a row that no daemon has made. */
export function checkedJob<Row extends JobRow>(row: Row): Row & CheckedJob {
  const id = jobIdPart(row.id);
  if (!isKnown(row.kind))
    throw new Failure('forbidden', 'Integrity: the kind of this job is unknown. Nothing was run.');
  return { ...row, id };
}

/** The same; null for such a row. */
export function findChecked<Row extends JobRow>(row: Row): (Row & CheckedJob) | null {
  const id = idPartIn('job', row.id);
  return id === null || !isKnown(row.kind) ? null : { ...row, id };
}

function isKnown(kind: string): boolean {
  return Object.hasOwn(KINDS, kind);
}
