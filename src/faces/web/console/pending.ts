/** How many approvals wait, as every page shows it. */
import type { Projected } from '../../../operations/views/views.ts';

/** More are not counted: each page asks. */
const COUNT_MAX = 99;
/** What a page asks `approval.list` for; with the same input it is asked once for a page. */
export const PENDING = { limit: COUNT_MAX + 1 } as const;

/** `3`, `99+`; empty where nothing waits. */
export type Pending = string;

export function pendingText({ length }: Projected<'approval.list'>): Pending {
  if (length === 0) return '';
  return length > COUNT_MAX ? `${COUNT_MAX}+` : String(length);
}
