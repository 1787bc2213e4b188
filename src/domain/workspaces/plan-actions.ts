import type { PlanAction, PlannedChanges } from './plan.ts';

/** Where a planned change stands in the view. */
export interface Standing {
  readonly list: keyof PlannedChanges;
  readonly action: PlanAction;
  /** A fact that no attribute tells. */
  readonly note?: 'forgotten' | 'unknown action';
}

/**
 * What terraform's list of actions means to whoever decides; null where nothing changes. A replacement in either order
 * destroys. `forget` leaves the real thing alone but nobody manages it afterwards: that is listed under changes, and
 * under destroys where something new takes its place. What this doesn't know counts as the worst: a destroy.
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
  deferred: ['change is put off to a later plan', 'changes are put off to a later plan'],
} as const;

type NotedCounts = Readonly<Record<keyof typeof NOTES, number>>;

/** Such as "3 to destroy, 2 to change, 5 to create" or "No resource changes; 1 output changes" or "No changes". */
export function summaryOf({ destroys, changes, creates }: PlannedChanges, noted: NotedCounts): string {
  const notes: string[] = [];
  for (const key of ['outputs', 'moved', 'imported', 'deferred'] as const) {
    if (noted[key] > 0) notes.push(`${noted[key]} ${NOTES[key][noted[key] === 1 ? 0 : 1]}`);
  }
  const none = destroys.length + changes.length + creates.length === 0;
  if (none && notes.length === 0) return 'No changes.';
  const counts = none
    ? 'No resource changes'
    : `${destroys.length} to destroy, ${changes.length} to change, ${creates.length} to create`;
  return notes.length === 0 ? counts : `${counts}; ${notes.join(', ')}${none ? '.' : ''}`;
}
