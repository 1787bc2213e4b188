import { countsOf } from '../plan-words.ts';
import type { PlanAction, PlannedChanges } from './plan.ts';

/** The list of the view that a planned change belongs to. */
export interface Standing {
  readonly list: keyof PlannedChanges;
  readonly action: PlanAction;
  /** A fact that no attribute shows. */
  readonly note?: 'forgotten' | 'unknown action';
}

/**
 * The meaning of terraform's list of actions for a decision; null without a change. A replacement in either order
 * destroys. `forget` leaves the real resource running but unmanaged: it is listed under changes, or under destroys if a
 * new resource replaces it. An unknown action counts as the worst: a destroy.
 */
export function standingOf(actions: readonly string[]): Standing | null {
  switch (actions.join(',')) {
    case 'no-op':
    case 'read':
      return null;
    case 'create':
      return { list: 'creates', action: 'create' };
    case 'update':
      return { list: 'changes', action: 'update' };
    case 'delete':
      return { list: 'destroys', action: 'destroy' };
    case 'delete,create':
    case 'create,delete':
      return { list: 'destroys', action: 'replace' };
    case 'forget':
      return { list: 'changes', action: 'update', note: 'forgotten' };
    case 'create,forget':
    case 'forget,create':
      return { list: 'destroys', action: 'replace', note: 'forgotten' };
    default:
      return { list: 'destroys', action: 'destroy', note: 'unknown action' };
  }
}

/** Changes that are no entry, by what the summary says of one and of several. */
const NOTES = {
  outputs: ['output changes', 'outputs change'],
  moved: ['resource moves in the state', 'resources move in the state'],
  imported: ['resource is imported as it is', 'resources are imported as they are'],
  deferred: ['change is deferred to a later plan', 'changes are deferred to a later plan'],
} as const;

type NotedCounts = Readonly<Record<keyof typeof NOTES, number>>;

/** The counts, then what is no entry: "no changes; 1 output changes". */
export function summaryOf(planned: PlannedChanges, noted: NotedCounts): string {
  const notes: string[] = [];
  for (const key of ['outputs', 'moved', 'imported', 'deferred'] as const) {
    if (noted[key] > 0) notes.push(`${noted[key]} ${NOTES[key][noted[key] === 1 ? 0 : 1]}`);
  }
  const counts = countsOf(planned);
  return notes.length === 0 ? counts : `${counts}; ${notes.join(', ')}`;
}
