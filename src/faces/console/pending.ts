/** How many approvals wait, as every page and its script show it. */

/** More are not counted: each page asks. */
export const COUNT_MAX = 99;
/** What a page asks `approval.list` for; with the same input it is asked once for a page. */
export const PENDING = { limit: COUNT_MAX + 1 } as const;

/** `3`, `99+`; empty where nothing waits. */
export type Pending = string;

export function pendingText(count: number): Pending {
  if (count === 0) return '';
  return count > COUNT_MAX ? `${COUNT_MAX}+` : String(count);
}
