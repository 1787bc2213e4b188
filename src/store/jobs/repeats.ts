import { findEventOfJob } from '../events/events.ts';
import type { Db, JobRow } from '../schema/schema.ts';
import { findJob } from './jobs.ts';

type Repeat = Pick<JobRow, 'id' | 'trigger' | 'redrive_of' | 'rerun_of'>;

/** What asked for a job that repeats others, or for a job itself. */
interface Asked {
  /** The first of its chain that is stored. */
  readonly job: Repeat;
  /** The event that asked for one of them; null where none did, or it is no longer stored. */
  readonly eventId: string | null;
}

/** Follows a job to the one that it repeats, and so on: ids fall along the way, so that it ends. */
export async function askedBy(db: Db, job: Repeat): Promise<Asked> {
  for (let asked = job; ;) {
    const made = await findEventOfJob(db, asked);
    if (made !== undefined) return { job: asked, eventId: made.id };
    const before = asked.redrive_of ?? asked.rerun_of;
    const older = before === null || before >= asked.id ? undefined : await findJob(db, before);
    if (older === undefined) return { job: asked, eventId: null };
    asked = older;
  }
}
