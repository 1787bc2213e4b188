import type { Projected } from '../../views/views.ts';
import { relative } from './time.ts';

/** Names the state that a plan was made from, and who changed it since. */
export function movedBy(stale: NonNullable<Projected<'approval.get'>['stale']>, nowMs: number): string {
  const { plan_serial: planned, current_serial: current, moved_by_job: job, moved_via: via, moved_at: at } = stale;
  const when = at === undefined ? '' : ` (${relative(at, nowMs)})`;
  const who =
    job === undefined ? 'from outside this service' : `by job ${job}${via === undefined ? '' : ` via ${via}`}`;
  return `The plan was made from serial ${planned}; the state was changed to serial ${current} ${who}${when}.`;
}
